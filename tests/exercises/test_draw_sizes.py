"""No two sizes in the input of a check can be mixed up unseen.

The sizes of a draw are the lengths of the axes of all its arrays (arguments, parameters, training data) and its integer
arguments, except those that count no entries (draw_sizes.NO_SIZES); a length of 1 broadcasts and is left out. Lengths
that are equal in every draw of an exercise are one size: the exercise asks for them to be equal. The rule holds for
every visible and hidden check that compares values or gradients:

1. In a draw no two sizes are equal. Then whoever takes one for the other gets an error or another answer.
2. Over the recorded draws of an exercise's visible checks, no size is always another's neighbour (a + 1 = b) or half
   (2 a = b), or the sum of two others: one draw that has these sizes breaks the relation. Then whoever leaves out an
   end, or takes a half for a whole, cannot be taken for one who uses the wrong size.

A single draw may have such a relation where another breaks it, for this reason: of the causes that explain a draw, the
one that explains most draws is named (see diagnose.py), and the draw that breaks the relation tells the two apart.
Without this the draws that a learner reads most easily are ruled out: three tokens of four features, two heads of two.

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


def equal_sizes(exercise):
    """Each check with the pairs of sizes that are equal in one of its draws."""
    same = sizes_in(exercise)
    return {
        (name, str(one))
        for name, draws in draws_of(exercise).items()
        for draw in draws
        for one in collisions(draw, same)
        if one.kind == "equal"
    }


def standing_relations(exercise):
    """The relations of sizes that no recorded draw of the exercise breaks."""
    shown = [draws_of(exercise)[name][0] for name in exercise.points if name in draws_of(exercise)]
    together = [step for draw in shown for step in draw]
    return {str(one) for one in collisions(together, sizes_in(exercise)) if one.kind != "equal"}


def exceptions(kind, exercise):
    """The entries of an exercise; kind: "equal", "relation" or "apart"."""
    return [one for one in EXCEPTIONS.get(kind, ()) if one["number"] == exercise.number]


def may_be_equal(exercise):
    """The checks and pairs of sizes that are excepted."""
    entries = exceptions("equal", exercise)
    return {(check, pair) for one in entries for check in one["checks"] for pair in one["sizes"]}


def may_stand(exercise):
    """The relations that are excepted."""
    return {relation for one in exceptions("relation", exercise) for relation in one["relations"]}


@each
def test_in_a_draw_no_two_sizes_are_equal(exercise):
    unseen = equal_sizes(exercise) - may_be_equal(exercise)
    assert not unseen, f"draw other sizes, or say coinciding=True where they are equal on purpose: {sorted(unseen)}"


@each
def test_no_size_is_always_the_neighbour_half_or_sum_of_others(exercise):
    unseen = standing_relations(exercise) - may_stand(exercise)
    assert not unseen, f"let the sizes of one visible check break {sorted(unseen)}"


@each
def test_sizes_that_are_kept_apart_elsewhere_are_equal_in_some_hidden_draw(exercise):
    """What goes wrong only there would pass otherwise: a mask turned where it is square, an axis found by its size."""
    same = sizes_in(exercise)
    if len(set(same.values())) < 2 or exceptions("apart", exercise):
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
    assert may_be_equal(exercise) <= equal_sizes(exercise), "take these out of draw_sizes.toml"
    assert may_stand(exercise) <= standing_relations(exercise), "take these out of draw_sizes.toml"


def test_every_exception_has_a_reason_and_none_is_put_off():
    reasons = [one["reason"] for kind in EXCEPTIONS.values() for one in kind]
    assert all(len(reason) > 10 for reason in reasons)
    assert not [reason for reason in reasons if "to be changed" in reason], "draw other sizes"


def test_every_exception_belongs_to_an_exercise():
    numbers = {exercise.number for exercise in exercises()}
    assert {one["number"] for kind in EXCEPTIONS.values() for one in kind} <= numbers


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
