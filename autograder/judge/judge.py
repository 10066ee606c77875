"""Judges a package against one problem set: stages it, has it answer in the sandbox, compares outside."""

from __future__ import annotations

import functools
import py_compile
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from selfcheck.catalogue import Exercise, modules_of, problem_sets
from selfcheck.verdict import (
    FAILED,
    GRADER_ERROR,
    CheckResult,
    ExerciseResult,
    judge,
    skip_where_dependencies_fail,
)

from ..answer_key.checks import hidden_checks
from ..answer_key.keys import AnswerKey
from ..build.stubs import solution_files_of
from ..course.paths import REFERENCE
from ..course.policy import GradingPolicy
from ..sandbox.bubblewrap import Sandbox
from ..sandbox.staging import bytecode_of
from ..sandbox.usage import Tally
from .forbidden import forbidden_call
from .own_modules import require_own_modules
from .protocol import GraderFault
from .schedule import Compared, Schedule
from .sources import SUBMITTED, UNREAD, Sources, given_sources, read_sources

#: Added to a reference module that stands in for a learner's: what it lacks is looked for in the learner's own text.
FALLBACK = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module("._submitted_{module}", __package__), name)
"""
#: What an instructor reads where nobody can tell whether an answer comes from a forbidden function.
UNCERTAIN = (
    "runs {name}, which is forbidden there, and when it is asked again its answers are others, or do not come in time: "
    "does it use what {name} gives?"
)


def judge_problem_set(
    files: Mapping[str, bytes],
    answer_key: AnswerKey,
    sandbox: Sandbox,
    tally: Tally | None = None,
    only: Collection[str] = (),
    sources: Sources | None = None,
) -> list[ExerciseResult]:
    """The verdicts of every exercise that an answer key has, with the points of its grading policy.

    The modules of earlier problem sets are the reference's, so that an early mistake costs once; those of this one and
    of later ones are never in the sandbox except as the learner wrote them. An exercise that is left out is as the
    learner wrote it, and nothing is skipped for its sake.
    files: the text of every module that was handed in, by name; tally: what the submission used is added there
    only: ids of the exercises whose verdicts are wanted; what they build on is judged too. Empty for all.
    sources: what the sources say, where that is known
    """
    chosen = with_dependencies(answer_key.exercises, only) if only else answer_key.exercises
    judged = _judged(files, answer_key, chosen, sandbox, tally or Tally(), sources)
    return [answer_key.policy.weigh(result) for result in judged if not only or result.exercise.id in only]


def with_dependencies(exercises: Sequence[Exercise], ids: Collection[str]) -> list[Exercise]:
    """Those of the exercises that have one of these ids, and those that they build on: where these fail, they count."""
    needed = set(ids).union(*(exercise.depends_on for exercise in exercises if exercise.id in ids))
    return [exercise for exercise in exercises if exercise.id in needed]


def _judged(
    submitted: Mapping[str, bytes],
    answer_key: AnswerKey,
    exercises: list[Exercise],
    sandbox: Sandbox,
    tally: Tally,
    sources: Sources | None,
) -> list[ExerciseResult]:
    policy = answer_key.policy
    files = stage_files(submitted, answer_key.problem_set)
    sources = sources or read_sources(files, submitted, exercises)
    keys = {exercise: answer_key.keys_of(exercise) for exercise in exercises if exercise in sources.findings}
    try:
        schedule = Schedule(files, keys, sandbox, tally)
        answers = schedule.run()
        if _is_import_failed(answers):
            require_own_modules(answer_key.problem_set, stage_files({}, answer_key.problem_set), sandbox)
    except GraderFault as fault:
        return [_no_grade(exercise, policy, str(fault)) for exercise in exercises]

    results = []
    for exercise in exercises:
        finding = sources.findings.get(exercise)
        if finding is None:  # nor was it asked for its answers
            message = f"{exercise.module}.py, or a module that it uses, {UNREAD}: simplify it"
            results.append(_all_checks(exercise, policy, FAILED, message, "stopped"))
        else:
            given, differences = answers[exercise]
            seen = forbidden_call(exercise, schedule.ran, sources)
            call = seen if seen and seen.is_sure else None
            spot = (call.name, call.line) if call and not call.is_hidden else None
            unseen = call.name if call and call.is_hidden else ""
            verdicts = judge(exercise, keys[exercise], given, spot, differences, unseen)
            remark = UNCERTAIN.format(name=seen.name) if seen and not seen.is_sure else ""
            results.append(replace(verdicts, remark=remark))
    failed = {result.exercise.id for result in results if not result.passed}
    results = [_name_missing_module(result, policy, submitted) for result in results]
    return skip_where_dependencies_fail(results, lambda name: name not in failed, sources.builds_on)


def _is_import_failed(answers: Mapping[Exercise, Compared]) -> bool:
    """Whether a module could not be imported, be it a learner's or one of ours that it builds on."""
    given = (answer for of_exercise, _ in answers.values() for to_draw in of_exercise for answer in to_draw)
    return any(answer.get("error", {}).get("importing") for answer in given)


def stage_files(submitted: Mapping[str, bytes], problem_set: str) -> dict[str, bytes]:
    """The files of the package in the sandbox, by name.

    A helper that a learner wrote into a module of an earlier problem set is still found there. What is ours comes
    with its bytecode, below __pycache__.
    """
    ours = dict(given_sources())
    # Such a name is ours to give: a learner's own file of that name would be read in place of the module that runs.
    files = {name: text for name, text in submitted.items() if not name.startswith(SUBMITTED)}
    for module, texts in _earlier_modules(problem_set).items():
        name = f"{module}.py"
        ours |= texts
        if name in submitted:
            ours[name] += FALLBACK.format(module=module).encode()
            files[f"{SUBMITTED}{name}"] = submitted[name]
    for name, text in ours.items():
        files |= _with_bytecode(name, text)
    return files


@functools.lru_cache(maxsize=256)
def _with_bytecode(name: str, text: bytes) -> dict[str, bytes]:
    """A module of the reference, and what Python compiles it to, by file name: no process has to do that again."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, name), Path(folder, "compiled")
        source.write_bytes(text)
        py_compile.compile(
            str(source),
            cfile=str(target),
            doraise=True,
            optimize=0,  # as the sandbox's Python does, whatever this one was told
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        return {name: text, str(bytecode_of(Path(name))): target.read_bytes()}


@functools.cache
def _earlier_modules(problem_set: str) -> dict[str, dict[str, bytes]]:
    """Of each module of an earlier problem set the reference's text, and those of its private files, by file name."""
    sets = problem_sets()
    earlier = {module for name in sets[: sets.index(problem_set)] for module in modules_of(name)}
    texts = {}
    for module in sorted(earlier - set(modules_of(problem_set))):
        source = (REFERENCE / f"{module}.py").read_bytes()
        parts = {name: text.encode() for name, text in solution_files_of([source.decode()]).items()}
        texts[module] = {f"{module}.py": source, **parts}
    return texts


def _name_missing_module(
    result: ExerciseResult, policy: GradingPolicy, submitted: Mapping[str, bytes]
) -> ExerciseResult:
    name = f"{result.exercise.module}.py"
    if name in submitted:
        return result
    message = f"{name} is missing from the submission"
    return _all_checks(result.exercise, policy, FAILED, message, "missing")


def _no_grade(exercise: Exercise, policy: GradingPolicy, message: str) -> ExerciseResult:
    text = f"The grader failed, not the answer: {message}. It will be graded again."
    return _all_checks(exercise, policy, GRADER_ERROR, text, "")


def _all_checks(exercise: Exercise, policy: GradingPolicy, verdict: str, message: str, kind: str) -> ExerciseResult:
    hidden = {check.name: check.points for check in hidden_checks(exercise, policy.extra)}
    return ExerciseResult(
        exercise,
        tuple(
            CheckResult(name, name, verdict, 0, points, message, hidden=name in hidden, kind=kind)
            for name, points in (exercise.points | hidden).items()
        ),
    )
