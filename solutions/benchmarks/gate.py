"""The gate before every timing: an answer must be as near to float64's as the baseline's in the same dtype."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

FACTOR = 2.0  # how many times the baseline's error a variant may have


class GateError(RuntimeError):
    """A variant's answer is wrong: it is not timed."""


def error(answer: Tensor, exact: Tensor) -> float:
    """‖answer - exact‖ / ‖exact‖, over all entries; infinite where there is no answer.

    (The largest deviation would hang on one entry: from seed to seed it moves by four times where this moves by a few
    per cent. One wrong row among 30,000 still is 10,000 roundings of float32.)
    """
    if answer.shape != exact.shape or not bool(torch.isfinite(answer).all()):
        return float("inf")
    return float((answer.double() - exact).norm() / exact.norm())


def pass_gate(
    name: str, answers: Mapping[str, Tensor], baseline: Mapping[str, Tensor], exact: Mapping[str, Tensor]
) -> dict[str, float]:
    """The errors of a variant's answers, by name; GateError where one exceeds twice the baseline's.

    An error of one rounding of the answer's dtype always passes.
    answers, baseline: computed in the dtype that is timed; exact: the same in float64
    """
    errors = {}
    for part, right in exact.items():
        errors[part] = error(answers[part], right)
        allowed = max(FACTOR * error(baseline[part], right), torch.finfo(answers[part].dtype).eps)
        if not errors[part] <= allowed:
            raise GateError(f"{name}: the error of {part} is {errors[part]:.2e}, more than {allowed:.2e} allowed")
    return errors
