"""Packs what the exercises of a page run on: selfcheck, one problem set without solutions, and Python's own library."""

from __future__ import annotations

import gzip
import io
import json
import tokenize
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from selfcheck.catalogue import in_problem_set, modules_of

from ..course.paths import BOOK, HANDED_OUT, RECORDED, REFERENCE, ROOT, SELFCHECK
from .exercise_text import definition
from .stubs import strip

__all__ = ["IN_PAGE", "PROBLEM_SET", "PYODIDE", "course_files", "handed_in", "lock_file", "page_files", "pressed"]

PROBLEM_SET = "ps1"
IN_PAGE = BOOK / "in_page"
PYODIDE = ROOT / "node_modules" / "pyodide"
#: What a page never does: start programs and servers, read keys, draw tables for a terminal.
LEFT_OUT = frozenset(
    [
        "__main__",
        "buttons",
        "commands",
        "handed",
        "keyboard",
        "notebook",
        "numpy_checks",
        "overview",
        "saving",
        "served",
        "server",
        "supervision",
        "terminal",
        "torch_ahead",
        "watch",
    ]
)
DAY = (1980, 1, 1, 0, 0, 0)
NOTICE = (
    "Files of Python's standard library, copyright Python Software Foundation, under the PSF License Agreement,\n"
    "https://docs.python.org/3/license.html; the folders pyodide and _pyodide are of Pyodide, under the MPL 2.0.\n"
    "Comments are removed.\n"
)


def course_files() -> dict[str, str]:
    """By their paths in the page's file system, the texts of selfcheck, of the stubs and of NumPy's stand-in."""
    modules = modules_of(PROBLEM_SET)
    files = {"in_the_page.py": _text(IN_PAGE / "python" / "in_the_page.py")}
    for path in sorted((IN_PAGE / "numpy").glob("*.py")):
        files[f"numpy/{path.name}"] = _text(path)
    for path in sorted(SELFCHECK.glob("*.py")):
        if path.stem not in LEFT_OUT:
            files[f"selfcheck/{path.name}"] = _text(path)
    files["selfcheck/sections.json"] = _text(SELFCHECK / "sections.json")
    for path in sorted((SELFCHECK / "catalogue").glob("*.py")):
        files[f"selfcheck/catalogue/{path.name}"] = _text(path)
    for path in sorted((SELFCHECK / "catalogue").glob("*.toml")):
        files[f"selfcheck/catalogue/{path.name}"] = _text(path) if path.stem in modules else _in_outline(path)
    for path in sorted(RECORDED.glob("*.py")):
        files[f"selfcheck/recorded/{path.name}"] = _text(path)
    files["attention/__init__.py"] = strip(_text(REFERENCE / "__init__.py"), "__init__")
    checks = SELFCHECK / "checks"
    for path in (
        checks / "__init__.py",
        *(path for module in modules for path in sorted(checks.glob(f"*{module}*.py"))),
    ):
        files[f"selfcheck/checks/{path.name}"] = _text(path)
    for module in modules:
        files[f"selfcheck/recorded/{module}.json"] = _text(RECORDED / f"{module}.json")
        files[f"selfcheck/stubs/{module}.txt"] = _text(HANDED_OUT / f"{module}.txt")
    return files


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _in_outline(path: Path) -> str:
    """A file of the catalogue with no more of each exercise than messages on others may name."""
    table = tomllib.loads(_text(path))
    library = f"library = {json.dumps(table['library'])}\n" if "library" in table else ""
    return library + "".join(_outline(entry) for entry in table["exercise"])


def _outline(entry: dict[str, Any]) -> str:
    kept = {name: entry[name] for name in ("id", "number", "title", "problem_set", "section", "minutes", "difficulty")}
    kept |= {"prompt": "", "hints": [], "hidden_points": 0}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in kept.items()]
    return "".join(("\n[[exercise]]\n", *lines, "points = {}\n"))


def standard_library(wanted: Iterable[str]) -> bytes:
    """Python's own library as Pyodide has it, with these files alone: a zip that comes out the same each time."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(PYODIDE / "python_stdlib.zip") as whole,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as part,
    ):
        for name in sorted(set(wanted)):
            part.writestr(zipfile.ZipInfo(name, DAY), uncommented(whole.read(name)), zipfile.ZIP_DEFLATED, 9)
        part.writestr(zipfile.ZipInfo("NOTICE.txt", DAY), NOTICE, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def uncommented(source: bytes) -> bytes:
    """The same code on the same lines without its comments, a fifth of what a page would fetch of it."""
    lines = source.decode("utf-8").split("\n")
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines).encode()


def lock_file() -> str:
    """What Pyodide asks for before it starts: its own list of packages, without packages."""
    info = json.loads(_text(PYODIDE / "pyodide-lock.json"))["info"]
    return json.dumps({"info": info, "packages": {}}, sort_keys=True)


def page_files() -> dict[str, bytes]:
    """The files that a page fetches to check its exercises, by name."""
    names = _text(IN_PAGE / "standard_library.txt").split()
    files = {name: (IN_PAGE / name).read_bytes() for name in ("page.js", "worker.js")}
    files |= {name: (PYODIDE / name).read_bytes() for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")}
    files["python_stdlib.zip"] = standard_library(names)
    files["course.json"] = json.dumps(course_files(), ensure_ascii=False, sort_keys=True).encode()
    files["lock.json"] = lock_file().encode()
    files["modules.json"] = json.dumps(handed_in(), ensure_ascii=False, sort_keys=True).encode()
    return files


def handed_in() -> dict[str, Any]:
    """What the page packs for `submit`: by path a text, or its pieces, some of which an editor's text replaces."""
    files: dict[str, Any] = {"attention/__init__.py": strip(_text(REFERENCE / "__init__.py"), "__init__")}
    for module in modules_of(PROBLEM_SET):
        source = _text(HANDED_OUT / f"{module}.txt")
        pieces: list[dict[str, str]] = []
        done = 0
        for exercise in in_problem_set(PROBLEM_SET):
            if exercise.module == module:
                text = definition(source, exercise.symbol)
                place = source.index(text, done)
                pieces += [{"text": source[done:place]}, {"number": exercise.number, "text": text}]
                done = place + len(text)
        files[f"attention/{module}.py"] = [*pieces, {"text": source[done:]}]
    return files


def pressed(data: bytes) -> bytes:
    """The data in gzip's format, without the time."""
    return gzip.compress(data, 9, mtime=0)
