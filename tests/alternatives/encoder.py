"""Right layer normalisation and attention by columns in other styles; each keeps the argument checks of the stub."""

import functools
import math

import torch

from . import (
    _encoder_layers,  # noqa: F401  (registers the classes' answers)
    _encoder_stack,  # noqa: F401
    alternative,
)


def below_given_checks(exercise):
    """Register a function that refuses bad arguments as the stub's given lines do."""

    def register(function):
        import attention.encoder

        right = getattr(attention.encoder, exercise.partition(".")[2])

        @functools.wraps(function)
        def whole(*args, **kwargs):
            with torch.no_grad():
                right(*args, **kwargs)
            return function(*args, **kwargs)

        return alternative(exercise)(whole)

    return register


norm = below_given_checks("encoder.layer_norm")


@norm
def by_var_mean(x, weight=None, bias=None, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    variance, mean = torch.var_mean(wide, dim=-1, correction=0, keepdim=True)
    result = (wide - mean) * torch.rsqrt(variance + eps)
    if weight is not None:
        result = result * weight.to(wide.dtype)
    if bias is not None:
        result = result + bias.to(wide.dtype)
    return result.to(x.dtype)


@norm
def all_in_float64(x, weight=None, bias=None, eps=1e-5):
    weight = torch.ones(x.shape[-1], dtype=x.dtype) if weight is None else weight
    bias = torch.zeros(x.shape[-1], dtype=x.dtype) if bias is None else bias
    big = x.double()
    mean = big.sum(-1) / x.shape[-1]
    variance = (big**2).sum(-1) / x.shape[-1] - mean**2  # in one pass
    result = (big - mean.unsqueeze(-1)) / (variance.clamp(min=0) + eps).sqrt().unsqueeze(-1)
    return torch.addcmul(bias.double(), weight.double(), result).to(x.dtype)


@norm
def row_by_row(x, weight=None, bias=None, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]).double():
        deviations = row - row.mean()
        rows.append(deviations / math.sqrt(1) / (torch.dot(deviations, deviations) / len(row) + eps) ** 0.5)
    result = torch.stack(rows).reshape(x.shape).to(x.dtype)
    result = result if weight is None else torch.mul(weight, result)
    return result if bias is None else torch.add(result, bias)


@norm
def by_a_centring_matrix(x, weight=None, bias=None, eps=1e-5):
    d = x.shape[-1]
    wide = x if x.dtype == torch.float64 else x.float()
    centring = torch.eye(d, dtype=wide.dtype) - 1 / d
    centred = wide @ centring
    normed = centred / (torch.linalg.vector_norm(centred, dim=-1, keepdim=True) ** 2 / d + eps).pow(0.5)
    gain = 1.0 if weight is None else weight
    shift = 0.0 if bias is None else bias
    return normed.to(x.dtype) * gain + shift


columns = below_given_checks("encoder.attention_columns")


@columns
def row_form_transposed(x, w_query, w_key, w_value):
    from attention.dot_product import scaled_dot_product_attention

    return scaled_dot_product_attention(x.T @ w_query.T, x.T @ w_key.T, x.T @ w_value.T)[0].T


@columns
def einsum_and_softmax_by_hand(x, w_query, w_key, w_value):
    scores = torch.einsum("km,mj,kp,pi->ji", w_key, x, w_query, x) * w_key.shape[0] ** -0.5
    powers = (scores - scores.amax(dim=0).detach()).exp()
    return torch.einsum("vm,mj,ji->vi", w_value, x, powers / powers.sum(dim=0))


@columns
def one_column_at_a_time(x, w_query, w_key, w_value):
    keys, values = w_key @ x, w_value @ x
    made = []
    for i in range(x.shape[1]):
        query = w_query @ x[:, i] / math.sqrt(w_query.shape[0])
        made.append(values @ (keys.T @ query).softmax(0))
    return torch.stack(made, dim=1)
