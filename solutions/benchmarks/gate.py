"""The gate before every timing: an answer must be as near to float64's as the baseline's in the same dtype."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

FACTOR = 2.0  # how many times the baseline's error a variant may have
# An error below so many roundings of float32, in which sums are kept, is none, however lucky the baseline is. More for
# gradients: at L 1024 to 8192 whoever divides by the sum after the product with V, torch's own SDPA included, was seen
# to have up to four times naive's error there (2e-6).
ROUNDINGS, OF_GRADIENTS = 8.0, 64.0


class GateError(RuntimeError):
    """A variant's answer is wrong: it is not timed."""


def error(answer: Tensor, exact: Tensor) -> float:
    """The largest deviation from the exact answer, relative to its largest entry; infinite where there is no answer."""
    if answer.shape != exact.shape or not bool(torch.isfinite(answer).all()):
        return float("inf")
    return float((answer.double() - exact).abs().max() / exact.abs().max())


def pass_gate(
    name: str, answers: Mapping[str, Tensor], baseline: Mapping[str, Tensor], exact: Mapping[str, Tensor]
) -> dict[str, float]:
    """The errors of a variant's answers, by name; GateError where one exceeds twice the baseline's.

    An error of one rounding of the answer's dtype, or of a few of float32, always passes.
    answers, baseline: computed in the dtype that is timed; exact: the same in float64
    """
    errors = {}
    for part, right in exact.items():
        errors[part] = error(answers[part], right)
        roundings = OF_GRADIENTS if part.startswith("gradient") else ROUNDINGS
        least = max(torch.finfo(answers[part].dtype).eps, roundings * torch.finfo(torch.float32).eps)
        allowed = max(FACTOR * error(baseline[part], right), least)
        if not errors[part] <= allowed:
            raise GateError(f"{name}: the error of {part} is {errors[part]:.2e}, more than {allowed:.2e} allowed")
    return errors
