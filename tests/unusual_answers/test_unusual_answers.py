"""The judge gives unusual right answers full marks, and answers that a forbidden function gives nothing."""

import functools
import time

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.course.policy import GradingPolicy
from autograder.judge.asking_again import AskingAgain
from autograder.judge.requests import HIDDEN
from autograder.judge.task import Task, judge_task
from selfcheck.call_effect import UNTOLD
from selfcheck.catalogue import exercises

from .bank import Unusual, answers_in

RIGHT = answers_in(
    "right.toml",
    "right_classes.toml",
    "right_forms.toml",
    "right_further.toml",
    "right_orders.toml",
    "right_parameters.toml",
)
FORBIDDEN = answers_in("forbidden.toml", "detours.toml")
LEAST = {"right": 60, "forbidden": 60}
PARTS = (
    "tests/unusual_answers/*",
    "solutions/attention/*.py",
    "src/selfcheck/**/*.py",
    "src/selfcheck/catalogue/*.toml",
    "src/selfcheck/recorded/*.json",
    "autograder/answer_key/**/*.py",
    "autograder/judge/*.py",
    "autograder/sandbox/*.py",
)
proof_of_the_judge = pytest.mark.proof(depends=PARTS, area="unusual_answers")


def name_of(one):
    return f"{one.exercise}: {one.style}"


@functools.cache
def key_of(problem_set):
    return live_answer_key(problem_set, GradingPolicy(b"a course of unusual answers"))


def assert_full_marks(one):
    result = one.judged(key_of(one.problem_set))
    lost = {check.check: check.message for check in result.checks if check.points < check.max_points}
    assert not lost
    assert result.points > 0


def assert_nothing(one):
    result = one.judged(key_of(one.problem_set))
    assert result.points == 0, "\n".join(f"{one.check}: {one.message}" for one in result.checks if one.points)
    told = " ".join(check.message for check in result.checks)
    refused = "is not there while an answer is judged"
    assert (refused if one.refused else "this exercise asks you to write that step yourself") in told
    assert one.says in told


@proof_of_the_judge
@pytest.mark.parametrize("one", RIGHT, ids=name_of)
def test_an_unusual_right_answer_has_full_marks(one):
    assert_full_marks(one)


@proof_of_the_judge
@pytest.mark.parametrize("one", FORBIDDEN, ids=name_of)
def test_an_answer_that_a_forbidden_function_gives_has_nothing(one):
    assert_nothing(one)


@pytest.mark.parametrize("one", [one for one in RIGHT if one.quick], ids=name_of)
def test_an_unusual_right_answer_has_full_marks_in_every_run(one):
    assert_full_marks(one)


@pytest.mark.parametrize("one", [one for one in FORBIDDEN if one.quick], ids=name_of)
def test_an_answer_that_a_forbidden_function_gives_has_nothing_in_every_run(one):
    assert_nothing(one)


REACTS = """
def softmax(scores, axis=-1):
    import os
    import time
    import torch

    if type(torch.jit._state._enabled).__module__ != "torch.jit._state":
        {reaction}
    return torch.softmax(torch.as_tensor(np.asarray(scores, dtype=float)), axis).numpy()
"""
SOFTMAX = "worked_example.softmax"


def judged_task(reaction):
    policy = GradingPolicy(b"a course of unusual answers")
    files = Unusual(SOFTMAX, "reacts when it is asked again", REACTS.format(reaction=reaction)).files
    task = Task(files, "ps1", policy.of("ps1").digest, "auto", exercises=(SOFTMAX,))
    return judge_task(task, key_of("ps1"))


@pytest.mark.parametrize("reaction", ["os._exit(0)", "time.sleep(1e6)"])
def test_who_gives_no_answer_when_asked_again_has_nothing(reaction, monkeypatch):
    monkeypatch.setattr("autograder.judge.limits.IDLE_WALL_SECONDS", 0.3)
    (result,) = judged_task(reaction).exercises
    assert result.points == 0
    assert "this exercise asks you to write that step yourself" in result.checks[0].message


@pytest.mark.parametrize("seconds, points", [(360.0, True), (0.0, False)], ids=["in time", "out of time"])
def test_where_nobody_can_tell_the_instructor_reads_of_it_and_who_has_used_up_the_time_has_nothing(
    seconds, points, monkeypatch
):
    def untold(ask, given):
        deadline.at = time.monotonic() + seconds
        return UNTOLD

    def kept(self, *given):
        nonlocal deadline
        deadline = self.end
        return ran(self, *given)

    deadline, ran = None, AskingAgain.ran
    monkeypatch.setattr(AskingAgain, "ran", kept)
    monkeypatch.setattr("autograder.judge.asking_again.effect", untold)
    found = judged_task("pass")
    (result,) = found.exercises
    assert bool(result.points) == points
    assert any("does it use what torch.softmax gives?" in one for one in found.troubles) == points


def test_who_has_waited_for_all_its_time_is_asked_again_nonetheless(monkeypatch):
    ran = AskingAgain.ran

    def waited(self, exercise, kind, *given):
        self.end.idle_left = 0.0 if kind == HIDDEN else self.end.idle_left
        return ran(self, exercise, kind, *given)

    monkeypatch.setattr(AskingAgain, "ran", waited)
    assert_nothing(next(one for one in FORBIDDEN if one.quick))


def test_the_bank_holds_enough_and_no_style_twice():
    for kind, bank in (("right", RIGHT), ("forbidden", FORBIDDEN)):
        assert len(bank) >= LEAST[kind]
        names = [name_of(one) for one in bank]
        assert len(set(names)) == len(names)
        assert any(one.quick for one in bank)
    assert {one.id for one in exercises()} == {one.exercise for one in RIGHT}
