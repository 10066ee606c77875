"""What stands for something that holds no numbers is compared as a whole."""

import numpy as np
import pytest

from selfcheck.arrays import pack, unpack
from selfcheck.trees import compare_trees


def compared(wanted, came):
    return compare_trees(unpack(pack(wanted)), unpack(pack(came)), 1e-9, True, "")


@pytest.mark.parametrize("value", [np.sqrt, {"scale": 2.0}, "causal", print], ids=repr)
def test_what_holds_no_numbers_agrees_with_itself_alone(value):
    assert compared(value, value) is None
    for other in (np.zeros(2), None, 3.0, (value, value)):
        assert compared(value, other).kind == "structure"
        assert compared(other, value).kind == "structure"


@pytest.mark.parametrize(
    ("wanted", "came", "text"),
    [
        (0.11104, 0.11101, "expected 0.11104, got 0.11101"),
        (0.1, 0.2, "expected 0.1, got 0.2"),
        (1, 2, "expected 1, got 2"),
    ],
)
def test_two_numbers_that_differ_are_told_with_digits_that_differ(wanted, came, text):
    assert text in compared(np.array([wanted]), np.array([came])).text
