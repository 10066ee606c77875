"""Visible checks of the attention module with several heads."""

from selfcheck.plan import built, call, check, tensor

from ._dtypes import DTYPES
from ._multi_head import (
    SCORES,
    SEVERAL,
    alike_in_all_features,
    causal_of_equal_scores,
    identities,
    inputs,
    one_feature,
    one_hot,
    parameters,
    step,
    uniform,
    used_weights,
    weights_step,
)
from .dot_product import attended, mask_of, returned_facts, row_sums, some_of, weights

ATTENTION = "multi_head.MultiHeadAttention"


# 5.3 MultiHeadAttention


@check(ATTENTION, sees="four linear layers, each d_model × d_model, and nothing else", compares="parameters")
def mha_parameters(rng):
    heads, d_head = rng.sizes(2, 2, 7)
    return built(call(heads * d_head, heads))


@check(ATTENTION, sees="bias=False takes the bias from all four", compares="parameters")
def mha_bias(rng):
    d_model = rng.integer(3, 7)
    return built(call(d_model, 1, bias=False))


@check(ATTENTION, sees="one token: what comes out has passed v_proj and out_proj")
def mha_one_token(rng):
    batch, d_model = rng.sizes(2, 3, 8)
    x = rng.tensor(batch, 1, d_model)
    return built(call(d_model, 1), call(x, x, x), state=parameters(rng, d_model))


@check(ATTENTION, sees="one key: every query gets the projection of value, not of key or query")
def mha_one_key(rng):
    batch, queries, d_model = rng.sizes(3, 2, 8)
    return step(rng, (batch, queries, 1), 1, d_model)


@check(ATTENTION, sees="scores compare q_proj(query) with k_proj(key)", view=weights)
def mha_projections(rng):
    batch, queries, keys = rng.sizes(3, 2, 8)
    return weights_step(rng, (batch, queries, keys), 1, 1)


@check(ATTENTION, sees="scores are divided by √d_head, the root of the width of one head", view=weights)
def mha_scale(rng):
    d_head, heads = rng.sample((3, 5), 2)
    return alike_in_all_features(rng, (1, rng.choice((7, 9))), heads, heads * d_head)


@check(ATTENTION, sees="each head works on its own neighbouring features, and its result returns to their place")
def mha_heads(rng):
    return [one_hot(rng, *sizes) for sizes in SEVERAL]


@check(ATTENTION, sees="weights come back for each head, and each query's sum to 1", view=row_sums, given=True)
def mha_weights(rng):
    return [weights_step(rng, *sizes) for sizes in SEVERAL]


@check(ATTENTION, sees="attn_mask: keys are attended where it is True, and nowhere else", view=attended)
def mha_attn_mask(rng):
    batch, queries, keys = rng.sizes(3, 3, 8)
    return weights_step(rng, (batch, queries, keys), 1, 1, "float32", attn_mask=tensor(mask_of(rng, queries, keys)))


@check(ATTENTION, sees="attn_mask may differ by sequence or by head, and broadcasts over the other axes", view=attended)
def mha_mask_shapes(rng):
    steps = []
    for place, (sizes, heads, d_model) in enumerate(SEVERAL * 2):
        batch, queries, keys = sizes
        shapes = [(keys,), (batch, 1, queries, keys), (heads, 1, keys), (batch, heads, queries, keys)]
        mask = tensor(mask_of(rng, *shapes[place]))
        steps.append(weights_step(rng, sizes, heads, d_model, "float32", attn_mask=mask))
    return steps


@check(ATTENTION, sees="key_mask: keys are attended where it is True, by all queries of that sequence", view=attended)
def mha_key_mask(rng):
    batch, keys = rng.sizes(2, 3, 8)
    masks = [tensor(mask_of(rng, batch, keys)) for _ in range(2)]
    return [
        weights_step(rng, (batch, keys, keys), 1, 1, "float32", key_mask=masks[0]),  # as many queries as keys
        weights_step(rng, (batch, batch, keys), 1, 1, "float32", key_mask=masks[1]),  # as many queries as sequences
    ]


def both_masks(rng, batch, queries, keys):
    """A mask of pairs and one of keys, each of which forbids what the other allows; key 0 is always allowed."""
    pairs = [[True, *some_of(rng, keys - 1)] for _ in range(queries)]
    real = [[True, *some_of(rng, keys - 1)] for _ in range(batch)]
    pairs[0][1:3], real[0][1:3] = [True, False], [False, True]
    return {"attn_mask": tensor(pairs), "key_mask": tensor(real)}


@check(ATTENTION, sees="where both masks are given, both must allow", view=attended)
def mha_both_masks(rng):
    batch, queries, keys = rng.sizes(3, 3, 8)
    return weights_step(rng, (batch, queries, keys), 1, 1, "float32", **both_masks(rng, batch, queries, keys))


@check(ATTENTION, sees="under a causal mask the weights of the past sum to 1, however low its scores", view=weights)
def mha_causal(rng):
    batch, length = rng.sizes(2, 5, 9)
    return [
        one_feature(rng, batch, length, [[j <= i for j in range(length)] for i in range(length)], SCORES),
        causal_of_equal_scores(rng, 2, 3, 2, 0.0, 1.0),
        causal_of_equal_scores(rng, 2, 3, 2, 1e5, -1e5),  # below every number that is taken for -∞
    ]


def nothing_to_see(rng):
    """A step in which one query may attend to nothing, and the others to everything."""
    batch, queries, keys = rng.sizes(3, 2, 8)
    empty = rng.integer(0, queries)
    mask = tensor([[i != empty] * keys for i in range(queries)])
    state = identities(1) | {"out_proj.bias": rng.tensor(1)}
    return built(call(1, 1), call(*inputs(rng, batch, queries, keys, 1), attn_mask=mask), state=state)


@check(ATTENTION, sees="a query that may attend to nothing gets zero weights, and out_proj's bias as its output")
def mha_empty_row(rng):
    return nothing_to_see(rng)


@check(ATTENTION, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def mha_empty_gradient(rng):
    return nothing_to_see(rng)


@check(ATTENTION, sees="gradients reach every input and parameter, from output and weights", compares="gradient")
def mha_gradient(rng):
    batch, queries, keys = rng.sizes(3, 2, 8)
    return step(rng, (batch, queries, keys), 1, 1)


@check(ATTENTION, sees="output and weights have the dtype of the inputs, under a mask too", compares="dtype")
def mha_dtype(rng):
    batch, queries, keys = rng.sizes(3, 2, 8)
    mask = tensor(mask_of(rng, queries, keys))
    return [step(rng, (batch, queries, keys), 1, 1, dtype, attn_mask=mask) for dtype in DTYPES]


@check(ATTENTION, sees="inputs, masks and parameters are left as they were", compares="unchanged")
def mha_unchanged(rng):
    batch, queries, keys = rng.sizes(3, 2, 8)
    masks = {"attn_mask": tensor(mask_of(rng, batch, 1, queries, keys)), "key_mask": tensor(mask_of(rng, batch, keys))}
    return step(rng, (batch, queries, keys), 1, 1, **masks)


@check(
    ATTENTION,
    sees="in training `dropout` is the share of weights that the output does without; the others grow to make up",
    view=used_weights,
)
def mha_dropout(rng):
    return uniform(rng, training=True)


@check(ATTENTION, sees="in evaluation mode nothing is dropped", view=used_weights)
def mha_evaluation(rng):
    return uniform(rng, training=False)


@check(ATTENTION, sees="the returned weights are those before dropout", view=returned_facts, given=True)
def mha_dropout_weights(rng):
    return uniform(rng, training=True)


@check(ATTENTION, sees="all together: output and weights of several heads, other keys than queries")
def mha_whole(rng):
    return [step(rng, *sizes) for sizes in SEVERAL]


@check(ATTENTION, sees="what does not fit is refused", compares="error")
def mha_errors(rng):
    batch, queries, keys = rng.sizes(3, 3, 8)
    query, key, value = inputs(rng, batch, queries, keys, 6, "float32")

    def other(*shape):
        return rng.tensor(*shape, dtype="float32")

    mask = tensor(mask_of(rng, queries, keys))
    forwards = [
        call(query, key, other(batch, keys + 1, 6)),
        call(query, key, other(1, keys, 6)),
        call(other(1, queries, 6), key, value),
        call(other(batch, queries, 5), key, value),
        call(query, other(batch, keys, 5), value),
        call(query, key, other(batch, keys, 5)),
        call(rng.normal(batch, queries, 6), key, value),
        call(query, rng.normal(batch, keys, 6), value),
        call(query, key, rng.normal(batch, keys, 6)),
        call(other(6), other(6, keys, 6), other(6, keys, 6), attn_mask=mask),
        call(query, key, value, attn_mask=tensor([[0.0] * keys] * queries)),
        call(query, key, value, attn_mask=tensor(mask_of(rng, keys, queries))),
        call(query, key, value, key_mask=tensor(mask_of(rng, batch, queries))),
        call(query, key, value, key_mask=tensor(mask_of(rng, 1, keys))),
    ]
    return [built(call(6, 4)), built(call(6, 3, dropout=1.5)), *[built(call(6, 3), forward) for forward in forwards]]
