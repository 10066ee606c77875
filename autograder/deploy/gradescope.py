"""Judges one submission where Gradescope starts it, and writes the results.json that Gradescope reads."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfcheck.atomic_files import write_atomically
from selfcheck.catalogue import Exercise, in_problem_set

from ..course.folder import Course
from ..course.printable import printable_line
from ..intake import store
from ..intake.hand_in import hand_in
from ..judge.cache import result_of
from ..judge.result import ExerciseOutcome, Result
from ..sandbox.bubblewrap import SandboxUnavailable, open_sandbox

SETTINGS = "bundle.json"
STUDENT = "submission"  # whose it is, Gradescope knows
VISIBILITIES = ("visible", "after_due_date", "after_published")
MOST_NAME = 100  # characters
MOST_OUTPUT = 20_000  # characters of a test's output
Tree = dict[str, Any]


def main(autograder: Path) -> None:
    """Judge what lies in `submission` and write `results/results.json`; exits with 1, without it, at a fault of ours.

    autograder: the folder that is /autograder at Gradescope, with the bundle in `source`
    """
    source = autograder / "source"
    settings = json.loads((source / SETTINGS).read_text(encoding="utf-8"))
    try:
        open_sandbox(settings["isolation"])
        results = _results(source / "course", autograder / "submission", settings)
    except SandboxUnavailable as error:
        sys.exit(f"Nothing was graded. {error}\nThe guide's section on Gradescope says what can be done.")
    results["tests"][-1]["output"] = "\n".join([*_owners(autograder), results["tests"][-1]["output"]])
    write_atomically(autograder / "results" / "results.json", json.dumps(results, indent=1))


def _owners(autograder: Path) -> list[str]:
    """Who handed it in and when, by Gradescope's word; nothing where it does not say."""
    try:
        said = json.loads((autograder / "submission_metadata.json").read_text(encoding="utf-8"))
        names = ", ".join(printable_line(str(user["name"]), MOST_NAME) for user in said["users"])
        return [f"handed in by {names}, {printable_line(str(said['created_at']), MOST_NAME)}"]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _results(course_folder: Path, submission: Path, settings: Tree) -> Tree:
    problem_set, visibility = settings["problem_set"], settings["visibility"]
    with tempfile.TemporaryDirectory(prefix="attention-course-") as place:
        shutil.copytree(course_folder, place, dirs_exist_ok=True)
        course = Course.open(place)
        try:
            hand_in(course, STUDENT, problem_set, submission)
        except ValueError as error:  # it is no submission to this problem set: its owner can mend that
            policy = course.policy
            return refused(str(error), [policy.with_points(exercise) for exercise in policy.exercises(problem_set)])
        taken = store.take_in(course, STUDENT, problem_set)
        result = result_of(course, taken, settings["isolation"])
    if result.grader_error:
        sys.exit("Nothing was graded: the grader failed, not the submission. Run it again.")
    return results_of(result, visibility)


def results_of(result: Result, visibility: str) -> Tree:
    """What Gradescope shows of a result: a test for each exercise, with what the learner's feedback page says of it.

    No time that it took: code can take longer for some hidden inputs than for others, and so tell of them.
    Names and messages of hidden checks, and remarks on the submission, stand in a test that only staff sees.
    """
    tests = [_test(outcome, result.problem_set, visibility) for outcome in result.exercises]
    return {
        "tests": [*tests, _for_staff(result)],
        "visibility": visibility,
        "stdout_visibility": "hidden",
        "test_output_format": "text",
        "test_name_format": "text",
        "extra_data": {"isolation": result.isolation, "grader": result.grader, "secret": result.secret},
    }


def refused(why: str, exercises: Sequence[Exercise]) -> Tree:
    """The results of what is no submission to the problem set: no points yet, and what to hand in instead."""
    text = f"This was not graded, and can be handed in again: {why}"
    most = sum(exercise.max_points for exercise in exercises)
    return {
        "score": 0.0,
        "output": text,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {"name": "Submission", "status": "failed", "score": 0.0, "max_score": float(most), "visibility": "visible"},
            {"name": "For staff: what came", "output": text, "output_format": "text", "visibility": "hidden"},
        ],
    }


def _test(outcome: ExerciseOutcome, problem_set: str, visibility: str) -> Tree:
    title = next((exercise.title for exercise in in_problem_set(problem_set) if exercise.id == outcome.id), outcome.id)
    return {
        "number": outcome.number,
        "name": f"Exercise {outcome.number}: {title}",
        "score": float(outcome.points),
        "max_score": float(outcome.max_points),
        "status": "passed" if outcome.points == outcome.max_points else "failed",
        "output": outcome.text[:MOST_OUTPUT],
        "output_format": "text",
        "visibility": visibility,
    }


def _for_staff(result: Result) -> Tree:
    took = [] if result.seconds is None else [f"judged in {result.seconds:g} seconds"]
    lines = [f"isolation: {result.isolation}", *took, *result.remarks]
    for outcome in result.exercises:
        for check in outcome.checks:
            told = " ".join(filter(None, (check.message, check.untold)))
            lines.append(
                f"{outcome.number} {check.sees}: {check.verdict}, {check.points} of {check.max_points}. {told}"
            )
    return {
        "name": "For staff: every check, and remarks on the submission",
        "output": "\n".join(lines)[:MOST_OUTPUT],
        "output_format": "text",
        "visibility": "hidden",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
