"""Inputs and views of the checks of hard attention."""

import functools
import math

from selfcheck.arrays import Array, array, nest, unpack
from selfcheck.plan import call, tensor

from ._numbers import rows_of
from ._sequence_to_sequence_inputs import rows
from .dot_product import of_both

DRAWS = 450  # rows that are drawn from at once, where frequencies are looked at


def lottery(rng, count, choices, **more):
    """A call with `count` equal rows: one choice has probability 1/2, the others share the rest evenly.

    The values are the squares of the choices' numbers, so that a drawn value shows the choice and an average is none of
    them; the scores are log-probabilities plus a constant, so that they are not log-probabilities themselves.
    """
    top, shift = rng.integer(0, choices), 1.0 + rng.random()
    row = [math.log(0.5 if j == top else 0.5 / (choices - 1)) + shift for j in range(choices)]
    values = [[float(j**2)] for j in range(choices)]
    return call(rows([row] * count, "float32"), rows([values] * count, "float32"), **more)


def _scores_of(step):
    """The first row of scores of a packed call, and the place of its largest."""
    row = rows_of(unpack(step["args"][0]))[0]
    return row, row.index(max(row))


def of_draws(view):
    """A view of values of width 1 beside log-probabilities; answers of other shapes are told apart by their form."""

    @functools.wraps(view)
    def seen(step, answer):
        value, log_probability = answer
        if not all(isinstance(part, Array) for part in answer):
            return array([[-1.0]])
        if value.shape != (*log_probability.shape, 1):
            return array([[float(len(value.shape)), *map(float, (*value.shape, *log_probability.shape))]])
        return view(step, answer)

    return of_both(seen)


def _drawn(answer):
    """The choices that the values show, -1 for a value that is none; one made of parts may be off a little."""
    roots = [round(math.sqrt(abs(value))) if math.isfinite(value) else 0 for value in answer[0].values()]
    pairs = zip(roots, answer[0].values(), strict=True)
    return [root if abs(value - root**2) < 1e-3 else -1 for root, value in pairs]


@of_draws
def all_choices(step, answer):
    """1 where every drawn value is one of those given."""
    return array(int(all(0 <= value < len(_scores_of(step)[0]) for value in _drawn(answer))))


@of_draws
def how_often(step, answer):
    """How often the choice of probability 1/2 was drawn: 0 as it should, 1 too often, -1 too seldom, 2 all alike.

    A right answer is off by more than 0.17 with a probability of at most 2·exp(-2·450·0.17²) = 1.1e-11 (Hoeffding).
    """
    drawn, (_, top) = _drawn(answer), _scores_of(step)
    if len(set(drawn)) == 1:
        return array(2)
    off = sum(value == top for value in drawn) / len(drawn) - 0.5
    return array(0 if abs(off) <= 0.17 else 1 if off > 0 else -1)


@of_draws
def rows_differ(step, answer):
    """1 where equal rows did not all draw the same. (By chance 34 rows do with a probability below 6e-11.)"""
    return array(int(len(set(_drawn(answer))) > 1))


@of_draws
def log_probabilities(step, answer):
    """What is returned beside the choice of probability 1/2, and beside the others: the number farthest from the right.

    With 34 rows, both kinds are drawn but for a probability of 2·2⁻³⁴; for a kind that is not drawn its right number is
    put in. Beside a value that is none of those given, either number is right: its mistake is another check's.
    """
    row, top = _scores_of(step)
    total = math.log(sum(math.exp(entry) for entry in row))
    right = {True: row[top] - total, False: row[top - 1] - total}
    came = {is_top: [number] for is_top, number in right.items()}
    for value, log in zip(_drawn(answer), answer[1].values(), strict=True):
        is_top = value == top if value >= 0 else abs(log - right[True]) < abs(log - right[False])
        came[is_top].append(log)
    return array([max(came[kind], key=lambda log: _distance(log, right[kind])) for kind in (True, False)])


def _distance(first, other):
    return math.inf if math.isnan(first) else abs(first - other)


def three(rng, **more):
    """A call with equal rows of three choices, of probabilities 0.05, 0.15 and 0.8 in some order."""
    chances, shift = rng.sample((0.05, 0.15, 0.8), 3), rng.random()
    row = [math.log(chance) + shift for chance in chances]
    return call(rows([row] * DRAWS), rows([[[0.0], [1.0], [4.0]]] * DRAWS), **more)


def three_shares(step, answer):
    """1 for each choice that was drawn as often as it should be, within 0.17; of two calls, where they differ too.

    The chance of a right answer to miss that: see `how_often`. (Two calls of 450 rows draw the same below 1e-75.)
    """
    if not step.get("times"):
        return _three_shares(step, answer)
    if not isinstance(answer, tuple) or not all(isinstance(one, tuple) and len(one) == 2 for one in answer):
        return answer
    seen = [_three_shares(step, one) for one in answer]
    return (*seen, array(int(len({tuple(one[0].values()) for one in answer if isinstance(one[0], Array)}) > 1)))


@of_draws
def _three_shares(step, answer):
    row, _ = _scores_of(step)
    total, drawn = sum(math.exp(entry) for entry in row), _drawn(answer)
    shares = [sum(value == j for value in drawn) / len(drawn) for j in range(3)]
    return array([int(abs(share - math.exp(entry) / total) <= 0.17) for share, entry in zip(shares, row, strict=True)])


def with_hidden_choice(rng, count=60):
    """A call with that many equal rows in which two choices of four are hidden by -inf."""
    row = rng.sample((-math.inf, -math.inf, 0.5, 1.0), 4)
    return call(rows([row] * count), rows([[[0.0], [1.0], [4.0], [9.0]]] * count))


@of_draws
def hidden_never_drawn(step, answer):
    """1 where every drawn value is one whose score is finite, and every log-probability is finite."""
    row, _ = _scores_of(step)
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
    choices, d = rng.sample((5, 7), 2)
    values = rng.normal(3, choices, d)
    values[1] = [values[1][0]] * choices
    table = [[1.5 if j == place else -math.inf for j in range(choices)] for place in (0, None, choices - 1)]
    return call(rows(table, dtype), rows(values, dtype))


def with_large_values(rng):
    """A call in which a gradient that passes through the drawn value is large."""
    # Other choices have probability 1e-13. The log-probability's gradient is as small; one that passes through the
    # drawn value is multiplied by values of 1e14.
    values = tensor([[[round(1e14 * rng.gauss(0, 1)) + 0.5 for _ in range(8)] for _ in range(5)] for _ in range(2)])
    return sure(rng, (2,), 5, 8, gap=30.0, values=values)


def drawn_from_nothing(step, due, given):
    """Of hard attention: a value is drawn where nothing is to be drawn, and elsewhere all is right."""
    values, (wanted, came) = unpack(step["args"][1]).nested(), (answer[0].nested() for answer in (due, given))
    wrong = [at for at, pair in enumerate(zip(wanted, came, strict=True)) if math.dist(*pair) > 1e-6]
    if wrong != [1] or math.dist(came[1], values[1][0]) > 1e-6:
        return ""
    return "Where every score of a row is -inf you return one of its values: nothing is drawn there, and zeros are due"
