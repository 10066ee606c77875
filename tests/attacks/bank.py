"""The bank of attacks: hostile submissions, each with the verdict it deserves.

An attack on the code that grades is a file `code/<kind>/<name>.py`. It begins with a block

    # /// attack
    # about = "what it tries"
    # module = "worked_example"     the file of the package `attention` that it is handed in as
    # base = "stubs"                "stubs" or "reference": the text of that module before it; the others are the stubs'
    # deserves = 0                  points, or a table: exercise → points, where the others deserve all of theirs
    # log = "longer than"           part of what the instructor must read of it, "" where there is nothing to see
    # costly = "why"                where `make test-all` alone tries it: what it costs, what tries the like each time
    # ///

and goes on with what the attacker adds at the end of the module. Those of the kind "isolation" define `_reached`, which
says whether a wall has fallen; then an exercise fails.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.answer_key.checks import hidden_checks
from autograder.build import stubs
from autograder.course.paths import REFERENCE
from selfcheck.catalogue import in_problem_set, problem_sets

from .texts import ENDLESS, LONG

CODE = Path(__file__).with_name("code")
FALLEN = """

if _reached():

    def softmax(scores, axis=-1):
        raise RuntimeError("a wall has fallen")
"""
BLOCK = re.compile(r"(?m)^# /// attack$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


@dataclass(frozen=True)
class Attack:
    """One hostile submission: files by path, and the verdict.

    deserves: points of every exercise of its problem set, by id
    log: part of what the instructor reads
    costly: why it is not tried in every run; "" where it is
    """

    name: str
    about: str
    problem_set: str
    files: dict[str, bytes]
    deserves: dict[str, int]
    log: str = ""
    costly: str = ""


def full_marks(problem_set: str) -> dict[str, int]:
    """Every exercise's points, the hidden checks' with them."""
    return {
        one.id: sum(one.points.values()) + sum(check.points for check in hidden_checks(one))
        for one in in_problem_set(problem_set)
    }


def problem_set_of(module: str, stated: int | dict[str, int] = 0) -> str:
    """The first problem set that grades a module, and has the exercises that are stated."""
    wanted = set(stated) if isinstance(stated, dict) else set()
    found = (name for name in problem_sets() if wanted <= {one.id for one in in_problem_set(name)})
    return next(name for name in found if any(one.module == module for one in in_problem_set(name)))


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files below a folder by their paths there; the folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def code_attacks() -> list[Attack]:
    """The attacks of the folder `code`."""
    return [_read(path) for path in sorted(CODE.glob("*/*.py"))]


def text_attacks() -> list[Attack]:
    """Sources that are hard to read: none of their exercises was started."""
    stubbed = {name: text.encode() for name, text in stubs.all_stubs().items()}
    return [
        Attack(
            name=f"texts-{name}",
            about=about,
            problem_set="ps1",
            files={
                f"attention/{module}": data + (b"\n\n" + make().encode() if module == "worked_example.py" else b"")
                for module, data in stubbed.items()
            },
            deserves=_deserved("ps1", 0),
            log="is nested too deep: simplify it" if name in {"attributes", *ENDLESS} else "",
            costly="seconds of the processor; attributes exceeds a limit too" if name in ENDLESS else "",
        )
        for name, (about, make) in (LONG | ENDLESS).items()
    ]


def _read(path: Path) -> Attack:
    text = path.read_text(encoding="utf-8")
    block = BLOCK.match(text)
    if not block:
        raise ValueError(f"{path} does not begin with a block `# /// attack`")
    settings = tomllib.loads("".join(line[2:] or "\n" for line in block["content"].splitlines(keepends=True)))
    module, base = settings["module"], settings.get("base", "stubs")
    problem_set = problem_set_of(module, settings["deserves"])
    texts = {name: text.encode() for name, text in stubs.all_stubs().items()}
    if base == "reference":
        texts[f"{module}.py"] = (REFERENCE / f"{module}.py").read_bytes()
        parts = stubs.solution_files_of([texts[f"{module}.py"].decode()])
        texts |= {name: text.encode() for name, text in parts.items()}
    added = text[block.end() :] + (FALLEN if path.parent.name == "isolation" else "")
    texts[f"{module}.py"] += b"\n\n" + added.encode()
    return Attack(
        name=f"{path.parent.name}-{path.stem}",
        about=settings["about"],
        problem_set=problem_set,
        files={f"attention/{name}": data for name, data in texts.items()},
        deserves=_deserved(problem_set, settings["deserves"]),
        log=settings.get("log", ""),
        costly=settings.get("costly", ""),
    )


def _deserved(problem_set: str, stated: int | dict[str, int]) -> dict[str, int]:
    full = full_marks(problem_set)
    if isinstance(stated, dict):
        unknown = stated.keys() - full.keys()
        if unknown:
            raise ValueError(f"{problem_set} has no {', '.join(unknown)}")
        return full | stated
    if stated != 0:
        raise ValueError(f"deserves is 0 or a table, got {stated!r}")
    return dict.fromkeys(full, 0)
