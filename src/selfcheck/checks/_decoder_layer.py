"""Visible checks of one decoder layer."""

from selfcheck.plan import built, cache, call, check, tensor

from . import _decoder_refused
from ._decoder_inputs import (
    BATCHES,
    D_MODEL,
    LENGTH,
    SOURCE,
    decoder_state,
    in_training,
    layer,
    memory_changed,
    parts,
    repeated,
)
from ._encoder_dropout import dropout_facts, dropped_inside
from ._encoder_inputs import (
    LAST,
    OUT,
    influence,
    one_changed_at_a_time,
    padded,
    same_twice,
    without,
)

LAYER = "decoder.DecoderLayer"


# 10.2 DecoderLayer


@check(
    LAYER,
    sees="the parameters are those of the attributes named, with cross-attention and without",
    compares="parameters",
)
def layer_parameters(rng):
    d_model, heads = rng.choice(((4, 2), (6, 3), (6, 2)))
    return [built(call(d_model, heads, rng.integer(7, 10), cross_attention=cross)) for cross in (False, True)]


@check(
    LAYER,
    sees="without a memory: causal self-attention, then feed-forward, each behind its norm; x and its dtype stay",
    compares=("values", "unchanged", "dtype"),
)
def layer_alone(rng):
    state = decoder_state(rng)
    return [built(layer(), call(rng.tensor(batch, length, D_MODEL)), state=state) for batch, length, _ in BATCHES]


@check(LAYER, sees="no position depends on a later one, and each on all before it", view=influence)
def layer_causal(rng):
    state = decoder_state(rng)
    return [built(layer(), call(one_changed_at_a_time(rng, length, D_MODEL)), state=state) for length in (3, 4)]


@check(LAYER, sees="the GELU is the default, and activation may be another")
def layer_activation(rng):
    state, x = without(decoder_state(rng), OUT), rng.tensor(1, LENGTH, D_MODEL)
    return [built(layer(**more), call(x), state=state) for more in ({}, {"activation": "relu"})]


@check(
    LAYER,
    sees="cross-attention: queries from norm2 of the sum so far, keys and values from the memory as it is",
    compares=("values", "gradient"),
)
def layer_cross(rng):
    state = without(decoder_state(rng, cross=True), OUT, LAST)
    x, memory = rng.tensor(1, LENGTH, D_MODEL), rng.tensor(1, SOURCE, D_MODEL)
    return built(layer(cross=True), call(x, memory), state=state)


@check(
    LAYER,
    sees="every position may read every position of the memory, whatever key_mask hides",
    view=influence,
    given=True,
)
def layer_cross_sees_all(rng):
    source, length = rng.sample((3, 6), 2)
    x, memory = repeated(rng, source + 1, length, D_MODEL), memory_changed(rng, source, D_MODEL)
    as_long = call(repeated(rng, 5, 4, D_MODEL), memory_changed(rng, 4, D_MODEL), key_mask=padded(4, rng.integer(1, 4)))
    construct, state = layer(cross=True), decoder_state(rng, cross=True)
    return [built(construct, step, state=state) for step in (call(x, memory), as_long)]


@check(
    LAYER,
    sees="self-attention, cross-attention, feed-forward, in this order, behind norm1, norm2, norm3",
    compares=("values", "unchanged"),
)
def layer_pre_norm(rng):
    state, steps = decoder_state(rng, cross=True), []
    for batch, length, source in BATCHES:
        x, memory = rng.tensor(batch, length, D_MODEL), rng.tensor(batch, source, D_MODEL)
        steps.append(built(layer(cross=True), call(x, memory), state=state))
    return steps


@check(LAYER, sees="norm_first=False normalises each sum instead")
def layer_post_norm(rng):
    x, memory = rng.tensor(1, LENGTH, D_MODEL), rng.tensor(1, SOURCE, D_MODEL)
    return [
        built(layer(norm_first=False), call(x), state=decoder_state(rng)),
        built(layer(cross=True, norm_first=False), call(x, memory), state=decoder_state(rng, cross=True)),
    ]


@check(
    LAYER,
    sees="under a key_mask no other position depends on padding, in pre-norm and post-norm; the mask stays as it was",
    compares=("values", "unchanged"),
    view=influence,
)
def layer_key_mask(rng):
    holes = tensor([[j not in (1, 3) for j in range(4)]] * 5)
    masked = [call(one_changed_at_a_time(rng, 3, D_MODEL), key_mask=padded(3, 2))]
    masked.append(call(one_changed_at_a_time(rng, 4, D_MODEL), key_mask=holes))
    state = decoder_state(rng)
    return [built(layer(**more), step, state=state) for more in ({}, {"norm_first": False}) for step in masked]


@check(
    LAYER,
    sees="under a memory_key_mask nothing depends on its padding, in pre-norm and post-norm; the mask stays as it was",
    compares=("values", "unchanged"),
    view=influence,
)
def layer_memory_key_mask(rng):
    state, steps = decoder_state(rng, cross=True), []
    for source, length, more in ((4, 2, {}), (3, 4, {"norm_first": False})):
        x, memory = repeated(rng, source + 1, length, D_MODEL), memory_changed(rng, source, D_MODEL)
        masked = call(x, memory, memory_key_mask=padded(source, rng.integer(1, source)))
        steps.append(built(layer(cross=True, **more), masked, state=state))
    return steps


@check(
    LAYER,
    sees="with a cache the newest token sees all earlier ones, and one after the other it is as all at once",
    compares=("values", "gradient"),
)
def layer_cache(rng):
    steps = [call(part, cache=cache(13, "a")) for part in parts(rng.tensor(1, 4, D_MODEL), (1, 1, 1, 1))]
    return built(layer(), *steps, state=decoder_state(rng))


@check(LAYER, sees="with a cache, several tokens at a time see what is kept, themselves, and no later one")
def layer_cache_chunks(rng):
    state, steps = decoder_state(rng), []
    for batch, lengths, most in ((2, (2, 3, 2), 8), (3, (3, 1, 2), 10)):
        chunks = parts(rng.tensor(batch, sum(lengths), D_MODEL), lengths)
        steps.append(built(layer(), *(call(chunk, cache=cache(most, "a")) for chunk in chunks), state=state))
    return steps


@check(LAYER, sees="with a cache and a memory, the memory is read anew at each step")
def layer_cache_memory(rng):
    memory = rng.tensor(1, SOURCE, D_MODEL)
    steps = [call(part, memory, cache=cache(13, "a")) for part in parts(rng.tensor(1, 6, D_MODEL), (3, 2, 1))]
    return built(layer(cross=True), *steps, state=decoder_state(rng, cross=True))


@check(LAYER, sees="what is kept lies in the cache that is given, not in the layer")
def layer_cache_apart(rng):
    first, second = (parts(rng.tensor(1, length + 1, D_MODEL), (length, 1)) for length in (4, 3))
    order = ((first[0], "a"), (second[0], "b"), (first[1], "a"), (second[1], "b"))
    steps = [call(x, cache=cache(13, name)) for x, name in order]
    return built(layer(), *steps, state=decoder_state(rng))


@check(LAYER, sees="dropout acts on the result of each step before it is added", view=dropout_facts)
def layer_dropout(rng):
    biases = (f"{OUT}.bias", f"{LAST}.bias")
    return [
        *(in_training(rng, 40, bias) for bias in biases),
        in_training(rng, 40, "cross_attention.out_proj.bias", cross=True),
        in_training(rng, 40, biases[0], rate=None),
    ]


@check(
    LAYER,
    sees="dropout acts inside as well: on the weights of all attention, with a cache too, and on the hidden units",
    view=dropped_inside,
    given=True,
)
def layer_dropout_inside(rng):
    attention = ("v_proj.bias", "out_proj.weight")
    own, other = ([f"{name}_attention.{part}" for part in attention] for name in ("self", "cross"))
    return [
        in_training(rng, 20, *own),
        in_training(rng, 20, *own, cached=True),
        in_training(rng, 20, *other, cross=True),
        in_training(rng, 20, "feed_forward.linear1.bias", "feed_forward.linear2.weight"),
    ]


@check(LAYER, sees="in evaluation nothing is dropped, with a cache neither", view=same_twice, given=True)
def layer_evaluation(rng):
    x = rng.tensor(1, LENGTH, D_MODEL)
    steps = [call(x, cache=cache(16, name)) for name in "ab"]
    state = decoder_state(rng)
    return [built(layer(dropout=0.5), *uses, state=state) for uses in ((call(x), call(x)), steps)]


@check(LAYER, sees="arguments that do not fit are refused", compares="error")
def layer_errors(rng):
    return _decoder_refused.layer_steps(rng)
