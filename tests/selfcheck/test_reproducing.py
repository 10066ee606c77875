"""The program that reproduces a step gives, run with the reference, the answer on record."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

import selfcheck.failures
from autograder.course.paths import SOLUTIONS
from selfcheck.arrays import pack, unpack
from selfcheck.catalogue import Exercise, exercises
from selfcheck.failures import Failing
from selfcheck.objects import quotient
from selfcheck.recorded import visible_keys
from selfcheck.reproducing import program
from selfcheck.trees import compare_trees
from selfcheck.verdict import CheckResult


def steps_of(exercise: Exercise) -> list[tuple[Any, dict[str, Any], dict[str, Any]]]:
    """Of each check of an exercise the first draw's first call, and those made several times, with their answers."""
    first = {key.check.name: key for key in reversed(visible_keys(exercise))}
    return [
        (key.check, step, answer)
        for key in first.values()
        for place, (step, answer) in enumerate(zip(key.calls, key.expected, strict=True))
        if place == 0 or "times" in step
    ]


@pytest.mark.parametrize("exercise", exercises(), ids=lambda one: one.number)
def test_the_program_gives_the_recorded_answer(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck.failures, "package_folder", lambda: SOLUTIONS / "attention")
    for check, step, expected in steps_of(exercise):
        result = CheckResult(check.name, check.sees, "failed", 0, 1, shown=(step, expected, expected))
        monkeypatch.setattr(selfcheck.failures, "failing", lambda _, result=result: Failing(exercise, result))
        names: dict[str, Any] = {}
        code = program(exercise, step)
        if step.get("lessons"):  # training takes seconds; that it can be read as Python must do
            compile(code, check.name, "exec")
            continue
        if "error" in expected:
            with pytest.raises(Exception) as raised:
                exec(code, names)
            assert type(raised.value).__name__ == expected["error"]["type"], code
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
        answer = names["answer"]
        if step.get("quotient"):
            answer = quotient(answer)
        value = unpack(pack(answer))
        if check.view:
            wanted, came = check.view(step, unpack(expected["value"])), check.view(step, value)
        else:
            wanted, came = unpack(expected["value"]), value
        if "values" not in check.compares:
            continue
        assert compare_trees(wanted, came, check.tolerance, True, "") is None, f"{check.name}\n{code}"
