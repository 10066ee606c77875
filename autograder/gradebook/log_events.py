"""What a result changes of what the log of a course says, with the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..course.printable import printable_name
from ..judge.result import Result
from . import penalty_facts
from .entry import GradebookEntry
from .log_chain import CHANGES, Event, Standing, points_of
from .overrides import EXTRA

Changes = dict[str, list[Any]]  # name → [before, after]


def new_event(before: Standing | None, result: Result, entry: GradebookEntry, regraded: bool) -> Event | None:
    """What a result and its gradebook entry say that the log does not; None where that is nothing.

    regraded: whether the instructor asked to judge again what has not changed
    """
    was: dict[str, dict[str, Any]] = {name: getattr(before, name) if before else {} for name in CHANGES}
    now: dict[str, dict[str, Any]] = {
        "exercises": points_of(result),
        "files": dict(result.files),
        "by_hand": was["by_hand"] if entry.by_hand is None else dict(entry.by_hand),
        "late": was["late"] if entry.late is None else penalty_facts.explaining(was["late"], entry.late),
    }
    changes = {name: _changes(was[name], now[name]) for name in CHANGES}
    penalty = list(penalty_facts.reasons(was["late"], now["late"], before is None))
    given = [override.text for override in entry.overrides if _concerns(changes["by_hand"], override.cell)]
    if before and before.holds(result) and not changes["by_hand"] and not penalty:
        return None
    why = [*penalty, *_reasons(before, result, changes, regraded)] if before else ["first grading", *penalty]
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "student": result.student,
        "problem_set": result.problem_set,
        "points": [sum(was["exercises"].values()) if before else None, sum(now["exercises"].values())],
        "of": result.max_points,
        "final": entry.final,
        "why": [*why, *(f"points for code changed by hand: {text}" for text in given)],
        "mistakes": mistakes_of(result),
        **changes,
        **{name: getattr(result, name) for name in ("key", "graded", "grader", "secret")},
        "terms": result.policy,
        "isolation": result.isolation,
    }


def mistakes_of(result: Result) -> dict[str, list[str]]:
    """The misconceptions that the verdicts name, by exercise, each once; exercises with none are left out."""
    named = {
        exercise.id: list(dict.fromkeys(check.misconception for check in exercise.checks if check.misconception))
        for exercise in result.exercises
    }
    return {exercise: mistakes for exercise, mistakes in named.items() if mistakes}


def _reasons(before: Standing, result: Result, changes: dict[str, Changes], regraded: bool) -> Iterator[str]:
    """Why a result was reached again, or another one."""
    last, decided = before.last, False
    if changes["files"]:
        decided = True
        yield f"handed in again: {', '.join(map(printable_name, changes['files']))}"
    for name, what in (("grader", "the grader"), ("secret", "the course's secret"), ("isolation", "the isolation")):
        if last[name] != getattr(result, name):
            decided = True
            yield f"{what} changed: {last[name] or 'unknown'} → {getattr(result, name) or 'unknown'}"
    if last["terms"] != result.policy and last["secret"] == result.secret:
        decided = True
        yield "the course's settings or its further hidden checks changed"
    if not decided and last["key"] != result.key:
        decided = True
        yield "what it is judged by changed"
    if changes["by_hand"]:
        yield f"marks given by hand changed: {', '.join(map(printable_name, changes['by_hand']))}"
    if last["graded"] != result.graded:
        if regraded:
            yield "--regrade"
        elif not decided:
            yield "judged again: its record was gone"
    if changes["exercises"] and not decided:
        yield "another verdict on the same work by the same rules: ask why"


def _concerns(by_hand: Changes, cell: str) -> bool:
    """Whether the mark of a cell, or the extra credit on it, has changed."""
    return not by_hand.keys().isdisjoint((cell, f"{cell}{EXTRA}"))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    names = sorted(before.keys() | after.keys())
    return {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}
