"""Inputs and views of the checks of attention before Transformers."""

import functools
import math

from selfcheck.arrays import Array, array, nest, unpack
from selfcheck.plan import built, call, score, tensor

from .dot_product import mask_of, of_both

DRAWS = 450  # rows that are drawn from at once, where frequencies are looked at


# attend


def bound(rng, kind, d_q, d_k, dtype="float64"):
    """A score function with its weights, small enough that no softmax is one-hot; the bilinear one is not symmetric."""
    if kind == "bilinear":
        return score(kind, *rng.state({"weight": (d_q, d_k)}, dtype, 0.6).values())
    if kind == "additive":
        return score(kind, *rng.state({"w1": (5, d_q + d_k), "w2": (5,)}, dtype, 0.9).values())
    return score(kind)


def attending(rng, kind, queries, keys, d_v, lead=(), widths=(4, 4), dtype="float64", mask=None, key_lead=None):
    """A call of attend; widths: d_q and d_k; key_lead: the keys' leading dimensions where they are others."""
    key_lead = lead if key_lead is None else key_lead
    shapes = {"query": (*lead, queries, widths[0]), "keys": (*key_lead, keys, widths[1])}
    given = rng.state(shapes | {"values": (*key_lead, keys, d_v)}, dtype, 0.8)
    more = {} if mask is None else {"mask": tensor(mask)}
    return call(**given, score=bound(rng, kind, *widths, dtype), **more)


def with_empty_query(rng, **more):
    """A call of attend in which some query may attend to nothing, and another one to every key."""
    queries, keys, d_v = rng.sizes(3, 2, 5)
    mask, (nothing, everything) = mask_of(rng, queries, keys), rng.sample(range(queries), 2)
    mask[nothing], mask[everything] = [False] * keys, [True] * keys
    return attending(rng, "additive", queries, keys, d_v, widths=(2, 2), mask=mask, **more)


def with_hidden_giant(rng):
    """A call of attend that hides the key of the largest score."""
    queries, keys, d_v = rng.sizes(3, 3, 7)
    hidden = rng.integer(0, keys)
    return call(
        query=tensor([[1.0 + rng.random()] for _ in range(queries)]),
        keys=tensor([[5000.0] if j == hidden else rng.normal(1) for j in range(keys)]),
        values=rng.tensor(keys, d_v),
        score=bound(rng, "dot", 1, 1),
        mask=tensor([j != hidden for j in range(keys)]),
    )


# local_attention_weights


def rows(values, dtype="float64"):
    """Scores or centers as a tensor."""
    return tensor(values, dtype)


def inner_centers(rng, count, length, reach):
    """Real centers whose window is not cut off; to round their fractions would move the window."""
    low, high = math.ceil(reach), length - 1 - math.ceil(reach)
    return [rng.integer(low, high) + rng.choice((0.3, 0.4, 0.6, 0.7)) for _ in range(count)]


def positive(one, answer):
    """1 where a weight is above zero."""
    return array(nest([int(value > 0) for value in answer.values()], answer.shape))


def to_largest(one, answer):
    """Each row divided by its largest weight."""
    return _by_row(answer, lambda row: [value / max(row) for value in row])


def to_sum(one, answer):
    """Each row divided by its sum."""
    return _by_row(answer, lambda row: [value / sum(row) for value in row])


def sums(one, answer):
    """What each row adds up to."""
    return array([sum(row) for row in rows_of(answer)])


def rows_of(answer):
    """The last axis of an array, as lists."""
    flat, width = answer.values(), answer.shape[-1]
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _by_row(answer, change):
    found = [change(row) if any(row) else row for row in rows_of(answer)]
    return array(nest([value for row in found for value in row], answer.shape))


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


# hard_attention


def lottery(rng, count, choices, **more):
    """A call with `count` equal rows: one choice has probability 1/2, the others share the rest evenly.

    The values are the squares of the choices' numbers, so that a drawn value shows the choice and an average is none of
    them; the scores are log-probabilities plus a constant, so that they are not log-probabilities themselves.
    """
    top, shift = rng.integer(0, choices), 1.0 + rng.random()
    row = [math.log(0.5 if j == top else 0.5 / (choices - 1)) + shift for j in range(choices)]
    values = [[float(j**2)] for j in range(choices)]
    return call(rows([row] * count, "float32"), rows([values] * count, "float32"), **more)


def _scores_of(one):
    """The first row of scores of a packed call, and the place of its largest."""
    row = rows_of(unpack(one["args"][0]))[0]
    return row, row.index(max(row))


def of_draws(view):
    """A view of values of width 1 beside log-probabilities; answers of other shapes are told apart by their form."""

    @functools.wraps(view)
    def seen(one, answer):
        value, log_probability = answer
        if not all(isinstance(part, Array) for part in answer):
            return array([[-1.0]])
        if value.shape != (*log_probability.shape, 1):
            return array([[float(len(value.shape)), *map(float, (*value.shape, *log_probability.shape))]])
        return view(one, answer)

    return of_both(seen)


def _drawn(answer):
    """The choices that the values show, -1 for a value that is none; one made of parts may be off a little."""
    roots = [round(math.sqrt(abs(value))) if math.isfinite(value) else 0 for value in answer[0].values()]
    pairs = zip(roots, answer[0].values(), strict=True)
    return [root if abs(value - root**2) < 1e-3 else -1 for root, value in pairs]


@of_draws
def all_choices(one, answer):
    """1 where every drawn value is one of those given."""
    return array(int(all(0 <= value < len(_scores_of(one)[0]) for value in _drawn(answer))))


@of_draws
def how_often(one, answer):
    """How often the choice of probability 1/2 was drawn: 0 as it should, 1 too often, -1 too seldom, 2 all alike.

    A right answer is off by more than 0.17 with a probability of at most 2·exp(-2·450·0.17²) = 1.1e-11 (Hoeffding).
    """
    drawn, (_, top) = _drawn(answer), _scores_of(one)
    if len(set(drawn)) == 1:
        return array(2)
    off = sum(value == top for value in drawn) / len(drawn) - 0.5
    return array(0 if abs(off) <= 0.17 else 1 if off > 0 else -1)


@of_draws
def rows_differ(one, answer):
    """1 where equal rows did not all draw the same. (By chance 34 rows do with a probability below 6e-11.)"""
    return array(int(len(set(_drawn(answer))) > 1))


@of_draws
def log_probabilities(one, answer):
    """What is returned beside the choice of probability 1/2, and beside the others: the number farthest from the right.

    With 34 rows, both kinds are drawn but for a probability of 2·2⁻³⁴; for a kind that is not drawn its right number is
    put in. Beside a value that is none of those given, either number is right: its mistake is another check's.
    """
    row, top = _scores_of(one)
    total = math.log(sum(math.exp(entry) for entry in row))
    right = {True: row[top] - total, False: row[top - 1] - total}
    came = {is_top: [number] for is_top, number in right.items()}
    for value, log in zip(_drawn(answer), answer[1].values(), strict=True):
        is_top = value == top if value >= 0 else abs(log - right[True]) < abs(log - right[False])
        came[is_top].append(log)
    return array([max(came[kind], key=lambda log: _distance(log, right[kind])) for kind in (True, False)])


def _distance(one, other):
    return math.inf if math.isnan(one) else abs(one - other)


def three(rng, **more):
    """A call with equal rows of three choices, of probabilities 0.05, 0.15 and 0.8 in some order."""
    chances, shift = rng.sample((0.05, 0.15, 0.8), 3), rng.random()
    row = [math.log(chance) + shift for chance in chances]
    return call(rows([row] * DRAWS), rows([[[0.0], [1.0], [4.0]]] * DRAWS), **more)


@of_draws
def three_shares(one, answer):
    """1 for each choice that was drawn as often as it should be, within 0.17 (see `how_often` for the chance)."""
    row, _ = _scores_of(one)
    total, drawn = sum(math.exp(entry) for entry in row), _drawn(answer)
    shares = [sum(value == j for value in drawn) / len(drawn) for j in range(3)]
    return array([int(abs(share - math.exp(entry) / total) <= 0.17) for share, entry in zip(shares, row, strict=True)])


def with_hidden_choice(rng):
    """A call with equal rows in which two choices of four are hidden by -inf."""
    row = rng.sample((-math.inf, -math.inf, 0.5, 1.0), 4)
    return call(rows([row] * 60), rows([[[0.0], [1.0], [4.0], [9.0]]] * 60))


@of_draws
def hidden_never_drawn(one, answer):
    """1 where every drawn value is one whose score is finite, and every log-probability is finite."""
    row, _ = _scores_of(one)
    seen = {j for j, entry in enumerate(row) if entry > -math.inf}
    return array([int(set(_drawn(answer)) <= seen), int(all(math.isfinite(log) for log in answer[1].values()))])


def sure(rng, lead, choices, d, gap=60.0, level=0.0, values=None, dtype="float64", **more):
    """A call in which one score of each row lies `gap` above the others, at a place of its own.

    Another choice is drawn with probability (choices - 1)·exp(-gap) at most: 6e-26 a row.
    """
    count = math.prod(lead)
    start = rng.integer(0, choices)
    table = [[level + rng.random() - gap * (j != (start + i) % choices) for j in range(choices)] for i in range(count)]
    flat = [round(entry, 2) for row in table for entry in row]
    made = rng.tensor(*lead, choices, d, dtype=dtype) if values is None else values
    return call(rows(nest(flat, (*lead, choices)), dtype), made, **more)


def with_nothing_to_draw(rng, dtype="float64"):
    """A row of scores -inf, whose values are all alike, between rows with one finite score."""
    choices, d = rng.sizes(2, 3, 6)
    values = rng.normal(3, choices, d)
    values[1] = [values[1][0]] * choices
    table = [[1.5 if j == place else -math.inf for j in range(choices)] for place in (0, None, choices - 1)]
    return call(rows(table, dtype), rows(values, dtype))


def with_large_values(rng):
    """A call in which a gradient that passes through the drawn value is large."""
    # Other choices have probability 1e-13. The log-probability's gradient is as small; one that passes through the
    # drawn value is multiplied by values of 1e14.
    values = tensor([[[round(1e14 * rng.gauss(0, 1)) + 0.5 for _ in range(2)] for _ in range(4)] for _ in range(2)])
    return sure(rng, (2,), 4, 2, gap=30.0, values=values)


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


def words_in(counts, longest):
    """A mask (B, n_sentences, n_words) from the number of words in each sentence."""
    return [[[j < count for j in range(longest)] for count in document] for document in counts]


# AttentionDecoder


def decoder_state(rng, vocab, d, kind="additive", dtype="float64", scale=0.6):
    """Parameters of an AttentionDecoder."""
    shapes = {"embedding.weight": (vocab, d), "gru.weight_ih_l0": (3 * d, d), "gru.weight_hh_l0": (3 * d, d)}
    shapes |= {"gru.bias_ih_l0": (3 * d,), "gru.bias_hh_l0": (3 * d,)}
    shapes |= {"combine.weight": (d, 2 * d), "combine.bias": (d,)}
    shapes |= {"output.weight": (vocab, d), "output.bias": (vocab,)}
    state = rng.state(shapes, dtype, scale)
    shapes = {"additive": {"score_w1": (d, 2 * d), "score_w2": (d,)}, "bilinear": {"score_weight": (d, d)}}
    return state | rng.state(shapes.get(kind, {}), dtype, 1.0)


def decoding(rng, vocab, d, shape, kind="additive", named=True, mask=None, states=None, change=None, dtype="float64"):
    """A step on an AttentionDecoder; shape: B, T, S; named: whether the score is passed; change: of the state."""
    batch, steps, source = shape
    construct = call(vocab, d, score=kind) if named else call(vocab, d)
    ids = tensor(rng.integers(batch, steps, high=vocab))
    given = (ids, rng.tensor(batch, source, d, dtype=dtype) if states is None else states)
    use = call(*given) if mask is None else call(*given, tensor(mask))
    state = decoder_state(rng, vocab, d, kind, dtype)
    return built(construct, use, state=state | (change(state) if change else {}))


def without_context(state):
    """The state with the half of `combine` at zero that reads the context."""
    out, both = state["combine.weight"].shape
    table = state["combine.weight"].nested()
    return {"combine.weight": tensor([[0.0] * (both // 2) + row[both // 2 :] for row in table])}


@of_both
def logits_alone(one, answer):
    """The first of the two results."""
    return answer[0]
