"""Lessons in which two words of a text decide together, and whether a model has learnt which ones go together."""

import itertools
from collections import Counter

from selfcheck.arrays import array, unpack

from ._classifier_lessons import NOTHING_LEFT, WORDS, how_many, rule_of, texts_of
from ._classifier_texts import matrix_rows, numbers_of, padded, same_logits, unlike, varied, words

#: Where two words decide together: the share of comparisons of a text of one class with a text of the other that come
#: out right. It is a half for whatever adds up words, and for who knows its texts by heart.
TOLD_APART = 0.8


def two_together(rng):
    """A task in which two words decide together: a with c and b with d are of class 0, a with d and b with c of 1.

    Whatever a model adds up of words and their positions is on average the same for both classes.
    Returns texts, their classes, and other texts.
    """
    texts, target, others, _ = _of_two_words(rng)
    rng.shuffle(others)
    return padded(texts, 5), target, padded(others, 5)


def two_together_on_either_side(rng):
    """Likewise pairs: the words of the left text decide, with one right text throughout; and the other way round."""
    texts, target, others, fillers = _of_two_words(rng)
    same = [rng.sample(fillers, 3)] * len(texts)
    pairs = list(zip(others + same, same + others, strict=True))
    rng.shuffle(pairs)
    asked = [list(side) for side in zip(*pairs, strict=True)]
    sides = [
        padded(side, width) for side, width in ((texts + same, 5), (same + texts, 8), (asked[0], 5), (asked[1], 8))
    ]
    return *sides[:2], [float(right) for right in target * 2], *sides[2:]


def _of_two_words(rng):
    """Texts that begin with the two words, their classes, the same texts with their ends reversed, and other words."""
    a, b, c, d, *fillers = words(rng, WORDS)
    begins = ((a, c), 0), ((b, d), 0), ((a, d), 1), ((b, c), 1)
    drawn = [(begin, right, ends) for ends in itertools.combinations(fillers, 2) for begin, right in begins]
    texts, others = ([[*begin, *ends[::way]] for begin, _, ends in drawn] for way in (1, -1))
    return texts, [right for _, right, _ in drawn], others, fillers


def told_apart(step, answer):
    """Whether texts of one class lead texts of the other, where two words of a text decide together; whether these two
    words do more than each alone; and whether the texts have different logits at all.
    """
    rows = matrix_rows(answer)
    if rows is None or any(len(row) != 2 for row in rows):
        return unlike(answer)
    numbers, texts, rule = [row[1] - row[0] for row in rows], texts_of(step), rule_of(step)
    classes = [rule(text) for text in texts]
    return array([_tells_apart(numbers, classes), _meet(numbers, classes, texts), varied(rows)])


def pairs_told_apart(step, answer):
    """Whether pairs that belong together lead the others, where two words of the left text decide, or of the right;
    whether these words do more than each alone; and whether the pairs have different logits at all.
    """
    logits = numbers_of(answer)
    if logits is None:
        return unlike(answer)
    sides = [tuple(zip(*side, strict=True)) for side in _deciding(step, logits)]
    apart = [_tells_apart(numbers, classes) for numbers, classes, _ in sides]
    return array([*apart, *(_meet(*side) for side in sides), varied([[number] for number in logits])])


def right_words(step, due, given):
    """What a check tells of a model of pairs that has not learnt which two words go together."""
    logits = numbers_of(given)
    if logits is None:
        return ""
    signed = [number if belongs else -number for side in _deciding(step, logits) for number, belongs, _ in side]
    return same_logits(step, due, given) or how_many(signed, "pairs", 2)


def _deciding(step, logits):
    """Where the left text decides, and where the right does: of each pair its logit, whether it belongs, that text."""
    known, asked = (_pairs(sides) for sides in (step["lessons"]["inputs"], step["uses"][0]["args"]))
    rights = unpack(step["lessons"]["target"]).values()
    belongs = {_begin(pair): right for pair, right in zip(known, rights, strict=True)}
    same = Counter(left for left, _ in map(_begin, known)).most_common(1)[0][0]
    sides = [], []
    for number, pair in zip(logits, asked, strict=True):
        side = int(_begin(pair)[0] == same)
        sides[side].append((number, belongs[_begin(pair)], pair[side]))
    return sides


def _begin(pair):
    """The first two words of either text."""
    return tuple(tuple(text[:2]) for text in pair)


def _meet(numbers, classes, texts):
    """1 where, of texts that differ in their first two words alone, one class has more in all than the other.

    Of a sum of words none has.
    """
    sums = Counter()
    for number, right, text in zip(numbers, classes, texts, strict=True):
        sums[tuple(text[2:])] += number if right else -number
    return int(max(map(abs, sums.values())) > NOTHING_LEFT * (1 + max(map(abs, numbers))))


def _pairs(sides):
    """Left and right text of each pair."""
    left, right = (unpack(tree).nested() for tree in sides)
    return list(zip(left, right, strict=True))


def _tells_apart(numbers, classes):
    """1 where the numbers of one class are above those of the other in nearly all comparisons."""
    low, high = ([one for one, of in zip(numbers, classes, strict=True) if of == which] for which in (0, 1))
    return int(sum(a < b for a in low for b in high) >= TOLD_APART * len(low) * len(high))
