"""Visible checks of attention before Transformers.

A level of hierarchical attention is switched off by one word per sentence, or by one sentence per document; a query of
zeros makes its weights equal. A decoder is taken apart by a source of zeros, by a single source state, by its weights.
"""

import math

from selfcheck.plan import built, call, check

from . import (
    _sequence_to_sequence_decoder,  # noqa: F401
    _sequence_to_sequence_hard,  # noqa: F401
)
from . import _sequence_to_sequence_inputs as inputs
from . import _sequence_to_sequence_parts as parts
from . import _sequence_to_sequence_refused as refused
from ._dtypes import DTYPES
from ._encoder_inputs import scale_free
from .dot_product import attended, mask_of, sums_of_shares, weights

ATTEND, LOCAL, HIERARCHICAL = (
    "sequence_to_sequence.attend",
    "sequence_to_sequence.local_attention_weights",
    "sequence_to_sequence.HierarchicalAttention",
)


# 9.1 attend


@check(
    ATTEND,
    sees="the weights come from the score that was given, of queries and keys in this order, be it 0 or thousands",
    view=weights,
)
def attend_score(rng):
    queries, keys, d_v = rng.sample((5, 7, 9), 3)
    return [
        inputs.attending(rng, "bilinear", queries, keys, d_v, widths=(3, 3)),
        inputs.of_zero_and_giant(rng, queries, keys, d_v),
    ]


@check(ATTEND, sees="the scores are taken as they come: nothing more is divided", view=weights)
def attend_scale(rng):
    queries, keys, d_v = rng.sample((5, 7, 9), 3)
    return [inputs.attending(rng, kind, queries, keys, d_v, widths=(3, 3)) for kind in ("dot", "scaled")]


@check(ATTEND, sees="queries and keys may differ in width, where the score can take it", view=weights)
def attend_widths(rng):
    queries, keys = rng.sample((7, 9), 2)
    widths = tuple(rng.sample((3, 5), 2))
    return [inputs.attending(rng, kind, queries, keys, 1, widths=widths) for kind in ("additive", "bilinear")]


@check(ATTEND, sees="the weights of each query sum to 1, in a batch too", view=sums_of_shares)
def attend_sums(rng):
    queries, keys, batch = rng.sample((4, 7, 9), 3)
    leads = ((), (batch,), (3, 2), (2, 3))
    return [inputs.attending(rng, "dot", queries, keys, 1, lead) for lead in leads]


@check(ATTEND, sees="the context is the values mixed by the weights, and both are returned")
def attend_context(rng):
    queries, keys, d_v = rng.sample((7, 9, 11), 3)
    d_q, d_k = 3, 5
    return [inputs.attending(rng, "bilinear", queries, keys, width, widths=(d_q, d_k)) for width in (d_k, d_v)]


@check(ATTEND, sees="keys are attended where the mask is True, and nowhere else", view=attended)
def attend_mask(rng):
    queries, keys, d_v = rng.sizes(3, 3, 8)
    return inputs.attending(rng, "dot", queries, keys, d_v, mask=mask_of(rng, queries, keys))


@check(ATTEND, sees="under a mask, context and weights are those of the allowed keys alone")
def attend_masked(rng):
    queries, keys, d_v = rng.sizes(3, 3, 8)
    shapes = {2: (2, queries, keys), 3: (3, 1, keys), 1: (keys,)}  # by batch
    return [
        *(
            inputs.attending(rng, "dot", queries, keys, d_v, (batch,), mask=mask_of(rng, *shape))
            for batch, shape in shapes.items()
        ),
        inputs.with_zero_query(rng, queries, keys, d_v),
    ]


@check(ATTEND, sees="a forbidden key has no influence, however large its score, however low the others")
def attend_large_score(rng):
    return [inputs.with_hidden_giant(rng), *(inputs.with_scores_far_below_zero(rng, low) for low in (-1e4, -1e9))]


@check(ATTEND, sees="a query that may attend to nothing gets zero weights and a zero context")
def attend_empty(rng):
    return inputs.with_empty_query(rng)


@check(ATTEND, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def attend_empty_gradient(rng):
    return inputs.with_empty_query(rng)


@check(ATTEND, sees="gradients reach queries, keys, values and the score's own weights", compares="gradient")
def attend_gradient(rng):
    queries, keys, d_v = rng.sample((7, 9, 11), 3)
    return inputs.attending(rng, "bilinear", queries, keys, d_v, widths=(3, 5))


@check(ATTEND, sees="context and weights have the dtype of the arguments", compares="dtype")
def attend_dtype(rng):
    mask = [True, False, True]
    return [inputs.attending(rng, "additive", 2, 3, 4, widths=(2, 3), dtype=dtype, mask=mask) for dtype in DTYPES]


@check(ATTEND, sees="arguments that do not fit are refused", compares="error")
def attend_errors(rng):
    return refused.attend_calls(rng)


# 9.2 local_attention_weights


@check(
    LOCAL, sees="positions have weight where they lie within the window around the real center", view=inputs.positive
)
def local_window(rng):
    return inputs.local(rng, 10, 2.15, lead=(4,))


@check(LOCAL, sees="a position at exactly the window's distance is still inside", view=inputs.positive)
def local_window_closed(rng):
    return call(rng.tensor(2, 9), inputs.rows([4.0, 5.0]), 2.0)


@check(
    LOCAL,
    sees="among positions equally far from the center the scores decide",
    view=inputs.to_sum,
    tells=parts.other_fall,
)
def local_scores(rng):
    return call(rng.tensor(3, 8), inputs.rows([rng.integer(2, 5) + 0.5 for _ in range(3)]), 0.7)


@check(
    LOCAL,
    sees="the softmax knows nothing of what lies outside the window, however low the scores",
    tells=parts.other_fall,
)
def local_softmax(rng):
    return [inputs.with_giant_outside(rng), *inputs.far_below_zero(rng)]


@check(
    LOCAL,
    sees="with equal scores the weights fall off as a Gaussian of deviation window / 2",
    view=scale_free,
    tells=parts.other_fall,
)
def local_gaussian(rng):
    length, reach = 13, rng.choice((4.15, 4.35))  # half of it is not near 1
    given = inputs.local(rng, length, reach).args
    return call(inputs.zeroed(given[0]), *given[1:])


@check(
    LOCAL,
    sees="the product is not normalised again: each row sums to less than 1",
    view=inputs.sums,
    tells=parts.other_fall,
)
def local_sum(rng):
    given = inputs.local(rng, 14, 4.15).args
    return call(inputs.zeroed(given[0]), *given[1:])


@check(LOCAL, sees="all together: the softmax within the window, times the Gaussian", tells=parts.other_fall)
def local_weights(rng):
    return inputs.local(rng, 12, rng.choice((2.15, 3.15)), lead=(4,))


@check(LOCAL, sees="near the ends the window is cut off, and the center stays where it is", tells=parts.other_fall)
def local_ends(rng):
    length = rng.choice((7, 9))
    centers = [0.3, length - 1.4, -0.6, length - 0.3]
    return call(rng.tensor(4, length), inputs.rows(centers), 2.15)


@check(LOCAL, sees="where no position is near, every weight is 0")
def local_nothing_near(rng):
    length = rng.choice((6, 7))
    return call(rng.tensor(4, length), inputs.rows([-1.4, length + 0.3, 2.4, 2.0]), 0.35)


@check(LOCAL, sees="a score of -inf counts as masked, even where it is the only one near")
def local_minus_infinity(rng):
    scores = rng.normal(2, 8)
    scores[0][3] = scores[1][3] = scores[1][4] = -math.inf
    return call(inputs.rows(scores), inputs.rows([3.4, 3.4]), 1.15)


@check(LOCAL, sees="every leading dimension is kept, none is needed")
def local_batch(rng):
    return [inputs.local(rng, 8, 1.15, lead=lead) for lead in ((), (2, 5), (6,))]


@check(LOCAL, sees="gradients reach the scores and the center", compares="gradient")
def local_gradient(rng):
    return inputs.local(rng, 9, 2.15)


@check(LOCAL, sees="gradients stay finite where no position is near", compares="gradient")
def local_nothing_gradient(rng):
    return call(rng.tensor(2, 5), inputs.rows([-2.4, 2.4]), 0.7)


@check(LOCAL, sees="the weights have the dtype of the arguments", compares="dtype")
def local_dtype(rng):
    return [inputs.local(rng, 8, 2.15, dtype=dtype) for dtype in DTYPES]


@check(LOCAL, sees="arguments that do not fit are refused", compares="error")
def local_errors(rng):
    return refused.local_calls(rng)


# 9.4 HierarchicalAttention


@check(HIERARCHICAL, sees="each level has a projection with bias and a query of its own", compares="parameters")
def hierarchical_parameters(rng):
    return built(call(rng.integer(3, 8)))


@check(
    HIERARCHICAL,
    sees="with one sentence, the words are weighed by word_proj and word_query",
    tells=parts.other_weights,
)
def hierarchical_words(rng):
    return inputs.documents(rng, 7, rng.tensor(3, 1, 5, 7))


@check(
    HIERARCHICAL,
    sees="with one word each, the sentences are weighed by sentence_proj and sentence_query",
    tells=parts.other_weights,
)
def hierarchical_sentences(rng):
    return inputs.documents(rng, 7, rng.tensor(3, 5, 1, 7))


@check(HIERARCHICAL, sees="words make sentences, and sentences make the document, in training too")
def hierarchical_document(rng):
    return inputs.mixed_twice(rng)


@check(HIERARCHICAL, sees="padding has no weight in its sentence")
def hierarchical_word_mask(rng):
    lengths = [[rng.integer(1, 6)] for _ in range(3)]
    return inputs.documents(rng, 5, rng.tensor(3, 1, 7, 5), inputs.words_in(lengths, 7), word_query=True)


@check(HIERARCHICAL, sees="a sentence with some padding counts as much as one without")
def hierarchical_uneven(rng):
    counts = [[rng.integer(1, 8) for _ in range(5)] for _ in range(2)]
    counts[0][0] = counts[1][1] = 8
    # The last sentence begins with padding: words may stand anywhere.
    mask = [[*rows[:-1], rows[-1][::-1]] for rows in inputs.words_in(counts, 8)]
    return inputs.documents(rng, 1, rng.tensor(2, 5, 8, 1), mask, word_query=True, sentence_query=True)


@check(HIERARCHICAL, sees="a sentence of padding alone has no weight in the document")
def hierarchical_padded_sentence(rng):
    counts = [[8, 8, 8, 0, 0], [8, 8, 8, 8, 0]]
    return inputs.documents(rng, 1, rng.tensor(2, 5, 8, 1), inputs.words_in(counts, 8), word_query=True)


@check(HIERARCHICAL, sees="a document without words is zero")
def hierarchical_empty(rng):
    return inputs.with_an_empty_document(rng)


@check(HIERARCHICAL, sees="gradients stay finite where a document has no words", compares="gradient")
def hierarchical_empty_gradient(rng):
    return inputs.with_an_empty_document(rng)


@check(HIERARCHICAL, sees="arguments that do not fit are refused", compares="error")
def hierarchical_errors(rng):
    return refused.hierarchical_steps(rng)
