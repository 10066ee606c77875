"""The part of a formula of positions that a wrong answer has otherwise is named, and none where more is wrong."""

import math
import random

import pytest

from selfcheck.arrays import array, nest, pack
from selfcheck.catalogue import exercises
from selfcheck.checks import _position_parts as parts
from selfcheck.diagnose import Key
from selfcheck.plan import Check, call, tensor
from selfcheck.verdict import judge

LENGTH, WIDTH = 5, 6
RIGHT = [1.0, 10 ** (-4 / 3), 10 ** (-8 / 3)]
X = [[round(random.Random(7).uniform(0.5, 2), 2) + column + row for column in range(WIDTH)] for row in range(LENGTH)]


def table(frequencies, first=0):
    rows = [[(math.sin(p * f), math.cos(p * f)) for f in frequencies] for p in range(first, first + LENGTH)]
    return array([[number for pair in row for number in pair] for row in rows], "tensor")


def matrix(angles):
    found = [[0.0] * WIDTH for _ in range(WIDTH)]
    for pair, angle in enumerate(angles):
        at, (c, s) = 2 * pair, (math.cos(angle), math.sin(angle))
        found[at][at : at + 2], found[at + 1][at : at + 2] = [c, -s], [s, c]
    return array(found, "tensor")


def rotated(frequencies, first=0):
    rows = []
    for p, row in enumerate(X, first):
        turned = [
            complex(*row[2 * i : 2 * i + 2]) * complex(math.cos(p * f), math.sin(p * f))
            for i, f in enumerate(frequencies)
        ]
        rows.append([number for one in turned for number in (one.real, one.imag)])
    return array(rows, "tensor")


def bias(slopes, distance):
    return array([[[-m * distance(abs(i + 4 - j)) for j in range(7)] for i in range(3)] for m in slopes], "tensor")


STEP = call(tensor(X)).packed()
SLOPES = [0.25, 0.0625, 0.015625]


@pytest.mark.parametrize(
    ("tells", "due", "given", "says"),
    [
        (
            parts.other_frequencies,
            table(RIGHT),
            table([1.0, 0.5, 0.25]),
            "turn by 1, 0.5, 0.25 radians where 1, 0.0464",
        ),
        (
            parts.other_frequencies,
            table(RIGHT),
            table(RIGHT, first=2),
            "those of the first row are 2, 0.0928, 0.0043 where 0",
        ),
        (
            parts.other_rotation,
            matrix(RIGHT),
            matrix([0.5, 0.2, 0.1]),
            "0.5, 0.2, 0.1 radians from pair to pair where 1",
        ),
        (parts.other_angles, rotated(RIGHT), rotated([1.0, 0.5, 0.25]), "turn by 1, 0.5, 0.25 radians where 1, 0.0464"),
        (
            parts.other_angles,
            rotated(RIGHT, 2),
            rotated(RIGHT, 1),
            "those of the first row are 1, 0.0464, 0.0022 where 2",
        ),
        (
            parts.other_slopes_or_distances,
            bias(SLOPES, float),
            bias([0.3, 0.2, 0.1], float),
            "the slopes are not: 0.3, 0.2, 0.1 where 0.25, 0.0625, 0.0156 are due",
        ),
        (
            parts.other_slopes_or_distances,
            bias(SLOPES, float),
            bias(SLOPES, lambda steps: min(steps, 3)),
            "for query 0 3, 3, 2, 1, … where the distances 4, 3, 2, 1, … are due",
        ),
    ],
)
def test_the_part_that_is_another_is_named_with_its_numbers(tells, due, given, says):
    assert says in tells(STEP, due, given)
    if tells is not parts.other_slopes_or_distances:  # who asks that one knows that they differ
        assert tells(STEP, due, due) == ""


@pytest.mark.parametrize(
    ("tells", "due"),
    [
        (parts.other_frequencies, table(RIGHT)),
        (parts.other_rotation, matrix(RIGHT)),
        (parts.other_angles, rotated(RIGHT)),
        (parts.other_slopes_or_distances, bias(SLOPES, float)),
    ],
)
def test_of_an_answer_that_is_wrong_in_more_than_a_part_nothing_is_said(tells, due):
    rng = random.Random(3)
    for _ in range(100):
        flat = due.values()
        one_entry = list(flat)
        one_entry[rng.randrange(len(flat))] += rng.choice((-1, 1)) * rng.uniform(0.1, 1)
        for numbers in (one_entry, [rng.gauss(0, 1) for _ in flat]):
            assert tells(STEP, due, array(nest(numbers, due.shape), "tensor")) == ""


def test_a_verdict_names_the_part_and_survives_what_cannot_be_read():
    exercise = next(one for one in exercises() if one.id == "positions.sinusoidal_encoding")

    def told(given, tells=parts.other_frequencies):
        one = Check(exercise.id, next(iter(exercise.points)), "x", lambda rng: None, tells=tells)
        key = Key(one, [STEP], [{"value": pack(table(RIGHT)), "changed": []}], {})
        return judge(exercise, [key], [[{"value": pack(given), "changed": []}]]).checks[0]

    assert told(table([1.0, 0.5, 0.25])).misconception == "generic.part"
    assert told(table([1.0, 0.5, 0.25])).message.startswith("Sines and cosines stand in their places")
    assert told(table([1.0, 0.5, 0.25]), tells=lambda *_: 1 / 0).misconception == "generic.first_alone"
    for number in (math.nan, math.inf):
        assert told(array([[number] * WIDTH] * LENGTH, "tensor")).misconception != "generic.part"
