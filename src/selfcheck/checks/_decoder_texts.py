"""Inputs and views of the checks on loss, probabilities and generation."""

import functools
import math

from selfcheck.arrays import Array, array, unpack
from selfcheck.plan import call, tensor, writer, writing

VOCAB = 7  # of the small language model that generate is given; a prime, so that every token chooses another row
DRAWS = 450  # rows that sample at once, where frequencies are looked at


# The loss


def lesson(rng, batch, length, vocab, mask=None, dtype="float64"):
    """A call of the loss on random logits and tokens."""
    given = (rng.tensor(batch, length, vocab, dtype=dtype), ids(rng, batch, length, vocab))
    return call(*given) if mask is None else call(*given, tensor(mask))


def ids(rng, batch, length, vocab):
    """Token ids (batch, length)."""
    return tensor(rng.integers(batch, length, high=vocab), "int64")


def large_logits(rng, batch, length, vocab):
    """Logits of which one in each row is too large for an exponential, and the others vanish beside it."""

    def row():
        levels = [rng.integer(720, 900)] + [rng.integer(-900, -100) for _ in range(vocab - 1)]
        return [float(level) for level in rng.sample(levels, vocab)]

    return tensor([[row() for _ in range(length)] for _ in range(batch)])


def right_padded(lengths, longest):
    """Rows of booleans, True at the first tokens of each."""
    return [[place < length for place in range(longest)] for length in lengths]


def nothing_to_predict(rng):
    """Calls without a real target: one token, a first token alone, no real token, several rows."""
    return [
        lesson(rng, 3, 1, 5),
        lesson(rng, 2, 5, 8, right_padded((1, 0), 5)),
        lesson(rng, 1, 3, 5, [[False] * 3]),
    ]


# The probabilities


def spread_logits(rng, *shape, dtype="float64", vocab=6):
    """Logits of which no two in a row are closer than 0.4, in any order."""

    def row():
        levels = [0.4 * place + round(0.3 * rng.random(), 2) for place in range(vocab)]
        shift = round(rng.gauss(0, 2), 2)
        rng.shuffle(levels)
        return [round(level + shift, 2) for level in levels]

    def rows(axes):
        return row() if not axes else [rows(axes[1:]) for _ in range(axes[0])]

    return tensor(rows(shape), dtype)


def chosen_logits(rng, chances, dtype="float64"):
    """Logits of these probabilities, in any order, plus a constant."""
    shift, mixed = round(rng.gauss(0, 1), 2), rng.sample(chances, len(chances))
    return tensor([math.log(chance) + shift for chance in mixed], dtype)


def tied(rng, vocab, alike, above):
    """Logits of which `above` are larger than `alike` equal ones; the rest is smaller."""
    row = [3.0 + place for place in range(above)] + [1.0] * alike
    row += [-1.0 - place for place in range(vocab - above - alike)]
    rng.shuffle(row)
    return tensor(row)


def in_order(step, answer):
    """The probabilities of each row, the largest first: which of two tied tokens is kept does not matter."""
    if not isinstance(answer, Array) or not answer.shape:
        return answer
    width, values = answer.shape[-1], answer.values()
    rows = [sorted(values[start : start + width], reverse=True) for start in range(0, len(values), width)]
    return array(rows)


# Generation


def table_of(rng):
    """A table of logits whose rows differ clearly in their largest entry."""
    return [[round(rng.gauss(0, 1) + 3.0 * (place == top), 2) for place in range(VOCAB)] for top in _tops(rng)]


def _tops(rng):
    tops = [rng.integer(0, VOCAB) for _ in range(VOCAB)]
    return tops if len(set(tops)) > 3 else _tops(rng)


def greedy(table, row, count):
    """What the small language model writes after a row."""
    row = list(row)
    for _ in range(count):
        state = sum((token + 1) * (place % (VOCAB - 1) + 1) for place, token in enumerate(row, start=0)) % VOCAB
        row.append(max(range(VOCAB), key=lambda token: table[state][token]))
    return row


def clear(table):
    """Whether each row's largest entry leads by 0.5."""
    return all(sorted(row)[-1] - sorted(row)[-2] > 0.5 for row in table)


def drawn(rng, batch, prompt, fits=lambda table, rows: True):
    """A table and prompts of this length that fit, with no two prompts alike."""
    while True:
        table, rows = table_of(rng), rng.integers(batch, prompt, high=VOCAB)
        if clear(table) and len({tuple(row) for row in rows}) == batch and fits(table, rows):
            return table, rows


def model_of(table, plain=False, training=False, newest=False):
    """The small language model, as a module or as a plain function, which may give the newest logits alone."""
    logits = tensor(table, "float32")
    return writing(logits, newest) if plain else writer(logits, training)


def text(rng, batch, prompt, new, plain=False, training=False, newest=False, **more):
    """A call of generate on random prompts."""
    table, rows = drawn(rng, batch, prompt, lambda table, rows: _lively(table, rows, new))
    return call(model_of(table, plain, training, newest), tensor(rows, "int64"), new, **more)


def _lively(table, rows, new):
    """Whether what comes first is not written over and over."""
    return new < 3 or any(len(set(greedy(table, row, new)[len(row) :])) > 1 for row in rows)


def ending(rng, prompt, new, steps, in_prompt=False, plain=False, end=None, **more):
    """A call with a row for each of these steps, from 1, at which that writes `end_id` first; None for never.

    in_prompt: whether one prompt at least ends with it already, or none holds it; end: the id, None for any
    """
    chosen = end
    while True:
        end = rng.integer(0, VOCAB) if chosen is None else chosen

        table = table_of(rng)

        def first_at(step, row, end=end, table=table):
            if end in row and not in_prompt:
                return False
            written = greedy(table, row, new)[len(row) :]
            first = written.index(end) + 1 if end in written else None
            goes_on = end == 0 or first in (None, new) or set(written[first:]) != {end}  # after a 0 comes a 0
            return first == step and goes_on

        rows = [_tried(rng, prompt, functools.partial(first_at, step)) for step in steps if clear(table)]
        if rows and None not in rows and any(row[-1] == end for row in rows) == in_prompt:
            return call(model_of(table, plain), tensor(rows, "int64"), new, end_id=end, **more)


def _tried(rng, length, fits):
    """A prompt that fits, None where sixty do not."""
    return next((row for row in (rng.integers(length, high=VOCAB) for _ in range(60)) if fits(row)), None)


def lottery(rng, rows=DRAWS, new=1, temperature=1.0, length=3):
    """A call with equal prompts: whatever they are, one token has probability 1/2, two others 1/4 each."""
    top, second, third = rng.sample(range(VOCAB), 3)
    row, less = [-30.0 * max(temperature, 1.0)] * VOCAB, temperature * math.log(2)
    row[top], row[second], row[third] = 1.0, 1.0 - less, 1.0 - less
    prompt = rng.integers(1, length, high=VOCAB)
    return call(model_of([row] * VOCAB), tensor(prompt * rows, "int64"), new, temperature=temperature)


def last_tokens(step, answer):
    """The last token of each row, None for an answer of another form."""
    if not isinstance(answer, Array) or len(answer.shape) != 2 or answer.shape[1] < 1 or answer.floating:
        return None
    return [row[-1] for row in answer.nested()]


def how_often(step, answer):
    """How often the token of probability 1/2 was drawn: 0 as it should, 1 too often, 2 always, -1 too seldom.

    A right answer is off by more than 0.17 with a probability of at most 2·exp(-2·450·0.17²) = 1.1e-11 (Hoeffding).
    """
    tokens = last_tokens(step, answer)
    if tokens is None:
        return answer
    table = unpack(step["args"][0]["state"]["table"]).nested()
    top = max(range(VOCAB), key=lambda place: table[0][place])
    off = sum(token == top for token in tokens) / len(tokens) - 0.5
    return array(2 if off == 0.5 else 0 if abs(off) <= 0.17 else 1 if off > 0 else -1)


def draws_differ(step, answer):
    """1 where equal prompts did not all go on alike, and of two calls where they did not write the same.

    (By chance 34 rows go on alike with a probability below 6e-11, and two calls of 34 write the same below 4e-15.)
    """
    if isinstance(answer, tuple):
        first, second = (last_tokens(step, text) for text in answer)
        return answer[0] if None in (first, second) else array(int(first != second))
    tokens = last_tokens(step, answer)
    return answer if tokens is None else array(int(len(set(tokens)) > 1))
