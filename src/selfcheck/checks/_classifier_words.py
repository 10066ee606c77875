"""Visible checks of how the words of one text bear on each other in the classifier's models."""

import itertools

from selfcheck.arrays import array
from selfcheck.plan import built, call, check

from ._classifier_lessons import TRIES, right_classes, taught, taught_pairs
from ._classifier_texts import (
    MORE_HEADS,
    VOCAB,
    agree,
    all_agree,
    classifier,
    matcher,
    matrix_rows,
    numbers_of,
    padded,
    pair_uses_agree,
    pair_warm_up,
    same_logits,
    several,
    some_texts,
    unlike,
    varied,
    warm_up,
    words,
)
from ._classifier_two_words import (
    pairs_told_apart,
    right_words,
    told_apart,
    two_together,
    two_together_on_either_side,
)

FOURS, LENGTH = 40, 6  # fours of texts, and the words of each text
STIRRED = 0.3  # so that no branch is without influence because it began at zero
#: By how much two words together differ from each alone, of 1 + the largest logit. In 30 draws of each, right models
#: have 1e-4 or more, whatever they begin with and pool by, and sums of the words' own contributions 6e-7 or less. In
#: one of some hundred draws a model with a class token had less than 3e-5.
LEAST = 5e-6
#: And by how much at most, of what one exchange of both words changes. Right models have 1.04 or less in 16 draws of
#: FOURS; where every text has logits of its own, by chance, it is about the root of 2, and below MOST in one of 17.
MOST = 1.2
STRANGERS = (
    "Texts that differ in a word or two have logits without anything in common, so what your model learns of one text "
    "says nothing of the next. Does it number or hash whole texts? Let a text's vector be made of its words' vectors: "
    "embedding, attention, mean over the real tokens"
)


def fours_of_texts(rng):
    """Fours of texts (a, b), (a, d), (c, b), (c, d): two words of a text, each exchanged, and both."""
    texts = []
    for _ in range(FOURS):
        base, places = [rng.integer(1, VOCAB) for _ in range(LENGTH)], sorted(rng.sample(range(LENGTH), 2))
        for some in itertools.product(words(rng, 2), words(rng, 2)):
            text = list(base)
            for place, word in zip(places, some, strict=True):
                text[place] = word
            texts.append(text)
    return texts


def words_meet(step, answer):
    """Whether two words interact, one word matters, the batch does not; where none interact, nor does padding; and
    whether texts that share words have something in common.

    Two words interact where f(a, b) - f(a, d) - f(c, b) + f(c, d) is not 0. It is 0 where each word adds a number of
    its own to each logit, made of the word and its position alone. The logits decide: a recurrent network, a maximum
    or a nonlinear layer behind the mean make words interact too. Where it is larger than what both words change, a
    text's logits say nothing of those of a text that shares words with it.
    """
    uses = several(answer, matrix_rows)
    if uses is None or len(uses) != 3:
        return unlike(answer)
    interact, rows = _interact(uses[0]), uses[0][:4]
    matters = any(not agree(rows[0], row) for row in rows[1:])
    alone, padded_more = all_agree(rows, uses[1]), interact or all_agree(rows, uses[2])
    return array([interact, int(matters), int(alone), int(padded_more), _is_made_of_words(uses[0])])


def pair_words_meet(step, answer):
    """Whether two words of the left text interact, and two of the right; whether the pairs' logits differ at all; and
    whether texts that share words are alike.
    """
    uses = several(answer, numbers_of)
    if uses is None:
        return unlike(answer)
    sides = [[[number] for number in use] for use in uses]
    rows = [row for side in sides for row in side]
    return array([*map(_interact, sides), varied(rows), _is_made_of_words(rows)])


def pair_orders_agree(step, answer):
    """1 for each further use whose logits agree with those of the first, and whether the pairs have different ones."""
    uses = several(answer, numbers_of)
    if uses is None:
        return unlike(answer)
    return array([*pair_uses_agree(step, answer).values(), varied([[number] for number in uses[0]])])


def strangers(view):
    """What a check tells of logits that are all alike, or of which the view finds nothing wrong but that they share
    nothing.
    """

    def tells(step, due, given):
        *others, last = view(step, given).values()
        return same_logits(step, due, given) or (STRANGERS if all(others) and not last else "")

    return tells


def _interact(rows):
    """1 where in some four both words together do more or less than each alone, by LEAST."""
    size = 1 + max(abs(value) for row in rows for value in row)
    return int(any(abs(a - b - c + d) > LEAST * size for a, b, c, d in _fours(rows)))


def _is_made_of_words(rows):
    """1 where in all fours together the words interact less than both of them change, times MOST."""
    interaction = sum(abs(a - b - c + d) for a, b, c, d in _fours(rows))
    change = sum((abs(a - d) + abs(b - c)) / 2 for a, b, c, d in _fours(rows))
    return int(interaction <= MOST * change)


def _fours(rows):
    """Each logit of the texts of each four."""
    return [four for first in range(0, len(rows), 4) for four in zip(*rows[first : first + 4], strict=True)]


@check(
    "classifier.TextClassifier",
    sees="words add up to logits, and what one adds depends on the text's others",
    view=words_meet,
    tells=strangers(words_meet),
)
def text_words(rng):
    texts = fours_of_texts(rng)
    uses = [call(padded(texts, LENGTH)), *(call(padded(texts[:4], length)) for length in (LENGTH, LENGTH + 1))]
    return built(classifier(), *uses, lessons=warm_up(rng), stirred=STIRRED)


@check(
    "classifier.PairMatcher",
    sees="words add up to logits, and what one adds depends on its text's others",
    view=pair_words_meet,
    tells=strangers(pair_words_meet),
)
def pair_words(rng):
    texts = padded(fours_of_texts(rng), LENGTH)
    same = padded([text for text in some_texts(rng, [5] * FOURS) for _ in range(4)], 5)
    return built(matcher(), call(texts, same), call(same, texts), lessons=pair_warm_up(rng), stirred=STIRRED)


@check(
    "classifier.TextClassifier",
    sees="it learns which words go together, which no sum of words tells",
    view=told_apart,
    tells=right_classes,
)
def text_two_words(rng):
    return taught(
        two_together(rng), classifier(classes=2, heads=MORE_HEADS, max_length=50), steps=120, rate=0.01, tries=TRIES
    )


@check(
    "classifier.PairMatcher",
    sees="it learns which words go together within either text, which no sum of words tells",
    view=pairs_told_apart,
    tells=right_words,
)
def pair_two_words(rng):
    return taught_pairs(two_together_on_either_side(rng), matcher(), steps=100, rate=0.01, tries=TRIES)


@check(
    "classifier.PairMatcher",
    sees="the order of either text's words matters",
    view=pair_orders_agree,
    tells=same_logits,
    given=True,
)
def pair_order(rng):
    left, right = ([words(rng, length) for _ in range(8)] for length in (5, 11))
    sides = padded(left, 5), padded(right, 11)
    others = padded([text[::-1] for text in left], 5), padded([text[::-1] for text in right], 11)
    uses = [call(*sides), call(others[0], sides[1]), call(sides[0], others[1])]
    return built(matcher(), *uses, lessons=pair_warm_up(rng), stirred=STIRRED)
