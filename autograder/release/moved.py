"""Notices a problem set of a course that was released with exercises which are in other problem sets now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from contextlib import suppress

from selfcheck.catalogue import Exercise, exercises, in_problem_set, problem_sets

from ..build.exercise_text import slug
from ..course.folder import Course
from ..course.releases import by_grade_id, release_file


class SetMoved(ValueError):
    """A problem set was released with exercises of other problem sets: what has moved, and what to do."""


def moved_away(problem_set: str, cells: Iterable[str]) -> list[Exercise]:
    """Of the exercises that these grade cells are for, those that are in other problem sets now; in order.

    cells: the ids of the grade cells of a notebook of that set
    """
    names, own = set(cells), {exercise.id for exercise in in_problem_set(problem_set)}
    return [exercise for exercise in exercises() if slug(exercise) in names and exercise.id not in own]


def what_has_moved(problem_set: str, moved: Collection[Exercise]) -> str:
    """A sentence on the exercises that a problem set had and has no longer."""
    places: dict[str, list[str]] = {}
    for exercise in moved:
        places.setdefault(exercise.problem_set, []).append(f"{exercise.id} ({exercise.title})")
    told = "; ".join(f"to {place}: {', '.join(names)}" for place, names in places.items())
    now = ", ".join(exercise.id for exercise in in_problem_set(problem_set))
    return f"{problem_set} has other exercises now than when it was released. Moved {told}. {problem_set} now has {now}"


def moved_in(course: Course, problem_set: str, more: Iterable[str] = ()) -> str:
    """What has moved from a released problem set and what to do, in a few sentences; "" where nothing has.

    more: the ids of further grade cells that are known of it
    """
    moved = moved_away(problem_set, {*_released_cells(course, problem_set), *more})
    if not moved:
        return ""
    return (
        f"{what_has_moved(problem_set, moved)}. What was handed in and graded in {course.root} stays as it is. Grade "
        "this set with the version of Attention by Hand that released it (0.5.0 or earlier); release today's sets into "
        "a new course folder, with --course"
    )


def require_own_exercises(course: Course, problem_set: str, more: Iterable[str] = ()) -> None:
    """Raises SetMoved where the released set has exercises that are in other problem sets now.

    more: the ids of further grade cells that are known of it
    """
    told = moved_in(course, problem_set, more)
    if told:
        raise SetMoved(told)


def require_new_exercises(course: Course, problem_set: str) -> None:
    """Raises SetMoved where another problem set of the course was released with exercises of this one."""
    for other in problem_sets():
        moved = moved_away(other, _released_cells(course, other)) if other != problem_set else []
        if any(exercise.problem_set == problem_set for exercise in moved):
            raise SetMoved(
                f"{problem_set} has exercises that this course has released as {other}, and would ask for them twice: "
                f"{moved_in(course, other)}"
            )


def _released_cells(course: Course, problem_set: str) -> set[str]:
    """The ids of the grade cells of the released notebook and of its source; of what is there and can be read."""
    cells: set[str] = set()
    for path in (release_file(course, problem_set), course.source(problem_set) / f"{problem_set}.ipynb"):
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            cells |= by_grade_id(json.loads(path.read_text(encoding="utf-8"))).keys()
    return cells
