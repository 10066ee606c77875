"""What the runner tells of an exception reaches the comparison in the grader, and nothing beside it."""

import base64
import json

import pytest

from autograder.judge.answers import answers_in
from selfcheck.exceptions import explain
from selfcheck.plan import call

PLANS = {"0": {"calls": [call(1).packed()], "gradient": False}}
WORDS = "raise ValueError('full')"
RAISED = {"type": "ValueError", "kinds": ["ValueError"], "text": "full", "line": 3, "source": WORDS}


def validated(**more):
    said = base64.b64encode(json.dumps({"0": [{"error": RAISED | more}]}).encode()).decode()
    return answers_in(PLANS, {"said": said})["0"][0]["error"]


def test_the_line_that_raised_is_described_to_the_grader_too():
    shapes = {"q": [2, 3], "k": [4]}
    told = {"operation": "raise", "near": "softmax", "none": "mask", "expression": "q + k", "shapes": shapes}
    assert told.items() <= validated(**told).items()


def test_advice_that_rests_on_it_is_given_by_the_grader_too():
    text = "module 'torch' has no attribute 'sofmax'"
    error = validated(type="AttributeError", text=text, near="softmax", source="torch.sofmax(x)")
    assert "Is softmax meant?" in explain("masks.causal_mask", error, reveal=True)[1]


def test_the_module_of_the_line_is_named_where_it_is_not_the_exercises_own():
    error = validated(type="SyntaxError", importing=True, line=127, file="/tmp/place/attention/masks.py")
    told = explain("dot_product.scaled_dot_product_attention", error, reveal=True)[1]
    assert "in line 127 of masks.py" in told and "/tmp" not in told
    inside = validated(importing=True, line=12, file="masks.py", inner_line=90)
    assert "which ends in line 90" in explain("masks.causal_mask", inside, reveal=True)[1]


@pytest.mark.parametrize(
    "odd",
    [
        {"operation": 3, "near": None, "none": ["x"], "expression": {}, "shapes": "q"},
        {"shapes": {"q": [-1], "k": [2**60], "v": ["2"], "g": [True], "y": 3}},
        {"file": "/secret", "inner_line": "x", "another": 1},
        {"file": "two words.py", "inner_line": -1},
        {"file": ["masks.py"], "inner_line": True},
    ],
)
def test_what_has_another_form_is_left_out(odd):
    assert validated(**odd) == validated()


def test_what_is_told_is_cut_and_has_no_control_characters():
    error = validated(operation="x" * 1000, shapes={f"n{place}\x1b": [1] * 100 for place in range(100)})
    assert len(error["operation"]) == 200 and len(error["shapes"]) == 20
    assert all(name.isprintable() and len(shape) == 8 for name, shape in error["shapes"].items())
