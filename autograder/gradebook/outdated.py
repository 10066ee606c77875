"""Finds final scores that are stale, by another policy, deadline, extension or mark, and refuses to pass them on."""

from __future__ import annotations

from ..course.folder import Course
from ..course.printable import printable_name
from .errors import NotEntered
from .sync import GradebookSync

MOST_NAMED = 5


class Stale(RuntimeError):
    """Final scores that are not what the course has now; the text names the command that mends them."""


def require_current(course: Course, problem_set: str) -> None:
    """Raises Stale where the gradebook has another deadline or other late penalties than the course gives now."""
    moved, names = _outdated(course, problem_set)
    grade = f"python -m autograder grade {problem_set} --course {course.root}"
    if moved:
        raise Stale(
            f"the deadline of {problem_set} has changed since it was released: run "
            f"`python -m autograder release {problem_set} --course {course.root}`, then `{grade}`, then this once more"
        )
    if names:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        raise Stale(
            f"the late penalty of {', '.join(map(printable_name, names[:MOST_NAMED]))}{more} is not what policy, "
            f"deadline, extension and marks give now: run `{grade}`, then this once more"
        )


def why_stale(course: Course, problem_set: str) -> str:
    """Why the final scores are not what the course has now, and what to run, without a name; "" where they are."""
    moved, names = _outdated(course, problem_set)
    if moved:
        return f"the deadline has changed since {problem_set} was released: run release and grade, then this once more"
    if names:
        many = f"penalties of {len(names)} learners are"
        penalties = "penalty of one learner is" if len(names) == 1 else many
        return (
            f"the late {penalties} not what policy, deadline, extension and marks give now: run grade, then this once "
            "more"
        )
    return ""


def _outdated(course: Course, problem_set: str) -> tuple[bool, list[str]]:
    try:
        with GradebookSync(course, problem_set) as sync:
            return sync.outdated()
    except NotEntered as error:
        raise RuntimeError(str(error)) from error
