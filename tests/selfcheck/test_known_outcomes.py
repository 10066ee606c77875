"""What has passed is not run again for an overview, unless something that it depends on has changed."""

import pytest

from selfcheck import known_outcomes, learner
from selfcheck.catalogue import exercises, parts_of
from selfcheck.learner import Learner, available, check
from selfcheck.overview import progress
from selfcheck.resetting import handed_out
from selfcheck.show import headline

(EXERCISE,) = parts_of("masks.causal_mask")
MASKS = """
from .helper import triangle


def causal_mask(query_length, key_length=None, device=None):
    if query_length < 0 or (key_length or 0) < 0:
        raise ValueError("a length is negative")
    return triangle(query_length, query_length if key_length is None else key_length, device)
"""
HELPER = """
import torch


def triangle(rows, columns, device):
    return torch.ones(rows, columns, dtype=torch.bool, device=device).tril(columns - rows)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a right mask, made by a function of another module."""
    folder = tmp_path / "attention"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "unrelated.py").write_text("number = 1\n")
    (folder / "helper.py").write_text(HELPER)
    (folder / "masks.py").write_text(MASKS)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def ran(monkeypatch):
    """The ids of the exercises whose answers were asked for."""
    asked, answer = [], learner.answer_exercise
    monkeypatch.setattr(
        learner, "answer_exercise", lambda name, *more, **named: asked.append(name) or answer(name, *more, **named)
    )
    return asked


def passes():
    with Learner(recalls=True).imported() as known:
        return known.result(EXERCISE).passed


def test_what_passed_is_not_run_again_until_a_text_changes_that_it_reaches(package, ran):
    assert all(result.passed for result in check("4.2").results) and len(ran) == 1
    (package / "unrelated.py").write_text("number = 2\n")
    assert passes() and "1 of" in repr(progress("4.2"))
    assert len(ran) == 1, "nothing has changed that it reaches"
    (package / "helper.py").write_text(HELPER.replace(".tril", ".triu"))
    assert not passes() and len(ran) == 2
    assert not passes() and len(ran) == 3, "what fails is always run"
    (package / "helper.py").write_text(HELPER)
    assert passes() and passes() and len(ran) == 4


def test_a_check_that_is_asked_for_by_name_is_always_run(package, ran):
    check("4.2")
    check("4.2")
    assert len(ran) == 2


def test_other_checks_or_another_torch_make_everything_run_again(package, ran, monkeypatch):
    check("4.2")
    monkeypatch.setattr(known_outcomes, "version", lambda: "another")
    assert passes() and len(ran) == 2


def test_a_module_as_it_was_handed_out_is_not_run_for_an_overview_and_told_as_if_it_were(package, ran):
    (package / "masks.py").write_text(handed_out("masks"))
    with Learner(recalls=True).imported() as overview:
        recalled = overview.result(EXERCISE)
    assert ran == [] and not recalled.started
    with Learner().imported() as run:
        assert headline(run.result(EXERCISE)) == headline(recalled)
    assert len(ran) == 1
    (package / "masks.py").write_text(handed_out("masks") + "\nnumber = 1\n")
    assert not passes() and len(ran) == 2, "a module that was edited is run"


def test_an_overview_of_a_course_as_it_was_handed_out_says_what_running_it_says(package):
    chosen = available(exercises())
    for module in {exercise.module for exercise in chosen}:
        (package / f"{module}.py").write_text(handed_out(module))
    with Learner(recalls=True).imported() as overview:
        recalled = [overview.result(exercise) for exercise in chosen]
    with Learner().imported() as run:
        ran = [run.result(exercise) for exercise in chosen]
    assert list(map(headline, recalled)) == list(map(headline, ran))
    assert {check.kind for result in ran for check in result.checks} <= {"not started", ""}
    assert not any(result.started for result in [*recalled, *ran])
