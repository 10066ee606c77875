"""Visible checks of attention before Transformers.

A level of hierarchical attention is switched off by one word per sentence, or by one sentence per document; a query of
zeros makes its weights equal. A decoder is taken apart by a source of zeros, by a single source state, by its weights.
"""

import math

from selfcheck.plan import built, call, check, generator

from . import _sequence_to_sequence_inputs as inputs
from . import _sequence_to_sequence_refused as refused
from .dot_product import DTYPES, attended, mask_of, row_sums, weights

ATTEND, LOCAL, HARD, HIERARCHICAL, DECODER = (
    f"sequence_to_sequence.{name}"
    for name in ("attend", "local_attention_weights", "hard_attention", "HierarchicalAttention", "AttentionDecoder")
)


# 10.1 attend


@check(ATTEND, sees="the weights come from the score that was given, of queries and keys in this order", view=weights)
def attend_score(rng):
    queries, keys, d_v = rng.sizes(3, 3, 7)
    return inputs.attending(rng, "bilinear", queries, keys, d_v)


@check(ATTEND, sees="the scores are taken as they come: nothing more is divided", view=weights)
def attend_scale(rng):
    queries, keys, d_v = rng.sizes(3, 3, 7)
    return [inputs.attending(rng, kind, queries, keys, d_v, widths=(6, 6)) for kind in ("dot", "scaled")]


@check(ATTEND, sees="queries and keys may differ in width, where the score can take it", view=weights)
def attend_widths(rng):
    queries, keys, d_q, d_k = rng.sizes(4, 3, 8)
    return [inputs.attending(rng, kind, queries, keys, 2, widths=(d_q, d_k)) for kind in ("additive", "bilinear")]


@check(ATTEND, sees="the weights of each query sum to 1, in a batch too", view=row_sums)
def attend_sums(rng):
    queries, keys, batch, heads = rng.sizes(4, 2, 6)
    return [inputs.attending(rng, "dot", queries, keys, 2, lead) for lead in ((), (batch,), (heads, 2))]


@check(ATTEND, sees="the context is the values mixed by the weights, and both are returned")
def attend_context(rng):
    queries, keys, d_v = rng.sample((2, 3, 5, 6), 3)
    return [inputs.attending(rng, "additive", queries, keys, width) for width in (4, d_v)]


@check(ATTEND, sees="keys are attended where the mask is True, and nowhere else", view=attended)
def attend_mask(rng):
    queries, keys, d_v = rng.sizes(3, 4, 8)
    return inputs.attending(rng, "additive", queries, keys, d_v, mask=mask_of(rng, queries, keys))


@check(ATTEND, sees="under a mask, context and weights are those of the allowed keys alone")
def attend_masked(rng):
    queries, keys, d_v = rng.sizes(3, 2, 5)
    shapes = [(2, queries, keys), (2, 1, keys), (keys,)]
    return [inputs.attending(rng, "additive", queries, keys, d_v, (2,), mask=mask_of(rng, *shape)) for shape in shapes]


@check(ATTEND, sees="a forbidden key has no influence, however large its score")
def attend_large_score(rng):
    return inputs.with_hidden_giant(rng)


@check(ATTEND, sees="a query that may attend to nothing gets zero weights and a zero context")
def attend_empty(rng):
    return inputs.with_empty_query(rng)


@check(ATTEND, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def attend_empty_gradient(rng):
    return inputs.with_empty_query(rng)


@check(ATTEND, sees="gradients reach queries, keys, values and the score's own weights", compares="gradient")
def attend_gradient(rng):
    queries, keys, d_v = rng.sizes(3, 2, 6)
    return inputs.attending(rng, "bilinear", queries, keys, d_v, widths=(3, 2))


@check(ATTEND, sees="context and weights have the dtype of the arguments", compares="dtype")
def attend_dtype(rng):
    mask = [True, False, True]
    return [inputs.attending(rng, "additive", 2, 3, 4, widths=(2, 3), dtype=dtype, mask=mask) for dtype in DTYPES]


@check(ATTEND, sees="arguments that do not fit are refused", compares="error")
def attend_errors(rng):
    return refused.attend_calls(rng)


# 10.2 local_attention_weights


@check(
    LOCAL, sees="positions have weight where they lie within the window around the real center", view=inputs.positive
)
def local_window(rng):
    return inputs.local(rng, 10, 2.15, lead=(4,))


@check(LOCAL, sees="a position at exactly the window's distance is still inside", view=inputs.positive)
def local_window_closed(rng):
    return call(rng.tensor(2, 9), inputs.rows([4.0, 5.0]), 2.0)


@check(LOCAL, sees="among positions equally far from the center the scores decide", view=inputs.to_sum)
def local_scores(rng):
    return call(rng.tensor(3, 8), inputs.rows([rng.integer(2, 5) + 0.5 for _ in range(3)]), 0.7)


@check(LOCAL, sees="the softmax knows nothing of scores outside the window")
def local_softmax(rng):
    return inputs.with_giant_outside(rng)


@check(
    LOCAL, sees="with equal scores the weights fall off as a Gaussian of deviation window / 2", view=inputs.to_largest
)
def local_gaussian(rng):
    length, reach = 13, rng.choice((3.15, 4.15))
    given = inputs.local(rng, length, reach).args
    return call(inputs.zeroed(given[0]), *given[1:])


@check(LOCAL, sees="the product is not normalised again: each row sums to less than 1", view=inputs.sums)
def local_sum(rng):
    given = inputs.local(rng, 12, 3.15).args
    return call(inputs.zeroed(given[0]), *given[1:])


@check(LOCAL, sees="all together: the softmax within the window, times the Gaussian")
def local_weights(rng):
    return inputs.local(rng, 12, rng.choice((2.15, 3.15)), lead=(4,))


@check(LOCAL, sees="near the ends the window is cut off, and the center stays where it is")
def local_ends(rng):
    length = rng.integer(7, 10)
    centers = [0.3, length - 1.4, -0.6, length - 0.3]
    return call(rng.tensor(4, length), inputs.rows(centers), 2.15)


@check(LOCAL, sees="where no position is near, every weight is 0")
def local_nothing_near(rng):
    length = rng.integer(5, 8)
    return call(rng.tensor(4, length), inputs.rows([-1.4, length + 0.3, 2.4, 2.0]), 0.35)


@check(LOCAL, sees="a score of -inf counts as masked, even where it is the only one near")
def local_minus_infinity(rng):
    scores = rng.normal(2, 8)
    scores[0][3] = scores[1][3] = scores[1][4] = -math.inf
    return call(inputs.rows(scores), inputs.rows([3.4, 3.4]), 1.15)


@check(LOCAL, sees="every leading dimension is kept, none is needed")
def local_batch(rng):
    return [inputs.local(rng, 6, 1.15, lead=lead) for lead in ((), (2, 3), (6,))]


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


# 10.3 hard_attention


@check(HARD, sees="what comes back is one of the values, as it was given", view=inputs.all_choices)
def hard_one_value(rng):
    return inputs.lottery(rng, 34, 5)


@check(HARD, sees="each choice is drawn as often as the softmax says", view=inputs.how_often)
def hard_frequencies(rng):
    return inputs.lottery(rng, inputs.DRAWS, 12)


@check(HARD, sees="each row draws for itself", view=inputs.rows_differ)
def hard_rows(rng):
    return inputs.lottery(rng, 34, 5)


@check(HARD, sees="beside the value comes the logarithm of its probability", view=inputs.log_probabilities)
def hard_log_probability(rng):
    return inputs.lottery(rng, 34, 5)


@check(HARD, sees="the random numbers come from the generator that is given", compares="generator")
def hard_generator(rng):
    return inputs.lottery(rng, 4, 3, generator=generator(rng.integer(1, 1000)))


@check(HARD, sees="where one choice is certain, it is this value, of every row")
def hard_certain(rng):
    batch, choices, d = rng.sizes(3, 3, 7)
    return [inputs.sure(rng, lead, choices, d) for lead in ((batch,), (), (2, batch))]


@check(HARD, sees="axes of length 1 are kept")
def hard_shapes(rng):
    choices = rng.integer(3, 7)
    return [inputs.sure(rng, (1,), choices, 1), inputs.sure(rng, (3, 1), choices, 1)]


@check(HARD, sees="scores of thousands are no trouble")
def hard_large_scores(rng):
    batch, choices, d = rng.sizes(3, 3, 7)
    return inputs.sure(rng, (batch,), choices, d, gap=5000.0, level=3000.0)


@check(HARD, sees="where every score is -inf, zeros come back, with log-probability 0")
def hard_nothing(rng):
    return inputs.with_nothing_to_draw(rng)


@check(
    HARD,
    sees="gradients reach the scores through the log-probability, and the values through the choice",
    compares="gradient",
)
def hard_gradient(rng):
    return inputs.with_large_values(rng)


@check(HARD, sees="gradients stay finite where every score is -inf", compares="gradient")
def hard_nothing_gradient(rng):
    return inputs.with_nothing_to_draw(rng)


@check(HARD, sees="value and log-probability have the dtype of the arguments", compares="dtype")
def hard_dtype(rng):
    return [inputs.sure(rng, (2,), 3, 4, dtype=dtype) for dtype in DTYPES]


@check(HARD, sees="arguments that do not fit are refused", compares="error")
def hard_errors(rng):
    return refused.hard_calls(rng)


# 10.4 HierarchicalAttention


@check(HIERARCHICAL, sees="each level has a projection with bias and a query of its own", compares="parameters")
def hierarchical_parameters(rng):
    return built(call(rng.integer(3, 8)))


@check(HIERARCHICAL, sees="with one sentence, the words are weighed by word_proj and word_query")
def hierarchical_words(rng):
    return inputs.documents(rng, 4, rng.tensor(2, 1, 5, 4))


@check(HIERARCHICAL, sees="with one word each, the sentences are weighed by sentence_proj and sentence_query")
def hierarchical_sentences(rng):
    return inputs.documents(rng, 4, rng.tensor(2, 5, 1, 4))


@check(HIERARCHICAL, sees="words make sentences, and sentences make the document")
def hierarchical_document(rng):
    batch, sentences, words = rng.sizes(3, 2, 6)
    return inputs.documents(rng, 4, rng.tensor(batch, sentences, words, 4))


@check(HIERARCHICAL, sees="padding has no weight in its sentence")
def hierarchical_word_mask(rng):
    lengths = [[rng.integer(1, 4)], [rng.integer(1, 4)]]
    return inputs.documents(rng, 3, rng.tensor(2, 1, 5, 3), inputs.words_in(lengths, 5), word_query=True)


@check(HIERARCHICAL, sees="a sentence with some padding counts as much as one without")
def hierarchical_uneven(rng):
    counts = [[4, rng.integer(1, 3), rng.integer(1, 4)], [rng.integer(1, 4), 4, rng.integer(1, 3)]]
    # The last sentence begins with padding: words may stand anywhere.
    mask = [[*rows[:2], rows[2][::-1]] for rows in inputs.words_in(counts, 4)]
    return inputs.documents(rng, 3, rng.tensor(2, 3, 4, 3), mask, word_query=True, sentence_query=True)


@check(HIERARCHICAL, sees="a sentence of padding alone has no weight in the document")
def hierarchical_padded_sentence(rng):
    counts = [[3, 3, 0, 0], [3, 3, 3, 0]]
    return inputs.documents(rng, 3, rng.tensor(2, 4, 3, 3), inputs.words_in(counts, 3), word_query=True)


@check(HIERARCHICAL, sees="a document without words is zero")
def hierarchical_empty(rng):
    return inputs.documents(rng, 3, rng.tensor(2, 2, 3, 3), inputs.words_in([[3, 3], [0, 0]], 3))


@check(HIERARCHICAL, sees="gradients stay finite where a document has no words", compares="gradient")
def hierarchical_empty_gradient(rng):
    return inputs.documents(rng, 2, rng.tensor(2, 2, 2, 2), inputs.words_in([[2, 2], [0, 0]], 2))


@check(HIERARCHICAL, sees="arguments that do not fit are refused", compares="error")
def hierarchical_errors(rng):
    return refused.hierarchical_steps(rng)


# 10.5 AttentionDecoder

SCORES = ("additive", "bilinear", "dot", "scaled")


@check(DECODER, sees="embedding, gru, combine, output, and the parameters of the score, no more", compares="parameters")
def decoder_parameters(rng):
    sizes = rng.sizes(2, 3, 8)
    return [built(call(*sizes)), *(built(call(*sizes, score=kind)) for kind in SCORES)]


@check(
    DECODER, sees="with a source of zeros: embedding, GRU, tanh of combine, output, as logits", view=inputs.logits_alone
)
def decoder_logits(rng):
    return inputs.decoding(rng, 5, 3, (2, 3, 4), "dot", states=inputs.zeroed(rng.tensor(2, 4, 3)))


@check(
    DECODER,
    sees="the GRU starts from zero: without the context, nothing depends on the source",
    view=inputs.logits_alone,
)
def decoder_zero_start(rng):
    return inputs.decoding(rng, 5, 3, (1, 1, 4), "dot", change=inputs.without_context)


@check(DECODER, sees="with one source state, combine reads this state first, then the GRU's", view=inputs.logits_alone)
def decoder_context(rng):
    return inputs.decoding(rng, 5, 3, (1, 1, 1), "dot")


@check(DECODER, sees="the weights are those of the GRU's present state as query, of every step", view=weights)
def decoder_query(rng):
    return inputs.decoding(rng, 5, 3, (2, 3, 5), "dot")


@check(DECODER, sees='score="scaled" divides by the root of d_model', view=weights)
def decoder_scaled(rng):
    return inputs.decoding(rng, 5, 3, (1, 1, 5), "scaled")


@check(DECODER, sees='score="bilinear" is the query times score_weight times the key', view=weights)
def decoder_bilinear(rng):
    return inputs.decoding(rng, 5, 3, (1, 1, 5), "bilinear")


@check(DECODER, sees='score="additive", the default, joins query and key in this order, with a tanh', view=weights)
def decoder_additive(rng):
    return [inputs.decoding(rng, 5, 3, (1, 1, 5), named=False), inputs.decoding(rng, 5, 3, (1, 1, 5))]


@check(DECODER, sees="all together: logits and weights of every step")
def decoder_everything(rng):
    vocab, steps, source = rng.sample((2, 4, 5, 6), 3)
    return inputs.decoding(rng, vocab, 3, (2, steps, source))


@check(DECODER, sees="source states are attended where the mask is True, and nowhere else", view=attended)
def decoder_mask(rng):
    return inputs.decoding(rng, 5, 3, (2, 3, 5), mask=mask_of(rng, 2, 5))


@check(DECODER, sees="under a mask, logits and weights are those of the real source tokens alone")
def decoder_masked(rng):
    return inputs.decoding(rng, 5, 3, (3, 2, 5), mask=inputs.words_in([[2, 3, 5]], 5)[0])


@check(DECODER, sees="without a real source token, the weights and the context are zero")
def decoder_empty(rng):
    return inputs.decoding(rng, 5, 3, (2, 3, 4), mask=inputs.words_in([[3, 0]], 4)[0])


@check(DECODER, sees="arguments that do not fit are refused", compares="error")
def decoder_errors(rng):
    return refused.decoder_steps(rng)
