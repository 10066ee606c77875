"""Hidden checks of the encoder."""

from selfcheck.checks._dtypes import DTYPES
from selfcheck.checks._encoder_inputs import causal, columns, encoder_state, feed_forward_state, layer_state, scattered
from selfcheck.checks._encoder_layer import LAYER
from selfcheck.checks.encoder import COLUMNS, ENCODER, FEED_FORWARD, NORM
from selfcheck.plan import built, call, check, tensor


@check(NORM, sees="gain, bias and eps together, in every shape", points=1)
def norm_everything(rng):
    batch, heads, length, d = rng.sizes(4, 3, 8)
    return [
        call(rng.tensor(*shape, d), scattered(rng, d), scattered(rng, d), round(0.1 + rng.random(), 2))
        for shape in ((), (length,), (batch, heads, length))
    ]


@check(NORM, sees="features that differ by little, and a single feature", points=1)
def norm_small_spread(rng):
    row = [20.0 + round(rng.gauss(0, 0.5), 2) for _ in range(6)]
    return [call(tensor([row])), call(rng.tensor(3, 1), bias=rng.tensor(1))]


@check(FEED_FORWARD, sees="without dropout, training is as evaluation; no size is special", points=1)
def feed_training(rng):
    wide, narrow = rng.sizes(2, 4, 9)
    return [
        built(call(4, wide), call(rng.tensor(2, 3, 4)), state=feed_forward_state(rng, 4, wide), training=True),
        built(call(narrow, 1), call(rng.tensor(3, narrow)), state=feed_forward_state(rng, narrow, 1)),
        built(call(1, narrow), call(rng.tensor(3, 1)), state=feed_forward_state(rng, 1, narrow)),
    ]


@check(
    FEED_FORWARD, sees="gradients reach x and all parameters, and every dtype is kept", compares="gradient", points=1
)
def feed_gradient(rng):
    return built(call(3, 5), call(rng.tensor(2, 3)), state=feed_forward_state(rng, 3, 5))


@check(FEED_FORWARD, sees="the answer has the dtype of module and input", compares="dtype", points=1)
def feed_dtype(rng):
    return [
        built(call(3, 5), call(rng.tensor(2, 3, dtype=dtype)), state=feed_forward_state(rng, 3, 5, dtype=dtype))
        for dtype in DTYPES
    ]


def layer(rng, *uses, d_ff=5, **more):
    """A step on an EncoderLayer of width 4 with two heads, without dropout."""
    state = layer_state(rng, 4, d_ff)
    return built(call(4, 2, d_ff, **({"dropout": 0.0} | more)), *uses, state=state)


@check(LAYER, sees="gradients reach x and all parameters, pre-norm and post-norm", compares="gradient", points=1)
def layer_gradient(rng):
    return [layer(rng, call(rng.tensor(1, 3, 4)), norm_first=first) for first in (False, True)]


@check(
    LAYER,
    sees="both masks hold at once, of every shape that broadcasts, and an all-padded sequence is finite",
    points=1,
)
def layer_masks(rng):
    keys = tensor([[True, True, False], [False] * 3])
    heads = tensor([[[True, False, True]], [[True, True, True]]])  # (H, 1, S)
    return [
        layer(rng, call(rng.tensor(2, 3, 4), causal(3), keys)),
        layer(rng, call(rng.tensor(2, 3, 4), attn_mask=heads), norm_first=True),
        layer(rng, call(rng.tensor(2, 3, 4), key_mask=keys), norm_first=True, activation="gelu"),
    ]


@check(LAYER, sees="every dtype is kept", compares="dtype", points=1)
def layer_dtypes(rng):
    return [
        built(
            call(4, 2, 5), call(rng.tensor(1, 2, 4, dtype=dtype)), state=layer_state(rng, 4, 5, dtype=dtype, scale=0.3)
        )
        for dtype in DTYPES
    ]


def encoder(rng, layers, *uses, training=False, **more):
    """A step on an Encoder of width 4 with two heads, without dropout."""
    state = encoder_state(rng, layers, 4, 5, final=more.get("norm_first", False))
    return built(call(layers, 4, 2, 5, **({"dropout": 0.0} | more)), *uses, state=state, training=training)


@check(ENCODER, sees="gradients reach x and the parameters of every layer", compares="gradient", points=1)
def encoder_gradient(rng):
    return [encoder(rng, 2, call(rng.tensor(1, 2, 4)), norm_first=first) for first in (False, True)]


@check(ENCODER, sees="pre-norm layers, gelu and both masks together; an all-padded sequence is finite", points=1)
def encoder_everything(rng):
    keys = tensor([[True, True, False], [False] * 3])
    use = call(rng.tensor(2, 3, 4), causal(3), keys, True)
    return [
        encoder(rng, 2, use, norm_first=True, activation="gelu"),
        encoder(rng, 1, use, training=True),
    ]


@check(COLUMNS, sees="scores of ten thousand give finite weights, and no size is special", points=1)
def columns_extremes(rng):
    n, d_model, d_v = rng.sizes(3, 3, 8)
    big = columns(rng, n, d_model, 1, d_v).kwargs
    sizes = rng.sample(range(1, n + 1), n)  # any two scores of a query lie thousands apart
    one_big = {"x": tensor([[10.0 * size for size in sizes]]), "w_query": tensor([[10.0]]), "w_key": tensor([[10.0]])}
    return [
        call(**one_big, w_value=rng.tensor(d_v, 1)),
        call(**(big | {"x": rng.tensor(d_model, 1)})),
        columns(rng, 2, 1, 1, 1),
    ]
