"""Puts a result into the cells of a submitted notebook, where execution would have put its output."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping

from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.utils import is_grade, is_solution

from ..judge.result import ExerciseOutcome, Result
from .safe_html import source_text

COLUMNS = 100  # characters of a line in a cell's output
LEAD = re.compile(r" *(?:[^\w\s] )?")
GRADE_CELL = re.compile(r'(?:#[^\r\n]*\n)?check\("([a-z_]+\.\w+)"\)')  # with the line for a restart, which came later


def put_result(nb: NotebookNode, result: Result, files: Mapping[str, bytes]) -> None:
    """Put the verdicts of a result, and the submitted text of the modules they are about, into a notebook's cells.

    Raises RuntimeError for a grade cell whose exercise has no verdict, ValueError for one that checks no exercise.
    """
    outcomes = {exercise.id: exercise for exercise in result.exercises}
    nb.cells = list(_with_sources(nb.cells, files))
    for cell in nb.cells:
        exercise = exercise_of(cell)
        if exercise and exercise not in outcomes:
            raise RuntimeError(f"there is no verdict on {exercise}: release the problem set again")
        if exercise:
            cell.outputs = _outputs(outcomes[exercise], result.isolation)


def exercise_of(cell: NotebookNode) -> str | None:
    """The exercise that a grade cell checks; None for any other cell, ValueError for one that checks none."""
    if not is_grade(cell) or is_solution(cell) or cell.cell_type != "code":
        return None
    call = GRADE_CELL.fullmatch(cell.source.strip())
    if not call:
        raise ValueError(f"the grade cell {cell.metadata.nbgrader.grade_id} does not call check(...): release again")
    return call[1]


def _outputs(outcome: ExerciseOutcome, isolation: str) -> list[NotebookNode]:
    """The outcome as text, then the points as the number nbgrader reads; nothing on stderr, which would be zero."""
    points = f"{outcome.points} of {outcome.max_points} points (isolation: {isolation})"
    text = f"{wrapped(outcome.text)}\n\n{points}\n"
    return from_dict(
        [
            {"output_type": "stream", "name": "stdout", "text": text},
            {
                "output_type": "execute_result",
                "data": {"text/plain": str(float(outcome.points))},
                "metadata": {},
                "execution_count": 1,
            },
        ]
    )


def wrapped(text: str) -> str:
    """The text in lines that a page shows without scrolling sideways, each kept at its indentation."""
    lines = []
    for line in text.splitlines():
        lead = LEAD.match(line)
        indent = " " * (lead.end() if lead else 0)  # under the text, not under its mark
        lines += textwrap.wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return "\n".join(lines)


def _with_sources(cells: list[NotebookNode], files: Mapping[str, bytes]) -> Iterator[NotebookNode]:
    """The cells, with each module's submitted text in a cell before the first grade cell that is about it."""
    inserted = set()
    for cell in cells:
        exercise = exercise_of(cell)
        module = exercise.partition(".")[0] if exercise else None
        if module and module not in inserted:
            inserted.add(module)
            text = source_text(files.get(f"{module}.py", b""))
            source = (
                f"# submitted: attention/{module}.py\n{text}" if text else f"# attention/{module}.py was not submitted"
            )
            yield from_dict(
                {
                    "cell_type": "code",
                    "id": f"submitted-{module}".replace("_", "-"),
                    "metadata": {},
                    "source": source,
                    "execution_count": None,
                    "outputs": [],
                }
            )
        yield cell
