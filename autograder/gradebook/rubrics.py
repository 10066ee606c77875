"""Reads the model answers and the rubrics of the written questions, which graders alone see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..course.paths import ROOT

__all__ = ["FOLDER", "Criterion", "MarkingGuide", "marking_guides"]

FOLDER = ROOT / "autograder" / "answer_key" / "questions"  # a file for each problem set, ps1.md
HEADING = re.compile(r"^## (\S+)$", re.MULTILINE)
CRITERION = re.compile(r"- (\d+(?:\.5)?): (\S.*)")


@dataclass(frozen=True)
class Criterion:
    """What an answer gets points for; text is Markdown."""

    points: float
    text: str


@dataclass(frozen=True)
class MarkingGuide:
    """What a grader needs for one written question; answer is Markdown."""

    question: str
    rubric: tuple[Criterion, ...]
    answer: str

    @property
    def points(self) -> float:
        """What the criteria add up to."""
        return sum(criterion.points for criterion in self.rubric)


@cache
def marking_guides(problem_set: str) -> dict[str, MarkingGuide]:
    """The guides of a problem set by their question's name; none where there is no file for it.

    Raises ValueError, with file and question, for a question without a rubric or without an answer.
    """
    path = FOLDER / f"{problem_set}.md"
    if not path.exists():
        return {}
    _, *parts = HEADING.split(path.read_text(encoding="utf-8"))
    return {name: _guide(name, text, path.name) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _guide(name: str, text: str, file: str) -> MarkingGuide:
    """A rubric is a list, `- POINTS: what for`, each criterion on a line; all that follows is the answer."""
    lines = text.strip().splitlines()
    rubric = []
    while lines and (match := CRITERION.fullmatch(lines[0])):
        rubric.append(Criterion(float(match[1]), match[2]))
        del lines[0]
    answer = "\n".join(lines).strip()
    if not rubric or not answer or answer.startswith("- "):
        raise ValueError(f"{file}, {name}: expected a list `- POINTS: what for`, a blank line and the model answer")
    return MarkingGuide(name, tuple(rubric), answer)
