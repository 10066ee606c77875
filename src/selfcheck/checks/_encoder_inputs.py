"""Inputs that the checks of the encoder share, with the views that read their answers."""

import math

from selfcheck.arrays import Array, array, nest
from selfcheck.plan import built, call, tensor

from ._numbers import filled, rows_of
from .dot_product import dropped

ATTENTION = "self_attention."
FEED = "feed_forward."
OUT, LAST = ATTENTION + "out_proj", FEED + "linear2"  # with both at zero, residual connections and norms are left


def eye(rows, columns, dtype="float64", below=0.0):
    """The unit matrix; rows that are too many hold `below`."""
    return tensor([[float(i == j) if i < columns else below for j in range(columns)] for i in range(rows)], dtype)


def scattered(rng, *shape, around=1.0, dtype="float64"):
    """Numbers within a half of `around`, with two decimals: gains of a norm, none of them near zero."""
    entries = [round(around - 0.5 + rng.random(), 2) for _ in range(math.prod(shape))]
    return tensor(nest(entries, shape), dtype)


def feed_forward_state(rng, d_model, d_ff, prefix="", dtype="float64", scale=0.6):
    """Parameters of a FeedForward."""
    shapes = {"linear1.weight": (d_ff, d_model), "linear1.bias": (d_ff,)}
    shapes |= {"linear2.weight": (d_model, d_ff), "linear2.bias": (d_model,)}
    return rng.state({prefix + name: shape for name, shape in shapes.items()}, dtype, scale)


def layer_state(rng, d_model, d_ff, prefix="", dtype="float64", scale=0.6):
    """Parameters of an EncoderLayer; the gains of its norms lie around 1."""
    shapes = {}
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        shapes |= {f"{ATTENTION}{name}.weight": (d_model, d_model), f"{ATTENTION}{name}.bias": (d_model,)}
    state = rng.state({prefix + name: shape for name, shape in shapes.items()}, dtype, scale)
    state |= feed_forward_state(rng, d_model, d_ff, prefix + FEED, dtype, scale)
    for norm in ("norm1", "norm2"):
        state |= norm_state(rng, d_model, f"{prefix}{norm}.", dtype)
    return state


def norm_state(rng, d_model, prefix, dtype="float64"):
    """Gain and bias of one norm."""
    return {
        f"{prefix}weight": scattered(rng, d_model, dtype=dtype),
        f"{prefix}bias": scattered(rng, d_model, around=0.0, dtype=dtype),
    }


def encoder_state(rng, layers, d_model, d_ff, final=False, dtype="float64"):
    """Parameters of an Encoder."""
    state = {}
    for place in range(layers):
        state |= layer_state(rng, d_model, d_ff, f"layers.{place}.", dtype)
    return state | (norm_state(rng, d_model, "final_norm.", dtype) if final else {})


def without(state, *names):
    """The state with the parameters of some submodules at zero."""
    gone = tuple(name + "." for name in names)
    return {name: filled(value, 0) if name.startswith(gone) else value for name, value in state.items()}


def neutral(state, *norms):
    """The state with norms whose gain is 1 and whose bias is 0."""
    changed = {}
    for norm in norms:
        changed |= {
            f"{norm}.weight": filled(state[f"{norm}.weight"], 1),
            f"{norm}.bias": filled(state[f"{norm}.bias"], 0),
        }
    return state | changed


def signs(rng, *shape, shifted=False):
    """Rows of as many 1 as -1, shuffled: a norm leaves them as they are, but for eps.

    shifted: each row has a mean of its own
    """

    def row():
        half, mean = shape[-1] // 2, rng.integer(2, 9) if shifted else 0
        numbers = [mean + 1.0] * half + [mean - 1.0] * half
        rng.shuffle(numbers)
        return numbers

    rows = [entry for _ in range(math.prod(shape[:-1])) for entry in row()]
    return tensor(nest(rows, shape))


def opposite(rng, d):
    """Two rows: a row of signs and its negative."""
    row = signs(rng, d).values()
    return tensor([row, [-entry for entry in row]])


def one_changed_at_a_time(rng, length, d_model, again=0):
    """A batch (length + 1, length, d_model): a sequence, and for each token the sequence with that one replaced.

    again: how often the sequence itself stands behind them once more
    """
    plain, other = rng.normal(length, d_model), rng.normal(length, d_model)
    batch = [plain] + [[other[i] if i == j else plain[i] for i in range(length)] for j in range(length)]
    return tensor(batch + [plain] * again)


def influence(step, answer):
    """Of a batch as above: 1 at (i, j) where the answer at position i depends on token j; 0 for equal sequences."""
    if not isinstance(answer, Array) or len(answer.shape) != 3:
        return answer
    plain, *changed = answer.nested()
    return array([[int(_differ(rows[i], plain[i])) for rows in changed] for i in range(len(plain))])


def _differ(first, other):
    return any(not abs(a - b) <= 1e-9 for a, b in zip(first, other, strict=True))


def same_twice(step, answer):
    """1 where two uses of one object gave the same."""
    if not isinstance(answer, (tuple, list)) or not all(isinstance(part, Array) for part in answer):
        return answer
    first, second = answer
    return array(int(first.shape == second.shape and not _differ(first.values(), second.values())))


def averages(rows, spread=False):
    """The mean of each row, or its mean squared deviation."""
    means = []
    for row in rows:
        mean = sum(row) / len(row)
        means.append(sum((entry - mean) ** 2 for entry in row) / len(row) if spread else mean)
    return means


def by_row(answer, change):
    """An array whose rows are changed, of which those of zeros alone stay."""
    rows = [change(row) if any(row) else row for row in rows_of(answer)]
    return array(nest([entry for row in rows for entry in row], answer.shape))


def scale_free(step, answer):
    """Each row divided by its largest entry, so that a wrong spread, or a wrong sum, does not show."""
    return by_row(answer, to_largest)


def to_largest(row):
    """A row divided by its largest entry."""
    most = max(map(abs, row))
    return [entry / most for entry in row]


def midpoint(step, answer):
    """The mean of two rows: of opposite ones, what was added to both."""
    first, second = rows_of(answer)
    return array([(a + b) / 2 for a, b in zip(first, second, strict=True)])


def spread_kept(step, answer):
    """For each position 1 where the mean squared deviation of its features is about 1, 0 where 0 or NaN, else 2."""
    spreads = averages(rows_of(answer), spread=True)
    return array([1 if 0.1 < spread < 10 else 2 if spread > 1e-9 else 0 for spread in spreads])


def row_means(step, answer):
    """The mean of each position's features."""
    return array(averages(rows_of(answer)))


def row_variances(step, answer):
    """The mean squared deviation of each position's features."""
    return array(averages(rows_of(answer), spread=True))


def shifted(rng, *shape):
    """Numbers around 4 whose spread is about 3, so that the default eps is too small to be seen."""
    return tensor(rng._nested(shape, lambda: round(rng.gauss(4.0, 3.0), 2)))


def feed_dropout_step(rng, **more):
    """Eight hidden units at 2; the output is these eight, and in two more columns their sum."""
    state = {"linear1.weight": eye(8, 10, "float32"), "linear1.bias": tensor([1.0] * 8, "float32")}
    state |= {"linear2.weight": eye(10, 8, "float32", below=1.0), "linear2.bias": tensor([0.0] * 10, "float32")}
    x = tensor([[1.0] * 10] * 40, "float32")
    return built(call(10, 8, dropout=0.25, **more), call(x), state=state, training=True)


def feed_dropout_facts(step, answer):
    """The share of hidden units dropped, the factor on the others, and whether the last columns are still the sum."""
    rows = rows_of(answer)
    whole = all(abs(entry - sum(row[:8])) < 1e-3 for row in rows for entry in row[8:])
    return array([*dropped([entry for row in rows for entry in row[:8]], 2.0), float(whole)])


def causal(length):
    """Rows of booleans: nobody sees the future."""
    return tensor([[j <= i for j in range(length)] for i in range(length)])


def padded(length, real, again=0):
    """A key mask (length + 1 + again, length) for a batch as above: the last tokens are padding."""
    return tensor([[j < real for j in range(length)]] * (length + 1 + again))


def weights_alone(step, answer):
    """The weights of an answer that has two parts."""
    return answer[1] if isinstance(answer, (tuple, list)) and len(answer) == 2 else answer


def attended(step, answer):
    """1 where the weights stand in a list; then, for each layer, 1 where a weight is above zero."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        return answer
    layers = answer[1]
    in_a_list = array([int(isinstance(layers, list))])
    if isinstance(layers, Array) and len(layers.shape) > 1:  # stacked
        layers = [array(weights) for weights in layers.nested()]
    if not isinstance(layers, (tuple, list)):
        return answer
    return [in_a_list, *(array([int(value > 0) for value in weights.values()]) for weights in layers)]


def columns(rng, n, d_model, d, d_v, dtype="float64", scale=0.6):
    """A call on n tokens; what is drawn for x and for the weights is of one deviation."""
    shapes = {"x": (d_model, n), "w_query": (d, d_model), "w_key": (d, d_model), "w_value": (d_v, d_model)}
    return call(**rng.state(shapes, dtype, scale))


def showing_weights(rng, n, d, scale=0.6):
    """A call whose answer is the weights, above rows of zeros: tokens and values are unit vectors."""
    d_v, d_model = n + 3, n + 5
    drawn = rng.state({"w_query": (d, d_model), "w_key": (d, d_model)}, scale=scale)
    return call(x=eye(d_model, n), **drawn, w_value=eye(d_v, d_model))


def column_sums(step, answer):
    """What each column adds up to."""
    return array([sum(column) for column in zip(*answer.nested(), strict=True)])
