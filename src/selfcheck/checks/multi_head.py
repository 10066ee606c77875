"""Visible checks of multi-head attention.

One mechanism is left to each check. Where a head is one feature wide, no scale and no cut can be wrong; where there is
one key, all weights are 1; where only the weights are looked at, v_proj and out_proj get no parameters and need not
exist.
"""

from selfcheck.plan import call, check, linears, tensor, torch_attention

from . import _multi_head_attention  # noqa: F401
from ._dtypes import DTYPES
from ._multi_head import (
    NAMES,
    form,
    identity,
)

SPLIT, MERGE = "multi_head.split_heads", "multi_head.merge_heads"
LOAD = "multi_head.load_torch_weights"
EXACT = 1e-10  # numbers that only move are not rounded either

#: Batch, heads, tokens and d_head of two calls. Where a size of one call is the neighbour or the half of another, or
#: the sum of two, it is not so in the other call.
SIZES = ((2, 3, 5, 4), (3, 2, 4, 5))
FEW = (2, 3, 4)  # for a call beside one whose sizes can be told apart, or one whose numbers are not looked at


# 5.1 split_heads


@check(SPLIT, sees="the shape is (B, H, L, d_head): the heads stand in front of the tokens", view=form, given=True)
def split_shape(rng):
    return [call(rng.tensor(batch, length, heads * d_head), heads) for batch, heads, length, d_head in SIZES]


@check(SPLIT, sees="each token stays together: its features reach its own place in every head", tolerance=EXACT)
def split_tokens(rng):
    batch, length, heads = rng.sizes(3, 2, 8)
    one_each = call(rng.tensor(batch, length, heads), heads)
    batch, length, heads = rng.sample(FEW, 3)
    equal = tensor([[[number] * (3 * heads) for number in row] for row in rng.normal(batch, length)])
    return [one_each, call(equal, heads)]  # one feature per head; equal ones


@check(
    SPLIT,
    sees="a head gets neighbouring features: the first head the first d_head of them, and so on",
    tolerance=EXACT,
)
def split_features(rng):
    batch, heads, d_head = rng.sizes(3, 2, 8)
    return call(rng.tensor(batch, 1, heads * d_head), heads)


@check(SPLIT, sees="gradients pass through", compares="gradient", given=True)
def split_gradient(rng):
    batch, d_head = rng.sizes(2, 2, 7)
    return call(rng.tensor(batch, 1, d_head), 1)


@check(SPLIT, sees="the dtype is that of x, and x is left as it was", compares=("dtype", "unchanged"))
def split_dtype(rng):
    batch, length, heads = rng.sample(FEW, 3)
    return [call(rng.tensor(batch, length, 2 * heads, dtype=dtype), heads) for dtype in DTYPES]


@check(SPLIT, sees="what cannot be split is refused", compares="error")
def split_errors(rng):
    batch, length, heads = rng.sizes(3, 2, 8)
    return [
        call(rng.tensor(batch, length, 2 * heads + 1), heads),
        call(rng.tensor(length, 2 * heads), heads),
        call(tensor(rng.integers(batch, length, heads)), heads),
        call(rng.tensor(batch, length, heads), 0),
    ]


# 5.2 merge_heads


@check(MERGE, sees="the shape is (B, L, d_model): the heads stand side by side", view=form, given=True)
def merge_shape(rng):
    return [call(rng.tensor(*sizes)) for sizes in SIZES]


@check(MERGE, sees="each token gets back its own features from every head", tolerance=EXACT)
def merge_tokens(rng):
    batch, heads, length = rng.sample(FEW, 3)
    equal = tensor([[[[number] * 9 for number in row]] * heads for row in rng.normal(batch, length)])
    return [call(rng.tensor(*rng.sizes(3, 2, 8), 1)), call(equal)]  # one feature per head; equal ones


@check(
    MERGE,
    sees="the features of a head stay together: first those of the first head, then those of the second",
    tolerance=EXACT,
)
def merge_features(rng):
    batch, heads, d_head = rng.sizes(3, 2, 8)
    return [call(rng.tensor(batch, heads, 1, d_head)), call(rng.tensor(1, heads, 1, d_head))]


@check(MERGE, sees="gradients pass through", compares="gradient", given=True)
def merge_gradient(rng):
    batch, d_head = rng.sizes(2, 2, 7)
    return call(rng.tensor(batch, 1, 1, d_head))


@check(MERGE, sees="the dtype is that of x, and x is left as it was", compares=("dtype", "unchanged"))
def merge_dtype(rng):
    sizes = rng.sample(FEW, 3)
    return [call(rng.tensor(*sizes, 5, dtype=dtype)) for dtype in DTYPES]


@check(MERGE, sees="what has no axis of heads is refused", compares="error")
def merge_errors(rng):
    sizes = rng.choice(SIZES)
    return [call(rng.tensor(*sizes[1:])), call(rng.tensor(2, *sizes)), call(tensor(rng.integers(*sizes)))]


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


def loading(rng, d_model, others, bias=True, alike=False, num_heads=1):
    """A call with torch's layer and a module that differs from it in the parameters whose names begin as in others."""
    theirs, mine = packed(rng, d_model, bias, alike)
    for name in [name for name in mine if name.startswith(others)]:
        mine |= rng.state({name: mine[name].shape})
    module = linears(NAMES, d_model, d_model, bias, mine)
    return call(module, torch_attention(bias, theirs, embed_dim=d_model, num_heads=num_heads))


@check(
    LOAD,
    sees="q_proj, k_proj and v_proj get their weights, and torch's layer keeps its own",
    compares="state",
    tolerance=EXACT,
)
def load_projections(rng):
    return loading(rng, rng.choice((4, 6)), ("q_proj", "k_proj", "v_proj"), bias=False, num_heads=2)


@check(LOAD, sees="q_proj, k_proj and v_proj get their biases", compares="state", tolerance=EXACT)
def load_biases(rng):
    return loading(rng, rng.choice((4, 6)), ("q_proj.bias", "k_proj.bias", "v_proj.bias"), num_heads=2)


@check(LOAD, sees="out_proj gets its weight", compares="state", tolerance=EXACT)
def load_output(rng):
    return loading(rng, rng.integer(3, 6), ("out_proj",), bias=False, alike=True)


@check(LOAD, sees="out_proj gets its bias", compares="state", tolerance=EXACT)
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
