"""Arguments that the encoder refuses."""

import math

from selfcheck.plan import built, call, tensor

from ._encoder_inputs import encoder_state, feed_forward_state, layer_state


def norm_calls(rng):
    """Calls of layer_norm."""
    x, d = rng.tensor(3, 5), 5
    return [
        call(x, rng.tensor(d + 1)),
        call(x, eps=-1.0),
        call(tensor(rng.integers(3, d))),
        call(x, rng.tensor(d, dtype="float32")),
        call(tensor(1.0)),
    ]


def feed_forward_steps(rng):
    """Steps on a FeedForward."""
    state = feed_forward_state(rng, 4, 6)
    return [
        built(call(4, 6, activation="tanh")),
        built(call(4, 6, dropout=1.5)),
        built(call(4, 6, dropout=math.nan)),
        built(call(0, 6)),
        built(call(4, 0)),
        built(call(4, 6), call(rng.tensor(3, 5)), state=state),
        built(call(4, 6), call(rng.tensor(3, 4, dtype="float32")), state=state),
        built(call(4, 6), call(rng.normal(3, 4)), state=state),
    ]


def layer_steps(rng):
    """Steps on an EncoderLayer."""
    state = layer_state(rng, 4, 5)
    return [
        built(call(4, 3, 5)),
        built(call(4, 2, 5, dropout=-0.1)),
        built(call(4, 2, 5), call(rng.tensor(3, 4)), state=state),
        built(call(4, 2, 5), call(rng.tensor(2, 3, 6)), state=state),
        built(call(4, 2, 5), call(rng.tensor(2, 3, 4, dtype="float32")), state=state),
        built(call(4, 2, 5), call(rng.normal(2, 3, 4)), state=state),
        built(call(4, 2, 5), call(tensor(1.0)), state=state),
        built(call(4, 2, 5, norm_first=True), call(rng.tensor(2, 3, 6)), state=state),
    ]


def encoder_steps(rng):
    """Steps on an Encoder."""
    state = encoder_state(rng, 1, 4, 5)
    return [
        built(call(0, 4, 2, 5)),
        built(call(1, 4, 2, 5), call(rng.tensor(3, 4)), state=state),
        built(call(1, 4, 2, 5), call(tensor(rng.integers(2, 3, 4))), state=state),
        built(call(1, 4, 2, 5), call(rng.normal(2, 3, 4)), state=state),
        built(call(1, 4, 2, 5), call(tensor(1.0)), state=state),
        built(
            call(1, 4, 2, 5, norm_first=True),
            call(rng.tensor(2, 3, 6), return_weights=True),
            state=state,
        ),
    ]


def columns_calls(rng):
    """Calls of attention_columns."""
    x, w = rng.tensor(4, 5), rng.tensor(3, 4)
    return [
        call(x, w, rng.tensor(2, 4), w),
        call(x, w, w, rng.tensor(3, 5)),
        call(rng.tensor(2, 4, 5), w, w, w),
        call(x, w, w, rng.tensor(3, 4, dtype="float32")),
        call(tensor(rng.integers(4, 5)), w, w, w),
        call(rng.tensor(4, 5, 2), w, w, w),
    ]
