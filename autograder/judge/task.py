"""What a worker is asked to judge, on whatever machine it runs."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from selfcheck.show import exercise_text
from selfcheck.verdict import GRADER_ERROR, SKIPPED, CheckResult, ExerciseResult

from ..answer_key.keys import AnswerKey
from ..course.digest import digest_of_parts
from ..sandbox.bubblewrap import Sandbox, open_sandbox
from ..sandbox.sight import InSight
from ..sandbox.usage import Tally
from ..version import grader_version
from .judge import judge_problem_set, stage_files
from .result import CheckOutcome, ExerciseOutcome, Result
from .sources import read_sources

TROUBLE = ("missing", "import", "stopped", "forbidden")  # kinds of failure that an instructor wants to see in a line


class OtherGrader(RuntimeError):
    """A worker would judge by other rules than the grader that asked it."""


@dataclass(frozen=True)
class Task:
    """One submission to judge: with the answer key of its problem set, all that the verdicts depend on.

    files: the text of every module that was handed in, by name; isolation: "bubblewrap", "none" or "auto"
    policy: digest of the grading policy of this problem set; grader: the version of whoever asks
    exercises: ids of those to judge; empty for all that count
    private: absolute paths of what no submission may see, for a worker elsewhere to make sure of; no verdict depends on
        them
    """

    files: Mapping[str, bytes] = field(repr=False)
    problem_set: str
    policy: str
    isolation: str
    grader: str = field(default_factory=grader_version)
    exercises: tuple[str, ...] = ()
    private: tuple[str, ...] = field(default=(), repr=False)

    @functools.cached_property
    def key(self) -> str:
        """A digest of what was handed in and what it is judged by: 64 hexadecimal digits."""
        return digest_of_parts(self._parts())

    def _parts(self) -> Iterator[bytes]:
        for text in (self.problem_set, self.grader, self.policy, *self.exercises):
            yield text.encode()
        for name, data in sorted(self.files.items()):
            yield from (name.encode(), data)


def judge_task(task: Task, answer_key: AnswerKey) -> Result:
    """Judge a submission here and now; the result bears nobody's name.

    Raises OtherGrader where this is not the grader that asks, SandboxUnavailable where the isolation is not to be had,
    InSight where submissions would see here what is private, limited.LimitedFault where the sources cannot be read for
    no reason that lies in them.
    """
    if task.grader != grader_version():
        raise OtherGrader(
            f"asked by grader {task.grader}, and this worker is grader {grader_version()}: update one of them"
        )
    sandbox = _sandbox_of(task)
    started, tally = datetime.now(UTC), Tally()
    sources = read_sources(stage_files(task.files, task.problem_set), task.files, answer_key.exercises)
    judged = judge_problem_set(task.files, answer_key, sandbox, tally, task.exercises, sources)
    return Result(
        key=task.key,
        problem_set=task.problem_set,
        isolation=sandbox.description,
        grader=task.grader,
        policy=task.policy[:8],
        files={name: hashlib.sha256(data).hexdigest()[:12] for name, data in sorted(task.files.items())},
        graded=started.isoformat(timespec="seconds"),
        seconds=round((datetime.now(UTC) - started).total_seconds(), 2),
        used=tally.used.as_json(),
        grader_error=any(check.verdict == GRADER_ERROR for exercise in judged for check in exercise.checks),
        troubles=(*_troubles(judged), *sources.remarks),
        exercises=tuple(_outcome(exercise, tally) for exercise in judged),
        fresh=True,
    )


def _sandbox_of(task: Task) -> Sandbox:
    """A sandbox that this machine's own arrangement makes, from which nothing private is seen.

    What is not on this machine cannot be seen on it; each task looks again, for a disk may have come since.
    """
    private = [place for place in task.private if os.path.lexists(place)]
    try:
        return open_sandbox(task.isolation, private=private)
    except InSight as error:
        raise InSight(f"the worker on {platform.node()} judges nobody: {error}") from None


def _outcome(judged: ExerciseResult, tally: Tally) -> ExerciseOutcome:
    return ExerciseOutcome(
        judged.exercise.id,
        judged.exercise.number,
        judged.points,
        judged.max_points,
        exercise_text(judged, whole=True),
        tuple(_check_outcome(check) for check in judged.checks),
        **tally.of(judged.exercise.id),
    )


def _check_outcome(judged: CheckResult) -> CheckOutcome:
    return CheckOutcome(
        judged.check,
        judged.sees,
        judged.verdict,
        judged.points,
        judged.max_points,
        judged.whole_message,
        judged.misconception,
        judged.section,
        judged.untold[1] if judged.untold else "",
    )


def _troubles(judged: list[ExerciseResult]) -> list[str]:
    """What is not simply wrong: nothing started, a module missing or broken, code stopped, a forbidden call."""
    troubles = [] if any(exercise.started for exercise in judged) else ["no module was started: the stubs came back"]
    for exercise in judged:
        module = f"{exercise.exercise.module}.py"
        for check in exercise.checks:
            kind, message = check.untold if check.kind == "unseen" and check.untold else (check.kind, check.message)
            if kind in TROUBLE and check.verdict != SKIPPED:
                where = module if kind == "import" else exercise.exercise.id
                troubles.append(message if message.startswith(module) else f"{where}: {message}")
        if exercise.remark:
            troubles.append(f"{exercise.exercise.id}: {exercise.remark}")
    return list(dict.fromkeys(troubles))
