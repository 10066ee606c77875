"""What the classifier's models are taught, and whether they learnt the rule: they are asked what they have not seen.

A model that knows its lessons by heart, and no more, answers anything else by chance.
"""

import itertools

from selfcheck.arrays import array, unpack
from selfcheck.plan import built, call, lessons, tensor

from ._classifier_texts import VOCAB, agree, matrix_rows, numbers_of, padded, same_logits, unlike, varied, words

TRIES = 3  # models that a check on learning trains at most, each drawn anew
MANY, OTHERS, FOURS = 90, 26, 12  # texts of a lesson, texts that are asked then, and fours of pairs, in both
WORDS = 11  # of the vocabulary, in the texts of a lesson and those that are asked: each is seen often
SURE = 0.5  # by how much the right class must lead on average: above 4 where the rule was learnt, not the texts alone
#: The same where order decides between two classes, and the share of texts in whose favour: in 40 draws the slowest
#: right model led by 8.3 or more, with all right. By chance a model that knows its texts by heart may lead, but for
#: half of them.
SURE_OF_ORDER, SHARE = 3.0, 0.75
#: The same of four pairs, and the share of pairs on the right side of 0. In 40 draws the slowest right model, which
#: scales a cosine, led by 20 or more, and each had nine in ten right; a wrong comparison had half, or led by 4.
SURE_OF_PAIRS, SHARE_OF_PAIRS = 4.0, 0.7
NOTHING_LEFT = 1e-3  # of 1 + the largest logit: what rounding leaves of a difference that is 0


def presence(rng, empty=False, padding=0):
    """A task in which one word decides: texts of one to five words, with a key word of class 0, 1 or 2 in each.

    Returns texts, their classes, and other texts.
    """
    first, second, third, *fillers = rng.sample([word for word in range(VOCAB) if word != padding], WORDS)
    keys = first, second, third
    texts, target, others = [], [], []
    for place in range(MANY):
        text = [rng.choice(fillers) for _ in range((1, 3, 5, 2, 4, 2, 5, 3, 4)[place % 9])]
        text[rng.integer(0, len(text))] = keys[place % 3]
        texts.append(text)
        target.append(place % 3)
    while len(others) < OTHERS:
        text = [rng.choice(fillers) for _ in range(rng.integer(3, 6))]
        text[rng.integer(0, len(text))] = keys[len(others) % 3]
        others += [] if text in texts else [text]
    rng.shuffle(others)
    if empty:
        texts.append([])
        target.append(0)
    return padded(texts, 5, padding), target, padded(others, 5, padding)


def order(rng):
    """A task in which order alone decides: the first two words come in both orders, whatever follows them.

    Returns texts, their classes, and other texts.
    """
    first, second, *fillers = words(rng, WORDS)
    texts, others = [], []
    for place, filler in enumerate(fillers):
        for two in fillers[:place]:
            texts += [[first, second, filler, two], [second, first, filler, two]]
            others += [[first, second, two, filler], [second, first, two, filler]]
    rng.shuffle(others)
    return padded(texts, 5), [0, 1] * (len(texts) // 2), padded(others, 5)


def taught(task, construct, steps, rate=0.03, tries=1):
    """A model that learns a task and is then asked for texts that it has not seen."""
    texts, target, others = task
    teach = lessons(texts, target=tensor(target, "int64"), loss="cross_entropy", steps=steps, rate=rate, tries=tries)
    return built(construct, call(others), lessons=teach)


def learnt(step, answer):
    """Whether the right classes lead on average, in texts that were not in the lessons."""
    leads = _leads(step, answer)
    return unlike(answer) if leads is None else array([int(sum(leads) / len(leads) > SURE)])


def order_learnt(step, answer):
    """Whether the right classes lead in most texts that were not in the lessons, order matters in any of them, and the
    texts have different logits at all.
    """
    leads, rows = _leads(step, answer), matrix_rows(answer)
    if leads is None:
        return unlike(answer)
    is_learnt = sum(leads) / len(leads) > SURE_OF_ORDER and sum(lead > 0 for lead in leads) / len(leads) >= SHARE
    by_text = dict(zip(map(tuple, texts_of(step)), rows, strict=True))
    matters = any(not agree(row, by_text[second, first, *rest]) for (first, second, *rest), row in by_text.items())
    return array([int(is_learnt), int(matters), varied(rows)])


def right_classes(step, due, given):
    """What a check tells of a classifier that has not learnt the rule of its lessons."""
    leads, classes = _leads(step, given), set(unpack(step["lessons"]["target"]).values())
    return "" if leads is None else same_logits(step, due, given) or how_many(leads, "texts", len(classes))


def right_pairs(step, due, given):
    """Likewise of a model of pairs."""
    signed = _signed(step, given)
    return "" if signed is None else same_logits(step, due, given) or how_many(signed, "pairs", 2)


def how_many(leads, what, classes):
    right, lead, chance = sum(lead > 0 for lead in leads), sum(leads) / len(leads), round(len(leads) / classes)
    return (
        f"After its lessons your model is right about {right} of {len(leads)} "
        f"{what} that were not among them, by {lead:.2g} on average; by chance it would be {chance}"
    )


def rule_of(step):
    """The class of any text, by the rule of the lessons: its key word, or which of two words comes first."""
    texts, target = (unpack(tree) for tree in (step["lessons"]["inputs"][0], step["lessons"]["target"]))
    texts = [(text, right) for text, right in zip(texts.nested(), target.values(), strict=True) if len(set(text)) > 1]
    keys = {right: set.intersection(*(set(text) for text, other in texts if other == right)) for _, right in texts}
    keys = {
        right: words.difference(*(text for text, other in texts if other != right)) for right, words in keys.items()
    }
    if all(len(words) == 1 for words in keys.values()):
        return lambda text: next(right for right, words in keys.items() if words & set(text))
    begins = {tuple(text[:2]): right for text, right in texts}
    return lambda text: begins[tuple(text[:2])]


def _leads(step, answer):
    """By how much the right class of each text leads; None where the answer is of another form."""
    rows, rule = matrix_rows(answer), rule_of(step)
    return None if rows is None else [_lead(row, rule(text)) for text, row in zip(texts_of(step), rows, strict=True)]


def texts_of(step):
    return unpack(step["uses"][0]["args"][0]).nested()


def _lead(row, right):
    return row[right] - max(value for place, value in enumerate(row) if place != right)


def shared_word(rng, padding=0):
    """Pairs that belong together where both have the same rare word.

    Two left texts and two right texts, differing in the rare word alone, in all four pairs; and other such fours. So
    no sum of a number for the left and a number for the right is above 0 for the right pairs alone.
    Returns left and right texts, what belongs together, and other left and right texts.
    """
    allowed = [word for word in range(VOCAB) if word != padding]
    rare = rng.sample(allowed, 2)
    fillers = [word for word in allowed if word not in rare]

    def four(lengths):
        sides = []
        for length in lengths:
            text, place = [rng.choice(fillers) for _ in range(length)], rng.integer(0, length)
            sides.append([[*text[:place], word, *text[place + 1 :]] for word in rare])
        return [(left, right) for left in sides[0] for right in sides[1]]

    pairs = [pair for place in range(FOURS) for pair in four(((1, 3), (3, 2), (2, 4), (3, 3))[place % 4])]
    others = []
    while len(others) < 4 * FOURS:
        drawn = four((rng.integer(2, 4), rng.integer(2, 5)))
        others += [] if any(pair in pairs for pair in drawn) else drawn
    rng.shuffle(others)
    widths = 5, 8
    sides = [
        padded([pair[side] for pair in some], widths[side], padding) for some in (pairs, others) for side in (0, 1)
    ]
    return *sides[:2], [1.0, 0.0, 0.0, 1.0] * FOURS, *sides[2:]


def left_word(rng):
    """Pairs that belong together where the left text has a certain word: no comparison is needed."""
    key, *fillers = words(rng, 6)
    left = [[key if place % 2 else rng.choice(fillers), rng.choice(fillers)] for place in range(11)]
    right = [[rng.choice(fillers)] for _ in left]
    sides = padded(left, 5), padded(right, 8)
    return *sides, [float(place % 2) for place in range(11)], *sides


def taught_pairs(task, construct, steps, rate=0.03, tries=1):
    """A model that learns which pairs belong together and is then asked for others."""
    left, right, target, *others = task
    loss = "binary_cross_entropy_with_logits"
    teach = lessons(left, right, target=tensor(target, "float32"), loss=loss, steps=steps, rate=rate, tries=tries)
    return built(construct, call(*others), lessons=teach)


def pairs_learnt(step, answer):
    """Whether pairs that belong together lead the others, the two sides bear on each other, all lies within -1 … 1;
    and whether the pairs have different logits at all.

    They are other pairs than those of the lessons, and have to lead by SURE_OF_PAIRS. Of a number for the left plus a
    number for the right nothing is left over in this difference: then no side bears on the other.
    """
    signed = _signed(step, answer)
    if signed is None:
        return unlike(answer)
    lead, most = 4 * sum(signed) / len(signed), max(map(abs, signed))
    learnt = lead > SURE_OF_PAIRS and sum(value > 0 for value in signed) / len(signed) >= SHARE_OF_PAIRS
    meet = abs(lead) > NOTHING_LEFT * (1 + most)
    within = meet and most <= 1 + NOTHING_LEFT
    return array([int(learnt), int(meet), int(within), varied([[value] for value in numbers_of(answer)])])


def _signed(step, answer):
    """The logits of pairs that belong together, and those of others times -1; None where the answer is none."""
    logits, rare = numbers_of(answer), _rare_words(step)
    left, right = (unpack(tree).nested() for tree in step["uses"][0]["args"])
    together = [len(rare & set(a) & set(b)) == 1 for a, b in zip(left, right, strict=True)]
    return logits and [value if right else -value for value, right in zip(logits, together, strict=True)]


def _rare_words(step):
    """The two words of which every text of the lessons has one."""
    texts = [set(text) for tree in step["lessons"]["inputs"] for text in unpack(tree).nested()]
    pairs = itertools.combinations(sorted(set.union(*texts)), 2)
    return next(set(pair) for pair in pairs if all(len(text & set(pair)) == 1 for text in texts))
