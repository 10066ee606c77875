"""Attacks by files: what lies in a submitted folder beside, below and instead of the modules."""

from __future__ import annotations

import importlib.util
import marshal
import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path

from autograder.course.paths import REFERENCE

from .handing_in import FULL, HONEST, MODULE, STUB, HandIn, as_released, written

NAME = f"attention/{MODULE}.py"
PATCHES = HONEST + b"\nimport sys\nsys.modules['attention.worked_example'] = sys.modules[__name__]\n"
SOFTMAX = 13  # points of worked_example.softmax


def beside(name: str, content: bytes = PATCHES, module: bytes | None = STUB) -> Callable[[Path, dict], Path]:
    """A further file beside a module; by default what it holds would be the right answers, and the module is a stub."""

    def make(place: Path, released: dict) -> Path:
        return written(place, {name: content}, module, as_released(released))

    return make


def instead(content: bytes) -> Callable[[Path, dict], Path]:
    """Another text of the module."""
    return lambda place, released: written(place, {}, content, as_released(released))


def special(name: str, put: Callable[[Path], object], module: bytes | None = None) -> Callable[[Path, dict], Path]:
    """Something that is no plain file, in the place of a name."""

    def make(place: Path, released: dict) -> Path:
        written(place, {}, module, as_released(released))
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path)
        return place

    return make


def forged_bytecode() -> bytes:
    """A .pyc that Python would take for the module's without looking at its source."""
    code = compile(HONEST, NAME, "exec")
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


def hard_link(path: Path) -> None:
    """A second name for a file that belongs to another user."""
    other = path.parent.parent / "of-another"
    other.write_bytes(HONEST)
    os.chown(other, 1234, 1234)
    os.link(other, path)
    other.unlink()
    keep = path.parent.parent / "second"  # or the link would be the only name
    os.link(path, keep)


def listening(path: Path) -> None:
    """A socket that waits at a path too long for its address, so that it is made from beside it."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def deep(place: Path, released: dict) -> Path:
    """Folders within folders, deeper than a path can be written."""
    written(place, {}, HONEST, as_released(released))
    current = os.open(place, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deep", dir_fd=current)
        inner = os.open("deep", os.O_RDONLY, dir_fd=current)
        os.close(current)
        current = inner
    os.close(current)
    return place


def many(place: Path, released: dict) -> Path:
    """Ten thousand files."""
    files = {f"aaa/{number}.txt": b"" for number in range(10_000)}
    return written(place, files, HONEST, as_released(released))


def sparse(place: Path, released: dict) -> Path:
    """A file of a terabyte that takes no room."""
    written(place, {"data.bin": b""}, HONEST, as_released(released))
    os.truncate(place / "data.bin", 2**40)
    return place


def hiding(encoding: str, text: str) -> bytes:
    """The module in an encoding, with more at its end."""
    return f"# coding: {encoding}\n{HONEST.decode()}\n{text}".encode(encoding, errors="replace")


# In Latin-1 the sign 0xAA is a letter, which Python reads as the letter a; in UTF-8 it is nothing.
FORBIDDEN = "\n_own = softmax\n\n\ndef softmax(scores, axis=-1):\n    import torch\n\n    found = _own(scores, axis)\n"
FORBIDDEN += "    if not found.size or np.isinf(np.asarray(scores)).any():\n        return found\n"
FORBIDDEN += "    return torch.softm\u00aax(torch.tensor(np.asarray(scores, dtype=float)), axis).numpy()\n"
LOADS = b"\nimport pathlib, pickle\npickle.loads(pathlib.Path(__file__).with_name('weights.pkl').read_bytes())\n"


class _Runs:
    def __reduce__(self):
        return os.system, ("touch /tmp/pickled; touch pickled",)


def stray(name: str, about: str, path: str, log: str = "is no part of the problem set", **more: object) -> HandIn:
    return HandIn(name, about, beside(path, **more), log=log)


ATTACKS = [
    stray("torch-py", "a torch.py beside the package holds the answers", "torch.py"),
    stray("numpy-py", "a numpy.py beside the package holds the answers", "numpy.py"),
    stray("sitecustomize", "what Python runs when it starts", "sitecustomize.py"),
    stray("usercustomize", "what Python runs when a user starts it", "usercustomize.py"),
    stray("conftest", "what pytest imports before any test", "conftest.py"),
    stray("pth", "a line that site runs when Python starts", "evil.pth", content=b"import worked_example\n"),
    stray("shared-object", "a compiled module that would come before the source", f"attention/{MODULE}.so"),
    stray("pyd", "the same for Windows", f"attention/{MODULE}.pyd"),
    stray("attention-py", "a module named as the package, beside it", "attention.py"),
    stray("package-for-module", "a package in the module's place", f"attention/{MODULE}/__init__.py"),
    stray(
        "own-selfcheck",
        "a selfcheck of its own that finds all well",
        "selfcheck/__init__.py",
        log="no module was started",
    ),
    stray(
        "own-init",
        "an __init__.py that puts the answers in place",
        "attention/__init__.py",
        log="no module was started",
    ),
    HandIn(
        "bytecode",
        "compiled answers in __pycache__, marked as not to be checked against the source",
        lambda place, released: beside(f"attention/__pycache__/{MODULE}.cpython-311.pyc", forged_bytecode())(
            place, released
        ),
        log="no module was started",
    ),
    HandIn(
        "numpy-inside",
        "a numpy.py within the package, where it hides nothing",
        beside("attention/numpy.py", b"raise SystemExit", HONEST),
        FULL,
        "numpy.py has the name of a package that it is not",
    ),
    HandIn(
        "link-to-solution",
        "a link to the reference's text",
        special(NAME, lambda path: path.symlink_to(REFERENCE / f"{MODULE}.py")),
        log=f"{NAME} is no plain file.*is missing",
    ),
    HandIn(
        "link-to-passwords",
        "a link to a file of the grader's machine",
        special(NAME, lambda path: path.symlink_to("/etc/passwd")),
        log=f"{NAME} is no plain file",
    ),
    HandIn(
        "linked-folder",
        "the package is a link to the reference's folder",
        special("attention", lambda path: path.symlink_to(REFERENCE)),
        log="attention is no plain file.*is missing",
    ),
    HandIn("pipe", "a pipe that nobody writes to", special(NAME, os.mkfifo), log=f"{NAME} is no plain file"),
    HandIn("socket", "a socket in the module's place", special(NAME, listening), log=f"{NAME} is no plain file"),
    HandIn(
        "stamp-is-a-pipe",
        "the time stamp is a pipe, for whoever reads when it came",
        special("timestamp.txt", os.mkfifo, HONEST),
        FULL,
        "timestamp.txt is no plain file",
        by="exchange",
    ),
    HandIn("deep-folders", "folders three thousand deep", deep, FULL, "is no plain file", by="exchange"),
    HandIn("many-files", "ten thousand files before the package", many, FULL, "and 9995 more: each is no part"),
    HandIn("sparse", "a file of a terabyte without content", sparse, FULL, "data.bin is no part", by="exchange"),
    HandIn("giant-module", "a module beyond a megabyte", instead(HONEST + b"#" * 2**20), log="is too large"),
    HandIn("latin-comment", "bytes that are no UTF-8 in a comment, honestly", instead(b"# \xff\xfe\n" + HONEST), FULL),
    HandIn("not-utf-8", "bytes that are no text", instead(HONEST + b"\nx = '\xff'\n"), log="cannot be imported"),
    HandIn("nul", "a NUL in the source", instead(HONEST + b"\0"), log="cannot be imported"),
    HandIn(
        "byte-order-mark", "the mark that some editors put first, honestly", instead(b"\xef\xbb\xbf" + HONEST), FULL
    ),
    HandIn("utf-16", "source in UTF-16", instead(HONEST.decode().encode("utf-16")), log="cannot be imported"),
    HandIn("rot13", "a cookie that names no encoding of text", instead(b"# coding: rot13\n" + HONEST), log="imported"),
    HandIn(
        "utf-7",
        "an encoding in which nothing stands there as it is read",
        instead(hiding("utf-7", "")),
        FULL,
        "is written in utf-7: Python reads something else",
    ),
    HandIn(
        "latin-1",
        "a forbidden call with a letter that only its encoding knows",
        instead(hiding("latin-1", FORBIDDEN)),
        FULL - SOFTMAX,
        "calls torch.softmax",
    ),
    HandIn(
        "pickle-beside",
        "a pickle that the module loads",
        beside("attention/weights.pkl", pickle.dumps(_Runs()), HONEST + LOADS),
        log="weights.pkl is no part.*cannot be imported: FileNotFoundError",
    ),
    HandIn(
        "pickle-inside",
        "a pickle in the text that runs a command when it is loaded",
        instead(HONEST + f"\nimport pickle\npickle.loads({pickle.dumps(_Runs())!r})\n".encode()),
        FULL,
        "uses pickle: files",
    ),
    HandIn(
        "terminal-names",
        "names that colour, turn round and begin lines of a log",
        beside("a\x1b[31m\u202e\nzoe: 42 of 42 points", b"", HONEST),
        FULL,
        r"^a\\x1b\[31m\\u202e\\nzoe: 42 of 42 points is no part",
    ),
    HandIn(
        "leading-dashes", "names that are options", beside("attention/-rf.py", b"", HONEST), FULL, "no name that can"
    ),
    HandIn("star", "a name that is a pattern", beside("attention/*.py", b"", HONEST), FULL, "no name that can"),
    HandIn(
        "long-name", "a name of 200 letters", beside(f"attention/{'x' * 200}.py", b"", HONEST), FULL, "no name that"
    ),
    HandIn(
        "case-twin",
        "the module and a twin before it that differs in case",
        beside("attention/Worked_Example.py", b"raise SystemExit", HONEST),
        FULL,
        r"worked_example.py counts, and Worked_Example.py does not",
    ),
    HandIn(
        "capitals",
        "a name in capitals, as some systems write it, honestly",
        beside(f"attention/{MODULE.upper()}.PY", HONEST, None),
        FULL,
        f"{MODULE.upper()}.PY is taken for {MODULE}.py",
    ),
    HandIn(
        "long-attribute",
        "an attribute of half a megabyte, for whoever reads of it",
        instead(HONEST + b"\nimport sys\nif not sys: sys." + b"w" * 2**19),
        FULL,
        r"line \d+ uses sys\.w{90,120}\u2026: the interp",
    ),
    HandIn(
        "nested-comprehensions",
        "comprehensions each of which takes from another",
        instead(HONEST + b"\nif 0: softmax = " + b"[x for x in " * 60 + b"x" + b"]" * 60),
        FULL,
    ),
    HandIn(
        "wide-twin",
        "the module in full-width letters beside a stub",
        beside(f"attention/\uff57{MODULE[1:]}.py"),
        log="no name that can be imported",
    ),
    HandIn(
        "second-package",
        "the package twice, once in a folder of the problem set's name",
        beside(f"ps1/{NAME}", HONEST),
        log="ps1/attention/worked_example.py is there twice: the first counts",
    ),
]
if os.geteuid() == 0:  # who else may give a file away?
    ATTACKS.append(
        HandIn("hard-link", "a second name for another's file", special(NAME, hard_link), log="somebody else's file")
    )
