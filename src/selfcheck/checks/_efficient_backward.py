"""Visible checks of blockwise attention's backward pass."""

import math

from selfcheck.plan import call, check, tensor

from ._dtypes import DTYPES
from ._efficient_inputs import LONG_BLOCK, LONG_KEYS, LONG_QUERIES

BACKWARD = "efficient.blockwise_gradients"


# 11.3 blockwise_gradients


def dot(first, second):
    return sum(a * b for a, b in zip(first, second, strict=True))


def attended(query, key, value):
    """Output and log-sums of attention, as nested lists of its arguments' leading axes."""
    if isinstance(query[0][0], list):
        return [list(parts) for parts in zip(*map(attended, query, key, value), strict=True)]
    outputs, log_sums, known = [], [], {}
    for row in query:
        if tuple(row) not in known:
            scores = [dot(row, row_of_key) / math.sqrt(len(row)) for row_of_key in key]
            largest = max(scores)
            weights = [math.exp(score - largest) for score in scores]
            total = sum(weights)
            output = [dot(weights, column) / total for column in zip(*value, strict=True)]
            known[tuple(row)] = output, largest + math.log(total)
        output, log_sum = known[tuple(row)]
        outputs.append(output)
        log_sums.append(log_sum)
    return outputs, log_sums


def given(query, key, value, upstream, block_size):
    """A call on these tensors, with the output and the log-sums that attention has for them."""
    output, log_sums = attended(query.nested(), key.nested(), value.nested())
    wide = "float64" if query.dtype == "float64" else "float32"
    return call(query, key, value, tensor(output, query.dtype), tensor(log_sums, wide), upstream, block_size=block_size)


def gradients(rng, lead, queries, keys, block_size, d_v, dtype="float64", d_k=1):
    """A call on normal numbers."""
    shapes = (queries, d_k), (keys, d_k), (keys, d_v), (queries, d_v)
    return given(*(rng.tensor(*lead, *shape, dtype=dtype) for shape in shapes), block_size)


def long_gradients(rng):
    """A call whose matrix of scores is far larger than all that a block by block answer holds at once."""
    rows = rng.normal(2, 1)
    query = tensor([rows[place % 2] for place in range(LONG_QUERIES)], "float32")  # two kinds: the rest is known
    key, value, upstream = (rng.tensor(size, 1, dtype="float32") for size in (LONG_KEYS, LONG_KEYS, LONG_QUERIES))
    return given(query, key, value, upstream, LONG_BLOCK)


def of_query(step, answer):
    """The gradient of `query`."""
    return answer[0]


def of_key(step, answer):
    """The gradient of `key`."""
    return answer[1]


def of_value(step, answer):
    """The gradient of `value`."""
    return answer[2]


@check(
    BACKWARD, sees="with one block for all keys they are attention's gradients, scaled by the root of the keys' width"
)
def backward_one_block(rng):
    queries, keys = rng.sample((9, 11, 13), 2)
    d_k, d_v = rng.sample((3, 5, 7), 2)
    return [gradients(rng, (), queries, keys, block, d_v, d_k=d_k) for block in (keys, keys + 5)]


@check(BACKWARD, sees="the gradient of value comes from each block's weights", view=of_value)
def backward_value(rng):
    return [gradients(rng, (), 5, 12, 3, 2), gradients(rng, (), 4, 8, 2, 3)]


@check(BACKWARD, sees="the gradient of key comes through the softmax, in each block", view=of_key)
def backward_key(rng):
    return [gradients(rng, (), 5, 12, 3, 2), gradients(rng, (), 4, 8, 2, 3)]


@check(BACKWARD, sees="the gradient of query gathers what all blocks add", view=of_query)
def backward_query(rng):
    return [gradients(rng, (), 5, 12, 3, 2), gradients(rng, (), 4, 8, 2, 3)]


@check(
    BACKWARD, sees="no key is lost or counted twice: lengths that differ, a last block that is not full, blocks of 1"
)
def backward_lengths(rng):
    return [
        gradients(rng, (), 7, 11, 4, 3),
        gradients(rng, (), 9, 5, 2, 3),
        gradients(rng, (), 4, 6, 1, 3),
        gradients(rng, (), 1, 7, 3, 2),
    ]


@check(BACKWARD, sees="scores of ten thousand overflow nowhere")
def backward_large(rng):
    def call_at(level, queries, keys, block_size, d_v):
        key = tensor([[level + round(rng.uniform(-1, 1), 2)] for _ in range(keys)])
        query = tensor([[round(rng.uniform(0.8, 1.2), 2)] for _ in range(queries)])
        return given(query, key, rng.tensor(keys, d_v), rng.tensor(queries, d_v), block_size)

    return [call_at(10000.0, 4, 7, 3, 2), call_at(-10000.0, 5, 8, 2, 3)]


@check(BACKWARD, sees="leading dimensions are kept")
def backward_batch(rng):
    return [gradients(rng, (2, 3), 4, 7, 5, 1), gradients(rng, (3, 2), 5, 4, 3, 1), gradients(rng, (5,), 3, 7, 2, 1)]


@check(BACKWARD, sees="sums over many blocks stay exact in half precision", tolerance=6e-3, view=of_query)
def backward_half(rng):
    # 800 keys of which each adds about 0.0025: in bfloat16 a sum of such terms stands still at 1, and 2 is due.
    sign = [[-1.0 if place % 2 else 1.0] for place in range(800)]
    key, value = tensor([[row[0] / 2] for row in sign], "bfloat16"), tensor(sign, "bfloat16")
    upstream = tensor([[5.0 + 0.5 * rng.integer(0, 3)]], "bfloat16")
    return given(tensor([[1.0]], "bfloat16"), key, value, upstream, 1)


@check(BACKWARD, sees="the gradients have the dtype of the arguments", compares="dtype")
def backward_dtype(rng):
    return [gradients(rng, (), 3, 7, 2, 5, dtype) for dtype in DTYPES]


@check(
    BACKWARD,
    sees="no tensor of L times S entries is made on the way",
    compares="memory",
    outside=long_gradients,
)
def backward_memory(rng):
    # The reference's largest is a block's tile, (160, 8): an eighth of the limit, the matrix is five times above it.
    # What 42 blocks add to the gradient of query, kept side by side and then summed, is within it.
    return [gradients(rng, (), 160, 330, 8, 1), gradients(rng, (2,), 160, 330, 8, 1)]


@check(BACKWARD, sees="the arguments are left as they were", compares="unchanged")
def backward_unchanged(rng):
    return gradients(rng, (), 4, 7, 2, 5, d_k=3)


@check(BACKWARD, sees="arguments that do not fit are refused", compares="error")
def backward_errors(rng):
    fits = {"query": (4, 2), "key": (5, 2), "value": (5, 3), "output": (4, 3), "log_sums": (4,), "upstream": (4, 3)}
    wrong = [("key", (5, 3)), ("value", (6, 3)), ("output", (4, 2)), ("output", (5, 3)), ("log_sums", (5,))]
    wrong += [("log_sums", (4, 1)), ("upstream", (4, 1)), ("key", (2, 5, 2)), ("query", (2,))]

    def arguments(**others):
        return {name: rng.tensor(*shape) for name, shape in fits.items()} | others

    calls = [call(**arguments(**{name: rng.tensor(*shape)})) for name, shape in wrong]
    calls += [call(**arguments(**{name: rng.tensor(*fits[name], dtype="float32")})) for name in ("value", "upstream")]
    calls += [call(**arguments(), block_size=size) for size in (0, -2)]  # of -2, a loop over blocks makes no steps
    return [*calls, call(**arguments(log_sums=tensor(rng.integers(4))))]
