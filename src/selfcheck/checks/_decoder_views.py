"""Views on what the decoder's models answer: which logits agree, and which parameters a gradient of them reaches."""

import math

from selfcheck.arrays import Array, array, unpack

SAME = 1e-4  # two logits agree to SAME · (1 + |logit|): float32 sums in another order, never a token more or less


def logits_by_position(answer):
    """The logits of each position, None where the answer is none of (B, L, V)."""
    fits = isinstance(answer, Array) and len(answer.shape) == 3 and answer.floating
    return [row for text in answer.nested() for row in text] if fits else None


def several(answer, count):
    """The logits of several uses as nested lists (B, L, V), None where one is of another form."""
    if not isinstance(answer, (tuple, list)) or len(answer) != count:
        return None
    return None if any(logits_by_position(part) is None for part in answer) else [part.nested() for part in answer]


def unlike(answer):
    """An answer of a form that no view expects, with zeros for its numbers: those go with the learner's parameters."""
    if isinstance(answer, (tuple, list)):
        return type(answer)(unlike(part) for part in answer)
    if isinstance(answer, Array):
        return Array(answer.kind, answer.dtype, answer.shape, bytes(len(answer.data)))
    return answer


def agree(first, other):
    """Whether two rows of logits say the same of the tokens, but for rounding; NaN agrees with nothing.

    What all logits of a row have in common says nothing: the softmax leaves it out.
    """
    if len(first) != len(other):
        return False
    differences = [b - a for a, b in zip(first, other, strict=True)]
    common = sum(differences) / max(len(differences), 1)
    return all(abs(off - common) <= SAME * (1 + abs(a)) for off, a in zip(differences, first, strict=True))


def all_agree(some, others):
    """Whether two (L, V) agree in each row."""
    return len(some) == len(others) and all(agree(a, b) for a, b in zip(some, others, strict=True))


def form(step, answer):
    """The answer's shape, as zeros where it is finite; of several uses, each."""
    if isinstance(answer, (tuple, list)):
        return [form(step, part) for part in answer]
    if logits_by_position(answer) is None:
        return unlike(answer)
    flat = [0.0 if abs(value) < 1e30 else value for value in answer.values()]
    return Array(answer.kind, "float64", answer.shape, array(flat, dtype="float64").data)


def depends(step, answer):
    """Of a batch whose row j + 1 has another token j: 1 at (i, j) where the logits at i depend on it.

    The last row is the first again: -1 everywhere where its logits are not, for then the tokens do not decide.
    """
    if logits_by_position(answer) is None:
        return unlike(answer)
    plain, *changed, again = answer.nested()
    if not all_agree(plain, again):
        return array([[-1] * len(changed)] * len(plain))
    return array([[int(not agree(rows[i], plain[i])) for rows in changed] for i in range(len(plain))])


def uses_agree(step, answer):
    """1 for each further use whose logits agree with those of the first."""
    outputs = several(answer, len(step["uses"]))
    if outputs is None:
        return unlike(answer)
    first = outputs[0]
    return array([int(len(use) == len(first) and all(map(all_agree, first, use))) for use in outputs[1:]])


def pairs_agree(step, answer):
    """After a first use: 1 where the second and third agree, and 1 where the fourth and fifth do."""
    outputs = several(answer, 5)
    if outputs is None:
        return unlike(answer)
    return array([int(all(map(all_agree, *pair))) for pair in ((outputs[1], outputs[2]), (outputs[3], outputs[4]))])


def pieces_agree(step, answer):
    """A text at once, then in pieces: 1 for each row of the pieces, put together, that agrees with the text at once."""
    outputs = several(answer, len(step["uses"]))
    if outputs is None or any(len(use) != len(outputs[0]) for use in outputs):
        return unlike(answer)
    whole, *pieces = outputs
    joined = [[row for piece in pieces for row in piece[place]] for place in range(len(whole))]
    if any(len(row) != len(text) for row, text in zip(joined, whole, strict=True)):
        return unlike(answer)
    return array(
        [[int(agree(*pair)) for pair in zip(*texts, strict=True)] for texts in zip(whole, joined, strict=True)]
    )


def rows_apart(step, answer):
    """A batch, its first row alone, and its last two alone: 1 where these agree with the batch."""
    outputs = several(answer, 3)
    if outputs is None:
        return unlike(answer)
    pairs = ((outputs[0][:1], outputs[1]), (outputs[0][-2:], outputs[2]))
    return array([int(len(some) == len(others) and all(map(all_agree, some, others))) for some, others in pairs])


def last_logits_differ(step, answer):
    """Of several texts in one batch: 1 for each further one whose logits at the last token are not the first's.

    The last text is the first again: 1 where its logits are those too.
    """
    if logits_by_position(answer) is None:
        return unlike(answer)
    first, *others, again = answer.nested()
    return array([*(int(not agree(first[-1], other[-1])) for other in others), int(agree(first[-1], again[-1]))])


def last_use_differs(step, answer):
    """Of several texts in the last batch: 1 for each further one whose logits at the last token are not the first's."""
    return unlike(answer) if several(answer, len(step["uses"])) is None else last_logits_differ(step, answer[-1])


def logits(step, answer):
    """1 where no row is made of probabilities that sum to 1, and 1 where not all lie within 0 … 1."""
    rows = logits_by_position(answer)
    if rows is None:
        return unlike(answer)
    shares = [min(row) >= 0 and abs(sum(row) - 1) < 1e-3 for row in rows]
    return array([int(not any(shares)), int(not all(0 <= value <= 1 for row in rows for value in row))])


def tied_output(step, answer):
    """1 where a model learns fewer than 1.5 · V · d_model numbers, too few for two tables of V tokens."""
    vocab_size, d_model = (unpack(tree) for tree in step["construct"]["args"][:2])
    return array(int(answer < 1.5 * vocab_size * d_model)) if isinstance(answer, int) else answer


def a_vector_per_position(step, answer):
    """1 where a model learns as many numbers at least as a vector for each position has."""
    positions, d_model = unpack(step["construct"]["kwargs"]["max_length"]), unpack(step["construct"]["args"][1])
    return array(int(answer >= positions * d_model)) if isinstance(answer, int) else answer


def as_many_as_layers(step, answer):
    """-1 where logits depend on fewer numbers than layers have, 1 where a model learns twice as many, 0 otherwise.

    Only the matrices count. Of two stacks, one of which reads a memory, four fifths are enough.
    """
    if not isinstance(answer, tuple) or len(answer) != 2 or not all(isinstance(one, int) for one in answer):
        return answer
    learnt, used = answer
    *vocabs, d_model, _, d_ff, layers = (unpack(tree) for tree in step["construct"]["args"])
    one, both = 4 * d_model**2 + 2 * d_model * d_ff, len(vocabs) == 2
    due = layers * (2 * one + 4 * d_model**2 if both else one)
    least = 0.8 * due if both else due
    return array(-1 if used < least else int(learnt > 2 * due))


def without_part(step, answer):
    """How many matrices have no part in the logits, as their gradient is zero, and to how many of them no path leads.

    A path leads to those of queries where there is one key alone, and where scores lie so far apart that softmax gives
    ones and zeros. Vectors do not count: a norm that is made and never called changes nothing.
    """
    return _left_out(answer, lambda axes, reached: axes > 1 and reached < 1)


def without_part_or_last_norm(step, answer):
    """How many matrices have no part in the logits, as their gradient is zero, and to how many of them no path leads.

    The vectors of a part's own last norm count as well, where no path leads to them.
    """
    return _left_out(answer, lambda axes, reached: (axes > 1 and reached < 1) or (axes == 1 and reached == -2))


def _left_out(answer, counts):
    """How many parameters count, by their axes and the rows that a gradient reaches, and how many have no path."""
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return unlike(answer)
    found = [reached for axes, _, reached in answer.nested() if counts(axes, reached)]
    return array([len(found), sum(reached < 0 for reached in found)])


def reached_in_layers(step, answer):
    """1 where a gradient reaches a matrix of a layer: none where all that layers add is dropped.

    Positions are no layer's: of their table, the rows of a text's alone are reached, or its first axis has length 1.
    """
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return unlike(answer)
    *vocabs, _, _, _, _ = (unpack(tree) for tree in step["construct"]["args"])
    longest = max(unpack(text).shape[-1] for text in step["uses"][0]["args"])
    matrices = [one for axes, *one in answer.nested() if axes > 1 and one[0] not in (1, *vocabs)]
    return array(int(any(reached > min(longest, rows - 1) for rows, reached in matrices)))


def table_learns(step, answer):
    """1 where a gradient reaches every row of each table with a row for each token; of one token's logits alone, that
    row and those of the text's tokens.
    """
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return unlike(answer)
    rows = _rows_reached(step, answer)
    due = _words_of(step) + 1 if _is_of_one(step) else _vocab_size(step)
    return array(int(all(reached == due for reached in rows)))


def without_part_or_other_token(step, answer):
    """Of one token's logits alone, how many tables with a row for each token they reach in others than its own row,
    those of the text's tokens, or both, and 1 more where none is reached in its own; of all, see `_words_of_parts`.
    """
    if not _is_of_one(step) or not isinstance(answer, Array) or len(answer.shape) != 2:
        return without_part_or_last_norm(step, answer)
    rows, words = _rows_reached(step, answer), _words_of(step)
    return array(
        sum(reached not in (1, words, words + 1) for reached in rows) + (not {1, words + 1}.intersection(rows))
    )


def _words_of_parts(step):
    view = without_part_or_other_token if _is_of_one(step) else without_part_or_last_norm
    return view.__doc__


without_part_or_other_token.words = _words_of_parts


def _is_of_one(step):
    return "tokens" in step["uses"][0]


def _vocab_size(step):
    """Of the tokens that logits stand for; a translator's are the second."""
    *_, vocab_size, _, _, _, _ = (unpack(tree) for tree in step["construct"]["args"])
    return vocab_size


def _words_of(step):
    """How many tokens there are in the text before the logits."""
    return len(set(unpack(step["uses"][0]["args"][-1]).values()))


def _rows_reached(step, answer):
    """Of each table with a row for each token, how many rows a gradient reaches; a bias is no table."""
    return [reached for axes, rows, reached in answer.nested() if axes > 1 and rows == _vocab_size(step)]


def positions_alike(step, answer):
    """1 where the logits of all positions agree."""
    rows = logits_by_position(answer)
    if rows is None:
        return unlike(answer)
    return array(int(all(agree(rows[0], row) for row in rows)))


def added_and_normalised(step, answer):
    """1 where a gradient reaches a matrix of a layer, 2 where it reaches norms of layers alone.

    Where all is dropped that layers add, zeros come to the last norm of a pre-norm model, and its bias alone counts. A
    norm on the way makes something else of them.
    """
    found = reached_in_layers(step, answer)
    if not isinstance(answer, Array) or len(answer.shape) != 2 or found.values()[0]:
        return found
    *vocabs, _, _, _, _ = (unpack(tree) for tree in step["construct"]["args"])
    norms = sum(axes == 1 and rows not in vocabs and reached > 0 for axes, rows, reached in answer.nested())
    return array(2 if norms > 1 else 0)


def form_of_words(step, answer):
    """The answer's shape, as zeros where it is finite, with 1 for a token whose logits alone are 0 everywhere.

    Such a token has a row of zeros in the table.
    """
    rows = logits_by_position(answer)
    if not rows:
        return form(step, answer)
    silent = [not any(column) for column in zip(*rows, strict=True)]
    plain = form(step, answer)
    if all(silent):  # a table that begins with zeros
        return plain
    flat = [float(silent[i % len(silent)]) if value == 0 else value for i, value in enumerate(plain.values())]
    return Array(plain.kind, "float64", plain.shape, array(flat, dtype="float64").data)


def no_shares(step, answer):
    """1 where no row is made of probabilities that sum to 1, 1 where not all lie within 0 … 1, and 1 where no row is
    made of logarithms of probabilities.
    """
    found, rows = logits(step, answer), logits_by_position(answer)
    if rows is None:
        return found
    logarithms = [max(row) < 1e-3 and abs(sum(map(math.exp, row)) - 1) < 1e-3 for row in rows]
    return array([*found.values(), int(not any(logarithms))])
