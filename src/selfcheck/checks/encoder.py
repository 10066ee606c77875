"""Visible checks of the encoder.

A layer is taken apart by its parameters: with a zero output projection only the feed-forward half is left, with a zero
second linear layer only attention, and with one token attention is a linear map.
"""

from selfcheck.plan import built, call, check, tensor

from . import (
    _encoder_feed_forward,  # noqa: F401
    _encoder_layer,  # noqa: F401
    _encoder_refused,
)
from ._dtypes import DTYPES
from ._encoder_dropout import encoder_in_training, same_twice_or_factor
from ._encoder_inputs import (
    attended,
    causal,
    column_sums,
    columns,
    encoder_state,
    influence,
    midpoint,
    opposite,
    row_means,
    row_variances,
    scale_free,
    scattered,
    shifted,
    showing_weights,
    signs,
    spread_kept,
    weights_alone,
)
from ._encoder_steps import PRE, sequences, two_encoders, under_attn_mask, under_key_mask

NORM, ENCODER, COLUMNS = "encoder.layer_norm", "encoder.Encoder", "encoder.attention_columns"


# 7.1 layer_norm


@check(NORM, sees="every position's features have mean 0", view=row_means, given=True)
def norm_mean(rng):
    return call(shifted(rng, *rng.sizes(2, 4, 8)))


@check(NORM, sees="every position's features have variance 1, counted with d", view=row_variances)
def norm_variance(rng):
    length, half = 3, rng.integer(4, 7)
    halves = [rng.normal(half) for _ in range(length)]
    # Each row beside its negative: the mean is 0 already, so that only the spread is to be mended.
    return call(tensor([[3 * entry for entry in row] + [-3 * entry for entry in row] for row in halves]))


@check(NORM, sees="each position is normalised by itself, however many axes stand in front", view=scale_free)
def norm_axes(rng):
    batch, length = rng.sample((2, 9), 2)
    return [call(signs(rng, *shape, 6, shifted=True)) for shape in ((), (length,), (batch, length), (4, 1, 9))]


@check(NORM, sees="eps is added to the variance, under the root")
def norm_eps(rng):
    x = signs(rng, rng.choice((3, 5)), 8)
    return [call(x, eps=round(0.3 + rng.random() / 3, 2)), call(x, eps=2.5), call(x, eps=0.0)]


@check(NORM, sees="the gain is multiplied after the normalisation", view=scale_free)
def norm_gain(rng):
    return call(signs(rng, rng.choice((3, 5)), 8), weight=scattered(rng, 8))


@check(NORM, sees="the bias is added last", view=midpoint)
def norm_bias(rng):
    x = opposite(rng, 8)
    return [call(x, bias=rng.tensor(8)), call(x, weight=scattered(rng, 8, around=2.0), bias=scattered(rng, 8))]


@check(NORM, sees="features that are all alike give the bias, never NaN")
def norm_constant(rng):
    d = rng.choice((5, 7, 8))
    return call(tensor([[value] * d for value in rng.sample((-3.0, 0.0, 1.0, 5.0), 3)]), bias=scattered(rng, d))


@check(
    NORM,
    sees="in float16, features of several hundred do not overflow; in float64, no digits are lost",
    view=spread_kept,
    given=True,
)
def norm_float16(rng):
    rows = [[rng.choice((-1, 1)) * (300.0 + 100 * rng.random()) for _ in range(5)] + [0.0] for _ in range(4)]
    near = [[2.0**26 + entry for entry in row] for row in signs(rng, 3, 6).nested()]  # one number in float32
    return [call(tensor(rows, "float16")), call(tensor(near))]


@check(NORM, sees="the answer has the dtype of x", compares="dtype")
def norm_dtype(rng):
    d = rng.integer(3, 8)
    return [call(rng.tensor(2, d, dtype=dtype), weight=scattered(rng, d, dtype=dtype)) for dtype in DTYPES]


@check(NORM, sees="gradients reach x, gain and bias, through mean and variance too", compares="gradient")
def norm_gradient(rng):
    length, d = rng.sizes(2, 3, 8)
    return call(shifted(rng, length, d), weight=scattered(rng, d), bias=scattered(rng, d))


@check(NORM, sees="the arguments are left as they were", compares="unchanged")
def norm_unchanged(rng):
    length, d = rng.sizes(2, 3, 8)
    return call(shifted(rng, length, d), weight=scattered(rng, d), bias=scattered(rng, d))


@check(NORM, sees="arguments that do not fit are refused", compares="error")
def norm_errors(rng):
    return _encoder_refused.norm_calls(rng)


# 7.4 Encoder


@check(
    ENCODER, sees="each layer has parameters of its own; final_norm is there for pre-norm only", compares="parameters"
)
def encoder_parameters(rng):
    layers = rng.integer(2, 4)
    return [built(call(layers, 4, 2, 5)), built(call(layers, 4, 2, 5, norm_first=True))]


@check(ENCODER, sees="each layer, with its own weights, reads what the layer before it gave")
def encoder_stack(rng):
    return [
        built(
            call(layers, 3, 1, d_ff, dropout=0.0),
            call(rng.tensor(1, length, 3)),
            state=encoder_state(rng, layers, 3, d_ff),
        )
        for layers, d_ff, length in ((3, 5, 4), (2, 4, 5))
    ]


@check(ENCODER, sees="norm_first reaches the layers, and their last sum goes through final_norm")
def encoder_pre_norm(rng):
    state = encoder_state(rng, 1, 5, 7, final=True)
    return built(call(1, 5, 1, 7, dropout=0.0, norm_first=True), call(rng.tensor(1, 3, 5)), state=state)


@check(ENCODER, sees="activation reaches the layers")
def encoder_activation(rng):
    return built(
        call(1, 5, 1, 7, dropout=0.0, activation="gelu"), call(rng.tensor(1, 3, 5)), state=encoder_state(rng, 1, 5, 7)
    )


@check(
    ENCODER,
    sees="every layer keeps to attn_mask: no position depends on a later one, and the mask stays as it was",
    compares=("values", "unchanged"),
    view=influence,
)
def encoder_attn_mask(rng):
    return two_encoders(rng, under_attn_mask(rng))


@check(
    ENCODER,
    sees="every layer keeps to key_mask: no other position depends on padding, and the mask stays as it was",
    compares=("values", "unchanged"),
    view=influence,
)
def encoder_key_mask(rng):
    return two_encoders(rng, under_key_mask(rng))


@check(
    ENCODER, sees="return_weights gives x and a list with the weights of every head, one entry per layer, at each call"
)
def encoder_weights(rng):
    return two_encoders(rng, sequences(rng, 1, 1, return_weights=True), times=2)


@check(ENCODER, sees="for pre-norm the weights are those of what attention sees: norm1(x)", view=weights_alone)
def encoder_weights_pre_norm(rng):
    return two_encoders(rng, sequences(rng, 1, 1, return_weights=True), norm_first=PRE)


@check(ENCODER, sees="the weights that are returned keep to both masks, and a list holds them", view=attended)
def encoder_weights_masked(rng):
    def use(place, length, d_model):
        reals = ((2, 3, 1, 2, 3), (4, 2))[place]
        keys = tensor([[j < real for j in range(length)] for real in reals])
        x = rng.tensor(len(reals), length, d_model)
        return call(x, attn_mask=causal(length), key_mask=keys, return_weights=True)

    return two_encoders(rng, use)


@check(
    ENCODER,
    sees="dropout reaches the layers: with dropout=0 training is as evaluation, and the default is 0.1",
    view=same_twice_or_factor,
)
def encoder_dropout(rng):
    x, state = rng.tensor(1, 8, 5), encoder_state(rng, 2, 5, 5)
    return [
        built(call(2, 5, 1, 5, dropout=0.0), call(x), call(x), state=state, training=True),
        encoder_in_training(rng),
    ]


@check(
    ENCODER,
    sees="gradients reach x and the parameters of every layer, from output and weights; dtype and x stay as they were",
    compares=("gradient", "dtype", "unchanged"),
)
def encoder_gradient(rng):
    return two_encoders(rng, sequences(rng, 1, 1, return_weights=True), norm_first=(False, True))


@check(ENCODER, sees="arguments that do not fit are refused", compares="error")
def encoder_errors(rng):
    return _encoder_refused.encoder_steps(rng)


# 7.5 attention_columns


@check(COLUMNS, sees="the weights in each column sum to 1, however large the scores", view=column_sums, given=True)
def columns_sums(rng):
    return [showing_weights(rng, rng.choice((4, 6, 7)), 1, scale) for scale in (1.0, 60.0)]  # an exponential overflows


@check(COLUMNS, sees="column i of the weights belongs to query i, and its entries to the keys")
def columns_weights(rng):
    return showing_weights(rng, rng.choice((4, 6, 7)), 1, scale=1.0)


@check(COLUMNS, sees="scores are divided by the root of d, the number of rows of W_k")
def columns_scale(rng):
    d, d_v, d_model = rng.sample((4, 6, 9), 3)
    return columns(rng, rng.choice((11, 14)), d_model, d, d_v)


@check(COLUMNS, sees="the values are mixed by the weights, one output column per token")
def columns_output(rng):
    n, d_model, d_v = rng.sizes(3, 3, 8)
    return columns(rng, n, d_model, 1, d_v)


@check(
    COLUMNS, sees="gradients reach x and all three weights, which stay as they were", compares=("gradient", "unchanged")
)
def columns_gradient(rng):
    n, d_model, d_v = rng.sizes(3, 3, 8)
    return columns(rng, n, d_model, 1, d_v)


@check(COLUMNS, sees="the answer has the dtype of the arguments", compares="dtype")
def columns_dtype(rng):
    n, d_model, d_v = rng.sizes(3, 3, 8)
    return [columns(rng, n, d_model, 2, d_v, dtype) for dtype in DTYPES]


@check(COLUMNS, sees="arguments that do not fit are refused", compares="error")
def columns_errors(rng):
    return _encoder_refused.columns_calls(rng)
