"""Inputs and views of the checks of multi-head attention."""

import math

from selfcheck.arrays import Array, array, nest
from selfcheck.plan import built, call, tensor

from .dot_product import KEYS, ROUNDING, dropped, of_both

NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")
SCORES = ("q_proj", "k_proj")  # the weights depend on no other parameter


def form(step, answer):
    """An array of the answer's shape, zeros where it holds numbers; any other answer is left as it is."""
    if not isinstance(answer, Array) or 0 in answer.shape:
        return answer
    return array(nest([int(not math.isfinite(value)) for value in answer.values()], answer.shape))


def parameters(rng, d_model, names=NAMES, bias=True, dtype="float64", scale=0.5):
    """A state of the linear layers named, of numbers small enough that no softmax is one-hot."""
    shapes = {}
    for name in names:
        shapes[f"{name}.weight"] = (d_model, d_model)
        if bias:
            shapes[f"{name}.bias"] = (d_model,)
    return rng.state(shapes, dtype, scale)


def identities(d_model, names=NAMES, dtype="float64"):
    """A state of the linear layers named in which they change nothing."""
    state = {}
    for name in names:
        state[f"{name}.weight"] = tensor(identity(d_model), dtype)
        state[f"{name}.bias"] = tensor([0.0] * d_model, dtype)
    return state


def identity(size):
    """Nested lists of the unit matrix."""
    return [[float(i == j) for j in range(size)] for i in range(size)]


def inputs(rng, batch, queries, keys, d_model, dtype="float64"):
    """Query, key and value, each its own tensor."""
    return [rng.tensor(batch, length, d_model, dtype=dtype) for length in (queries, keys, keys)]


def weights_step(rng, sizes, num_heads, d_model, dtype="float64", **masks):
    """A step for the weights alone, which gives no parameters to v_proj and out_proj; sizes: batch, queries, keys."""
    state = parameters(rng, d_model, SCORES, dtype=dtype)
    return built(call(d_model, num_heads), call(*inputs(rng, *sizes, d_model, dtype), **masks), state=state)


def step(rng, sizes, num_heads, d_model, dtype="float64", bias=True, training=False, **masks):
    """A step with all parameters; sizes: batch, queries, keys."""
    made = call(d_model, num_heads) if bias else call(d_model, num_heads, bias=False)
    state = parameters(rng, d_model, bias=bias, dtype=dtype)
    return built(made, call(*inputs(rng, *sizes, d_model, dtype=dtype), **masks), state=state, training=training)


def causal_of_equal_scores(rng, batch, length, more, queries, keys):
    """Weights under a causal mask where every token of the queries is one number, and every one of the keys another.

    There are `more` keys than queries; as many of them are seen by the first query.
    """
    causal = [[j <= i + more for j in range(length + more)] for i in range(length)]
    x = [tensor([[[number]] * tokens] * batch) for number, tokens in ((queries, length), (keys, length + more))]
    return built(call(1, 1), call(*x, rng.tensor(batch, length + more, 1), tensor(causal)), state=identities(1, SCORES))


#: Of two steps with several heads: batch, queries and keys; heads; d_model. Where a size of one step is the neighbour
#: or the half of another, or the sum of two, it is not so in the other step.
SEVERAL = (((2, 5, 4), 3, 6), ((3, 4, 5), 2, 6))


def one_hot(rng, sizes, num_heads, d_model):
    """Queries that find one key alone, in each head another, whatever the scores are divided by.

    All projections are identities. In a head the keys point in directions that are at right angles or opposite to each
    other, and so do the queries, in another order; where there are more queries than keys, the last ones in one. The
    score of a query's own key lies 1,500 or more above the others: an exponential of it overflows in every dtype.

    sizes: batch, queries and keys; at most two keys for each feature of a head
    """
    batch, *lengths = sizes
    queries, keys = ([[[] for _ in range(tokens)] for _ in range(batch)] for tokens in lengths)
    axes = identity(d_model // num_heads)
    units = [*axes, *([-entry for entry in axis] for axis in axes)]
    for sequence in zip(queries, keys, strict=True):
        for _ in range(num_heads):
            found = rng.sample(units, lengths[1])
            for tokens in sequence:
                order = rng.sample(found, len(found))
                for token, direction in zip(tokens, order + order[-1:] * len(tokens), strict=False):
                    length = float(rng.integer(40, 60))
                    token += [length * entry for entry in direction]
    query, key = tensor(queries, "float64"), tensor(keys, "float64")
    return built(call(d_model, num_heads), call(query, key, key), state=identities(d_model))


def alike_in_all_features(rng, sizes, num_heads, d_model):
    """A step in which each token has one number in all its features, so that only the scale of the scores counts.

    sizes: batch, length
    """
    x = tensor([[[0.8 * number] * d_model for number in row] for row in rng.normal(*sizes)])
    return built(call(d_model, num_heads), call(x, x, x), state=identities(d_model, SCORES))


def one_feature(rng, batch, length, mask, names=NAMES):
    """Self-attention of one head and one feature, whose layers change nothing, under an attn_mask."""
    x = rng.tensor(batch, length, 1)
    state = identities(1, names)
    if "out_proj" in names:
        state["out_proj.bias"] = rng.tensor(1)
    return built(call(1, 1), call(x, x, x, attn_mask=tensor(mask)), state=state)


def uniform(rng, training, dropout=0.25):
    """One head whose weights are all 1 / KEYS, for more queries than keys; the values: unit vectors, and ones.

    So the output holds the weights that were used, and in its last columns their sum.
    """
    d_model = KEYS + 3
    query, key = ([[[rng.integer(1, 4)] * d_model] * tokens] for tokens in (KEYS + 5, KEYS))
    value = [[*row, 1.0, 1.0, 1.0] for row in identity(KEYS)]
    arguments = [tensor(x, "float32") for x in (query, key, [value])]
    state = identities(d_model, dtype="float32")
    return built(call(d_model, 1, dropout=dropout), call(*arguments), state=state, training=training)


@of_both
def used_weights(step, answer):
    """The share of weights that the output does without, the factor on the others, and two facts, 1 where they hold.

    The sum of each row is still that of its weights; whole rows are not the only thing that is dropped.
    """
    rows = answer[0].nested()[0]
    used = [row[:KEYS] for row in rows]
    whole = all(abs(entry - sum(row[:KEYS])) < 1e-3 for row in rows for entry in row[KEYS:])
    entries = [entry for row in used for entry in row]
    by_rows = all(_spread(row) < ROUNDING for row in used) and _spread(entries) >= ROUNDING
    return array([*dropped(entries), float(whole), float(not by_rows)])


def _spread(numbers):
    return max(numbers) - min(numbers)
