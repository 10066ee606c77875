"""Compares gradebooks of the same class."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Scores:
    """The scores of one submission in a gradebook, by the ids of the grade cells.

    points: automatic score, maximum, and whether a person has still to grade it
    comments: the cells that formgrader has a place for a comment on
    """

    points: dict[str, tuple[float, float, bool]]
    comments: tuple[str, ...]


def read_scores(root: Path, problem_set: str) -> dict[str, Scores]:
    """The scores of a problem set in the gradebook of a course folder, by student."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return {
            submission.student_id: Scores(
                {
                    grade.name: (grade.auto_score or 0.0, grade.max_score, bool(grade.needs_manual_grade))
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                },
                tuple(sorted(comment.name for notebook in submission.notebooks for comment in notebook.comments)),
            )
            for submission in book.find_assignment(problem_set).submissions
        }


def differences(left_book: Mapping[str, Scores], right_book: Mapping[str, Scores], names: tuple[str, str]) -> list[str]:
    """A line for each difference between two gradebooks."""
    lines = []
    for student in sorted(left_book.keys() | right_book.keys()):
        if student not in left_book or student not in right_book:
            lines.append(f"{student}: not in the gradebook of {names[student in left_book]}")
            continue
        left, right = left_book[student], right_book[student]
        for cell in sorted(left.points.keys() | right.points.keys()):
            if left.points.get(cell) != right.points.get(cell):
                sides = [
                    f"{name}: {_score_text(side.points.get(cell))}"
                    for name, side in zip(names, (left, right), strict=True)
                ]
                lines.append(f"{student}, {cell}: {', '.join(sides)}")
        if left.comments != right.comments:
            lines.append(f"{student}: {names[0]} and {names[1]} have places for comments on different cells")
    return lines


def undeserved(scores: Mapping[str, Scores], expected: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line for each score that is not the expected one; expected: student → grade cell → points."""
    lines = []
    for student, points in expected.items():
        for cell, deserved in points.items():
            got = scores[student].points.get(cell) if student in scores else None
            if got is None or got[0] != deserved:
                lines.append(f"{student}, {cell}: deserves {deserved}, got {_score_text(got)}")
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
            results = [output for output in cell.get("outputs", []) if output["output_type"] == "execute_result"]
            if cell["cell_type"] == "code" and settings.get("grade") and not results:
                lines.append(f"{student}: the autograded notebook shows no result of {settings['grade_id']}")
    return lines


def _score_text(points: tuple[float, float, bool] | None) -> str:
    if points is None:
        return "nothing"
    return f"{points[0]:g} of {points[1]:g}{', to be graded by a person' if points[2] else ''}"
