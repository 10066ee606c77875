"""What the checks of dropout read out of an answer does not depend on how it is rounded."""

from selfcheck.arrays import array
from selfcheck.checks._multi_head import used_weights
from selfcheck.checks.dot_product import KEYS, dropped

ROUNDING = 1.2e-7


def output(factors):
    """A multi-head layer's answer to a step of uniform weights, where a row's weights are used times a factor."""
    rows = [[factor / KEYS] * KEYS + [factor] * 3 for factor in factors]
    return array([rows], "tensor"), array([[[1 / KEYS] * KEYS] * len(rows)], "tensor")


def test_rows_that_are_rounded_otherwise_are_not_rows_of_which_some_are_dropped():
    assert used_weights({}, output([1 + row % 3 * ROUNDING for row in range(KEYS + 5)])).values()[3] == 1
    assert used_weights({}, output([row % 4 and 4 / 3 for row in range(KEYS + 5)])).values()[3] == 0


def test_what_rounding_leaves_of_a_dropped_number_is_none():
    share, factor = dropped([10 * ROUNDING, 4 / 3, 4 / 3, 4 / 3], 1.0)
    assert (share, factor) == (0.25, 4 / 3)
