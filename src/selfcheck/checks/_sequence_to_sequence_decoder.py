"""Visible checks of the decoder with attention."""

from selfcheck.plan import built, call, check

from . import _sequence_to_sequence_inputs as inputs
from . import _sequence_to_sequence_parts as parts
from . import _sequence_to_sequence_refused as refused
from .dot_product import attended, mask_of, weights

DECODER = "sequence_to_sequence.AttentionDecoder"


# 9.5 AttentionDecoder

SCORES = ("additive", "bilinear", "dot", "scaled")


@check(DECODER, sees="embedding, gru, combine, output, and the parameters of the score, no more", compares="parameters")
def decoder_parameters(rng):
    sizes = rng.sizes(2, 3, 8)
    return [built(call(*sizes)), *(built(call(*sizes, score=kind)) for kind in SCORES)]


@check(
    DECODER,
    sees="with a source of zeros: embedding, GRU, tanh of combine, output, as logits",
    view=inputs.logits_alone,
    tells=parts.other_states,
)
def decoder_logits(rng):
    return [inputs.decoding(rng, *sizes, "dot", states=inputs.source_of_zeros(*sizes)) for sizes in inputs.TWO_DECODERS]


@check(
    DECODER,
    sees="the GRU starts from zero: without the context, nothing depends on the source",
    view=inputs.logits_alone,
    tells=parts.other_states,
)
def decoder_zero_start(rng):
    return inputs.decoding(rng, *inputs.ONE_DECODER, (1, 1, 13), "dot", change=inputs.without_context)


@check(DECODER, sees="with one source state, combine reads this state first, then the GRU's", view=inputs.logits_alone)
def decoder_context(rng):
    return inputs.decoding(rng, *inputs.ONE_DECODER, (1, 1, 1), "dot")


@check(DECODER, sees="the weights are those of the GRU's present state as query, of every step", view=weights)
def decoder_query(rng):
    return [inputs.decoding(rng, *sizes, "dot") for sizes in inputs.TWO_DECODERS]


@check(DECODER, sees='score="scaled" divides by the root of d_model', view=weights)
def decoder_scaled(rng):
    return inputs.decoding(rng, *inputs.ONE_DECODER, (1, 1, 13), "scaled")


@check(DECODER, sees='score="bilinear" is the query times score_weight times the key', view=weights)
def decoder_bilinear(rng):
    return inputs.decoding(rng, *inputs.ONE_DECODER, (1, 1, 13), "bilinear")


@check(DECODER, sees='score="additive", the default, joins query and key in this order, with a tanh', view=weights)
def decoder_additive(rng):
    return [inputs.decoding(rng, 7, 3, (1, 1, 5), named=False), inputs.decoding(rng, 9, 2, (1, 1, 7))]


@check(
    DECODER,
    sees="all together, in training too: logits and weights of every step, and their gradients",
    compares=("values", "gradient"),
)
def decoder_everything(rng):
    return [inputs.decoding(rng, *sizes, zero=True, training=True) for sizes in inputs.TWO_DECODERS]


@check(DECODER, sees="source states are attended where the mask is True, and nowhere else", view=attended)
def decoder_mask(rng):
    return [
        inputs.decoding(rng, vocab, d, shape, mask=mask_of(rng, shape[0], shape[2]))
        for vocab, d, shape in inputs.TWO_DECODERS
    ]


@check(DECODER, sees="under a mask, logits and weights are those of the real source tokens alone")
def decoder_masked(rng):
    steps = inputs.decoding_lengths(rng, (3, 5), (6, 7, 2))
    return [*steps, *(inputs.decoding_far_below_zero(rng, low) for low in (-2e4, -1e9))]


@check(DECODER, sees="without a real source token, the weights and the context are zero")
def decoder_empty(rng):
    return inputs.decoding_lengths(rng, (3, 0), (7, 0, 4))


@check(DECODER, sees="arguments that do not fit are refused", compares="error")
def decoder_errors(rng):
    return refused.decoder_steps(rng)
