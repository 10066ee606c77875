"""A learner reads one bit of each hidden check, and nothing else that the code which met hidden inputs chose to do."""

import base64
import json
import random
from dataclasses import replace
from functools import partial

import pytest

from autograder.judge.answers import answers_in
from autograder.judge.task import _outcome
from autograder.sandbox.usage import Tally
from selfcheck.arrays import Array, array, pack
from selfcheck.catalogue import in_problem_set, problem_sets
from selfcheck.diagnose import first_difference
from selfcheck.recorded import visible_keys
from selfcheck.show import Report, exercise_text
from selfcheck.verdict import judge, skip_where_dependencies_fail

GROUPS, ALIKE = 2, 3  # sets of checks that fail, and submissions that fail in each of them
TRIES = GROUPS * ALIKE  # submissions that tell by all means there are, for each way to answer what is shown
ERRORS = (
    "ValueError",
    "TypeError",
    "NotImplementedError",
    "MemoryError",
    "StateMismatch",
    "NotRefused",
    "RecursionError",
)
FORMS = (None, 3.0, "text", [[1.0, 2.0]], (1.0, [2.0]), float("nan"), array([float("inf")]))
FORMS += tuple(Array("tensor", "float64", (3, 1, number), bytes(24 * number)) for number in (1, 2, 3))
WAYS = ("right", "not started", "misconception", "one wrong")  # to answer what is shown
ENDS = ("time", "idle", "output", "ended", "killed", "budget")


def keys_of(exercise):
    """Its visible draws, each check's once more as a draw that is not shown, and two checks that are hidden."""
    shown = visible_keys(exercise)
    hidden = [replace(key, check=replace(key.check, name=f"hidden_{key.check.name}", points=1)) for key in shown[:2]]
    return shown + [replace(key, reveal=False) for key in shown + hidden]


def failing(key, rng):
    """One of the many ways in which a draw's answers can fail."""
    while True:
        answers = odd(key, rng.randrange(1000))
        if first_difference(key, key.expected, answers):
            return answers


def odd(key, number):
    """Answers by a number, few of them right: kinds and words of errors, forms, ends, misconceptions."""
    kind, which = number % 5, number // 5
    if kind == 0:
        line = {"died": ENDS[which % len(ENDS)]}
        return answers_in({"0": {"calls": key.calls}}, line)["0"]
    if kind == 1:
        name = ERRORS[which % len(ERRORS)]
        text = "exercise 1.1" if which % 2 else f"secret {number}"
        said = {"error": {"type": name, "kinds": [name], "text": text, "line": which, "source": str(number)}}
        said["error"]["importing"] = which % 3 == 0
    elif kind == 2 and key.misconceptions:
        names = sorted(key.misconceptions)
        return key.misconceptions[names[which % len(names)]]
    else:
        said = {"value": pack(FORMS[which % len(FORMS)]), "changed": ["0"] * (which % 2), "printed": str(number)}
    answers = json.dumps({"0": [said] * len(key.calls)}).encode()
    return answers_in({"0": {"calls": key.calls}}, {"said": base64.b64encode(answers).decode()})["0"]


def told(results):
    """All that a learner sees: text and table, points, and verdicts, of every exercise."""
    outcomes = [_outcome(result, Tally()) for result in results]
    for_learners = [
        [replace(check, untold="") for check in outcome.checks] + [outcome.points, outcome.text] for outcome in outcomes
    ]
    return repr(for_learners) + Report(results)._repr_html_() + "".join(map(exercise_text, results))


def not_in(failed, name):
    return name not in failed


def shown_answers(keys, way):
    """Answers to the draws that are shown: right ones, none yet, one misconception's, or wrong in the first check."""
    if way == "not started":
        stub = {"error": {"type": "NotImplementedError", "kinds": [], "text": ""}}
        return {place: [stub] * len(key.calls) for place, key in enumerate(keys)}
    found = {place: key.expected for place, key in enumerate(keys)}
    if way == "misconception":
        name = next(name for key in keys for name in key.misconceptions)
        found = {place: key.misconceptions.get(name, key.expected) for place, key in enumerate(keys)}
    return found | ({0: failing(keys[0], random.Random(1))} if way == "one wrong" else {})


@pytest.mark.parametrize(
    ("problem_set", "way"),
    [
        pytest.param(name, way, marks=() if place % len(WAYS) == number else pytest.mark.full)
        for place, name in enumerate(problem_sets())
        for number, way in enumerate(WAYS)
    ],
)
def test_what_is_told_follows_from_what_is_shown_and_from_one_bit_a_check(problem_set, way):
    chosen = in_problem_set(problem_set)
    keys = {exercise: keys_of(exercise) for exercise in chosen}
    shown = {exercise: shown_answers([key for key in keys[exercise] if key.reveal], way) for exercise in chosen}
    rng, seen, secrets = random.Random(len(problem_set)), {}, set()
    for number in range(TRIES):
        fails = random.Random(number // ALIKE)  # some fail in the same checks, each in its own way
        results, bits = [], []
        for exercise in chosen:
            broken = {key.check.name for key in keys[exercise] if not key.reveal and fails.random() < 0.5}
            answers = [
                failing(key, rng)
                if key.check.name in broken and not key.reveal
                else shown[exercise].get(place, key.expected)
                for place, key in enumerate(keys[exercise])
            ]
            results.append(judge(exercise, keys[exercise], answers))
            secrets |= {one.untold for one in results[-1].checks if one.untold}
            bits.append(tuple(sorted(broken)))
        failed = {result.exercise.id for result in results if not result.passed}
        results = skip_where_dependencies_fail(results, partial(not_in, failed), lambda *_: True)
        assert seen.setdefault(tuple(bits), told(results)) == told(results)
    assert len(seen) == GROUPS and len(secrets) > 20, "they fail in many ways, and it is known of each how"
