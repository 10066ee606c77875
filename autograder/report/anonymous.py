"""Hides who is who in a class report: each learner gets a number that only the course's secret leads to."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..course.folder import Course
from ..gradebook.scores import Score

if TYPE_CHECKING:
    from .summary import ClassReport

Value = TypeVar("Value")
APART = r"\s;,:`'\"()"  # what stands between words
#: A word with a dot or a slash within it. It is looked for where a word begins, in time that grows with its length.
FILE = rf"(?<![^{APART}])[^{APART}/.]*[/.][^{APART}]*\w"


def aliases_of(course: Course, students: Iterable[str]) -> dict[str, str]:
    """A name for each of these learners that says nothing of theirs, the same in every report on the same learners."""
    secret = course.secret

    def rank(student: str) -> bytes:
        # As the name of a folder, an id need not be text.
        return hmac.digest(secret, b"alias " + student.encode(errors="surrogateescape"), "sha256")

    ranked = sorted(set(students), key=rank)
    return {student: f"learner {number}" for number, student in enumerate(ranked, start=1)}


def without_names(report: ClassReport) -> ClassReport:
    """A report in which every learner bears the alias, and no id, name or address is left; sections are."""
    alias = report.aliases.__getitem__

    def named(students: Iterable[str]) -> list[str]:
        return sorted(map(alias, students), key=number_of)

    def by_alias(
        table: Mapping[str, Value], change: Callable[[Value], Value] = lambda value: value
    ) -> dict[str, Value]:
        return {key: change(value) for key, value in sorted(((alias(name), table[name]) for name in table), key=_first)}

    def told(reasons: list[str]) -> list[str]:
        return [_without(text, report.aliases) for text in reasons]

    def nameless(score: Score) -> Score:
        return replace(score, student=alias(score.student), last_name="", first_name="", email="", lms_id="")

    similar = replace(
        report.similar,
        groups=tuple(replace(group, students=tuple(named(group.students))) for group in report.similar.groups),
        published=tuple((module, tuple(named(students))) for module, students in report.similar.published),
        unread=tuple(named(report.similar.unread)),
    )
    exercises = [
        replace(
            exercise,
            points=by_alias(exercise.points),
            passed=named(exercise.passed),
            blank=named(exercise.blank),
            missing=named(exercise.missing),
            misconceptions={name: named(students) for name, students in exercise.misconceptions.items()},
        )
        for exercise in report.exercises
    ]
    return replace(
        report,
        exercises=exercises,
        totals=by_alias(report.totals),
        looks=by_alias(report.looks, told),
        seconds=by_alias(report.seconds),
        used=by_alias(report.used),
        attempts=by_alias(report.attempts),
        ungraded=named(report.ungraded),
        absent=sorted(map(nameless, report.absent), key=lambda score: number_of(score.student)),
        scores=by_alias(report.scores, nameless),
        aliases={},
        hidden=True,
        similar=similar,
    )


def number_of(alias: str) -> int:
    """The number in an alias, for sorting."""
    return int(alias.rpartition(" ")[2])


def _first(item: tuple[str, Any]) -> int:
    return number_of(item[0])


def _without(text: str, aliases: Mapping[str, str]) -> str:
    """A remark without the ids of learners. In a file's name an id may be part of a word; elsewhere it is one."""
    ids = {student.casefold(): alias for student, alias in aliases.items() if len(student) > 2}
    if not ids:
        return text
    either = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
    anywhere = re.compile(either, re.IGNORECASE)

    def alias(match: re.Match[str]) -> str:
        return ids.get(match[0].casefold(), "learner")

    def nameless(match: re.Match[str]) -> str:
        return anywhere.sub(alias, match[0]) if match["file"] else alias(match)

    return re.sub(rf"(?P<file>{FILE})|(?<![^\W_])(?:{either})(?![^\W_])", nameless, text, flags=re.IGNORECASE)
