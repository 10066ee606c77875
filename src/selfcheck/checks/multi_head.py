"""Visible checks of multi-head attention.

One mechanism is left to each check. Where a head is one feature wide, no scale and no cut can be wrong; where there is
one key, all weights are 1; where only the weights are looked at, v_proj and out_proj get no parameters and need not
exist.
"""

from selfcheck.plan import built, call, check, linears, tensor, torch_attention

from ._multi_head import (
    NAMES,
    SCORES,
    alike_in_all_features,
    form,
    identity,
    inputs,
    one_feature,
    one_hot,
    parameters,
    step,
    uniform,
    used_weights,
    weights_step,
)
from .dot_product import DTYPES, attended, mask_of, returned_facts, row_sums, some_of, weights

SPLIT, MERGE = "multi_head.split_heads", "multi_head.merge_heads"
ATTENTION, LOAD = "multi_head.MultiHeadAttention", "multi_head.load_torch_weights"


# 5.1 split_heads


@check(SPLIT, sees="the shape is (B, H, L, d_head): the heads stand in front of the tokens", view=form)
def split_shape(rng):
    batch, length, heads, d_head = rng.sizes(4, 2, 7)
    return call(rng.tensor(batch, length, heads * d_head), heads)


@check(SPLIT, sees="each token stays together: its features reach its own place in every head")
def split_tokens(rng):
    batch, length, heads = rng.sizes(3, 2, 6)
    return call(rng.tensor(batch, length, heads), heads)  # one feature per head


@check(SPLIT, sees="a head gets neighbouring features: the first head the first d_head of them, and so on")
def split_features(rng):
    batch, heads, d_head = rng.sizes(3, 2, 6)
    return call(rng.tensor(batch, 1, heads * d_head), heads)


@check(SPLIT, sees="gradients pass through", compares="gradient", given=True)
def split_gradient(rng):
    batch, d_head = rng.sizes(2, 2, 6)
    return call(rng.tensor(batch, 1, d_head), 1)


@check(SPLIT, sees="the dtype is that of x, and x is left as it was", compares=("dtype", "unchanged"))
def split_dtype(rng):
    batch, length, heads, d_head = rng.sizes(4, 2, 6)
    return [call(rng.tensor(batch, length, heads * d_head, dtype=dtype), heads) for dtype in DTYPES]


@check(SPLIT, sees="what cannot be split is refused", compares="error")
def split_errors(rng):
    batch, length, heads = rng.sizes(3, 2, 6)
    return [
        call(rng.tensor(batch, length, 2 * heads + 1), heads),
        call(rng.tensor(length, 2 * heads), heads),
        call(tensor(rng.integers(batch, length, heads)), heads),
        call(rng.tensor(batch, length, heads), 0),
    ]


# 5.2 merge_heads


@check(MERGE, sees="the shape is (B, L, d_model): the heads stand side by side", view=form)
def merge_shape(rng):
    return call(rng.tensor(*rng.sizes(4, 2, 7)))


@check(MERGE, sees="each token gets back its own features from every head")
def merge_tokens(rng):
    return call(rng.tensor(*rng.sizes(3, 2, 6), 1))


@check(MERGE, sees="the features of a head stay together: first those of the first head, then those of the second")
def merge_features(rng):
    batch, heads, d_head = rng.sizes(3, 2, 6)
    return call(rng.tensor(batch, heads, 1, d_head))


@check(MERGE, sees="gradients pass through", compares="gradient", given=True)
def merge_gradient(rng):
    batch, d_head = rng.sizes(2, 2, 6)
    return call(rng.tensor(batch, 1, 1, d_head))


@check(MERGE, sees="the dtype is that of x, and x is left as it was", compares=("dtype", "unchanged"))
def merge_dtype(rng):
    sizes = rng.sizes(4, 2, 6)
    return [call(rng.tensor(*sizes, dtype=dtype)) for dtype in DTYPES]


@check(MERGE, sees="what has no axis of heads is refused", compares="error")
def merge_errors(rng):
    sizes = rng.sizes(4, 2, 6)
    return [call(rng.tensor(*sizes[1:])), call(rng.tensor(2, *sizes)), call(tensor(rng.integers(*sizes)))]


# 5.3 MultiHeadAttention


@check(ATTENTION, sees="four linear layers, each d_model × d_model, and nothing else", compares="parameters")
def mha_parameters(rng):
    heads, d_head = rng.sizes(2, 2, 5)
    return built(call(heads * d_head, heads))


@check(ATTENTION, sees="bias=False takes the bias from all four", compares="parameters")
def mha_bias(rng):
    d_model = rng.integer(3, 7)
    return built(call(d_model, 1, bias=False))


@check(ATTENTION, sees="one token: what comes out has passed v_proj and out_proj")
def mha_one_token(rng):
    batch, d_model = rng.sizes(2, 3, 6)
    x = rng.tensor(batch, 1, d_model)
    return built(call(d_model, 1), call(x, x, x), state=parameters(rng, d_model))


@check(ATTENTION, sees="one key: every query gets the projection of value, not of key or query")
def mha_one_key(rng):
    batch, queries, d_model = rng.sizes(3, 2, 6)
    return step(rng, (batch, queries, 1), 1, d_model)


@check(ATTENTION, sees="scores compare q_proj(query) with k_proj(key)", view=weights)
def mha_projections(rng):
    batch, queries, keys = rng.sizes(3, 2, 6)
    return weights_step(rng, (batch, queries, keys), 1, 1)


@check(ATTENTION, sees="scores are divided by √d_head, the root of the width of one head", view=weights)
def mha_scale(rng):
    batch, length, d_head = rng.sizes(3, 2, 5)
    heads = rng.sample([size for size in (2, 3, 4) if size != d_head], 1)[0]
    return alike_in_all_features(rng, (batch, length), heads, heads * d_head)


@check(ATTENTION, sees="each head works on its own neighbouring features, and its result returns to their place")
def mha_heads(rng):
    return one_hot(rng)


@check(ATTENTION, sees="weights come back for each head, and each query's sum to 1", view=row_sums)
def mha_weights(rng):
    batch, heads, queries, keys = rng.sizes(4, 2, 7)
    return weights_step(rng, (batch, queries, keys), heads, heads)


@check(ATTENTION, sees="attn_mask: keys are attended where it is True, and nowhere else", view=attended)
def mha_attn_mask(rng):
    batch, queries, keys = rng.sizes(3, 3, 7)
    return weights_step(rng, (batch, queries, keys), 1, 1, "float32", attn_mask=tensor(mask_of(rng, queries, keys)))


@check(ATTENTION, sees="attn_mask may differ by sequence or by head, and broadcasts over the other axes", view=attended)
def mha_mask_shapes(rng):
    batch, heads, queries, keys = rng.sizes(4, 2, 6)
    shapes = [(keys,), (batch, 1, queries, keys), (heads, 1, keys)]
    sizes = (batch, queries, keys)
    return [
        weights_step(rng, sizes, heads, heads, "float32", attn_mask=tensor(mask_of(rng, *shape))) for shape in shapes
    ]


@check(ATTENTION, sees="key_mask: keys are attended where it is True, by all queries of that sequence", view=attended)
def mha_key_mask(rng):
    batch, keys = rng.sizes(2, 3, 6)
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
    batch, queries, keys = rng.sizes(3, 3, 7)
    return weights_step(rng, (batch, queries, keys), 1, 1, "float32", **both_masks(rng, batch, queries, keys))


@check(ATTENTION, sees="under a causal mask the weights of the past sum to 1", view=weights)
def mha_causal(rng):
    batch, length = rng.sizes(2, 3, 6)
    return one_feature(rng, batch, length, [[j <= i for j in range(length)] for i in range(length)], SCORES)


def nothing_to_see(rng):
    """A step in which one query may attend to nothing, and the others to everything."""
    batch, length = rng.sizes(2, 2, 4)
    empty = rng.integer(0, length)
    return one_feature(rng, batch, length, [[i != empty] * length for i in range(length)])


@check(ATTENTION, sees="a query that may attend to nothing gets zero weights, and out_proj's bias as its output")
def mha_empty_row(rng):
    return nothing_to_see(rng)


@check(ATTENTION, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def mha_empty_gradient(rng):
    return nothing_to_see(rng)


@check(ATTENTION, sees="gradients reach every input and parameter, from output and weights", compares="gradient")
def mha_gradient(rng):
    batch, queries, keys = rng.sizes(3, 2, 5)
    return step(rng, (batch, queries, keys), 1, 1)


@check(ATTENTION, sees="output and weights have the dtype of the inputs, under a mask too", compares="dtype")
def mha_dtype(rng):
    batch, queries, keys = rng.sizes(3, 2, 5)
    mask = tensor(mask_of(rng, queries, keys))
    return [step(rng, (batch, queries, keys), 1, 1, dtype, attn_mask=mask) for dtype in DTYPES]


@check(ATTENTION, sees="inputs, masks and parameters are left as they were", compares="unchanged")
def mha_unchanged(rng):
    batch, queries, keys = rng.sizes(3, 2, 5)
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


@check(ATTENTION, sees="the returned weights are those before dropout", view=returned_facts)
def mha_dropout_weights(rng):
    return uniform(rng, training=True)


@check(ATTENTION, sees="all together: output and weights of several heads, other keys than queries")
def mha_whole(rng):
    batch, heads, queries, keys = rng.sizes(4, 2, 6)
    return step(rng, (batch, queries, keys), heads, 2 * heads)


@check(ATTENTION, sees="what does not fit is refused", compares="error")
def mha_errors(rng):
    batch, queries, keys = rng.sizes(3, 3, 6)
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
    return [built(call(6, 4)), built(call(6, 3, dropout=1.5)), *[built(call(6, 3), one) for one in forwards]]


# 5.4 load_torch_weights


def packed(rng, d_model, bias, alike=False):
    """The state of torch's layer, and that of a module which has all of it already.

    alike: whether W_q, W_k and W_v are one multiple of the unit matrix, and their biases one number throughout
    """
    theirs = rng.state({"in_proj_weight": (3 * d_model, d_model), "out_proj.weight": (d_model, d_model)})
    if alike:
        theirs["in_proj_weight"] = tensor([[1.5 * entry for entry in row] for row in identity(d_model)] * 3)
    if bias:
        theirs |= rng.state({"in_proj_bias": (3 * d_model,), "out_proj.bias": (d_model,)})
    if bias and alike:
        theirs["in_proj_bias"] = tensor([0.5] * 3 * d_model)
    mine = {name: value for name, value in theirs.items() if name.startswith("out_proj")}
    for kind in ("weight", "bias") if bias else ("weight",):
        rows = theirs[f"in_proj_{kind}"].nested()
        for place, name in enumerate(NAMES[:3]):
            mine[f"{name}.{kind}"] = tensor(rows[place * d_model : (place + 1) * d_model])
    return theirs, mine


def loading(rng, d_model, others, bias=True, alike=False):
    """A call with torch's layer and a module that differs from it in the parameters whose names begin as in others."""
    theirs, mine = packed(rng, d_model, bias, alike)
    for name in [name for name in mine if name.startswith(others)]:
        mine |= rng.state({name: mine[name].shape})
    module = linears(NAMES, d_model, d_model, bias, mine)
    return call(module, torch_attention(bias, theirs, embed_dim=d_model, num_heads=1))


@check(LOAD, sees="q_proj, k_proj and v_proj get their weights, and torch's layer keeps its own", compares="state")
def load_projections(rng):
    return loading(rng, rng.integer(3, 6), ("q_proj", "k_proj", "v_proj"), bias=False)


@check(LOAD, sees="q_proj, k_proj and v_proj get their biases", compares="state")
def load_biases(rng):
    return loading(rng, rng.integer(3, 6), ("q_proj.bias", "k_proj.bias", "v_proj.bias"))


@check(LOAD, sees="out_proj gets its weight", compares="state")
def load_output(rng):
    return loading(rng, rng.integer(3, 6), ("out_proj",), bias=False, alike=True)


@check(LOAD, sees="out_proj gets its bias", compares="state")
def load_output_bias(rng):
    return loading(rng, rng.integer(3, 6), ("out_proj.bias",), alike=True)


@check(LOAD, sees="the module keeps its own parameters, filled with copies, and they still learn", compares="kept")
def load_copies(rng):
    return loading(rng, rng.integer(2, 4), NAMES)


@check(LOAD, sees="layers that do not fit each other are refused", compares="error")
def load_errors(rng):
    d_model = rng.integer(3, 6)

    def layers(width, bias):
        return linears(NAMES, width, width, bias, {})

    return [
        call(layers(d_model + 1, True), torch_attention(True, {}, embed_dim=d_model, num_heads=1)),
        call(layers(d_model, False), torch_attention(True, {}, embed_dim=d_model, num_heads=1)),
        call(layers(d_model, True), torch_attention(True, {}, embed_dim=d_model, num_heads=1, kdim=d_model + 1)),
    ]
