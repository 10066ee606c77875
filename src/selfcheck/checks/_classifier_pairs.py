"""Visible checks of the model that matches pairs of texts."""

from selfcheck.plan import built, call, check

from ._classifier_lessons import TRIES, left_word, pairs_learnt, right_pairs, shared_word, taught_pairs
from ._classifier_texts import (
    MORE_HEADS,
    VOCAB,
    matcher,
    padded,
    pair_finite,
    pair_form,
    pair_rows_apart,
    pair_uses_agree,
    pair_warm_up,
    same_logits,
    sign_learnt,
    some_texts,
)

PAIR = "classifier.PairMatcher"


# 8.4 PairMatcher


@check(
    PAIR,
    sees="the logits are (B,), floating-point and finite",
    compares=("values", "dtype", "unchanged"),
    view=pair_form,
    given=True,
)
def pair_shape(rng):
    batch, left, right = rng.sample((5, 8, 11), 3)
    sides = [padded(some_texts(rng, [length] * batch), length) for length in (left, right)]
    return built(matcher(), call(*sides))


@check(
    PAIR,
    sees="it learns which pairs share their rare word, which no side tells alone",
    view=pairs_learnt,
    tells=right_pairs,
)
def pair_learns(rng):
    return taught_pairs(shared_word(rng), matcher(), steps=100, rate=0.01, tries=TRIES)


@check(PAIR, sees="the answers are logits of both signs, no probabilities", view=sign_learnt, given=True)
def pair_logits(rng):
    left, right, target, *others = left_word(rng)
    return [taught_pairs((left, right, [all_of] * len(target), *others), matcher(), steps=20) for all_of in (1.0, 0.0)]


@check(
    PAIR, sees="more padding on the left text changes no logit, nor on the right text", view=pair_uses_agree, given=True
)
def pair_padding(rng):
    left, right = some_texts(rng, (3, 2, 1, 3, 2)), some_texts(rng, (2, 4, 3, 4, 1))
    uses = [call(padded(left, a), padded(right, b)) for a, b in ((3, 4), (5, 4), (3, 6), (6, 6))]
    return built(matcher(layers=2, heads=MORE_HEADS), *uses, lessons=pair_warm_up(rng, pairs=14))


@check(
    PAIR,
    sees="padding_id says which id is padding; any other id, 0 too, is a word",
    view=pair_uses_agree,
    given=True,
    tells=same_logits,
)
def pair_padding_id(rng):
    padding = rng.integer(2, VOCAB)
    left, right = (some_texts(rng, (3, 2, 1, 3, 2), padding) for _ in range(2))
    zeros = [[0, *text[1:]] for text in left]
    uses = [(left, 3, right, 3), (left, 5, right, 4), (zeros, 3, right, 3)]
    calls = [call(padded(a, n, padding), padded(b, m, padding)) for a, n, b, m in uses]
    return built(matcher(padding=padding), *calls, lessons=pair_warm_up(rng, padding))


@check(PAIR, sees="a pair's logit does not depend on the other pairs of its batch", view=pair_rows_apart, given=True)
def pair_rows(rng):
    left, right = some_texts(rng, (3, 2, 3, 1, 2)), some_texts(rng, (4, 4, 2, 3, 1))
    uses = [call(padded(left[rows], 5), padded(right[rows], 8)) for rows in (slice(None), slice(1), slice(-2, None))]
    return built(matcher(), *uses, lessons=pair_warm_up(rng))


@check(PAIR, sees="a text that is all padding, on either side, gives a finite logit", view=pair_finite, given=True)
def pair_empty(rng):
    sides = padded(some_texts(rng, (0, 8, 0, 2, 1)), 8), padded(some_texts(rng, (11, 0, 0, 3, 2)), 11)
    return built(matcher(), call(*sides), lessons=pair_warm_up(rng))


@check(PAIR, sees="each side may have max_length tokens", view=pair_finite, given=True)
def pair_max_length(rng):
    most, fewer = padded(some_texts(rng, (8, 4, 2, 5, 1)), 8), padded(some_texts(rng, (6, 3, 1, 2, 6)), 6)
    return [built(matcher(max_length=8), call(*sides)) for sides in ((most, fewer), (fewer, most))]


@check(PAIR, sees="in evaluation nothing is random", view=pair_uses_agree, given=True)
def pair_evaluation(rng):
    sides = padded(some_texts(rng, (8, 3, 1, 5, 2)), 8), padded(some_texts(rng, (11, 3, 2, 4, 5)), 11)
    return built(matcher(dropout=0.5), call(*sides), call(*sides), lessons=pair_warm_up(rng))


@check(
    PAIR,
    sees="in training dropout acts, with the probability that was passed: 0 drops nothing",
    view=pair_uses_agree,
    given=True,
)
def pair_dropout(rng):
    sides = padded(some_texts(rng, (8, 3, 8, 5, 2)), 8), padded(some_texts(rng, (11, 3, 11, 4, 5)), 11)
    return [
        built(matcher(dropout=dropout), call(*sides), call(*sides), lessons=pair_warm_up(rng), training=True)
        for dropout in (0.5, 0.0)
    ]


@check(PAIR, sees="arguments that do not fit are refused", compares="error")
def pair_errors(rng):
    three, two = padded(some_texts(rng, (3, 2, 3)), 3), padded(some_texts(rng, (3, 2)), 3)
    return [
        built(matcher(), call(three, two)),
        built(matcher(max_length=2), call(two, two)),
        built(matcher(), call(two, rng.tensor(2, 3))),
        built(call(VOCAB, 8, 3, 16, 1)),
        built(call(0, 8, 2, 16, 1)),
        built(matcher(), call(rng.tensor(2, 3), two)),
        built(call(VOCAB, 8, 2, 16, 1), call(padded(some_texts(rng, (513, 1)), 513), two)),
    ]
