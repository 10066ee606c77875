"""Wrong layer normalisation and wrong attention by columns, each as somebody would really write it."""

import math

import torch

from . import (
    _encoder_columns,  # noqa: F401
    _encoder_feed_forward,  # noqa: F401
    _encoder_feeding,  # noqa: F401
    _encoder_layers,  # noqa: F401
    _encoder_layers_forms,  # noqa: F401
    _encoder_layers_more,  # noqa: F401
    _encoder_layers_settings,  # noqa: F401
    _encoder_norms,  # noqa: F401
    _encoder_stack,  # noqa: F401
    _encoder_stack_forms,  # noqa: F401
    _encoder_stack_more,  # noqa: F401
)
from ._given import behind_given_checks

NORM, COLUMNS = "encoder.layer_norm", "encoder.attention_columns"
wrong_norm = behind_given_checks(NORM)


# 7.1 layer_norm: mistakes in what comes out before gain and bias.


def wide(x):
    return x if x.dtype == torch.float64 else x.float()


def gained(normed, weight, bias):
    normed = normed if weight is None else normed * weight
    return normed if bias is None else normed + bias


def moments(x, dim, unbiased=False):
    return x.mean(dim=dim, keepdim=True), x.var(dim=dim, keepdim=True, unbiased=unbiased)


def over(x, eps, dim):
    mean, variance = moments(x, dim)
    return (x - mean) / torch.sqrt(variance + eps)


def variance_not_root(x, eps):
    mean, variance = moments(x, -1)
    return (x - mean) / (variance + eps)


def eps_outside_root(x, eps):
    mean, variance = moments(x, -1)
    return (x - mean) / (torch.sqrt(variance) + eps)


def unbiased_variance(x, eps):
    mean, variance = moments(x, -1, unbiased=True)
    return (x - mean) / torch.sqrt(variance + eps)


def unbiased_and_eps_outside(x, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


def sum_instead_of_mean(x, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / torch.sqrt(deviation.square().sum(-1, keepdim=True) + eps)


def eps_ignored(x, eps):
    mean, variance = moments(x, -1)
    return (x - mean) / torch.sqrt(variance)


def eps_fixed(x, eps):
    return over(x, 1e-5, -1)


def mean_kept(x, eps):
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)


def mean_not_subtracted(x, eps):
    return x / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps)


def spread_not_divided(x, eps):
    return x - x.mean(-1, keepdim=True)


def axis_zero(x, eps):
    return over(x, eps, 0)


def axis_one(x, eps):
    return over(x, eps, 1)


def over_positions(x, eps):
    return over(x, eps, -2)


def over_whole_sequence(x, eps):
    return over(x, eps, (-2, -1)) if x.dim() > 1 else over(x, eps, -1)


def over_everything(x, eps):
    return over(x, eps, tuple(range(x.dim())))


def statistics_detached(x, eps):
    with torch.no_grad():
        mean, variance = moments(x, -1)
    return (x - mean) / torch.sqrt(variance + eps)


def _with_norm(norm):
    @behind_given_checks(NORM, norm.__name__)
    def wrongly_normed(x, weight=None, bias=None, eps=1e-5):
        return gained(norm(wide(x), eps).to(x.dtype), weight, bias)


for _norm in (
    variance_not_root,
    eps_outside_root,
    unbiased_variance,
    unbiased_and_eps_outside,
    sum_instead_of_mean,
    eps_ignored,
    eps_fixed,
    mean_kept,
    mean_not_subtracted,
    spread_not_divided,
    axis_zero,
    axis_one,
    over_positions,
    over_whole_sequence,
    over_everything,
    statistics_detached,
):
    _with_norm(_norm)


# Mistakes around it: gain, bias, dtype.


def normed(x, eps):
    return over(wide(x), eps, -1).to(x.dtype)


@wrong_norm
def gain_ignored(x, weight=None, bias=None, eps=1e-5):
    return gained(normed(x, eps), None, bias)


@wrong_norm
def bias_ignored(x, weight=None, bias=None, eps=1e-5):
    return gained(normed(x, eps), weight, None)


@wrong_norm
def gain_and_bias_ignored(x, weight=None, bias=None, eps=1e-5):
    return normed(x, eps)


@wrong_norm
def bias_before_gain(x, weight=None, bias=None, eps=1e-5):
    shifted = normed(x, eps) if bias is None else normed(x, eps) + bias
    return shifted if weight is None else shifted * weight


@wrong_norm
def gain_before_norm(x, weight=None, bias=None, eps=1e-5):
    return gained(normed(x if weight is None else x * weight, eps), None, bias)


@wrong_norm
def gain_around_one(x, weight=None, bias=None, eps=1e-5):
    return gained(normed(x, eps), None if weight is None else 1 + weight, bias)


@wrong_norm
def gain_always_expected(x, weight=None, bias=None, eps=1e-5):
    return normed(x, eps) * weight + bias


@wrong_norm
def squares_in_half_precision(x, weight=None, bias=None, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    variance = (deviation * deviation).mean(-1, keepdim=True)
    return gained(deviation / torch.sqrt(variance + eps), weight, bias)


@wrong_norm
def converted_to_float32(x, weight=None, bias=None, eps=1e-5):
    return gained(over(x.float(), eps, -1), weight, bias).float()


@wrong_norm
def subtracted_in_place(x, weight=None, bias=None, eps=1e-5):
    x -= wide(x).mean(-1, keepdim=True)
    return gained(normed(x, eps), weight, bias)


# 7.5 attention_columns


def projected(x, w_query, w_key, w_value):
    return w_query @ x, w_key @ x, w_value @ x


def plain(queries, keys, values):
    return values @ torch.softmax(keys.T @ queries / math.sqrt(len(keys)), dim=0)


FACTORS = {
    "no_scale": lambda queries, keys, values, x: 1.0,
    "divided_by_d": lambda queries, keys, values, x: 1 / len(keys),
    "multiplied_by_root": lambda queries, keys, values, x: math.sqrt(len(keys)),
    "root_of_tokens": lambda queries, keys, values, x: x.shape[1] ** -0.5,
    "root_of_d_model": lambda queries, keys, values, x: len(x) ** -0.5,
    "root_of_value_width": lambda queries, keys, values, x: len(values) ** -0.5,
}


def _with_factor(name, factor):
    @behind_given_checks(COLUMNS, name)
    def wrongly_scaled(x, w_query, w_key, w_value):
        queries, keys, values = projected(x, w_query, w_key, w_value)
        return values @ torch.softmax(keys.T @ queries * factor(queries, keys, values, x), dim=0)


for _name, _factor in FACTORS.items():
    _with_factor(_name, _factor)


def softmax_over_rows(queries, keys, values):
    return values @ torch.softmax(keys.T @ queries / math.sqrt(len(keys)), dim=1)


def softmax_over_everything(queries, keys, values):
    scores = keys.T @ queries / math.sqrt(len(keys))
    return values @ torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def queries_and_keys_exchanged(queries, keys, values):
    return values @ torch.softmax(queries.T @ keys / math.sqrt(len(keys)), dim=0)


def weights_by_rows(queries, keys, values):
    return values @ torch.softmax(queries.T @ keys / math.sqrt(len(keys)), dim=-1)


def scaled_after_softmax(queries, keys, values):
    return values @ (torch.softmax(keys.T @ queries, dim=0) / math.sqrt(len(keys)))


def output_transposed(queries, keys, values):
    return plain(queries, keys, values).T


def keys_as_values(queries, keys, values):
    return plain(queries, keys, keys)


def weights_detached(queries, keys, values):
    return values @ torch.softmax(keys.T @ queries / math.sqrt(len(keys)), dim=0).detach()


def gradient_cut(queries, keys, values):
    return plain(queries, keys, values).detach()


def _with_columns(attend):
    @behind_given_checks(COLUMNS, attend.__name__)
    def wrongly_attended(x, w_query, w_key, w_value):
        return attend(*projected(x, w_query, w_key, w_value))


for _attend in (
    softmax_over_rows,
    softmax_over_everything,
    queries_and_keys_exchanged,
    weights_by_rows,
    scaled_after_softmax,
    output_transposed,
    keys_as_values,
    weights_detached,
    gradient_cut,
):
    _with_columns(_attend)


@behind_given_checks(COLUMNS, "converted_to_float32")
def columns_in_float32(x, w_query, w_key, w_value):
    return plain(*projected(x.float(), w_query.float(), w_key.float(), w_value.float()))
