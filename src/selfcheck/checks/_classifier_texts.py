"""Texts, tasks and views of the classifier's checks.

A learner's model is free inside and begins with its own random parameters. So it is taught a small task first, and what
is compared are facts that hold for every right model: which logits agree, which do not, and whether a task was learnt.
"""

from selfcheck.arrays import Array, array, unpack
from selfcheck.plan import call, lessons, tensor

VOCAB = 17  # ids; 0 is padding unless a check says otherwise
#: The other sizes of a model. Beside them the number of texts and their lengths are 5, 8 and 11, and no two sizes can
#: be mixed up; where there are two layers or two classes, there are MORE_HEADS instead, and 14 stands for that 8.
#: The width of a head is even, so that its features can be rotated in pairs.
CLASSES, D_MODEL, HEADS, D_FF, MAX_LENGTH = 14, 32, 2, 35, 42
MORE_HEADS = 8
ALIKE = (
    "Your logits are the same for every text: nothing of the words reaches them. Follow one text from its ids to the "
    "output: where is it lost (a detach, a constant in its place, a softmax over an axis of length 1)?"
)
SAME = 1e-5  # two logits agree to SAME · (1 + |logit|): float32 sums in another order, never a word more or less


def padded(texts, length, padding=0):
    """Rows of one length, filled up on the right."""
    return tensor([text + [padding] * (length - len(text)) for text in texts], "int64")


def words(rng, count):
    """Different ids, none of them padding."""
    return rng.sample(range(1, VOCAB), count)


# One text


def classifier(classes=CLASSES, layers=1, padding=0, dropout=0.0, max_length=MAX_LENGTH, heads=HEADS):
    """The construction of a small TextClassifier."""
    more = {"max_length": max_length, "dropout": dropout, "padding_id": padding}
    return call(VOCAB, classes, D_MODEL, heads, D_FF, layers, **more)


def warm_up(rng, padding=0):
    """A few steps on arbitrary texts: whatever the parameters began with, zeros included, logits depend on the text."""
    texts = [[rng.integer(1, VOCAB) for _ in range(11)] for _ in range(5)]
    texts = [[VOCAB - 1 if word == padding else word for word in text] for text in texts]
    target = tensor([0, 1, 2, 0, 1], "int64")
    return lessons(padded(texts, 11), target=target, loss="cross_entropy", steps=3, rate=0.05)


def some_texts(rng, lengths, padding=0):
    """Random texts of these lengths, without 0 and the padding id."""
    allowed = [word for word in range(VOCAB) if word not in (0, padding)]
    return [[rng.choice(allowed) for _ in range(length)] for length in lengths]


def matrix_rows(answer):
    """The rows of a matrix of floating numbers, None where the answer is none."""
    return answer.nested() if isinstance(answer, Array) and len(answer.shape) == 2 and answer.floating else None


def unlike(answer):
    """An answer of a form that no view expects, with zeros for its numbers: those go with the learner's parameters."""
    if isinstance(answer, (tuple, list)):
        return type(answer)(unlike(part) for part in answer)
    if isinstance(answer, Array):
        return Array(answer.kind, answer.dtype, answer.shape, bytes(len(answer.data)))
    return answer


def several(answer, form):
    """What `form` makes of each of several answers, None where one is of another form."""
    if not isinstance(answer, (tuple, list)):
        return None
    forms = [form(part) for part in answer]
    return None if None in forms else forms


def agree(first, other):
    """Whether two rows of numbers are the same but for rounding; NaN agrees with nothing."""
    return len(first) == len(other) and all(
        abs(a - b) <= SAME * (1 + abs(a)) for a, b in zip(first, other, strict=True)
    )


def compared(some, others):
    """1 where all rows agree, 0 where some do not, -1 where there are no numbers to compare."""
    return int(all_agree(some, others)) if all(map(_numbers, (*some, *others))) else -1


def _numbers(row):
    return all(abs(value) < 1e30 for value in row)


def varied(rows):
    """1 where some row of numbers differs from the first: what a model reads has a say in what it answers."""
    return int(any(not agree(rows[0], row) for row in rows))


def same_logits(step, due, given):
    """What a check tells of a model whose logits are the same whatever it reads; "" of another."""
    uses = given if isinstance(given, (tuple, list)) else [given]
    found = [matrix_rows(use) or [[number] for number in numbers_of(use) or ()] for use in uses]
    return "" if any(not rows or varied(rows) for rows in found) else ALIKE


def all_agree(some, others):
    return len(some) == len(others) and all(agree(a, b) for a, b in zip(some, others, strict=True))


def logits(step, answer):
    """0 where a row is made of probabilities that sum to 1, or of no numbers, and 0 where all lie within 0 … 1."""
    rows = matrix_rows(answer)
    if rows is None:
        return unlike(answer)
    shares = [min(row) >= 0 and abs(sum(row) - 1) < 1e-3 or not _numbers(row) for row in rows]
    between = all(0 <= value <= 1 for row in rows for value in row)
    return array([int(not any(shares)), int(not between)])


def form(step, answer):
    """The answer's shape, as zeros where it is finite."""
    if not isinstance(answer, Array) or not answer.floating:
        return unlike(answer)
    return (
        array([[_finite(value) for value in row] for row in matrix_rows(answer)])
        if matrix_rows(answer)
        else unlike(answer)
    )


def _finite(value):
    return 0.0 if abs(value) < 1e30 else value


def padding_effect(step, answer):
    """Three uses, with more and more padding: whether the logits agree, and whether they go with 1 / L.

    A sum over the real tokens divided by L gives b + c / L if a linear layer follows: then differences of logits
    behave as differences of 1 / L.
    """
    uses = several(answer, matrix_rows)
    if uses is None or len(uses) != 3:
        return unlike(answer)
    lengths = [unpack(use["args"][0]).shape[1] for use in step["uses"]]
    first, second = (1 / lengths[place] - 1 / lengths[place + 1] for place in (0, 1))
    steps = [[a - b for row, other in zip(*pair, strict=True) for a, b in zip(row, other, strict=True)] for pair in
             ((uses[0], uses[1]), (uses[1], uses[2]))]  # fmt: skip
    moved = max(map(abs, steps[0]))
    along = moved > 1e-3 and all(
        abs(a * second - b * first) <= 1e-3 * moved * first for a, b in zip(*steps, strict=True)
    )
    return array([int(all_agree(uses[0], uses[1])), int(all_agree(uses[0], uses[2])), int(along)])


def uses_agree(step, answer):
    """1 for each further use whose rows agree with those of the first."""
    uses = several(answer, matrix_rows)
    return unlike(answer) if uses is None else array([compared(uses[0], other) for other in uses[1:]])


def rows_apart(step, answer):
    """A batch, its first row alone, its last two, its second and third: 1 where these agree with the batch."""
    uses = several(answer, matrix_rows)
    if uses is None or len(uses) != 4:
        return unlike(answer)
    parts = (slice(1), slice(-2, None), slice(1, 3))
    return array([int(all_agree(uses[0][part], own)) for part, own in zip(parts, uses[1:], strict=True)])


def finite_rows(step, answer):
    """1 for each row that is finite."""
    rows = matrix_rows(answer)
    return unlike(answer) if rows is None else array([int(all(abs(value) < 1e30 for value in row)) for row in rows])


# Two texts


def matcher(layers=1, padding=0, dropout=0.0, max_length=MAX_LENGTH, heads=HEADS):
    """The construction of a small PairMatcher."""
    more = {"max_length": max_length, "dropout": dropout, "padding_id": padding}
    return call(VOCAB, D_MODEL, heads, D_FF, layers, **more)


def pair_warm_up(rng, padding=0, pairs=8):
    """A few steps on arbitrary pairs, short ones: a model in a hurry learns to answer all pairs alike."""
    sides = [padded(some_texts(rng, [length] * pairs, padding), width, padding) for length, width in ((5, 5), (4, 11))]
    target = tensor([float(place % 4 in (1, 2)) for place in range(pairs)], "float32")
    return lessons(*sides, target=target, loss="binary_cross_entropy_with_logits", steps=8, rate=0.01)


def numbers_of(answer):
    """The entries of a vector of floating numbers, None where the answer is none."""
    return answer.nested() if isinstance(answer, Array) and len(answer.shape) == 1 and answer.floating else None


def pair_form(step, answer):
    """The answer's shape, as zeros where it is finite."""
    numbers = numbers_of(answer)
    return unlike(answer) if numbers is None else array([_finite(value) for value in numbers])


def pair_uses_agree(step, answer):
    """1 for each further use whose logits agree with those of the first."""
    uses = several(answer, numbers_of)
    return unlike(answer) if uses is None else array([compared(uses[:1], [other]) for other in uses[1:]])


def pair_rows_apart(step, answer):
    """A batch, its first pair alone, and its last two alone: 1 where these agree with the batch."""
    uses = several(answer, numbers_of)
    if uses is None or len(uses) != 3:
        return unlike(answer)
    return array([int(agree(uses[0][:1], uses[1])), int(agree(uses[0][-2:], uses[2]))])


def sign_learnt(step, answer):
    """0 where no logit is negative after lessons in which no pair belongs together; likewise positive, where all do.

    That every right model learns within some steps, one too that answers all pairs alike: with both signs to learn,
    such a model has one of them.
    """
    numbers = numbers_of(answer)
    if numbers is None:
        return unlike(answer)
    all_belong = unpack(step["lessons"]["target"]).values()[0] > 0
    return array([int(all_belong or min(numbers) < 0), int(not all_belong or max(numbers) > 0)])


def pair_finite(step, answer):
    """1 for each logit that is finite."""
    numbers = numbers_of(answer)
    return unlike(answer) if numbers is None else array([int(abs(value) < 1e30) for value in numbers])
