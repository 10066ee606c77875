"""Judges a package against one problem set: stages it, has it answer in the sandbox, compares outside."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from selfcheck.catalogue import Exercise, exercises, in_problem_set, modules_of, problem_sets
from selfcheck.compare import Answer
from selfcheck.diagnose import Key, first_difference
from selfcheck.reach import forbidden_call
from selfcheck.recorded import plans_of, visible_keys
from selfcheck.source import text_of
from selfcheck.verdict import (
    FAILED,
    GRADER_ERROR,
    CheckResult,
    Differences,
    ExerciseResult,
    differences_of,
    judge,
    skip_where_dependencies_fail,
)

from .confine import Answers, GraderFault, Request, ask, ask_together
from .places import REFERENCE
from .reference import hidden_checks, hidden_keys
from .rooms import cost_little
from .sandbox import Sandbox
from .stubs import given_files

#: Added to a reference module that stands in for a learner's: what it lacks is looked for in the learner's own text.
FALLBACK = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module("._submitted_{module}", __package__), name)
"""
TRAINED = ("classifier.TextClassifier", "classifier.PairMatcher")  # their checks train a model
Keys = dict[Exercise, list[Key]]
Part = tuple[Exercise, bool]  # of an exercise the draws that feedback shows, or the others
Compared = tuple[list[list[Answer]], Differences]  # the answers to each key, in order, and what is wrong with them
PUBLIC_SECRET = b"attention by hand"  # of a judgement outside any course


@dataclass(frozen=True)
class Submission:
    """The Python files of a submitted package, by name."""

    files: dict[str, bytes]


@functools.lru_cache(maxsize=256)  # a course's, and more
def keys_of(exercise: Exercise, secret: bytes) -> list[Key]:
    """Every draw an exercise is graded on: the recorded ones, and the hidden ones of a course's secret."""
    return visible_keys(exercise) + hidden_keys(exercise, secret)


def judge_problem_set(
    submission: Submission, problem_set: str, secret: bytes, sandbox: Sandbox
) -> list[ExerciseResult]:
    """The verdicts of every exercise of a problem set.

    The modules of earlier problem sets are the reference's, so that an early mistake costs once; those of this one and
    of later ones are never in the sandbox except as the learner wrote them.
    """
    chosen = in_problem_set(problem_set)
    files = stage_files(submission, problem_set)
    keys = {exercise: keys_of(exercise, secret) for exercise in chosen}
    try:
        answers = _answers(files, keys, sandbox)
    except GraderFault as fault:
        return [_no_grade(exercise, str(fault)) for exercise in chosen]

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
    results = [_name_missing_module(result, submission) for result in results]
    return skip_where_dependencies_fail(results, lambda name: name not in failed, source_of)


def _answers(files: dict[str, bytes], keys: Keys, sandbox: Sandbox) -> dict[Exercise, Compared]:
    """The package's answers to every key: from one process where they are right, else each exercise's from its own."""
    requests = _requests(keys)
    found = _right_together(files, keys, requests, sandbox) if cost_little(sandbox) else {}
    right = set(found)
    rest = {part: one for part, one in requests.items() if part not in found}
    if rest:
        asked = list(rest.values())
        found |= zip(rest, ask(files, asked, torch=_needs_torch(asked), sandbox=sandbox), strict=True)
    compared = {}
    for exercise, own in keys.items():
        both = found[exercise, False] | found[exercise, True]
        given = [both[str(place)] for place in range(len(own))]
        known = {(exercise, False), (exercise, True)} <= right
        compared[exercise] = given, [None] * len(own) if known else differences_of(own, given)
    return compared


def _right_together(
    files: dict[str, bytes], keys: Keys, requests: dict[Part, Request], sandbox: Sandbox
) -> dict[Part, Answers]:
    """What one process for all exercises answers right; where it must be asked again for draws that feedback shows,
    it does not get to see the others.
    """
    quick = {part: one for part, one in requests.items() if part[0].id not in TRAINED}
    every_shown = {part for part in requests if not part[1]}
    found: dict[Part, Answers] = {}

    def enough(answers: list[Answers]) -> bool:
        given = zip([part for part in quick if part in every_shown], answers, strict=True)
        found.update((part, one) for part, one in given if _are_right(keys[part[0]], one))
        return every_shown <= set(found)

    if quick:
        answers = zip(quick, ask_together(files, list(quick.values()), sandbox, enough), strict=True)
        found |= {part: one for part, one in answers if part[1] and _are_right(keys[part[0]], one)}
    return found


def _requests(keys: Keys) -> dict[Part, Request]:
    """What every exercise is asked: the draws that feedback shows, and later those that it must not tell of."""
    found = {}
    for later in (False, True):
        for exercise in keys:
            plans = plans_of(keys[exercise])
            asked = [place for place, key in zip(plans, keys[exercise], strict=True) if key.reveal != later]
            found[exercise, later] = Request(exercise.id, {place: plans[place] for place in asked}, later)
    return found


def _are_right(keys: list[Key], answers: Answers) -> bool:
    return not any(first_difference(keys[int(place)], keys[int(place)].expected, one) for place, one in answers.items())


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


def _needs_torch(requests: list[Request]) -> bool:
    return any(not request.id.startswith("worked_example.") for request in requests)


def _name_missing_module(result: ExerciseResult, submission: Submission) -> ExerciseResult:
    name = f"{result.exercise.module}.py"
    if name in submission.files:
        return result
    message = f"{name} is missing from the submission"
    return _all_checks(result.exercise, FAILED, message, "missing")


def _no_grade(exercise: Exercise, message: str) -> ExerciseResult:
    text = f"The grader failed, not the answer: {message}. It will be graded again."
    return _all_checks(exercise, GRADER_ERROR, text, "")


def _all_checks(exercise: Exercise, verdict: str, message: str, kind: str) -> ExerciseResult:
    hidden = {check.name: check.points for check in hidden_checks(exercise)}
    return ExerciseResult(
        exercise,
        tuple(
            CheckResult(name, name, verdict, 0, points, message, hidden=name in hidden, kind=kind)
            for name, points in (exercise.points | hidden).items()
        ),
    )


def judge_everything(submission: Submission, secret: bytes, sandbox: Sandbox) -> list[ExerciseResult]:
    """The verdicts of every exercise of every problem set, each set judged as `grade` would."""
    return [
        result
        for problem_set in problem_sets()
        for result in judge_problem_set(submission, problem_set, secret, sandbox)
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
