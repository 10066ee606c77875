"""A learner's words find the exercises that they mean; other words are answered with at most three that are near."""

from __future__ import annotations

import pytest

from selfcheck.catalogue import exercises
from selfcheck.catalogue.names import exercises_named


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("masks.causal_mask", ["4.2"]),
        ("Masks.Causal_Mask", ["4.2"]),
        ("causal_mask", ["4.2"]),
        ("causal", ["4.2"]),
        ("masks.caus", ["4.2"]),
        ("4.2", ["4.2"]),
        (4.2, ["4.2"]),
        (" 4.2 ", ["4.2"]),
        ("dot_product.scaled_dot_product_attention", ["3.5", "4.8"]),
        ("encoderlayer", ["7.3"]),
    ],
)
def test_an_exercise_is_found(name: str | float, numbers: list[str]) -> None:
    assert [exercise.number for exercise in exercises_named(name)] == numbers


@pytest.mark.parametrize(
    "name", ["masks", "Masks", "mask", "src/attention/masks.py", "masks.py", r"src\attention\masks.py"]
)
def test_a_module_is_found(name: str) -> None:
    assert exercises_named(name) == [exercise for exercise in exercises() if exercise.module == "masks"]


def test_a_problem_set_and_a_chapter_are_found() -> None:
    assert exercises_named("PS3") == [exercise for exercise in exercises() if exercise.problem_set == "ps3"]
    assert exercises_named("4") == [exercise for exercise in exercises() if exercise.number.startswith("4.")]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("causal_msk", "did you mean causal_mask or masks.causal_mask?"),
        ("merge", "did you mean merge_heads or merge_partials?"),
        ("list", "python -m selfcheck lists them all"),
        ("", "python -m selfcheck lists them all"),
        ("77.77", "python -m selfcheck lists them all"),
    ],
)
def test_another_name_is_answered_with_at_most_three(name: str, near: str) -> None:
    with pytest.raises(KeyError) as error:
        exercises_named(name)
    assert str(error.value.args[0]).endswith(near)
    assert str(error.value.args[0]).count(" or ") < 3
