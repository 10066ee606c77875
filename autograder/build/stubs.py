"""Makes the learner's stubs from the reference by stripping its marked regions.

Inside a function a region becomes a NotImplementedError that names the exercise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from selfcheck.catalogue import Exercise, exercises
from selfcheck.source import parse
from selfcheck.untouched import digest_of, is_untouched

from ..course.paths import REFERENCE
from .solution_marks import Region, regions, replace_regions

WORD = re.compile(r"[A-Za-z_]\w*")
#: The first line of a stub with exercises, and of a file that is given, up to the digest of the rest. By that the build
#: tells whether anybody has edited the file, and leaves it alone then.
HEADER = "# Generated: write your answers where it raises NotImplementedError. As it was handed out: "
GIVEN_HEADER = "# Generated: given, with nothing to write in it. As it was handed out: "


def strip(source: str, module: str, solved: Collection[str] = ()) -> str:
    """The stub of a module's source; ValueError for a region that is not closed or belongs to no exercise.

    solved: names of functions and classes that stay as they are, with the dropped regions that define what they use
    """
    numbers = {exercise.symbol: exercise for exercise in reversed(exercises()) if exercise.module == module}
    owners = _owners(source)

    def refusal(region: Region) -> str:
        return "" if region.drop else _refusal(module, owners.get(region.begin), numbers)

    try:
        solutions = regions(source)
    except ValueError as error:
        raise ValueError(f"{module}.py, {error}") from None
    kept = _needed(source, solutions, [region for region in solutions if owners.get(region.begin) in solved])
    solutions = [region for region in solutions if region not in kept]
    return re.sub(r"\n{4,}", "\n\n\n", replace_regions(source, solutions, refusal).rstrip() + "\n")


def _needed(source: str, solutions: list[Region], kept: list[Region]) -> list[Region]:
    """These regions and the dropped ones that define a name which they use, and so on."""
    lines = source.splitlines()
    texts = {region: "\n".join(lines[region.begin : region.end - 1]) for region in solutions}
    kept, waiting = list(kept), list(kept)
    while waiting:
        words = set(WORD.findall(texts[waiting.pop()]))
        new = [
            solution
            for solution in solutions
            if solution.drop and solution not in kept and words & _defined(texts[solution])
        ]
        kept += new
        waiting += new
    return kept


def _defined(text: str) -> set[str]:
    """The names that a region between definitions defines or imports."""
    names: set[str] = set()
    for node in (parse(text) or ast.Module([], [])).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return names


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


def stub(module_file: Path, solved: Collection[str] = ()) -> str:
    """The whole text of a stub file, its header with a digest of the rest first; solved: see `strip`."""
    body = module_file.read_text(encoding="utf-8")
    if not module_file.name.startswith("_"):
        body = strip(body, module_file.stem, solved)
    header = HEADER if "raise NotImplementedError" in body else GIVEN_HEADER
    return f"{header}{digest_of(body.encode())}\n{body}"


def edited(text: str) -> bool:
    """Whether a stub file was changed since it was generated."""
    return not is_untouched(text.encode())


def solution_files() -> list[str]:
    """The names of the package's private files that are part of a solution: they hold `# solution: begin (drop)`."""
    private = sorted(REFERENCE.glob("_*.py"))
    return [path.name for path in private if any(region.drop for region in regions(path.read_text(encoding="utf-8")))]


def solution_files_of(sources: Iterable[str]) -> dict[str, str]:
    """The text of the private files that are part of these modules' solutions, by file name, as they import them."""
    given: dict[str, str] = {}
    waiting = list(sources)
    while waiting:
        source = waiting.pop()
        for name in solution_files():
            if name not in given and f"from .{name.removesuffix('.py')} " in source:
                given[name] = (REFERENCE / name).read_text(encoding="utf-8")
                waiting.append(given[name])
    return given


def given_files() -> list[str]:
    """The names of the package's files that hold no exercise and are the same for a learner as in the reference."""
    return sorted({path.name for path in REFERENCE.glob("_*.py")} - set(solution_files()))


def all_stubs() -> dict[str, str]:
    """The text of every file of the stub package, by file name; what is part of a solution has none."""
    files = sorted({path.name for path in REFERENCE.glob("*.py")} - set(solution_files()))
    return {name: stub(REFERENCE / name) for name in files}


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
