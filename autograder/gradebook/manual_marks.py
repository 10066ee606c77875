"""Manual marks: which of them still stand when a submission is graded again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rows import Sheet

Seen = tuple[str, float | None, str]  # what a marker read: the cell's text, its points, the submitted module's text


def settled(sheet: Sheet) -> dict[str, float | None]:
    """The cells with a manual mark that waits for nobody: name, and the automatic points beside the mark."""
    return {
        name: grade.auto_score
        for name, grade in sheet.grades.items()
        if grade.manual_score is not None and not grade.needs_manual_grade
    }


def let_stand(sheet: Sheet, marked: dict[str, float | None], before: Path, after: str) -> None:
    """Ask for no new look where the marker would see the same as before.

    nbgrader asks for one at every mark of a submission that is graded again.
    marked: what was settled; before: the autograded notebook that was marked; after: the text of the new one
    """
    if not marked or not before.exists():
        return
    then, now = _seen(before.read_text(encoding="utf-8")), _seen(after)
    for name, points in marked.items():
        if name in then and then[name] == now.get(name) and sheet.grades[name].auto_score == points:
            sheet.grades[name].needs_manual_grade = False


def _seen(text: str) -> dict[str, Seen]:
    cells: dict[str, Seen] = {}
    submitted = ""
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        settings = cell["metadata"].get("nbgrader", {})
        if cell.get("id", "").startswith("submitted-"):
            submitted += source
        if settings.get("grade"):
            code = submitted if cell["cell_type"] == "code" else ""
            cells[settings["grade_id"]] = (source, settings.get("points"), code)
    return cells
