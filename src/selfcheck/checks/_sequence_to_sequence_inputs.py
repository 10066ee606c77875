"""Inputs and views of the checks of attention before Transformers."""

import math

from selfcheck.arrays import array, nest
from selfcheck.plan import built, call, score, tensor

from ._encoder_inputs import by_row
from ._numbers import rows_of
from .dot_product import mask_of, of_both

# attend


def bound(rng, kind, d_q, d_k, dtype="float64"):
    """A score function with its weights, small enough that no softmax is one-hot; the bilinear one is not symmetric."""
    if kind == "bilinear":
        return score(kind, *rng.state({"weight": (d_q, d_k)}, dtype, 0.6).values())
    if kind == "additive":
        return score(kind, *rng.state({"w1": (2, d_q + d_k), "w2": (2,)}, dtype, 0.9).values())
    return score(kind)


def attending(rng, kind, queries, keys, d_v, lead=(), widths=(1, 1), dtype="float64", mask=None, key_lead=None):
    """A call of attend.

    widths: d_q and d_k, 1 where a check is not about them: then a wrong scale costs the check of the scale alone
    key_lead: the keys' leading dimensions where they are others
    """
    key_lead = lead if key_lead is None else key_lead
    shapes = {"query": (*lead, queries, widths[0]), "keys": (*key_lead, keys, widths[1])}
    given = rng.state(shapes | {"values": (*key_lead, keys, d_v)}, dtype, 0.8)
    more = {} if mask is None else {"mask": tensor(mask)}
    return call(**given, score=bound(rng, kind, *widths, dtype), **more)


def with_empty_query(rng, **more):
    """A call of attend in which some query may attend to nothing, and another one to every key."""
    queries, keys, d_v = rng.sizes(3, 3, 8)
    mask, (nothing, everything) = mask_of(rng, queries, keys), rng.sample(range(queries), 2)
    mask[nothing], mask[everything] = [False] * keys, [True] * keys
    return attending(rng, "dot", queries, keys, d_v, mask=mask, **more)


def with_hidden_giant(rng):
    """A call of attend that hides the key of the largest score."""
    queries, keys, d_v = rng.sizes(3, 3, 8)
    hidden = rng.integer(0, keys)
    return call(
        query=tensor([[1.0 + rng.random()] for _ in range(queries)]),
        keys=tensor([[5000.0] if j == hidden else rng.normal(1) for j in range(keys)]),
        values=rng.tensor(keys, d_v),
        score=bound(rng, "dot", 1, 1),
        mask=tensor([j != hidden for j in range(keys)]),
    )


def with_scores_far_below_zero(rng, low):
    """A call of attend whose allowed scores are all below `low`; those of forbidden keys are common ones."""
    queries, keys, d_v = rng.sizes(3, 3, 8)
    query, key = [[1.0]] * queries, [[low * 2 + 0.4 * j] for j in range(keys)]
    key[rng.integer(0, keys)] = [0.5]
    mask = [value[0] < 0 for value in key]
    return call(tensor(query), tensor(key), rng.tensor(keys, d_v), bound(rng, "dot", 1, 1), tensor(mask))


def of_zero_and_giant(rng, queries, keys, d_v):
    """A call of attend whose first query is all zero, and whose last has scores of thousands."""
    query = [[0.0, 0.0], *rng.normal(queries - 2, 2), [3000.0, 2000.0]]
    return call(tensor(query), rng.tensor(keys, 2), rng.tensor(keys, d_v), bound(rng, "dot", 2, 2))


def with_zero_query(rng, queries, keys, d_v):
    """A call of attend whose first query is all zero, under a mask: its scores are 0 where they count and elsewhere."""
    query = [[0.0], *rng.normal(queries - 1, 1)]
    given = (tensor([query]), rng.tensor(1, keys, 1), rng.tensor(1, keys, d_v), bound(rng, "dot", 1, 1))
    return call(*given, tensor(mask_of(rng, 1, queries, keys)))


# local_attention_weights


def rows(values, dtype="float64"):
    """Scores or centers as a tensor."""
    return tensor(values, dtype)


def inner_centers(rng, count, length, reach):
    """Real centers whose window is not cut off; to round their fractions would move the window."""
    low, high = math.ceil(reach), length - 1 - math.ceil(reach)
    return [rng.integer(low, high) + rng.choice((0.3, 0.4, 0.6, 0.7)) for _ in range(count)]


def positive(step, answer):
    """1 where a weight is above zero."""
    return array(nest([int(value > 0) for value in answer.values()], answer.shape))


def to_sum(step, answer):
    """Each row divided by its sum."""
    return by_row(answer, lambda row: [value / sum(row) for value in row])


def sums(step, answer):
    """What each row adds up to."""
    return array([sum(row) for row in rows_of(answer)])


def local(rng, length, reach, lead=(3,), dtype="float64", **more):
    """A call with real centers, the window of that reach whole."""
    count = math.prod(lead)
    centers = nest(inner_centers(rng, count, length, reach), lead)
    return call(rng.tensor(*lead, length, dtype=dtype), rows(centers, dtype), reach, **more)


def with_giant_outside(rng):
    """A call whose windows hold one position alone, of weight 1, beside a far larger score."""
    scores, places = rng.normal(3, 7), rng.sample(range(2, 5), 3)
    for row, place in zip(scores, places, strict=True):
        row[place + 2] = 30.0
    return call(rows(scores), rows([float(place) for place in places]), 0.3)  # one position alone: its weight is 1


def far_below_zero(rng):
    """Calls whose scores in the window are far below zero: all of them, then one beside common ones."""
    among = [[low + value for value in rng.normal(7)] for low in (-2e3, -3e4, -3e9)]
    beside = [rng.normal(7) for _ in (-1e4, -1e9)]
    beside[0][3], beside[1][3] = -1e4, -1e9
    return [call(rows(among), rows([2.6, 3.4, 2.4]), 1.5), call(rows(beside), rows([2.6, 3.4]), 1.5)]


# HierarchicalAttention


def hierarchy(rng, d, dtype="float64", scale=0.7, **zeros):
    """Parameters of a HierarchicalAttention; zeros: names, with _ for the dot, of those that are 0."""
    shapes = {}
    for level in ("word", "sentence"):
        shapes |= {f"{level}_proj.weight": (d, d), f"{level}_proj.bias": (d,), f"{level}_query": (d,)}
    state = rng.state(shapes, dtype, scale)
    return {name: zeroed(value) if zeros.get(name.replace(".", "_")) else value for name, value in state.items()}


def zeroed(like):
    """A tensor of the same form, of zeros."""
    return tensor(nest([0.0] * math.prod(like.shape), like.shape), like.dtype)


def documents(rng, d, x, mask=None, state=None, **zeros):
    """A step on a HierarchicalAttention."""
    given = call(x) if mask is None else call(x, tensor(mask))
    return built(call(d), given, state=hierarchy(rng, d, dtype=x.dtype, **zeros) if state is None else state)


def mixed_twice(rng):
    """A step on a HierarchicalAttention that is used on documents of different sizes; some vectors are all zero."""
    d, uses = 4, []
    for batch, sentences, words in ((2, 3, 5), (3, 5, 2)):
        x = rng.normal(batch, sentences, words, d)
        x[0][1] = [[0.0] * d] * words  # a sentence like others
        x[1][0][1] = [0.0] * d  # a word like others
        uses.append(call(tensor(x)))
    return built(call(d), *uses, state=hierarchy(rng, d), training=True)


def with_an_empty_document(rng):
    """A step on a HierarchicalAttention: three documents, and there are no words in the second."""
    return documents(rng, 1, rng.tensor(3, 5, 7, 1), words_in([[7] * 5, [0] * 5, [7] * 5], 7))


def words_in(counts, longest):
    """A mask (B, n_sentences, n_words) from the number of words in each sentence."""
    return [[[j < count for j in range(longest)] for count in document] for document in counts]


# AttentionDecoder

ONE_DECODER = (11, 3)  # vocab_size and d_model: apart from 2 d_model, 3 d_model and 13 source tokens

#: vocab_size, d_model, and B, T, S. Beside 2 d_model and 3 d_model some of them must be neighbours, or sums of others:
#: in the second decoder these are others than in the first.
TWO_DECODERS = ((7, 3, (2, 4, 5)), (9, 2, (3, 5, 7)))


def decoder_state(rng, vocab, d, kind="additive", dtype="float64", scale=0.6):
    """Parameters of an AttentionDecoder."""
    shapes = {"embedding.weight": (vocab, d), "gru.weight_ih_l0": (3 * d, d), "gru.weight_hh_l0": (3 * d, d)}
    shapes |= {"gru.bias_ih_l0": (3 * d,), "gru.bias_hh_l0": (3 * d,)}
    shapes |= {"combine.weight": (d, 2 * d), "combine.bias": (d,)}
    shapes |= {"output.weight": (vocab, d), "output.bias": (vocab,)}
    state = rng.state(shapes, dtype, scale)
    shapes = {"additive": {"score_w1": (d, 2 * d), "score_w2": (d,)}, "bilinear": {"score_weight": (d, d)}}
    return state | rng.state(shapes.get(kind, {}), dtype, 1.0)


def decoding(
    rng,
    vocab,
    d,
    shape,
    kind="additive",
    named=True,
    mask=None,
    states=None,
    change=None,
    zero=False,
    dtype="float64",
    **more,
):
    """A step on an AttentionDecoder.

    shape: B, T, S; named: whether the score is passed; change: of the state; zero: whether the first token is 0
    """
    batch, steps, source = shape
    construct = call(vocab, d, score=kind) if named else call(vocab, d)
    ids = rng.integers(batch, steps, high=vocab)
    ids[0][0] = 0 if zero else ids[0][0]
    given = (tensor(ids), rng.tensor(batch, source, d, dtype=dtype) if states is None else states)
    use = call(*given) if mask is None else call(*given, tensor(mask))
    state = decoder_state(rng, vocab, d, kind, dtype)
    return built(construct, use, state=state | (change(state) if change else {}), **more)


def decoding_lengths(rng, first, second, kind="additive"):
    """A step on each of TWO_DECODERS, with a mask; first, second: the number of real tokens of each source."""
    return [
        decoding(rng, vocab, d, shape, kind, mask=words_in([counts], shape[2])[0])
        for (vocab, d, shape), counts in zip(TWO_DECODERS, (first, second), strict=True)
    ]


def source_of_zeros(vocab, d, shape):
    """Encoder states for a decoder and inputs of these sizes."""
    batch, _, source = shape
    return tensor([[[0.0] * d] * source] * batch)


def without_context(state):
    """The state with the half of `combine` at zero that reads the context."""
    out, both = state["combine.weight"].shape
    table = state["combine.weight"].nested()
    return {"combine.weight": tensor([[0.0] * (both // 2) + row[both // 2 :] for row in table])}


def decoding_far_below_zero(rng, low):
    """A step whose scores of real source tokens are all below `low`, beside common ones of padding."""
    real = [[3 * low + value] for value in rng.normal(3)]
    states = tensor([[*real, *rng.normal(2, 1)]])
    ahead = {"gru.bias_ih_l0": tensor([0.0, -9.0, 9.0])}  # the GRU's state is nearly 1
    mask = [[True] * 3 + [False] * 2]
    return decoding(rng, 7, 1, (1, 2, 5), "dot", mask=mask, states=states, change=lambda state: ahead)


@of_both
def logits_alone(step, answer):
    """The first of the two results."""
    return answer[0]
