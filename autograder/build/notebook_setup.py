"""Writes the first cell of a notebook, which finds the course and the packages that the notebook needs."""

from __future__ import annotations

import ast
import functools
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from string import Template

from ..course.paths import BOOK, SOLUTIONS
from .urls import repository

__all__ = ["packages", "setup_source"]

#: Five lines; `selfcheck.notebook` does the rest. Where git fails, its words and the comment stand in the cell's error.
CELL = """\
# @title Set-up: run this cell first
import importlib.util, os, subprocess, sys
sys.path[:0] = [os.path.abspath(at) for at in ("../../src", "../src", "src", "$name/src") if os.path.isdir(at)]
$fetch  # offline? put a copy of the course beside this notebook
from selfcheck.notebook import $names
DEVICE, DTYPE = set_up($folders, $needs)"""
#: Git is to ask nobody for a password: `true` answers for them.
FETCH = (
    'if not importlib.util.find_spec("selfcheck"): '
    'print("Fetching the course …"); '
    'subprocess.run("git -c core.askPass=true clone --quiet --depth 1 --branch $branch $url", shell=True, check=True); '
    'sys.path.insert(0, os.path.abspath("$name/src"))'
)
#: Imported here under their own name only.
OURS = {"attention", "autograder", "benchmarks", "selfcheck"}


def setup_source(folders: Iterable[str], needs: Iterable[str] = (), names: str = "set_up") -> str:
    """The cell's code.

    folders: what of the course goes on Python's path; needs: the packages that the notebook imports
    names: what it takes from `selfcheck.notebook`
    """
    home = repository()
    listed = {name: json.dumps(list(values)) for name, values in {"folders": folders, "needs": needs}.items()}
    text = CELL.replace("$fetch", FETCH)
    return Template(text).substitute(listed, branch=home.branch, url=home.url, name=home.name, names=names)


def packages(sources: Iterable[str], package: str = "") -> list[str]:
    """The packages that pieces of Python import at their top level, themselves or through a module of the course.

    package: the course's package that the pieces stand in, if they do
    """
    needed: set[str] = set()
    visited: set[str] = set()
    waiting = [(source, package) for source in sources]
    while waiting:
        for name in _imported(*waiting.pop()):
            first = name.partition(".")[0]
            if name in visited or first in sys.stdlib_module_names:
                continue
            visited.add(name)
            files = _files(name)
            waiting += [(file.read_text("utf-8"), first if file.parent.name == first else "") for file in files]
            if not files and first not in OURS:
                needed.add(first)
    return sorted(needed)


@functools.cache
def _imported(source: str, package: str) -> list[str]:
    """The modules that code of a package imports at its top level; of `from a import b` both a and a.b."""
    lines = ["" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines()]
    names = []
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = ".".join(filter(None, [package if node.level else "", node.module]))
            names += [home, *(f"{home}.{alias.name}" for alias in node.names)]
    return names


def _files(name: str) -> list[Path]:
    """The course's files behind a module's name: one beside the pages, or those of the reference and the benchmarks."""
    path = name.replace(".", "/")
    places = [BOOK / f"{path}.py", SOLUTIONS / f"{path}.py", SOLUTIONS / path / "__main__.py"]
    return [place for place in places if place.is_file()]
