"""Gathers what one learner's page says: verdicts, marks, times, and what was handed in as it was graded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from ...course.durations import day, moment, span
from ...course.folder import Course
from ...course.releases import release_file
from ...judge.cache import read_result
from ...judge.result import Result
from .. import penalty_facts
from ..autograded_folder import autograded
from ..cells import GRADE_CELL
from ..marks import Mark, MarkedSet, Marks
from .verdicts import Verdict, verdict_of

SUBMITTED = "submitted-"  # what the id of a cell with a learner's module begins with
PROMPT = "-prompt"  # what the name of a question's own cell ends with


class NoFeedback(RuntimeError):
    """Why a learner has no page, and what to do."""


@dataclass(frozen=True)
class Exercise:
    """A verdict with its mark. most: in the gradebook; by_hand: None where nobody set the points by hand"""

    verdict: Verdict
    points: float
    most: float
    by_hand: float | None
    extra: float


@dataclass(frozen=True)
class Question:
    """A written question, Markdown as it was written. answer: "" where nobody answered; points: None until marked

    again: whether the mark counts, and waits for another look
    """

    title: str
    prompt: str
    answer: str
    points: float | None
    most: float
    extra: float
    comment: str
    again: bool


@dataclass(frozen=True)
class Facts:
    """What a page says. modules: the text of each that was handed in, None for one that was not

    handed_in, due, extended: in words, "" where unknown or none; late: how late, "" in time
    remarks: what intake did with what came
    """

    student: str
    name: str
    problem_set: str
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...]
    modules: Mapping[str, str | None]
    remarks: tuple[str, ...]
    handed_in: str
    due: str
    extended: str
    late: str
    penalty: float
    final: float
    most: float
    isolation: str
    judged: str
    grader: str

    @property
    def waiting(self) -> int:
        """How many written questions nobody has marked yet."""
        return sum(question.points is None for question in self.questions)


class Gathering:
    """Gathers the facts of everybody on one problem set; marked: what the gradebook holds."""

    def __init__(self, course: Course, problem_set: str, marked: MarkedSet) -> None:
        self._course, self._problem_set, self._marked = course, problem_set, marked
        self._roster = course.roster
        said = course.settings.deadline(problem_set)
        self._zone: tzinfo = (said and said.tzinfo) or UTC
        self._released = _cells(self._read(release_file(course, problem_set)))

    def of(self, student: str) -> Facts:
        """A learner's facts; NoFeedback where there is no grade that all places agree on."""
        marks = self._marked.marks.get(student)
        result = read_result(self._course.result_file(student, self._problem_set))
        again = f"run grade {self._problem_set}, then this once more"
        if marks is None or result is None or result.grader_error:
            raise NoFeedback(f"there is no grade: {again}")
        notebook = self._read(autograded(self._course, student, self._problem_set) / f"{self._problem_set}.ipynb")
        cells = _cells(notebook)
        try:
            exercises = tuple(self._exercises(cells, marks, result))
        except KeyError:
            raise NoFeedback(f"the gradebook holds other exercises than the verdicts: {again}") from None
        if any(exercise.verdict.points != mark for exercise, mark in exercises):
            raise NoFeedback(f"the verdicts on file are not in the gradebook yet: {again}")
        person = self._roster.people.get(student) if self._roster else None
        late = penalty_facts.seconds_late(marks.handed_in, self._marked.due, marks.extension)
        due = self._marked.due
        return Facts(
            student,
            (person.name if person else "") or marks.name,
            self._problem_set,
            tuple(exercise for exercise, _ in exercises),
            tuple(self._questions(cells, marks)),
            _modules(notebook),
            result.remarks[: len(result.remarks) - len(result.troubles)],
            self._moment(marks.handed_in),
            self._moment(due),
            self._moment(due + marks.extension) if due and marks.extension else "",
            span(late) if late else "",
            marks.penalty,
            marks.final,
            sum(self._marked.most.values()),
            result.isolation,
            self._day(_read_time(result.graded)),
            result.grader,
        )

    def _read(self, path: Any) -> dict[str, Any]:
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise NoFeedback(f"{path} is missing: run grade {self._problem_set} again") from None

    def _exercises(self, cells: Mapping[str, Any], marks: Marks, result: Result) -> list[tuple[Exercise, float | None]]:
        """Each exercise that a cell checks, and the points that the gradebook has of the checks."""
        outcomes = {outcome.id: outcome for outcome in result.exercises}
        exercises = []
        for name, cell in cells.items():
            is_graded = cell["cell_type"] == "code" and cell["metadata"]["nbgrader"].get("grade")
            call = GRADE_CELL.fullmatch(_source(cell).strip()) if is_graded else None
            if call:
                mark, most = marks.cells.get(name, Mark()), self._marked.most[name]
                exercise = Exercise(verdict_of(outcomes[call[1]]), mark.points, most, mark.by_hand, mark.extra)
                exercises.append((exercise, mark.automatic))
        return exercises

    def _questions(self, cells: Mapping[str, Any], marks: Marks) -> list[Question]:
        named: list[tuple[str, str]] = []
        for name, cell in self._released.items():
            if cell["metadata"]["nbgrader"].get("solution") and name in self._marked.most:
                prompt = self._released.get(f"{name}{PROMPT}")
                named.append((name, _source(prompt) if prompt else ""))
        questions = []
        for number, (name, prompt) in enumerate(named, start=1):
            mark, answer = marks.cells.get(name, Mark()), _source(cells[name]).strip() if name in cells else ""
            again = mark.waits and mark.by_hand is not None
            is_empty = answer in ("", _source(self._released[name]).strip())
            questions.append(
                Question(
                    f"Question {number}" if len(named) > 1 else "Question",
                    prompt,
                    "" if is_empty else answer,
                    mark.points if again or not mark.waits else None,
                    self._marked.most[name],
                    mark.extra,
                    mark.comment,
                    again,
                )
            )
        return questions

    def _moment(self, when: datetime | None) -> str:
        return moment(when.replace(tzinfo=UTC).astimezone(self._zone)) if when else ""

    def _day(self, when: datetime | None) -> str:
        """No hour: it follows from how long the code took that was judged before, which could tell of its inputs."""
        return day(when.astimezone(self._zone)) if when else ""


def _cells(notebook: dict[str, Any]) -> dict[str, Any]:
    """The cells that nbgrader knows, by name, in their order."""
    known = ((cell["metadata"].get("nbgrader", {}), cell) for cell in notebook["cells"])
    return {settings["grade_id"]: cell for settings, cell in known if "grade_id" in settings}


def _read_time(text: str) -> datetime | None:
    """A time of a record, in UTC; None for what is none."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)


def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])


def _modules(notebook: dict[str, Any]) -> dict[str, str | None]:
    """The modules that grading has put into a notebook, by name."""
    sources: dict[str, str | None] = {}
    for cell in notebook["cells"]:
        if cell.get("id", "").startswith(SUBMITTED):
            head, _, text = _source(cell).partition("\n")
            name = head.partition("attention/")[2].partition(".py")[0]
            sources[name] = text if head.startswith("# submitted: ") else None
    return sources
