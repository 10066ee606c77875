"""What earlier calls leave in a module is told where an answer depends on it, and nowhere else."""

import pytest

from selfcheck import runner
from selfcheck.compare import compare
from selfcheck.diagnose import Key, diagnose
from selfcheck.generic import named_in_general
from selfcheck.plan import Check, call

RIGHT = "def scaled(length, factor=1.0):\n    return [factor * number for number in range(length)]\n"
CACHED = """
kept = {}


def scaled(length, factor=1.0):
    if KEY not in kept:
        kept[KEY] = [factor * number for number in range(length)]
    return kept[KEY]
"""
BY_LENGTH, BY_BOTH = CACHED.replace("KEY", "length"), CACHED.replace("KEY", "(length, factor)")
BY_DEFAULT = """
def scaled(length, factor=1.0, kept=[]):
    kept += [factor * number for number in range(length)]
    return kept[:length]
"""
IN_A_CLASS = """
class Table:
    kept = {}

    def of(self, length, factor):
        return self.kept.setdefault(length, [factor * number for number in range(length)])


def scaled(length, factor=1.0):
    return Table().of(length, factor)
"""
BY_A_GLOBAL = """
kept = None


def scaled(length, factor=1.0):
    global kept
    kept = kept or [factor * number for number in range(length)]
    return kept
"""
BY_AN_ATTRIBUTE = """
def scaled(length, factor=1.0):
    if not hasattr(scaled, "kept"):
        scaled.kept = [factor * number for number in range(length)]
    return scaled.kept
"""
BY_A_CACHE = """
import functools

given = [None]


@functools.lru_cache
def factors(length):
    return [given[0] * number for number in range(length)]


def scaled(length, factor=1.0):
    given[0] = factor
    return factors(length)
"""
BY_A_COUNT = """
counts = {"calls": 0}


def scaled(length, factor=1.0):
    counts["calls"] += 1
    return [factor * number * counts["calls"] for number in range(length)]
"""
RIGHT_CACHE = """
import functools


@functools.cache
def scaled(length, factor=1.0):
    return [factor * number for number in range(length)]
"""
RIGHT_GLOBAL = """
last = None


def scaled(length, factor=1.0):
    global last
    last = [factor * number for number in range(length)]
    return last
"""
STEPS = [call(3, 2.0).packed(), call(3, 5.0).packed()]


def answers_of(folder, text):
    package = folder / "attention"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    (package / "toy.py").write_text(text, encoding="utf-8")
    with runner.fresh_package(str(folder)):
        return runner.answer_exercise("toy.scaled", {"one": {"calls": STEPS}})["one"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BY_LENGTH, "kept keeps"),
        (BY_DEFAULT, "kept of scaled keeps"),
        (IN_A_CLASS, "Table.kept keeps"),
        (BY_A_GLOBAL, "kept keeps"),
        (BY_AN_ATTRIBUTE, "scaled.kept keeps"),
        (BY_A_CACHE, "factors"),
        (BY_A_COUNT, "counts keeps"),
    ],
)
def test_an_answer_that_an_earlier_call_left_is_told(tmp_path, text, name):
    expected, got = answers_of(tmp_path, RIGHT), answers_of(tmp_path, text)
    check = Check("toy.scaled", "one", "x", lambda rng: None)
    difference = compare(check, STEPS[1], expected[1], got[1])
    found = named_in_general(Key(check, STEPS, expected, {}), got, 1, difference)
    assert found.cause == "generic.leftover" and name in found.text
    assert "leftover" not in got[0]


@pytest.mark.parametrize("text", [RIGHT, BY_BOTH, RIGHT_CACHE, RIGHT_GLOBAL])
def test_nothing_is_told_of_what_changes_no_answer(tmp_path, text):
    got = answers_of(tmp_path, text)
    assert got == answers_of(tmp_path, RIGHT) and not any("leftover" in one for one in got)


def test_an_answer_that_an_earlier_call_left_is_no_misconception(tmp_path):
    expected, got = answers_of(tmp_path, RIGHT), answers_of(tmp_path, BY_LENGTH)
    check = Check("toy.scaled", "one", "x", lambda rng: None)
    key = Key(check, STEPS, expected, {"first_factor": [dict(one) for one in got]})
    assert diagnose([key], [got]) == [None]
    unkept = [{"value": one["value"]} for one in got]
    assert diagnose([key], [unkept]) == ["first_factor"]


def test_it_is_told_where_an_error_is_due(tmp_path):
    got = answers_of(tmp_path, BY_LENGTH)[1]
    due = {"error": {"type": "ValueError", "kinds": ["ValueError"], "text": ""}, "changed": []}
    check = Check("toy.scaled", "one", "x", lambda rng: None, compares=("error",))
    difference = compare(check, STEPS[1], due, got)
    found = named_in_general(Key(check, STEPS[1:], [due], {}), [got], 0, difference)
    assert found.cause == "generic.leftover"
