"""Finds in the names of what was handed in where the package and the notebook are, whatever folders are around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath

from selfcheck.catalogue import exercises, modules_of, problem_sets

from ..course.printable import counted, printable_name

Parts = tuple[str, ...]
PACKAGE = "attention"
#: What systems, browsers and programs leave beside a learner's files.
DROPPINGS = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "$RECYCLE.BIN", ".selfcheck.json"}
#: What comes with a release or a clone of the course; modules of the same names in it are not the learner's.
NOT_THEIRS = {"selfcheck", "solutions"}
#: What browsers and learning platforms add to a name that is there already: "ps1 (1)", "ps1-1".
AGAIN = re.compile(r"(.+?)(?: ?\(\d{1,3}\)|-\d{1,3}|_\d{1,3})")
MOST_UNKNOWN = 20  # notebooks whose names say nothing: each is read to see what it is
MOST_LISTED = 8  # names that a refusal tells


@dataclass(frozen=True)
class Layout:
    """Where the parts of a submission are, by the names alone.

    top: the folder that everything lies in; package: the folder of the modules, None where there is none
    notebook: the name that is taken for the problem set's notebook; modules: names in the package that stand for others
    others: the notebooks of other problem sets, by problem set; unknown: notebooks that no name tells anything of
    refusal: why nothing can be taken, "" where something can
    """

    top: Parts = ()
    package: Parts | None = None
    notebook: Parts | None = None
    modules: dict[str, str] = field(default_factory=dict)
    others: dict[str, Parts] = field(default_factory=dict)
    unknown: tuple[Parts, ...] = ()
    refusal: str = ""


def parts_of(name: str) -> Parts:
    return PurePosixPath(name).parts


def is_dropping(parts: Parts) -> bool:
    """Whether a file was left by a system or a program, and says nothing."""
    return any(part in DROPPINGS or (part.startswith(".") and not part.startswith("..")) for part in parts)


def find_layout(names: Iterable[str], problem_set: str) -> Layout:
    """Where the package and the notebook of a problem set are among these names; "" for a package alone."""
    paths = [parts for parts in map(parts_of, names) if _may_count(parts)]
    packages = _packages(paths, problem_set)
    notebooks = [parts for parts in paths if parts[-1].casefold().endswith(".ipynb")]
    own = [parts for parts in notebooks if parts[-1].casefold() == f"{problem_set}.ipynb"]
    own = own or [parts for parts in notebooks if _set_of(parts[-1]) == problem_set]
    package, refusal = _chosen(packages, problem_set, {parts[:-1] for parts in own})
    around = () if package is None else package[:-1] if package and _is_package(package) else package
    notebook = min(own, key=lambda parts: (parts[:-1] != around, len(parts)), default=None)
    top = around if package is not None else notebook[:-1] if notebook else ()
    return Layout(
        top,
        package,
        notebook,
        {} if package is None else _meant(packages[package]),
        {of: parts for parts in notebooks if (of := _set_of(parts[-1])) not in ("", problem_set)},
        tuple(islice((parts for parts in notebooks if not _set_of(parts[-1]) and parts not in own), MOST_UNKNOWN)),
        refusal,
    )


def listing(names: Sequence[str]) -> str:
    """What was found, for a refusal: the first names, and how many more."""
    shown = [name for name in names if not is_dropping(parts_of(name))] or list(names)
    told = [printable_name(name) or "what has no name" for name in shown[:MOST_LISTED]]
    more = [f"and {counted(len(shown) - MOST_LISTED, 'file')} more"] if len(shown) > MOST_LISTED else []
    return ", ".join([*told, *more]) or "nothing"


def expected(problem_set: str) -> str:
    """What a problem set asks for."""
    modules = ", ".join(f"{PACKAGE}/{module}.py" for module in modules_of(problem_set))
    return f"{modules} and {problem_set}.ipynb"


def _may_count(parts: Parts) -> bool:
    if not parts or parts[0] == "/" or ".." in parts or is_dropping(parts):
        return False
    return NOT_THEIRS.isdisjoint(parts[:-1])


def _is_package(folder: Parts) -> bool:
    return bool(folder) and folder[-1].casefold() == PACKAGE


def _packages(paths: list[Parts], problem_set: str) -> dict[Parts, list[str]]:
    """The folders that may be the package, with the names of the files of Python in them.

    Those that are named so, else those where a module of the course lies.
    """
    folders: defaultdict[Parts, list[str]] = defaultdict(list)
    for parts in paths:
        if parts[-1].casefold().endswith(".py"):
            folders[parts[:-1]].append(parts[-1])
    named = {folder: files for folder, files in folders.items() if _is_package(folder)}
    if named or not problem_set:
        return named
    known = _known()
    return {folder: files for folder, files in folders.items() if known.intersection(map(_without_count, files))}


def _chosen(packages: dict[Parts, list[str]], problem_set: str, beside: set[Parts]) -> tuple[Parts | None, str]:
    """The folder that is meant, or why nobody can tell."""
    if not packages:
        return None, ""
    own = {f"{module}.py" for module in modules_of(problem_set)} if problem_set else _known()

    def rank(folder: Parts) -> tuple[bool, bool, int]:
        has_own = bool(own.intersection(map(_without_count, packages[folder])))
        around = folder[:-1] if _is_package(folder) else folder
        return not has_own, around not in beside, len(folder)

    first, *others = sorted(packages, key=lambda folder: (rank(folder), folder))
    equal = [folder for folder in others if rank(folder) == rank(first)]
    if equal and not rank(first)[0]:
        places = " and ".join(printable_name("/".join(folder) or ".") for folder in (first, equal[0]))
        return None, f"the modules are there more than once, in {places}"
    return first, ""


def _meant(files: list[str]) -> dict[str, str]:
    """The files that stand for a module of the course under another name: {"masks (1).py": "masks.py"}, MASKS.PY."""
    meant: dict[str, str] = {}
    for name in sorted(files):
        plain = _without_count(name)
        if plain != name and plain not in files and plain not in meant.values():
            meant[name] = plain
    return meant


def _without_count(name: str) -> str:
    """The name of a module that a browser has numbered, or a system has in capitals; any other name as it is."""
    known, folded = _known(), name[:100].casefold()
    stem = AGAIN.fullmatch(folded.removesuffix(".py"))
    return next((meant for meant in (folded, f"{stem[1]}.py" if stem else "") if meant in known), name)


def _known() -> set[str]:
    return {f"{exercise.module}.py" for exercise in exercises()}


def _set_of(name: str) -> str:
    """The problem set that a notebook's name tells: of "ps1 (1).ipynb", "Copy of PS1.ipynb" it is ps1; "" for none."""
    named_sets = re.findall(r"(?<![a-z0-9])ps\d{1,3}(?![0-9])", name[:200].casefold())
    return named_sets[0] if len(set(named_sets)) == 1 and named_sets[0] in problem_sets() else ""
