"""Wrong local attention weights: another window, another deviation, a lost gradient or dtype."""

import math

import torch

from ._given import behind_given_checks
from ._sequence_local import LOCAL, distances, gaussian, inside, masked_softmax


def local(name, reach=None, deviation=None, move=None, change=None):
    """Register a wrong answer in which the window, the deviation, the center or the result is another.

    reach, deviation: from window to what is taken for it; move: from center and scores to another center
    change: from weights, Gaussian and scores to the result
    """

    def wrong(scores, center, window):
        distance = distances(scores, move(center, scores) if move else center)
        within = inside(scores, distance, reach(window) if reach else window)
        fall = gaussian(distance, 2 * deviation(window) if deviation else window)
        return change(within, fall) if change else within * fall

    like, _, form = name.rpartition("/")
    behind_given_checks(LOCAL, form, like)(wrong)


local("deviation_is_twice_the_window", deviation=lambda window: 2 * window)
local("deviation_is_one", deviation=lambda window: 1.0)
local("deviation_in_whole_positions", deviation=lambda window: max(window // 2, 0.25))
local("deviation_in_whole_positions/one_at_least", deviation=lambda window: max(window // 2, 1.0))
local("window_doubled", reach=lambda window: 2 * window)
local("window_rounded_down", reach=math.floor)
local("window_rounded_up", reach=math.ceil)
local("window_rounded_down/in_the_gaussian_too", reach=math.floor, deviation=lambda window: math.floor(window) / 2)
local(
    "window_rounded_down/to_one_at_least",
    reach=lambda window: max(math.floor(window), 1),
    deviation=lambda window: max(math.floor(window), 1) / 2,
)
local("center_held_inside", move=lambda center, scores: center.clamp(0, scores.shape[-1] - 1))
local("powers_of_two", change=lambda within, fall: within * fall.log().div(1 / math.log(2)).exp())
local("divided_by_the_largest", change=lambda within, fall: within * fall / fall.amax(dim=-1, keepdim=True))
local("gaussian_added", change=lambda within, fall: within + fall)
local("widened_to_float64", change=lambda within, fall: (within * fall).double())
local("narrowed_to_float32", change=lambda within, fall: (within * fall).float())
local("scores_detached", change=lambda within, fall: within.detach() * fall)


@behind_given_checks(LOCAL)
def center_of_the_first_row(scores, center, window):
    distance = distances(scores, center.reshape(-1)[0])
    return inside(scores, distance, window) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def right_side_alone(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, (distance >= 0) & (distance <= window)) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def left_side_alone(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, (distance <= 0) & (distance >= -window)) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def sigmoid_for_softmax(scores, center, window):
    distance = distances(scores, center)
    return torch.sigmoid(scores).where(distance.abs() <= window, 0.0) * gaussian(distance, window)


@behind_given_checks(LOCAL)
def scores_hidden_in_place(scores, center, window):
    distance = distances(scores, center)
    scores.masked_fill_(distance.abs() > window, -torch.inf)
    return inside(scores, distance, window) * gaussian(distance, window)


def _between(name, whole):
    """Register a window between ends that a function makes whole."""

    def wrong(scores, center, window):
        distance, middle = distances(scores, center), center.unsqueeze(-1)
        positions = torch.arange(scores.shape[-1], dtype=scores.dtype)
        near = (positions >= whole(middle - window)) & (positions <= whole(middle + window))
        return masked_softmax(scores, near) * gaussian(distance, window)

    like, _, form = name.rpartition("/")
    behind_given_checks(LOCAL, form, like)(wrong)


_between("ends_made_whole", torch.floor)
_between("ends_made_whole/towards_zero", torch.trunc)
_between("ends_made_whole/to_the_nearest", torch.round)
_between("ends_made_whole/upwards", torch.ceil)


def _filled_beside_minus_infinity(name, number):
    """Register a fill of scores outside the window, in rows with a position near; None: the dtype's lowest number."""

    def wrong(scores, center, window):
        distance = distances(scores, center)
        near = distance.abs() <= window
        low = torch.finfo(scores.dtype).min if number is None else number
        weights = torch.softmax(scores.masked_fill(~near, low), dim=-1) * near.any(dim=-1, keepdim=True)
        return weights * gaussian(distance, window)

    like, _, form = name.rpartition("/")
    behind_given_checks(LOCAL, form, like)(wrong)


_filled_beside_minus_infinity("far_wins_over_minus_infinity", None)
_filled_beside_minus_infinity("far_wins_over_minus_infinity/minus_1e9", -1e9)


def _filled_then_hidden(name, number):
    """Register a fill of scores outside the window, whose weights are then set to zero there."""

    def wrong(scores, center, window):
        distance = distances(scores, center)
        near = distance.abs() <= window
        return torch.softmax(scores.masked_fill(~near, number), dim=-1) * near * gaussian(distance, window)

    like, _, form = name.rpartition("/")
    behind_given_checks(LOCAL, form, like)(wrong)


_filled_then_hidden("filled_above_the_window", -1e4)
_filled_then_hidden("filled_above_the_window/minus_1e9", -1e9)


@behind_given_checks(LOCAL)
def zero_among_the_scores(scores, center, window):
    distance = distances(scores, center)
    near = (distance.abs() <= window) & (scores > -torch.inf)
    safe = scores.where(near, 0.0)
    exponentials = torch.exp(safe - safe.detach().amax(dim=-1, keepdim=True)) * near
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / total.where(total > 0, 1.0) * gaussian(distance, window)
