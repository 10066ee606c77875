"""Visible checks of one encoder layer."""

from selfcheck.plan import built, call, check

from . import _encoder_refused
from ._dtypes import DTYPES
from ._encoder_dropout import (
    dropout_after_norm,
    dropout_facts,
    dropped_inside,
    layer_after_norm,
    layer_in_training,
)
from ._encoder_inputs import (
    LAST,
    OUT,
    eye,
    influence,
    layer_state,
    neutral,
    same_twice,
    signs,
    without,
)
from ._encoder_steps import PRE, sequences, two_layers, under_attn_mask, under_key_mask

LAYER = "encoder.EncoderLayer"


# 7.3 EncoderLayer


@check(LAYER, sees="the parameters are those of attention, feed-forward and two norms", compares="parameters")
def layer_parameters(rng):
    return built(call(*rng.choice(((4, 2), (6, 3), (6, 2))), rng.integer(9, 12)))


@check(LAYER, sees="post-norm: attention is added to x, and the sum normalised by norm1")
def layer_post_attention(rng):
    state = neutral(without(layer_state(rng, 5, 7), LAST), "norm2")
    return built(call(5, 1, 7, dropout=0.0), call(rng.tensor(3, 1, 5)), state=state)


@check(LAYER, sees="post-norm: feed-forward is added to what it reads, and the sum normalised by norm2")
def layer_post_feed_forward(rng):
    state = neutral(without(layer_state(rng, 6, 9), OUT), "norm1")
    return built(call(6, 1, 9, dropout=0.0), call(signs(rng, 1, 4, 6)), state=state)


@check(LAYER, sees="post-norm: what norm1 gives is all that the second half sees")
def layer_post(rng):
    return two_layers(rng, sequences(rng, 5, 2))


@check(LAYER, sees="pre-norm: attention sees norm1(x), and its result is added to x itself")
def layer_pre_attention(rng):
    return two_layers(rng, sequences(rng, 5, 2), LAST, norm_first=PRE)


@check(LAYER, sees="pre-norm: feed-forward sees norm2 of the first sum, and its result is added to that sum")
def layer_pre_feed_forward(rng):
    state = without(layer_state(rng, 5, 7), "self_attention.v_proj")  # attention adds a constant
    return built(call(5, 1, 7, dropout=0.0, norm_first=True), call(rng.tensor(1, 3, 5)), state=state)


@check(LAYER, sees="activation reaches the feed-forward layer")
def layer_activation(rng):
    state = neutral(without(layer_state(rng, 6, 9), OUT), "norm1")
    return built(call(6, 1, 9, dropout=0.0, activation="gelu"), call(signs(rng, 1, 4, 6)), state=state)


@check(
    LAYER,
    sees="under a causal attn_mask no position depends on a later one, and the mask stays as it was",
    compares=("values", "unchanged"),
    view=influence,
)
def layer_attn_mask(rng):
    return two_layers(rng, under_attn_mask(rng), norm_first=(False, True))


@check(
    LAYER,
    sees="under a key_mask no other position depends on padding, and the mask stays as it was",
    compares=("values", "unchanged"),
    view=influence,
)
def layer_key_mask(rng):
    return two_layers(rng, under_key_mask(rng), norm_first=(False, True))


@check(LAYER, sees="dropout acts on attention's result before it is added", view=dropout_facts)
def layer_dropout_attention(rng):
    return [layer_in_training(rng, 40, rate, self_attention__out_proj__bias=1) for rate in (0.25, None)]


@check(LAYER, sees="dropout acts on the feed-forward result before it is added", view=dropout_facts)
def layer_dropout_feed_forward(rng):
    return layer_in_training(rng, 40, 0.25, feed_forward__linear2__bias=1)


@check(
    LAYER,
    sees="post-norm: dropout acts on each of the two results, and not on the sums",
    view=dropout_after_norm,
    given=True,
)
def layer_dropout_post(rng):
    return [
        layer_after_norm(rng, 0.0, self_attention__out_proj__bias=1),
        layer_after_norm(rng, 0.0, feed_forward__linear2__bias=1),
        layer_after_norm(rng, 10.0),
    ]


@check(
    LAYER,
    sees="dropout acts inside as well: on attention's weights and on the hidden units",
    view=dropped_inside,
    given=True,
)
def layer_dropout_inside(rng):
    unit = eye(8, 8, "float32")
    return [
        layer_in_training(rng, 11, 0.25, self_attention__v_proj__bias=1, self_attention__out_proj__weight=unit),
        layer_in_training(rng, 11, 0.25, feed_forward__linear1__bias=1, feed_forward__linear2__weight=1),
    ]


@check(LAYER, sees="in evaluation nothing is dropped", view=same_twice, given=True)
def layer_evaluation(rng):
    x = rng.tensor(1, 3, 5)
    return built(call(5, 1, 7, dropout=0.5), call(x), call(x), state=layer_state(rng, 5, 7))


@check(LAYER, sees="gradients reach x and all parameters, pre-norm and post-norm", compares="gradient")
def layer_gradient(rng):
    return two_layers(rng, sequences(rng, 1, 1), norm_first=(False, True))


@check(LAYER, sees="every dtype is kept, and x is left as it was", compares=("dtype", "unchanged"))
def layer_dtypes(rng):
    return [
        built(
            call(4, 2, 7), call(rng.tensor(1, 3, 4, dtype=dtype)), state=layer_state(rng, 4, 7, dtype=dtype, scale=0.3)
        )
        for dtype in DTYPES
    ]


@check(LAYER, sees="arguments that do not fit are refused", compares="error")
def layer_errors(rng):
    return _encoder_refused.layer_steps(rng)
