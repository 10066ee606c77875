"""Wrong layer normalisation by another centre or spread, or with gain and bias in another place."""

import torch

from ._given import behind_given_checks

NORM = "encoder.layer_norm"


def wide(x):
    return x if x.dtype == torch.float64 else x.float()


def deviation(x):
    return x - x.mean(dim=-1, keepdim=True)


def variance(x):
    return deviation(x).square().mean(dim=-1, keepdim=True)


def normed(x, eps):
    return deviation(x) / (variance(x) + eps).sqrt()


# What comes out before gain and bias, of x and eps
NORMS = {
    "median_for_mean": lambda x, eps: (x - x.median(dim=-1, keepdim=True).values) / (variance(x) + eps).sqrt(),
    "mean_deviation": lambda x, eps: deviation(x) / (deviation(x).abs().mean(dim=-1, keepdim=True) + eps),
    "size_for_spread": lambda x, eps: deviation(x) / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt(),
    "between_smallest_and_largest": lambda x, eps: (
        (x - x.amin(dim=-1, keepdim=True)) / (x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True) + eps)
    ),
    "eps_squared": lambda x, eps: deviation(x) / (variance(x) + eps**2).sqrt(),
    "eps_as_a_floor": lambda x, eps: deviation(x) / variance(x).clamp(min=eps).sqrt(),
    "eps_twice": lambda x, eps: deviation(x) / ((variance(x) + eps).sqrt() + eps),
    "square_for_root": lambda x, eps: deviation(x) / (variance(x) + eps).square(),
    "root_of_the_standard_deviation": lambda x, eps: deviation(x) / (variance(x).sqrt() + eps).sqrt(),
    "spread_multiplied": lambda x, eps: deviation(x) * (variance(x) + eps).sqrt(),
    "mean_added": lambda x, eps: (x + x.mean(dim=-1, keepdim=True)) / (variance(x) + eps).sqrt(),
    "sum_subtracted": lambda x, eps: (x - x.sum(dim=-1, keepdim=True)) / (variance(x) + eps).sqrt(),
    "softmax_for_norm": lambda x, eps: x.softmax(dim=-1),
    "first_position_for_all": lambda x, eps: (
        normed(x, eps)
        if x.dim() < 2
        else (x - x.mean(-1, keepdim=True)[..., :1, :]) / (variance(x)[..., :1, :] + eps).sqrt()
    ),
    "mean_over_the_first_axis": lambda x, eps: (x - x.mean(dim=0, keepdim=True)) / (variance(x) + eps).sqrt(),
    "variance_over_the_first_axis": lambda x, eps: (
        deviation(x) / (x.var(dim=0, keepdim=True, unbiased=False) + eps).sqrt()
    ),
    "in_float32_throughout": lambda x, eps: normed(x.float(), eps),
    "variance_detached": lambda x, eps: deviation(x) / (variance(x).detach() + eps).sqrt(),
    "mean_detached": lambda x, eps: (x - x.mean(-1, keepdim=True).detach()) / (variance(x) + eps).sqrt(),
    "result_detached": lambda x, eps: normed(x, eps).detach(),
    "rounded": lambda x, eps: normed(x, eps).round(decimals=2),
}


# Gain and bias, of the normed x, weight and bias, either of which may be None
def _one(weight):
    return 1.0 if weight is None else weight


def _zero(bias):
    return 0.0 if bias is None else bias


GAINS = {
    "gain_added": lambda x, weight, bias: x + _zero(weight) + _zero(bias),
    "gain_twice": lambda x, weight, bias: x * _one(weight) * _one(weight) + _zero(bias),
    "gain_divides": lambda x, weight, bias: x / _one(weight) + _zero(bias),
    "bias_subtracted": lambda x, weight, bias: x * _one(weight) - _zero(bias),
    "gain_and_bias_exchanged": lambda x, weight, bias: x * _one(bias) + _zero(weight),
    "bias_only_with_gain": lambda x, weight, bias: x if weight is None else x * weight + _zero(bias),
    "gain_only_with_bias": lambda x, weight, bias: x if bias is None else x * _one(weight) + bias,
    "gain_detached": lambda x, weight, bias: (
        x * _one(None if weight is None else weight.detach()) + _zero(None if bias is None else bias.detach())
    ),
}


def _register(name, norm, gained):
    @behind_given_checks(NORM, name)
    def wrong(x, weight=None, bias=None, eps=1e-5):
        return gained(norm(wide(x), eps).to(x.dtype), weight, bias)


def right_gain(x, weight, bias):
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


for _name, _norm in NORMS.items():
    _register(_name, _norm, right_gain)
for _name, _gained in GAINS.items():
    _register(_name, normed, _gained)


@behind_given_checks(NORM, like="root_of_the_standard_deviation")
def and_divided_by_one_less(x, weight=None, bias=None, eps=1e-5):
    spread = wide(x).std(dim=-1, keepdim=True)
    return right_gain((deviation(wide(x)) / (spread + eps).sqrt()).to(x.dtype), weight, bias)


@behind_given_checks(NORM)
def half_comes_back_wide(x, weight=None, bias=None, eps=1e-5):
    found = normed(wide(x), eps)
    return right_gain(found, *(None if one is None else one.to(found.dtype) for one in (weight, bias)))


@behind_given_checks(NORM)
def float64_throughout(x, weight=None, bias=None, eps=1e-5):
    return right_gain(normed(x.double(), eps), weight, bias).double()


@behind_given_checks(NORM)
def x_changed_in_place(x, weight=None, bias=None, eps=1e-5):
    found = right_gain(normed(wide(x), eps).to(x.dtype), weight, bias)
    with torch.no_grad():
        x.copy_(torch.zeros_like(x))
    return found


@behind_given_checks(NORM, like="over_whole_sequence")
def and_of_no_single_position(x, weight=None, bias=None, eps=1e-5):
    whole = wide(x)
    mean, spread = whole.mean(dim=(-2, -1), keepdim=True), whole.var(dim=(-2, -1), keepdim=True, unbiased=False)
    return right_gain(((whole - mean) / (spread + eps).sqrt()).to(x.dtype), weight, bias)
