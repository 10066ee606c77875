"""Judges a package against one problem set: stages it, has it answer in the sandbox, compares outside."""

from __future__ import annotations

from typing import Any

from selfcheck.catalogue import Exercise, exercises, modules_of, problem_sets
from selfcheck.reach import forbidden_call
from selfcheck.source import text_of
from selfcheck.verdict import (
    FAILED,
    GRADER_ERROR,
    CheckResult,
    ExerciseResult,
    judge,
    skip_where_dependencies_fail,
)

from ..answer_key.keys import keys_of
from ..answer_key.reference import hidden_checks
from ..build.stubs import given_files
from ..course.paths import REFERENCE
from ..course.policy import Terms
from ..intake.submission import Submission
from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from .protocol import GraderFault
from .schedule import Asking

#: Added to a reference module that stands in for a learner's: what it lacks is looked for in the learner's own text.
FALLBACK = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module("._submitted_{module}", __package__), name)
"""


def judge_problem_set(
    submission: Submission, problem_set: str, terms: Terms, sandbox: Sandbox, tally: Tally | None = None
) -> list[ExerciseResult]:
    """The verdicts of every exercise of a problem set that counts by the terms, with its points by them.

    The modules of earlier problem sets are the reference's, so that an early mistake costs once; those of this one and
    of later ones are never in the sandbox except as the learner wrote them. An exercise that is left out is as the
    learner wrote it, and nothing is skipped for its sake.
    tally: what the submission used is added there
    """
    results = _judged(submission, problem_set, terms, sandbox, tally or Tally())
    return [terms.weigh(result) for result in results]


def _judged(
    submission: Submission, problem_set: str, terms: Terms, sandbox: Sandbox, tally: Tally
) -> list[ExerciseResult]:
    chosen = terms.exercises(problem_set)
    files = stage_files(submission, problem_set)
    keys = {exercise: keys_of(exercise, terms) for exercise in chosen}
    try:
        answers = Asking(files, keys, sandbox, tally).everything()
    except GraderFault as fault:
        return [_no_grade(exercise, terms, str(fault)) for exercise in chosen]

    def source_of(module: str) -> str:
        return text_of(files.get(f"{module}.py", b""))

    def written(module: str) -> str:
        before = files.get(f"_submitted_{module}.py")  # what the reference that stands in for it defines comes later
        return f"{text_of(before)}\n{source_of(module)}" if before else source_of(module)

    results = []
    for exercise in chosen:
        forbidden = forbidden_call(source_of(exercise.module), exercise.symbol, exercise.forbidden, written)
        given, differences = answers[exercise]
        results.append(judge(exercise, keys[exercise], given, forbidden, differences))
    failed = {result.exercise.id for result in results if not result.passed}
    results = [_name_missing_module(result, terms, submission) for result in results]
    return skip_where_dependencies_fail(results, lambda name: name not in failed, source_of)


def stage_files(submission: Submission, problem_set: str) -> dict[str, bytes]:
    """What the package in the sandbox consists of.

    A helper that a learner wrote into a module of an earlier problem set is still found there.
    """
    sets = problem_sets()
    graded = modules_of(problem_set)
    earlier = {module for name in sets[: sets.index(problem_set)] for module in modules_of(name)} - set(graded)
    files = submission.files | {name: (REFERENCE / name).read_bytes() for name in given_files()}
    for module in sorted(earlier):
        name = f"{module}.py"
        files[name] = (REFERENCE / name).read_bytes()
        if name in submission.files:
            files[name] += FALLBACK.format(module=module).encode()
            files[f"_submitted_{name}"] = submission.files[name]
    return files


def _name_missing_module(result: ExerciseResult, terms: Terms, submission: Submission) -> ExerciseResult:
    name = f"{result.exercise.module}.py"
    if name in submission.files:
        return result
    message = f"{name} is missing from the submission"
    return _all_checks(result.exercise, terms, FAILED, message, "missing")


def _no_grade(exercise: Exercise, terms: Terms, message: str) -> ExerciseResult:
    text = f"The grader failed, not the answer: {message}. It will be graded again."
    return _all_checks(exercise, terms, GRADER_ERROR, text, "")


def _all_checks(exercise: Exercise, terms: Terms, verdict: str, message: str, kind: str) -> ExerciseResult:
    hidden = {check.name: check.points for check in hidden_checks(exercise, terms.extra)}
    return ExerciseResult(
        exercise,
        tuple(
            CheckResult(name, name, verdict, 0, points, message, hidden=name in hidden, kind=kind)
            for name, points in (exercise.points | hidden).items()
        ),
    )


def judge_everything(submission: Submission, terms: Terms, sandbox: Sandbox) -> list[ExerciseResult]:
    """The verdicts of every exercise of every problem set, each set judged as `grade` would."""
    return [
        result
        for problem_set in problem_sets()
        for result in judge_problem_set(submission, problem_set, terms, sandbox)
    ]


def as_json(results: list[ExerciseResult]) -> dict[str, Any]:
    """The verdicts in the form of `judge --json`; the parts of one id are put together."""
    found: dict[str, Any] = {exercise.id: {"points": 0, "max_points": 0, "checks": []} for exercise in exercises()}
    for result in results:
        entry = found[result.exercise.id]
        entry["points"] += result.points
        entry["max_points"] += result.max_points
        entry["checks"] += [
            {"check": one.check, "verdict": one.verdict, "message": one.message, "misconception": one.misconception}
            for one in result.checks
        ]
    return {"exercises": {name: entry for name, entry in found.items() if entry["checks"]}}
