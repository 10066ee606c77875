"""Visible checks of the feed-forward layer."""

from selfcheck.plan import built, call, check, tensor

from . import _encoder_refused
from ._dtypes import DTYPES
from ._encoder_inputs import feed_dropout_facts, feed_dropout_step, feed_forward_state, same_twice

FEED_FORWARD = "encoder.FeedForward"


# 7.2 FeedForward


@check(FEED_FORWARD, sees="the parameters are those of linear1 and linear2, of the right shapes", compares="parameters")
def feed_parameters(rng):
    return built(call(*rng.sizes(2, 3, 8)))


@check(FEED_FORWARD, sees="a ReLU stands between the two linear layers, and nowhere else")
def feed_relu(rng):
    return built(call(3, 7), call(rng.tensor(5, 3)), state=feed_forward_state(rng, 3, 7))


@check(FEED_FORWARD, sees='activation="gelu" takes the exact GELU instead', tolerance=1e-6)
def feed_gelu(rng):
    return built(call(3, 7, activation="gelu"), call(rng.tensor(5, 3)), state=feed_forward_state(rng, 3, 7, scale=1.0))


@check(FEED_FORWARD, sees="the features are the last axis, whatever stands in front")
def feed_axes(rng):
    batch, heads = rng.sample((2, 4), 2)
    state = feed_forward_state(rng, 3, 7)
    state["linear1.weight"] = tensor([[0.5] * 3] * 7)
    return [
        built(call(3, 7), call(tensor(rng._nested(shape, lambda: round(rng.random() + 6, 2)))), state=state)
        for shape in ((3,), (batch, 5, 3), (batch, heads, 5, 3), (heads, batch, 5, 3))
    ]


@check(FEED_FORWARD, sees="dropout acts on the hidden units, in training", view=feed_dropout_facts)
def feed_dropout(rng):
    return feed_dropout_step(rng)


@check(FEED_FORWARD, sees="dropout comes after the activation", view=feed_dropout_facts, tolerance=4e-4)
def feed_dropout_order(rng):
    return feed_dropout_step(rng, activation="gelu")


@check(FEED_FORWARD, sees="in evaluation nothing is dropped", view=same_twice, given=True)
def feed_evaluation(rng):
    x = rng.tensor(5, 3)
    return built(call(3, 7, dropout=0.5), call(x), call(x), state=feed_forward_state(rng, 3, 7))


@check(FEED_FORWARD, sees="gradients reach x and all parameters", compares="gradient")
def feed_gradient(rng):
    return built(call(3, 7), call(rng.tensor(5, 3)), state=feed_forward_state(rng, 3, 7))


@check(
    FEED_FORWARD,
    sees="the answer has the dtype of module and input, and x is left as it was",
    compares=("dtype", "unchanged"),
)
def feed_dtype(rng):
    return [
        built(call(3, 7), call(rng.tensor(5, 3, dtype=dtype)), state=feed_forward_state(rng, 3, 7, dtype=dtype))
        for dtype in DTYPES
    ]


@check(FEED_FORWARD, sees="arguments that do not fit are refused", compares="error")
def feed_errors(rng):
    return _encoder_refused.feed_forward_steps(rng)
