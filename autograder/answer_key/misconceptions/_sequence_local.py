"""Wrong local attention weights."""

import math

import torch

from ..reference_package import reference
from ._given import behind_given_checks

LOCAL = "sequence_to_sequence.local_attention_weights"
masked_softmax = reference("masks.masked_softmax")


def distances(scores, center, first=0):
    """Position minus center, (..., S)."""
    positions = torch.arange(first, first + scores.shape[-1], dtype=scores.dtype)
    return positions - center.unsqueeze(-1)


def gaussian(distance, window):
    return torch.exp(-2 * (distance / window) ** 2)


def inside(scores, distance, window):
    """The softmax within the window."""
    return masked_softmax(scores, distance.abs() <= window)


@behind_given_checks(LOCAL)
def normalised_again(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores - 2 * (distance / window) ** 2, distance.abs() <= window)


def falling_off(name, shape):
    """A misconception whose Gaussian is another function of distance and window."""

    def wrong(scores, center, window):
        distance = distances(scores, center)
        return inside(scores, distance, window) * shape(distance, window)

    like, _, form = name.rpartition("/")
    behind_given_checks(LOCAL, form, like)(wrong)


falling_off("deviation_is_window", lambda distance, window: torch.exp(-(distance**2) / (2 * window**2)))
falling_off("variance_is_half_window", lambda distance, window: torch.exp(-(distance**2) / window))
falling_off("two_left_out", lambda distance, window: torch.exp(-((2 * distance / window) ** 2)))
falling_off("distance_not_squared", lambda distance, window: torch.exp(-2 * distance.abs() / window**2))
falling_off(
    "density_of_the_normal",
    lambda distance, window: gaussian(distance, window) / (window / 2 * math.sqrt(2 * math.pi)),
)
falling_off("multiplied_by_the_variance", lambda distance, window: torch.exp(-(distance**2) / 2 * (window / 2) ** 2))
falling_off("sign_of_the_exponent", lambda distance, window: torch.exp(2 * (distance / window) ** 2))
falling_off("gaussian_left_out", lambda distance, window: torch.ones_like(distance))


@behind_given_checks(LOCAL)
def gaussian_times_scores(scores, center, window):
    distance = distances(scores, center)
    return inside(scores * gaussian(distance, window), distance, window)


@behind_given_checks(LOCAL)
def window_as_full_width(scores, center, window):
    distance = distances(scores, center)
    return inside(scores, distance, window / 2) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def window_without_a_left_end(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, distance <= window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def window_inverted(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, distance.abs() > window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def softmax_over_the_rows(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, distance.abs() <= window, dim=0) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def center_rounded(scores, center, window):
    distance = distances(scores, center.round())
    return inside(scores, distance, window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def window_around_rounded_center(scores, center, window):
    return inside(scores, distances(scores, center.round()), window) * gaussian(distances(scores, center), window)


@behind_given_checks(LOCAL)
def positions_from_one(scores, center, window):
    distance = distances(scores, center, first=1)
    return inside(scores, distance, window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def cut_after_softmax(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores) * (distance.abs() <= window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def window_ignored(scores, center, window):
    return masked_softmax(scores) * gaussian(distances(scores, center), window)


@behind_given_checks(LOCAL)
def ends_left_out(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, distance.abs() < window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def right_end_left_out(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, (distance >= -window) & (distance < window)) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def far_scores_set_to_zero(scores, center, window):
    distance = distances(scores, center)
    return torch.softmax(scores.where(distance.abs() <= window, 0.0), dim=-1) * gaussian(distance, window)


def _filling(name, number):
    """A misconception that fills scores outside the window with a number, None being the lowest there is."""

    def wrong(scores, center, window):
        distance = distances(scores, center)
        low = torch.finfo(scores.dtype).min if number is None else number
        weights = torch.softmax(scores.masked_fill(distance.abs() > window, low), dim=-1)
        return weights * gaussian(distance, window)

    behind_given_checks(LOCAL, name)(wrong)


_filling("filled_with_minus_1e9", -1e9)
_filling("filled_with_the_lowest_number", None)
_filling("nan_where_nothing_is_near", -torch.inf)


@behind_given_checks(LOCAL)
def nan_repaired_afterwards(scores, center, window):
    distance = distances(scores, center)
    forbidden = torch.zeros_like(distance).masked_fill(distance.abs() > window, -torch.inf)
    return torch.softmax(scores + forbidden, dim=-1).nan_to_num(0.0) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def minus_infinity_not_counted(scores, center, window):
    distance = distances(scores, center)
    near = distance.abs() <= window
    some = near.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~near, -torch.inf).where(some, 0.0), dim=-1).where(some, 0.0)
    return weights * gaussian(distance, window)


@behind_given_checks(LOCAL)
def center_detached(scores, center, window):
    distance = distances(scores, center.detach())
    return inside(scores, distance, window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def gradient_cut(scores, center, window):
    distance = distances(scores, center)
    return (inside(scores, distance, window) * gaussian(distance, window)).detach()


@behind_given_checks(LOCAL)
def center_without_an_axis(scores, center, window):
    distance = torch.arange(scores.shape[-1], dtype=scores.dtype) - center
    return inside(scores, distance, window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def negative_start_of_a_slice(scores, center, window):
    found = []
    for row, middle in zip(scores.reshape(-1, scores.shape[-1]), center.reshape(-1), strict=True):
        near = slice(math.ceil(middle - window), math.floor(middle + window) + 1)
        kept = torch.zeros_like(row, dtype=torch.bool)
        kept[near] = True
        found.append(masked_softmax(row, kept) * gaussian(distances(row, middle), window))
    return torch.stack(found).reshape(scores.shape)


@behind_given_checks(LOCAL)
def center_pushed_inside(scores, center, window):
    distance = distances(scores, center.clamp(window, scores.shape[-1] - 1 - window))
    return inside(scores, distance, window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def positions_in_float32(scores, center, window):
    distance = torch.arange(scores.shape[-1], dtype=torch.float32) - center.unsqueeze(-1)
    return inside(scores, distance, window) * gaussian(distance, window)
