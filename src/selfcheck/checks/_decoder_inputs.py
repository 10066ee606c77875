"""Inputs and views of the checks of the decoder layer and of the two models.

A layer gets its parameters. A model is free inside: its parameters are stirred, so that nothing it reads stays without
influence, and facts about its logits are compared: which agree, and which do not.
"""

from dataclasses import replace

from selfcheck.arrays import Array, array, unpack
from selfcheck.plan import built, cache, call, tensor

from ._encoder_inputs import filled, layer_state, norm_state

STIRRED = 0.3  # deviation of what is added to a model's parameters
SAME = 1e-4  # two logits agree to SAME · (1 + |logit|): float32 sums in another order, never a token more or less
VOCAB, SOURCE_VOCAB = 11, 9


# A layer


def decoder_state(rng, d_model, d_ff, cross=False, dtype="float64"):
    """Parameters of a DecoderLayer."""
    state = layer_state(rng, d_model, d_ff, dtype=dtype)
    if cross:
        shapes = {}
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            shapes |= {f"cross_attention.{name}.weight": (d_model, d_model), f"cross_attention.{name}.bias": (d_model,)}
        state |= rng.state(shapes, dtype, 0.6) | norm_state(rng, d_model, "norm3.", dtype)
    return state


def layer(d_model=6, heads=3, d_ff=5, cross=False, **more):
    """The construction of a small layer without dropout; what is default is left out."""
    settings = {"dropout": 0.0} | ({"cross_attention": True} if cross else {})
    return call(d_model, heads, d_ff, **settings | more)


def parts(x, lengths):
    """A tensor (B, L, d) cut along L, or ids (B, L)."""
    rows, pieces, start = x.nested(), [], 0
    for length in lengths:
        pieces.append(tensor([row[start : start + length] for row in rows], x.dtype))
        start += length
    return pieces


def memory_changed(rng, source, d_model):
    """Memories (source + 1, source, d_model): one, and for each position the same with that one replaced."""
    plain, other = rng.normal(source, d_model), rng.normal(source, d_model)
    batch = [plain] + [[other[i] if i == j else plain[i] for i in range(source)] for j in range(source)]
    return tensor(batch)


def repeated(rng, batch, length, d_model):
    """The same sequence in each row of a batch."""
    return tensor([rng.normal(length, d_model)] * batch)


def in_training(rng, length, *ones, rate=0.25, cross=False, cached=False):
    """A pre-norm layer of width 8 in training, on tokens of tens; its parameters are 0, and those named are 1.

    rate: of dropout; None for the default; cached: whether the tokens go through a cache
    """
    state = {name: filled(value, 0) for name, value in decoder_state(rng, 8, 5, cross, dtype="float32").items()}
    state |= {name: filled(state[name], 1) for name in ones}
    x = tensor([[[10.0] * 8] * length], "float32")
    memory = (tensor([[[1.0] * 8] * 3], "float32"),) if cross else ()
    more = ({} if rate is None else {"dropout": rate}) | ({"cross_attention": True} if cross else {})
    kept = {"cache": cache(length + 7, "a")} if cached else {}
    return built(call(8, 2, 5, **more), call(x, *memory, **kept), state=state, training=True)


# Models


def language_model(layers=2, **more):
    """The construction of a small language model."""
    return call(VOCAB, 8, 4, 12, layers, **{"max_length": 10, "dropout": 0.0} | more)


def translator(layers=2, **more):
    """The construction of a small translating model."""
    return call(SOURCE_VOCAB, VOCAB, 8, 4, 12, layers, **{"max_length": 10, "dropout": 0.0} | more)


def gradients(step):
    """A use whose answer tells which parameters a call reaches, as `module_state.reached` has it."""
    return replace(step, method=":gradients")


def tokens(rng, batch, length, vocab=VOCAB, low=1):
    """Token ids (batch, length), none below `low`."""
    return tensor(rng.integers(batch, length, low=low, high=vocab), "int64")


def one_token_changed(rng, length, vocab=VOCAB):
    """Ids (length + 1, length): a text, and for each position the text with another token there."""
    plain = rng.integers(length, low=1, high=vocab)
    others = [(token - 1 + rng.integer(1, vocab - 1)) % (vocab - 1) + 1 for token in plain]
    batch = [plain] + [[others[i] if i == j else plain[i] for i in range(length)] for j in range(length)]
    return tensor(batch, "int64")


def same_text(rng, batch, length, vocab=VOCAB):
    """The same text in each row of a batch."""
    return tensor([rng.integers(length, low=1, high=vocab)] * batch, "int64")


def rows_of(answer):
    """The logits of each position, None where the answer is none of (B, L, V)."""
    fits = isinstance(answer, Array) and len(answer.shape) == 3 and answer.floating
    return [row for text in answer.nested() for row in text] if fits else None


def several(answer, count):
    """The logits of several uses as nested lists (B, L, V), None where one is of another form."""
    if not isinstance(answer, (tuple, list)) or len(answer) != count:
        return None
    return None if any(rows_of(part) is None for part in answer) else [part.nested() for part in answer]


def unlike(answer):
    """An answer of a form that no view expects, with zeros for its numbers: those go with the learner's parameters."""
    if isinstance(answer, (tuple, list)):
        return type(answer)(unlike(part) for part in answer)
    if isinstance(answer, Array):
        return Array(answer.kind, answer.dtype, answer.shape, bytes(len(answer.data)))
    return answer


def agree(first, other):
    """Whether two rows of logits are the same but for rounding; NaN agrees with nothing."""
    return len(first) == len(other) and all(
        abs(a - b) <= SAME * (1 + abs(a)) for a, b in zip(first, other, strict=True)
    )


def all_agree(some, others):
    """Whether two (L, V) agree in each row."""
    return len(some) == len(others) and all(agree(a, b) for a, b in zip(some, others, strict=True))


def form(step, answer):
    """The answer's shape, as zeros where it is finite; of several uses, each."""
    if isinstance(answer, (tuple, list)):
        return [form(step, part) for part in answer]
    if rows_of(answer) is None:
        return unlike(answer)
    flat = [0.0 if abs(value) < 1e30 else value for value in answer.values()]
    return Array(answer.kind, "float64", answer.shape, array(flat, dtype="float64").data)


def depends(step, answer):
    """Of a batch whose row j + 1 has another token j: 1 at (i, j) where the logits at i depend on it."""
    if rows_of(answer) is None:
        return unlike(answer)
    plain, *changed = answer.nested()
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
    """Of two texts in one batch: 1 where the logits at their last token differ."""
    if rows_of(answer) is None:
        return unlike(answer)
    first, second = answer.nested()
    return array(int(not agree(first[-1], second[-1])))


def last_use_differs(step, answer):
    """As `last_logits_differ`, of the last use."""
    return unlike(answer) if several(answer, len(step["uses"])) is None else last_logits_differ(step, answer[-1])


def logits(step, answer):
    """1 where no row is made of probabilities that sum to 1, and 1 where not all lie within 0 … 1."""
    rows = rows_of(answer)
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
    """-1 where a model learns fewer numbers than its layers have, 1 where it learns twice as many, 0 otherwise.

    Only the matrices count. Of two stacks, one of which reads a memory, four fifths are enough.
    """
    *vocabs, d_model, _, d_ff, layers = (unpack(tree) for tree in step["construct"]["args"])
    one, both = 4 * d_model**2 + 2 * d_model * d_ff, len(vocabs) == 2
    due = layers * (2 * one + 4 * d_model**2 if both else one)
    least = 0.8 * due if both else due
    return array(-1 if answer < least else int(answer > 2 * due)) if isinstance(answer, int) else answer


def without_part(step, answer):
    """How many matrices have no part in the logits.

    A matrix has none where its gradient is zero throughout: that of a query where there is one key alone, for instance.
    Vectors do not count: a norm that is made and never called changes nothing.
    """
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return unlike(answer)
    return array(sum(axes > 1 and reached < 1 for axes, _, reached in answer.nested()))


def without_part_or_last_norm(step, answer):
    """As `without_part`; the vectors of a part's own last norm count as well, where no path leads to them."""
    count = without_part(step, answer)
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return count
    return array(int(count.values()[0]) + sum(reached == -2 for axes, _, reached in answer.nested() if axes == 1))


def reached_in_layers(step, answer):
    """1 where a gradient reaches a matrix that has no row for each token: none where all that layers add is dropped."""
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return unlike(answer)
    *vocabs, _, _, _, _ = (unpack(tree) for tree in step["construct"]["args"])
    return array(int(any(axes > 1 and rows not in vocabs and reached > 0 for axes, rows, reached in answer.nested())))


def table_learns(step, answer):
    """1 where a gradient reaches every row of each table with a row for each token."""
    if not isinstance(answer, Array) or len(answer.shape) != 2:
        return unlike(answer)
    vocab_size = unpack(step["construct"]["args"][0])
    return array(int(all(reached == rows for _, rows, reached in answer.nested() if rows == vocab_size)))


def all_alike(step, answer):
    """1 where the logits of all positions agree."""
    rows = rows_of(answer)
    if rows is None:
        return unlike(answer)
    return array(int(all(agree(rows[0], row) for row in rows)))
