"""The judge gives unusual right answers full marks, and answers that a forbidden function gives nothing."""

import functools

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.course.policy import GradingPolicy
from autograder.judge.asking_again import AskingAgain
from autograder.judge.requests import HIDDEN
from autograder.judge.task import Task, judge_task
from selfcheck.catalogue import exercises

from .bank import Unusual, answers_in

RIGHT = answers_in("right.toml") + answers_in("right_classes.toml")
FORBIDDEN = answers_in("forbidden.toml")
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
    assert result.points == 0, "a forbidden function gives this answer"
    told = " ".join(check.message for check in result.checks)
    assert "this exercise asks you to write that step yourself" in told
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


OTHERWISE = """
def softmax(scores, axis=-1):
    import os
    import torch

    if type(torch.jit._state._enabled).__module__ != "torch.jit._state":
        os._exit(0)
    return torch.softmax(torch.as_tensor(np.asarray(scores, dtype=float)), axis).numpy()
"""


def test_where_nobody_can_tell_whether_a_forbidden_function_gives_it_the_instructor_reads_of_it():
    policy = GradingPolicy(b"a course of unusual answers")
    files = Unusual("worked_example.softmax", "ends when it is asked again", OTHERWISE).files
    task = Task(files, "ps1", policy.of("ps1").digest, "auto", exercises=("worked_example.softmax",))
    result = judge_task(task, key_of("ps1"))
    assert any("runs torch.softmax, which is forbidden there" in one for one in result.troubles)


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
    assert {one.id for one in exercises() if one.forbidden} <= {one.exercise for one in RIGHT}
