"""A course with verdicts on file that no sandbox was needed for."""

import io
import json
from pathlib import Path

from rich.console import Console

from autograder.answer_key.checks import hidden_checks
from autograder.course.folder import Course
from autograder.report import terminal
from selfcheck.catalogue import in_problem_set


def checks_of(exercise, failed=(), skipped=(), misconception=None):
    """What a record holds of an exercise's checks; `failed` and `skipped` name checks, "all" all of them."""
    points = exercise.points | {check.name: check.points for check in hidden_checks(exercise)}
    found = []
    for name, most in points.items():
        verdict = "passed"
        if name in failed or "all" in failed:
            verdict = "failed"
        elif name in skipped or "all" in skipped:
            verdict = "skipped"
        found.append(
            {
                "check": name,
                "sees": f"what {name} sees",
                "verdict": verdict,
                "points": most if verdict == "passed" else 0,
                "max_points": most,
                "message": "" if verdict == "passed" else "not as it should be",
                "misconception": misconception if verdict == "failed" else None,
                "section": "",
            }
        )
    return found


def file_record(course: Course, student: str, outcome=None, source: str = "", name: str | None = None, **fields):
    """File a record for ps1: outcome is exercise id → the arguments of checks_of, all passed where there are none.

    source: the text of worked_example.py as handed in; name: the record's file, where it is not the student's
    """
    exercises = []
    for exercise in in_problem_set("ps1"):
        checks = checks_of(exercise, **(outcome or {}).get(exercise.id, {}))
        exercises.append(
            {
                "id": exercise.id,
                "number": exercise.number,
                "points": sum(one["points"] for one in checks),
                "max_points": sum(one["max_points"] for one in checks),
                "text": "",
                "checks": checks,
            }
        )
    record = {
        **{"key": "k", "student": student, "problem_set": "ps1", "isolation": "bubblewrap", "grader": "0123"},
        **{"grader_error": False, "remarks": [], "troubles": [], "exercises": exercises, "seconds": 1.0},
    }
    path = course.root / "results" / "ps1" / f"{name or student}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record | fields), encoding="utf-8")
    if source:
        hand_in(course, student, source)


def hand_in(course: Course, student: str, source: str) -> Path:
    """Put a module where a cleaned submission has it."""
    folder = course.submitted(student, "ps1") / "attention"
    folder.mkdir(parents=True)
    (folder / "worked_example.py").write_text(source, encoding="utf-8")
    return folder


def in_a_terminal(report, width=80):
    """The report as plain lines of so many columns."""
    file = io.StringIO()
    Console(file=file, width=width, highlight=False, color_system=None).print(terminal.rendered(report))
    return file.getvalue()
