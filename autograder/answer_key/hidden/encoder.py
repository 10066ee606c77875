"""Hidden checks of the encoder."""

from selfcheck.checks._encoder_feed_forward import FEED_FORWARD
from selfcheck.checks._encoder_inputs import (
    ATTENTION,
    causal,
    columns,
    encoder_state,
    feed_forward_state,
    layer_state,
    scattered,
)
from selfcheck.checks._encoder_layer import LAYER
from selfcheck.checks.encoder import COLUMNS, ENCODER, NORM
from selfcheck.plan import built, call, check, tensor

from ._lowest import DTYPE, FIRST_OF_FIVE, with_lowest_scores


@check(NORM, sees="gain, bias and eps together, in every shape, equal sizes too", points=1)
def norm_everything(rng):
    batch, heads, length, d = rng.sizes(4, 3, 10)
    return [
        call(rng.tensor(*shape, d), scattered(rng, d), scattered(rng, d), round(0.1 + rng.random(), 2))
        for shape in ((), (length,), (d,), (d, d), (batch, heads, length))
    ] + [
        call(rng.tensor(length, d), rng.tensor(d), rng.tensor(d)),  # gains below zero
        call(tensor([[entry / 100 for entry in row] for row in rng.normal(length, d)]), eps=0.0),
    ]


@check(NORM, sees="features that differ by little, zeros, large features, and a single feature", points=1)
def norm_small_spread(rng):
    extreme = tensor([[0.0] * 6, [1.0] * 6, [-1e4, 1e4, *rng.normal(4)], [1.0, *[0.0] * 5]])
    row = [20.0 + round(rng.gauss(0, 0.5), 2) for _ in range(6)]
    return [call(tensor([row])), call(rng.tensor(3, 1), bias=rng.tensor(1)), call(extreme)]


@check(FEED_FORWARD, sees="without dropout, training is as evaluation; no size is special", points=1, coinciding=True)
def feed_training(rng):
    wide, narrow = rng.sizes(2, 4, 9)
    return [
        built(call(4, wide), call(rng.tensor(2, 3, 4)), state=feed_forward_state(rng, 4, wide), training=True),
        built(call(narrow, 1), call(rng.tensor(3, narrow)), state=feed_forward_state(rng, narrow, 1)),
        built(call(1, narrow), call(rng.tensor(3, 1)), state=feed_forward_state(rng, 1, narrow)),
        built(call(4, 4), call(rng.tensor(4, 4, 4)), state=feed_forward_state(rng, 4, 4)),
        built(call(4, 4), call(tensor([[0.0] * 4, [1.0] * 4])), state=feed_forward_state(rng, 4, 4)),
    ]


def layer(rng, *uses, d_ff=5, **more):
    """A step on an EncoderLayer of width 4 with two heads, without dropout."""
    state = layer_state(rng, 4, d_ff)
    return built(call(4, 2, d_ff, **({"dropout": 0.0} | more)), *uses, state=state)


@check(
    LAYER,
    sees="both masks hold at once, of every shape, for equal sizes, the lowest scores, an all-padded sequence",
    points=1,
)
def layer_masks(rng):
    keys = tensor([[True, True, False], [False] * 3])
    heads = tensor([[[True, False, True]], [[True, True, True]]])  # (H, 1, S)
    return [
        layer(rng, call(rng.tensor(2, 3, 4), causal(3), keys)),
        layer(rng, call(rng.tensor(2, 3, 4), attn_mask=heads), norm_first=True),
        layer(rng, call(rng.tensor(2, 3, 4), key_mask=keys), norm_first=True, activation="gelu"),
        layer(
            rng, call(rng.tensor(4, 4, 4), causal(4), tensor([[j <= i for j in range(4)] for i in range(4)])), d_ff=4
        ),
        layer(rng, call(tensor([[[0.0] * 4, *rng.normal(3, 4)]])), d_ff=4, norm_first=True),
        layer(rng, *with_masks_and_without(rng, keys)),
        *(lowest(rng, norm_first=first) for first in (False, True)),
    ]


def with_masks_and_without(rng, keys):
    """Calls of one object on inputs of one shape: what the first was given does not hold for the next ones."""
    masks = (causal(3), keys), (), (None, keys), (causal(3),), ()
    return [call(rng.tensor(2, 3, 4), *some) for some in masks]


def lowest(rng, **more):
    """A step on an EncoderLayer with heads of one feature, each of whose scores is the smallest number."""
    use = call(rng.tensor(2, 5, 3, dtype=DTYPE), causal(5), tensor(FIRST_OF_FIVE))
    state = with_lowest_scores(layer_state(rng, 3, 7, dtype=DTYPE), ATTENTION)
    return built(call(3, 3, 7, dropout=0.0, **more), use, state=state)


def encoder(rng, layers, *uses, training=False, **more):
    """A step on an Encoder of width 4 with two heads, without dropout."""
    state = encoder_state(rng, layers, 4, 5, final=more.get("norm_first", False))
    return built(call(layers, 4, 2, 5, **({"dropout": 0.0} | more)), *uses, state=state, training=training)


@check(
    ENCODER,
    sees="pre-norm layers, gelu, both masks together, many or equal sizes, the lowest scores, an all-padded sequence",
    points=1,
    coinciding=True,
)
def encoder_everything(rng):
    keys = tensor([[True, True, False], [False] * 3])
    use = call(rng.tensor(2, 3, 4), causal(3), keys, True)
    return [
        encoder(rng, 2, use, norm_first=True, activation="gelu"),
        encoder(rng, 1, use, training=True),
        encoder(rng, 1, call(rng.tensor(17, 3, 4))),
        encoder(rng, 1, *with_masks_and_without(rng, keys)),
        encoder(rng, 3, call(rng.tensor(3, 3, 4), causal(3), tensor([[True, True, i > 0] for i in range(3)]), True)),
        *(lowest_in_layers(rng, norm_first=first) for first in (False, True)),
    ]


def lowest_in_layers(rng, norm_first):
    """A step on an Encoder of two layers with heads of one feature, each of whose scores is the smallest number."""
    state = encoder_state(rng, 2, 3, 7, final=norm_first, dtype=DTYPE)
    state = with_lowest_scores(state, *(f"layers.{place}.{ATTENTION}" for place in range(2)))
    use = call(rng.tensor(2, 5, 3, dtype=DTYPE), causal(5), tensor(FIRST_OF_FIVE), True)
    return built(call(2, 3, 3, 7, dropout=0.0, norm_first=norm_first), use, state=state)


@check(
    COLUMNS,
    sees="scores of ten thousand give finite weights, and no size is special",
    points=1,
    coinciding=True,
)
def columns_extremes(rng):
    n, d_model, d_v = rng.sizes(3, 3, 8)
    big = columns(rng, n, d_model, 1, d_v).kwargs
    sizes = rng.sample(range(1, n + 1), n)  # any two scores of a query lie thousands apart
    one_big = {"x": tensor([[10.0 * size for size in sizes]]), "w_query": tensor([[10.0]]), "w_key": tensor([[10.0]])}
    return [
        call(**one_big, w_value=rng.tensor(d_v, 1)),
        call(**(big | {"x": rng.tensor(d_model, 1)})),
        columns(rng, 2, 1, 1, 1),
        columns(rng, 4, 4, 4, 4),
        columns(rng, 3, 3, 3, 5),
    ]
