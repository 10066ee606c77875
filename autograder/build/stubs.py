"""Makes the learner's stubs from the reference by stripping its marked regions.

A region runs from `# solution: begin` to `# solution: end`. Inside a function it becomes a NotImplementedError that
names the exercise; one that begins with `(drop)` disappears.
"""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

from selfcheck.catalogue import Exercise, exercises
from selfcheck.source import parse

from ..course.paths import REFERENCE

HEADER = "# Generated from the reference. Write your answers here: `build` overwrites only a file nobody has edited. "
BEGIN = re.compile(r"^(?P<indent> *)# solution: begin(?P<drop> \(drop\))?$")
END = re.compile(r"^ *# solution: end$")


def strip(source: str, module: str) -> str:
    """The stub of a module's source; ValueError for a region that is not closed or belongs to no exercise."""
    numbers = {exercise.symbol: exercise for exercise in reversed(exercises()) if exercise.module == module}
    owners = _owners(source)
    kept: list[str] = []
    inside: re.Match | None = None
    for number, line in enumerate(source.splitlines(), start=1):
        begins = BEGIN.match(line)
        if begins and inside is None:
            inside = begins
            if not begins["drop"]:
                kept.append(f"{begins['indent']}{_refusal(module, owners.get(number), numbers)}")
        elif END.match(line) and inside is not None:
            inside = None
        elif begins or END.match(line):
            raise ValueError(f"{module}.py line {number}: a solution region is opened twice or closed twice")
        elif inside is None:
            kept.append(line)
    if inside is not None:
        raise ValueError(f"{module}.py: a solution region is not closed")
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept).rstrip() + "\n")


def _owners(source: str) -> dict[int, str]:
    """The top-level function or class that each line belongs to."""
    tree = parse(source) or ast.Module([], [])
    nodes = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return {line: node.name for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 2)}


def _refusal(module: str, owner: str | None, numbers: dict[str, Exercise]) -> str:
    if owner not in numbers:
        raise ValueError(
            f"{module}.py: a solution region in {owner or 'the module'} belongs to no exercise of the catalogue"
        )
    exercise = numbers[owner]
    return f'raise NotImplementedError("exercise {exercise.number}: {exercise.title}")'


def stub(module_file: Path) -> str:
    """The whole text of a stub file, its header with a digest of the rest first."""
    body = module_file.read_text(encoding="utf-8")
    if not module_file.name.startswith("_"):
        body = strip(body, module_file.stem)
    return f"{HEADER}{digest(body)}\n{body}"


def digest(body: str) -> str:
    """Twelve hexadecimal digits of a stub's text without its header."""
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def edited(text: str) -> bool:
    """Whether a stub file was changed since it was generated: its header's digest is not that of the rest."""
    first, _, body = text.partition("\n")
    return not first.startswith(HEADER) or first.removeprefix(HEADER) != digest(body)


def given_files() -> list[str]:
    """The names of the package's files that hold no exercise and are the same for a learner as in the reference."""
    return sorted(path.name for path in REFERENCE.glob("_*.py"))


def all_stubs() -> dict[str, str]:
    """The text of every file of the stub package, by file name."""
    return {path.name: stub(path) for path in sorted(REFERENCE.glob("*.py"))}


def write_stubs(folder: Path) -> list[Path]:
    """Write pristine stubs into a folder; returns the paths that hold a learner's work, which are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = []
    for name, text in all_stubs().items():
        path = folder / name
        now = path.read_text(encoding="utf-8") if path.exists() else None
        if now is not None and edited(now):
            if now != text:
                kept.append(path)
        elif now != text:
            path.write_text(text, encoding="utf-8")
    return kept
