"""Whether a problem set still is what was released of it, as far as points and cells go."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

from ..answer_key.validate import try_checks
from ..build.exercise_text import slug
from ..course.extra_checks import InvalidCheck
from ..course.folder import Course
from ..course.releases import release_file
from ..course.settings import METADATA_KEY, SettingsError


class ReleaseAgain(ValueError):
    """What was released is not what the course's settings and the repository have now."""


def check_release(course: Course, problem_set: str) -> None:
    """Raises ReleaseAgain where the released notebook has other points or another deadline than the course has now.

    Raises SettingsError for a further hidden check that cannot be used. What was never released is told elsewhere.
    """
    check_extra(course)
    path = release_file(course, problem_set)
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        points = {settings["grade_id"]: settings["points"] for settings in _grade_cells(notebook)}
        deadline = _deadline(notebook)
    except FileNotFoundError:
        return
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ReleaseAgain(f"{path} is damaged ({type(error).__name__}): run release {problem_set} again") from None
    policy, due = course.policy, course.settings.deadline(problem_set)
    expected = {slug(one): policy.with_points(one).max_points for one in policy.exercises(problem_set)}
    told = [
        f"{name} has {points.get(name, 'no cell')} and should have {most} points"
        for name, most in expected.items()
        if points.get(name) != most
    ]
    told += [
        f"{name} has {most} points and should have none"
        for name, most in points.items()
        if most and name not in expected
    ]
    if deadline != (due and due.isoformat()):
        told.append(f"the deadline is {deadline or 'none'} and should be {due.isoformat() if due else 'none'}")
    if told:
        raise ReleaseAgain(
            f"the released notebook is not what the course has now: {'; '.join(told)}. Run release {problem_set} again "
            "(what was handed in and your marks stay), then this once more"
        )


def told_deadline(course: Course, problem_set: str) -> datetime | None:
    """The deadline that learners were told with the present release; None where there is none."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):  # no release, or a damaged one
        told = _deadline(json.loads(release_file(course, problem_set).read_text(encoding="utf-8")))
        return datetime.fromisoformat(told) if told else None
    return None


def _deadline(notebook: dict[str, Any]) -> str | None:
    return notebook["metadata"].get(METADATA_KEY, {}).get("deadline")


def _grade_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """nbgrader's settings of each cell that an exercise's checks grade."""
    found = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return [settings for settings in found if settings.get("grade") and not settings.get("solution")]


def check_extra(course: Course) -> None:
    """Raises SettingsError, with file and line, for a further hidden check of a course that cannot be used."""
    try:
        try_checks(course.policy)
    except InvalidCheck as error:
        raise SettingsError(f"{course.settings.hidden_checks}/{error}") from error
