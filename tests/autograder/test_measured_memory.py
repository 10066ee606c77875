"""How much memory an answer took is measured outside the process that gave it."""

import base64
import json

import pytest

from autograder.answer_key.checks import DRAWS
from autograder.answer_key.keys import hidden_draws
from autograder.course.policy import GradingPolicy
from autograder.judge.answers import answers_in
from autograder.judge.protocol import Request, ask
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.aspects import PEAK_MIB
from selfcheck.catalogue import exercises
from selfcheck.compare import compare
from selfcheck.plan import call

from ..attacks.test_workers import GIVEN

PLANS = {"0": {"calls": [call(1).packed()], "gradient": False}}
#: Holds so many MiB at once, in a process that it leaves behind, and says that it holds none.
HOLDS = """
import os, sys

def causal_mask(n):
    reading, writing = os.pipe()
    if os.fork() == 0:
        kept = b"x" * (n * 2**20)
        os.write(writing, b".")
        os.closerange(3, 64)
        sys.modules["time"].sleep(60)
    os.read(reading, 1)
    return n
"""
MEASURED = [check for one in exercises() for check, _, _ in hidden_draws(one, GradingPolicy(b"one")) if check.measured]


def test_every_check_of_memory_or_of_a_generator_is_asked_from_outside_too():
    found = {check.name for one in exercises() for check, _, _ in hidden_draws(one, GradingPolicy(b"one"))}
    assert MEASURED and len(MEASURED) == DRAWS * len({check.name for check in MEASURED})
    for one in exercises():
        drawn = [check for check, _, _ in hidden_draws(one, GradingPolicy(b"one"))]
        by_the_process = {check.name for check in drawn if {"memory", "generator"} & set(check.compares)}
        assert by_the_process == {check.name for check in drawn if "peak" in check.compares}
        assert by_the_process <= found


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        ({"peak_mib": 1.0}, True),
        ({"peak_mib": PEAK_MIB + 1}, False),
        ({}, False),
        ({"peak_mib": "1"}, False),
    ],
)
def test_what_a_process_says_of_its_own_memory_counts_for_nothing(line, passes):
    value = {"kind": "number", "type": "int", "value": "1"}
    said = {"0": [{"value": value, "changed": [], "peak_mib": 0.0}]}
    line |= {"said": base64.b64encode(json.dumps(said).encode()).decode()}
    (got,) = answers_in(PLANS, line, is_measured=True)["0"]
    found = compare(MEASURED[0].measured, PLANS["0"]["calls"][0], {"value": value, "changed": []}, got)
    assert (found is None) == passes
    (plain,) = answers_in(PLANS, line)["0"]
    assert "peak_mib" not in plain


def test_the_peak_is_that_of_the_largest_process_even_of_one_that_was_left_behind():
    files = GIVEN | {"masks.py": HOLDS.encode()}
    plans = {name: {"calls": [call(mib).packed()], "gradient": False} for name, mib in (("0", 1), ("1", 150))}
    requests = [Request("masks.causal_mask", {name: plan}, is_measured=True) for name, plan in plans.items()]
    answers = ask(files, requests, False, open_sandbox())
    little, much = (answer[name][0]["peak_mib"] for name, answer in zip(plans, answers, strict=True))
    assert little < 50 and 140 < much < 250
