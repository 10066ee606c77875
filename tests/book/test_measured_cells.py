"""What a page measures decides no test: the cells whose words follow from it are tagged, and these alone."""

from __future__ import annotations

import ast
import copy
import os
import sys
from functools import cache
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.build.cell_outputs import MEASURED
from autograder.build.executed_pages import (
    COMMITTED,
    SETTINGS,
    Record,
    differences,
    notebooks_of_pages,
    read,
)
from autograder.course.paths import BOOK

#: What reads a clock, and what weighs other processes.
METERS = {"time.process_time", "time.perf_counter", "peak_memory.peak_memory"}
PAGES = {page: notebook for page, notebook in notebooks_of_pages() if page.startswith(("chapters/", "deeper/"))}
#: Imported by a kernel before all else: clocks that tell nothing but the order of their calls.
SCRAMBLED = """
import random, time
steps, total = random.Random(0), [0.0]
def clock():
    total[0] += 10 ** steps.uniform(-5, -2)
    return total[0]
time.process_time = time.perf_counter = clock
"""


def _imported(code: ast.AST) -> dict[str, str]:
    """Name → what it is imported as, such as studies.efficient.forward."""
    found = {}
    for node in ast.walk(code):
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            found |= {one.asname or one.name: source + one.name for one in node.names}
    return found


def _named(code: ast.AST, imported: dict[str, str], module: str = "") -> set[str]:
    """What a piece of code refers to, by full name where that is known: studies.efficient.forward."""
    found = set()
    for node in ast.walk(code):
        if isinstance(node, ast.Name):
            found.add(imported.get(node.id, f"{module}{node.id}"))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{imported.get(node.value.id, node.value.id)}.{node.attr}")
    return found


@cache
def _measuring() -> set[str]:
    """The functions of the book's modules that read a meter, themselves or through others."""
    refers: dict[str, set[str]] = {}
    for file in [*BOOK.glob("*.py"), *(BOOK / "studies").glob("*.py")]:
        module = f"{file.relative_to(BOOK).with_suffix('').as_posix().replace('/', '.')}."
        tree = ast.parse(file.read_text("utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                refers[module + node.name] = _named(node, _imported(tree), module)
    found = set(METERS)
    while more := {name for name, others in refers.items() if others & found} - found:
        found |= more
    return found


def _measured_cells(notebook: NotebookNode) -> list[bool]:
    """Of each code cell, whether it uses what a meter gave, here or in a cell above."""
    imported: dict[str, str] = {}
    measured, found = set(_measuring()), []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            lines = (line for line in cell.source.splitlines() if not line.startswith(("%", "!")))
            tree = ast.parse("\n".join(lines))
            imported |= _imported(tree)
            uses = [statement for statement in tree.body if _taints(statement, imported, measured)]
            found.append(bool(uses))
    return found


def _taints(statement: ast.stmt, imported: dict[str, str], measured: set[str]) -> bool:
    """Whether a statement uses what a meter gave; what it binds or defines follows from the meter then."""
    uses = bool(_named(statement, imported) & measured)
    if uses:
        nodes = list(ast.walk(statement))
        measured |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        measured |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return uses


def _tagged(notebook: NotebookNode) -> list[bool]:
    return [MEASURED in cell.metadata.get("tags", ()) for cell in notebook.cells if cell.cell_type == "code"]


def test_only_cells_that_use_a_measurement_of_this_execution_are_tagged() -> None:
    tagged = {page: notebook for page, notebook in PAGES.items() if any(_tagged(notebook))}
    assert len(tagged) >= 6
    for page, notebook in tagged.items():
        needless = [
            number
            for number, (tag, uses) in enumerate(
                zip(_tagged(notebook), _measured_cells(notebook), strict=True), start=1
            )
            if tag and not uses
        ]
        assert needless == [], page


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [page for page, notebook in PAGES.items() if any(_measured_cells(notebook))])
def test_with_clocks_that_tell_nothing_the_other_cells_say_the_same(page: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SCRAMBLED, "utf-8")
    paths = [str(tmp_path), *sys.path]
    notebook = copy.deepcopy(PAGES[page])
    client = NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str((BOOK / page).parent)}})
    client.execute(env={**os.environ, **SETTINGS, "PYTHONPATH": os.pathsep.join(paths)})
    executed = Record.of(page, {}, notebook, 0.0)
    assert differences(read(COMMITTED, page), executed, PAGES[page]) == []
