"""Migrates nbgrader's gradebook to a release that has more or fewer cells than the one that was graded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..course.folder import Course

if TYPE_CHECKING:
    from nbformat import NotebookNode

Cells = dict[str, dict[str, Any]]  # a cell's name and what nbgrader's table says of it


def migrate_gradebook(course: Course, problem_set: str, notebook: NotebookNode) -> None:
    """Give the gradebook the cells of a problem set's new source notebook, and take from it those that are gone.

    nbgrader itself changes points and texts, and refuses a cell more or less once a submission is graded.
    Raises ValueError, and changes nothing, where marks that were given by hand would be lost.
    """
    from nbgrader.api import Comment, Grade, GradeCell, MissingEntry, SolutionCell, SourceCell

    from .nbgrader import api

    with api(course).gradebook as book:
        try:
            known = book.find_notebook(problem_set, problem_set)
        except MissingEntry:
            return
        if not known.submissions:
            return  # nbgrader makes it anew
        kinds = (GradeCell, known.grade_cells), (SolutionCell, known.solution_cells), (SourceCell, known.source_cells)
        plans = [(kind, now, wanted) for (kind, now), wanted in zip(kinds, _wanted(notebook), strict=True)]
        _refuse_to_lose_marks(problem_set, [cell for cell in known.grade_cells if cell.name not in plans[0][2]])
        for kind, now, wanted in plans:
            for cell in now:
                if cell.name in wanted:
                    continue
                for row in () if kind is SourceCell else [*cell.grades, *cell.comments]:
                    book.db.delete(row)
                book.db.delete(cell)
            for name in wanted.keys() - {cell.name for cell in now}:
                cell = kind(name=name, notebook=known, **wanted[name])
                rows = {GradeCell: Grade, SolutionCell: Comment}.get(kind)
                book.db.add_all(
                    [cell, *(rows(cell=cell, notebook=submitted) for submitted in known.submissions if rows)]
                )
        book.db.commit()


def graded_in_gradebook(course: Course, problem_set: str) -> list[str]:
    """The names of the cells that the gradebook has marks for in a problem set; none where it was never released."""
    from nbgrader.api import MissingEntry

    from .nbgrader import api

    with api(course).gradebook as book:
        try:
            return [cell.name for cell in book.find_notebook(problem_set, problem_set).grade_cells]
        except MissingEntry:
            return []


def _wanted(notebook: NotebookNode) -> tuple[Cells, Cells, Cells]:
    """The cells that nbgrader keeps a row of: graded ones, those to be answered, and all whose text it puts back."""
    graded: Cells = {}
    answered: Cells = {}
    sources: Cells = {}
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader", {})
        name = settings.get("grade_id")
        if settings.get("grade"):
            graded[name] = {"max_score": float(settings["points"]), "cell_type": cell.cell_type}
        if settings.get("solution"):
            answered[name] = {}
        if settings.get("grade") or settings.get("solution") or settings.get("locked"):
            sources[name] = {"cell_type": cell.cell_type, "source": cell.source, "locked": settings["locked"]}
    return graded, answered, sources


def _refuse_to_lose_marks(problem_set: str, gone: list[Any]) -> None:
    marked = {cell.name: sum(grade.manual_score is not None for grade in cell.grades) for cell in gone}
    named = ", ".join(f"{name} ({count})" for name, count in sorted(marked.items()) if count)
    if named:
        raise ValueError(
            f"a new release of {problem_set} would lose marks that you gave by hand, on {named}: keep these cells in "
            "it, or take the marks away in formgrader first. The release is as it was"
        )
