"""Reads through nbgrader what gradebooks of the same class hold, and says where they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MOST = 10  # differences told


@dataclass(frozen=True)
class Entered:
    """What a gradebook holds of one submission, by the ids of the grade cells.

    points: automatic score, maximum, and whether a person has still to grade it
    comments: the cells that formgrader has a place for a comment on
    """

    points: dict[str, tuple[float, float, bool]]
    comments: tuple[str, ...]


def entered(root: Path, problem_set: str) -> dict[str, Entered]:
    """What the gradebook of a course folder holds of a problem set, by student."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return {
            submission.student_id: Entered(
                {
                    grade.name: (grade.auto_score or 0.0, grade.max_score, bool(grade.needs_manual_grade))
                    for one in submission.notebooks
                    for grade in one.grades
                },
                tuple(sorted(comment.name for one in submission.notebooks for comment in one.comments)),
            )
            for submission in book.find_assignment(problem_set).submissions
        }


def differences(one: Mapping[str, Entered], other: Mapping[str, Entered], names: tuple[str, str]) -> list[str]:
    """A line for whatever two gradebooks do not have in common."""
    found = []
    for student in sorted(one.keys() | other.keys()):
        if student not in one or student not in other:
            found.append(f"{student}: not in the gradebook of {names[student in one]}")
            continue
        left, right = one[student], other[student]
        for cell in sorted(left.points.keys() | right.points.keys()):
            if left.points.get(cell) != right.points.get(cell):
                told = [
                    f"{name}: {_told(side.points.get(cell))}" for name, side in zip(names, (left, right), strict=True)
                ]
                found.append(f"{student}, {cell}: {', '.join(told)}")
        if left.comments != right.comments:
            found.append(f"{student}: {names[0]} and {names[1]} have places for comments on different cells")
    return found


def undeserved(found: Mapping[str, Entered], expected: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line for each score that is not the expected one; expected: student → grade cell → points."""
    lines = []
    for student, points in expected.items():
        for cell, deserved in points.items():
            got = found[student].points.get(cell) if student in found else None
            if got is None or got[0] != deserved:
                lines.append(f"{student}, {cell}: deserves {deserved}, got {_told(got)}")
    return lines


def without_notebook(root: Path, problem_set: str, students: list[str]) -> list[str]:
    """A line for each student whose autograded notebook, which formgrader shows, is missing or has no results."""
    lines = []
    for student in students:
        path = root / "autograded" / student / problem_set / f"{problem_set}.ipynb"
        if not path.exists():
            lines.append(f"{student}: there is no autograded notebook")
            continue
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            settings = cell["metadata"].get("nbgrader", {})
            results = [one for one in cell.get("outputs", []) if one["output_type"] == "execute_result"]
            if cell["cell_type"] == "code" and settings.get("grade") and not results:
                lines.append(f"{student}: the autograded notebook shows no result of {settings['grade_id']}")
    return lines


def _told(points: tuple[float, float, bool] | None) -> str:
    if points is None:
        return "nothing"
    return f"{points[0]:g} of {points[1]:g}{', to be graded by a person' if points[2] else ''}"
