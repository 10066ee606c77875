"""Refuses to pass on final scores that are stale: a late penalty by another policy, deadline, extension or mark."""

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
    try:
        with GradebookSync(course, problem_set) as sync:
            moved, names = sync.outdated()
    except NotEntered as error:
        raise RuntimeError(str(error)) from error
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
