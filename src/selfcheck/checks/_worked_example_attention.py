"""Visible checks of self-attention on the worked example."""

from selfcheck.plan import call, check, ndarray

from ._worked_example_inputs import (
    INPUTS,
    W_KEY,
    W_QUERY,
    W_VALUE,
    part,
    small,
)

# 2.5 self_attention


SIZES = (3, 5, 7, 11)


def layer(rng, width=0):
    """Inputs and matrices with length, input width, key width and value width all different, and moderate scores.

    width: of the keys, one of SIZES; 0 for any
    """
    length, d_in, d_v = rng.sample([size for size in SIZES if size != width], 3)
    d = width or next(size for size in SIZES if size not in (length, d_in, d_v))
    return rng.normal(length, d_in), small(rng, d_in, d), small(rng, d_in, d), rng.normal(d_in, d_v)


@check(
    "worked_example.self_attention",
    sees="the running example's outputs and weights come out, without the scale",
    coinciding=True,
)
def attention_running_example(rng):
    return call(INPUTS, W_QUERY, W_KEY, W_VALUE)


@check(
    "worked_example.self_attention",
    sees="the running example with the scale, whole numbers in NumPy arrays",
    coinciding=True,
)
def attention_running_example_scaled(rng):
    return call(*(ndarray(matrix) for matrix in (INPUTS, W_QUERY, W_KEY, W_VALUE)), scale=True)


@check(
    "worked_example.self_attention",
    sees="where all scores are equal, each output is the mean of the values",
    view=part(0, 2),
)
def attention_equal_scores(rng):
    length, d_in, d, d_v = rng.sizes(4, 3, 10)
    return call(rng.normal(length, d_in), [[0.0] * d] * d_in, small(rng, d_in, d), rng.normal(d_in, d_v))


@check("worked_example.self_attention", sees="the weights: each query's row over the keys sums to 1", view=part(1, 2))
def attention_weights(rng):
    return call(*layer(rng))


@check(
    "worked_example.self_attention",
    sees="the outputs: each query mixes the values by its own row of weights; the arguments stay as they were",
    compares=("values", "unchanged"),
    view=part(0, 2),
)
def attention_outputs(rng):
    return call(*layer(rng))


@check(
    "worked_example.self_attention",
    sees="scale=True divides the scores by the square root of the key width",
    view=part(1, 2),
)
def attention_scale(rng):
    # The roots of 5 and 7 are rounded to the nearest number in different ways, and neither to 1.
    return [call(*layer(rng, 5), scale=True), call(*layer(rng, 7), True)]


@check("worked_example.self_attention", sees="queries and keys of different widths are refused", compares="error")
def attention_errors(rng):
    return call(rng.normal(3, 4), rng.normal(4, 2), rng.normal(4, 3), rng.normal(4, 5))
