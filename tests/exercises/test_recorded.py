"""The recorded answers of every module are those that the reference and the misconceptions give now."""

import pytest

from autograder.build import recorded_answers
from autograder.course.paths import RECORDED
from selfcheck.catalogue import exercises

from .parts import CATALOGUE, parts_of_module

MODULES = sorted({exercise.module for exercise in exercises()})


def test_there_is_a_file_of_each_module_and_no_other():
    assert sorted(path.name for path in RECORDED.glob("*.json")) == [f"{module}.json" for module in MODULES]


@pytest.mark.proof(
    depends=lambda module: parts_of_module(module),
    area=lambda module: f"exercises/{module}",
    ignores=CATALOGUE,
)
@pytest.mark.parametrize("module", MODULES)
def test_recorded_answers_are_up_to_date(module):
    (name, text), *others = recorded_answers.recordings(module).items()
    assert not others
    now = (RECORDED / name).read_text(encoding="utf-8")
    assert recorded_answers.alike(now, text), f"{name} is stale: python -m autograder build"
