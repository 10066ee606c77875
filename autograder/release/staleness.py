"""Notices a release that is stale: other points, cells or another deadline than the course has now."""

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
from .moved import require_own_exercises


class ReleaseAgain(ValueError):
    """What was released is not what the course's settings and the repository have now."""


def check_release(course: Course, problem_set: str) -> None:
    """Raises ReleaseAgain where the released notebook has other points or another deadline than the course has now.

    Raises SetMoved where it was released with exercises that are in other problem sets now, SettingsError for a further
    hidden check that cannot be used. A problem set that was never released passes: `GradebookSync` raises NotEntered.
    """
    require_own_exercises(course, problem_set)
    check_extra_checks(course)
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
    expected = {slug(exercise): policy.with_points(exercise).max_points for exercise in policy.exercises(problem_set)}
    differences = [
        f"{name} has {points.get(name, 'no cell')} and should have {most} points"
        for name, most in expected.items()
        if points.get(name) != most
    ]
    differences += [
        f"{name} has {most} points and should have none"
        for name, most in points.items()
        if most and name not in expected
    ]
    if deadline != (due and due.isoformat()):
        differences.append(f"the deadline is {deadline or 'none'} and should be {due.isoformat() if due else 'none'}")
    if differences:
        raise ReleaseAgain(
            f"the released notebook is not what the course has now: {'; '.join(differences)}. Run release "
            f"{problem_set} again (what was handed in and your marks stay), then this once more"
        )


def released_deadline(course: Course, problem_set: str) -> datetime | None:
    """The deadline that stands in the present release; None where there is none."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):  # no release, or a damaged one
        deadline = _deadline(json.loads(release_file(course, problem_set).read_text(encoding="utf-8")))
        return datetime.fromisoformat(deadline) if deadline else None
    return None


def _deadline(notebook: dict[str, Any]) -> str | None:
    return notebook["metadata"].get(METADATA_KEY, {}).get("deadline")


def _grade_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """nbgrader's settings of each cell that an exercise's checks grade."""
    all_settings = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return [settings for settings in all_settings if settings.get("grade") and not settings.get("solution")]


def check_extra_checks(course: Course) -> None:
    """Raises SettingsError, with file and line, for a further hidden check of a course that cannot be used."""
    try:
        try_checks(course.policy)
    except InvalidCheck as error:
        raise SettingsError(f"{course.settings.hidden_checks}/{error}") from error
