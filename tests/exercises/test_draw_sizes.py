"""No two sizes in the input of a check can be mixed up.

The sizes of a draw are the lengths of the axes of all its arrays (arguments, parameters, training data) and its integer
arguments, except those that count no entries (draw_sizes.NO_SIZES); a length of 1 broadcasts and is left out. Lengths
that are equal in every draw of an exercise are one size: the exercise asks for them to be equal. In every draw of every
visible and hidden check that compares values or gradients, no size is equal to another, its neighbour (a + 1 = b), its
half (2 a = b) or the sum of two others. Then whoever takes one size for another, leaves out an end, or takes a half for
a whole, gets an error or another answer. A draw of several calls may have such a relation in one of them where another
breaks it.

A check whose sizes are equal on purpose says `coinciding=True`. What else may break the rule stands in
draw_sizes.toml with the reason why no mistake hides behind it, and is taken out of there once it breaks it no longer.
"""

import functools
import itertools
import tomllib
from pathlib import Path

import pytest

from autograder.answer_key.checks import hidden_checks, recorded_seed, visible_checks
from selfcheck.catalogue import exercises

from .draw_sizes import Collision, collisions, same_sizes, sizes_of_draw

SEEDS = (0, 1, 2)  # of hidden draws
EXCEPTIONS = tomllib.loads((Path(__file__).parent / "draw_sizes.toml").read_text(encoding="utf-8"))
name_of = "{0.number}-{0.id}".format
each = pytest.mark.parametrize("exercise", exercises(), ids=name_of)


@functools.cache
def draws_of(exercise):
    """By check, the sizes of its draws; of a visible one the recorded draw comes first."""
    found = {}
    for check in visible_checks(exercise) + hidden_checks(exercise):
        if {"values", "gradient"} & set(check.compares) and not check.coinciding:
            seeds = SEEDS if check.points else (recorded_seed(check), *SEEDS)
            found[check.name] = [sizes_of_draw(check.calls(seed), exercise) for seed in seeds]
    return found


@functools.cache
def sizes_in(exercise):
    return same_sizes(step for draws in draws_of(exercise).values() for draw in draws for step in draw)


def related_sizes(exercise):
    """Each check with the relations of sizes that one of its draws has."""
    same = sizes_in(exercise)
    return {
        (name, str(one))
        for name, draws in draws_of(exercise).items()
        for draw in draws
        for one in collisions(draw, same)
    }


def excepted(exercise):
    """The checks and relations that are excepted; an entry without checks holds for those that have the relation."""
    entries = [one for one in EXCEPTIONS["exception"] if one["number"] == exercise.number]
    names = list(draws_of(exercise))
    return {(name, pair) for one in entries for pair in one["relations"] for name in one.get("checks", names)}


@each
def test_no_two_sizes_of_a_draw_can_be_mixed_up(exercise):
    unseen = related_sizes(exercise) - excepted(exercise)
    assert not unseen, f"draw other sizes, or say coinciding=True where they are equal on purpose: {sorted(unseen)[:8]}"


@each
def test_sizes_that_are_kept_apart_elsewhere_are_equal_in_some_hidden_draw(exercise):
    """What goes wrong only there would pass otherwise: a mask turned where it is square, an axis found by its size."""
    same = sizes_in(exercise)
    if len(set(same.values())) < 2:
        return
    checks = [one for one in hidden_checks(exercise) if {"values", "gradient", "state"} & set(one.compares)]
    steps = [step for one in checks for step in sizes_of_draw(one.calls(0), exercise)]
    assert [
        (one, other)
        for step in steps
        for one, other in itertools.combinations(step, 2)
        if step[one] == step[other] and same.get(one, one) != same.get(other, other)
    ], "let one step of a hidden check have equal sizes"


@each
def test_every_exception_is_needed(exercise):
    found = related_sizes(exercise)
    for one in EXCEPTIONS["exception"]:
        if one["number"] == exercise.number:
            relations = {relation for name, relation in found if name in one.get("checks", [name])}
            assert set(one["relations"]) <= relations, "take what is missing there out of draw_sizes.toml"
            assert set(one.get("checks", [])) <= {name for name, relation in found if relation in one["relations"]}


def test_every_exception_has_a_reason_and_none_is_put_off():
    reasons = [one["reason"] for one in EXCEPTIONS["exception"]]
    assert all(len(reason) > 10 for reason in reasons)
    assert not [reason for reason in reasons if "to be changed" in reason], "draw other sizes"


def test_every_exception_belongs_to_an_exercise():
    numbers = {exercise.number for exercise in exercises()}
    assert {one["number"] for one in EXCEPTIONS["exception"]} <= numbers


@pytest.mark.parametrize(
    ("draw", "found"),
    [
        ([{"L": 3, "S": 3}], {Collision("equal", ("L", "S"))}),
        ([{"L": 4, "d": 5}], {Collision("neighbours", ("L", "d"))}),
        ([{"L": 3, "d": 6}], {Collision("half", ("L", "d"))}),
        ([{"a": 3, "b": 8, "d": 11}], {Collision("sum", ("a", "b", "d"))}),
        ([{"L": 3, "d": 3}, {"L": 3, "d": 7}], set()),
        ([{"L": 3, "S": 7, "d": 12}], set()),
        ([{"x0[-1]": 5, "x1[-1]": 5}], set()),
    ],
)
def test_collisions_are_those_that_every_step_of_a_draw_has(draw, found):
    assert set(collisions(draw, {role: role for step in draw for role in step})) == found


def test_sizes_that_are_equal_in_every_draw_are_one():
    same = same_sizes([{"q": 3, "k": 5, "v": 5}, {"q": 4, "k": 4, "v": 4}])
    assert same == {"q": "q", "k": "k", "v": "k"}
