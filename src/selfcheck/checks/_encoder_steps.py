"""Steps on layers and encoders of two sizes, without dropout."""

from selfcheck.plan import built, call

from ._encoder_inputs import causal, encoder_state, layer_state, one_changed_at_a_time, padded, without

#: d_model, num_heads, d_ff and length of two steps: sizes that are equal or near in one are not so in the other.
SIZES = ((3, 3, 5, 3), (4, 2, 3, 5))
POST, PRE = (False, False), (True, True)  # norm_first of two steps


def two_layers(rng, use, *gone, norm_first=POST):
    """Steps on two layers; use: see below; gone: submodules whose parameters are zero."""
    return [
        built(
            call(d_model, heads, d_ff, dropout=0.0, norm_first=first),
            use(place, length, d_model),
            state=without(layer_state(rng, d_model, d_ff), *gone),
        )
        for place, (first, (d_model, heads, d_ff, length)) in enumerate(zip(norm_first, SIZES, strict=True))
    ]


def two_encoders(rng, use, times=1, norm_first=POST):
    """Steps on two encoders of two layers each, which are called several times; use: see below."""
    return [
        built(
            call(2, d_model, heads, d_ff, dropout=0.0, norm_first=first),
            *[use(place, length, d_model)] * times,
            state=encoder_state(rng, 2, d_model, d_ff, final=first),
        )
        for place, (first, (d_model, heads, d_ff, length)) in enumerate(zip(norm_first, SIZES, strict=True))
    ]


# Uses: each gives the call of the step at a place, on sequences of a length and width.


def sequences(rng, *batches, **more):
    """So many sequences in each step."""
    return lambda place, length, d_model: call(rng.tensor(batches[place], length, d_model), **more)


def under_attn_mask(rng):
    """Sequences of which one token is replaced at a time, under a causal mask; in the second step one more of them."""

    def use(place, length, d_model):
        return call(one_changed_at_a_time(rng, length, d_model, again=place), attn_mask=causal(length))

    return use


def under_key_mask(rng):
    """The same with padding at the end, in the place of the causal mask."""

    def use(place, length, d_model):
        x = one_changed_at_a_time(rng, length, d_model, again=place)
        return call(x, key_mask=padded(length, rng.integer(2, length), again=place))

    return use
