"""What the checks of attention that scales hand over: chunks, blocks, groups of heads, steps of a cache."""

import math

from selfcheck.arrays import Array
from selfcheck.plan import built, call, iterator, method, tensor

from .dot_product import mask_of

HIDDEN = -math.inf
ALONE = 17  # the first of two caches that a check makes one after the other has this max_length


def scores_around(rng, rows, width, centre):
    """Nested lists (rows, width) of numbers within 1 of a centre."""
    return [[round(centre + rng.uniform(-1.0, 1.0), 2) for _ in range(width)] for _ in range(rows)]


def around(rng, rows, width, centre, dtype="float64"):
    """A chunk (rows, width) of scores within 1 of a centre."""
    return tensor(scores_around(rng, rows, width, centre), dtype)


def chunks(rng, rows, widths, dtype="float64"):
    """An iterator over chunks (rows, width) of normal scores."""
    return iterator(*(rng.tensor(rows, width, dtype=dtype) for width in widths))


def with_hidden(rng, hidden):
    """Chunks (3, 5) of scores, some of them -inf; hidden: for each row the numbers of the chunks that are all -inf."""
    chunks = [rng.normal(3, 5) for _ in range(4)]
    chunks[2][0][1] = HIDDEN
    for row, numbers in enumerate(hidden):
        for number in numbers:
            chunks[number][row] = [HIDDEN] * 5
    return call(iterator(*(tensor(chunk) for chunk in chunks)))


def blocks(rng, lead, queries, keys, block_size, d_v, dtype="float64", d_k=1, **more):
    """A call of blockwise attention on normal numbers."""
    return call(
        query=rng.tensor(*lead, queries, d_k, dtype=dtype),
        key=rng.tensor(*lead, keys, d_k, dtype=dtype),
        value=rng.tensor(*lead, keys, d_v, dtype=dtype),
        block_size=block_size,
        **more,
    )


# The matrix of scores of so many queries and keys has 598 MiB in float32: more than a process may grow by (140 MiB) and
# what it began with (up to 340) together, so that giving that back makes no room for it. A mask of it has 149. Queries
# are few and blocks large: an answer may loop over single queries, or tiles of some, and one block takes about as long
# as another.
LONG_QUERIES, LONG_KEYS, LONG_BLOCK = 2_000, 78_400, 1_024


def long_blocks(rng):
    """A call whose matrix of scores is far larger than all that a block by block answer holds at once."""
    return blocks(rng, (), LONG_QUERIES, LONG_KEYS, LONG_BLOCK, 1, "float32")


def spread(rng, wide, *shape):
    """A mask whose rows forbid one key at least, and allow one at least in every block of `wide` keys."""
    if len(shape) > 1:
        return [spread(rng, wide, *shape[1:]) for _ in range(shape[0])]
    (keys,) = shape
    row = [rng.random() < 0.5 for _ in range(keys)]
    row[rng.integer(0, keys - 1)] = False
    for start in range(0, keys, wide):
        block = range(start, min(start + wide, keys))
        if not any(row[place] for place in block):
            row[block[-1]] = True
    if all(row):
        row[0] = False  # the first block is of two keys or more
    return row


def sloped(rng, levels, factor=1.0):
    """A call whose blocks of five keys have scores around the levels, times the factor, for every query."""
    key = [[round(level + rng.uniform(-0.4, 0.4), 2) * factor] for level in levels for _ in range(5)]
    query = [[round(rng.uniform(0.8, 1.2), 2)] for _ in range(7)]
    return call(query=tensor(query), key=tensor(key), value=rng.tensor(len(key), 3), block_size=5)


def largest_hidden(rng, step):
    """The call with a mask that hides the keys of the largest scores, thousands above all others."""
    keys = [row[0] for row in step.kwargs["key"].nested()]
    mask = [key < max(keys) / 2 for key in keys]
    return call(**step.kwargs, attn_mask=tensor([mask] * 7))


def first_block_hidden(rng):
    """A call in which some queries see nothing in the first blocks of three keys, and something later."""
    seen = ["0001011", "1000001", "0000001", "0111000", "0000110"]
    return blocks(rng, (), 5, 7, 3, 1, attn_mask=tensor([[entry == "1" for entry in row] for row in seen]))


def nothing_seen(rng):
    """Calls in which some queries may attend to nothing: by a mask, by is_causal, by both."""
    row = [False] * 5
    mask = [[True, False, True, True, False], row, [False, True, False, False, True]]
    return [
        blocks(rng, (), 3, 5, 2, 1, attn_mask=tensor(mask)),
        blocks(rng, (), 6, 4, 2, 1, is_causal=True),
        blocks(rng, (2,), 4, 5, 4, 1, attn_mask=tensor([[mask[0], mask[0], mask[2], mask[2]], [row] * 4])),
        blocks(rng, (3,), 2, 5, 4, 1, attn_mask=tensor([[mask[0], mask[2]], [row] * 2, [mask[2], row]])),
    ]


def grouped(rng, heads, groups, d_v=2, dtype="float64", d_k=1, batch=2, queries=4, keys=3, **more):
    """A call of attention whose query heads share `groups` heads of keys and values."""
    return call(
        query=rng.tensor(batch, heads, queries, d_k, dtype=dtype),
        key=rng.tensor(batch, groups, keys, d_k, dtype=dtype),
        value=rng.tensor(batch, groups, keys, d_v, dtype=dtype),
        **more,
    )


def grouped_with_empty_rows(rng):
    """Calls in which one query of each head may attend to nothing."""
    calls = []
    for heads, queries, keys, d_v in ((4, 3, 5, 6), (6, 4, 3, 5)):
        mask = mask_of(rng, queries, keys)
        mask[rng.integer(0, queries)] = [False] * keys
        calls.append(grouped(rng, heads, 2, d_v, batch=1, queries=queries, keys=keys, attn_mask=tensor(mask)))
    return calls


def grouped_largest_hidden(rng):
    """A call whose mask hides a key, the first, whose score lies thousands above all others."""
    key = [[[[5000.0], *rng.normal(3, 1)] for _ in range(2)]]
    query = [[[[round(rng.uniform(0.8, 1.2), 2)] for _ in range(4)] for _ in range(6)]]
    mask = tensor([[False, True, True, True]] * 4)
    return call(tensor(query), tensor(key), rng.tensor(1, 2, 4, 1), attn_mask=mask)


def step(rng, lead, length, d_k=9, d_v=5, dtype="float64"):
    """One append of so many positions."""
    return method("append", rng.tensor(*lead, length, d_k, dtype=dtype), rng.tensor(*lead, length, d_v, dtype=dtype))


def last(step, answer):
    """What the last append returned."""
    return answer[-1]


def lengths(step, answer):
    """What stands between the appends."""
    return list(answer[::2])


def large_scores(rng):
    """Chunks whose scores lie ten thousand apart: between chunks, and between slices."""
    width = rng.integer(2, 4)

    def levels(*centres):
        rows = [scores_around(rng, 1, width, centre)[0] for centre in centres]
        return tensor(rows)

    return [
        call(iterator(levels(10000.0), levels(-10000.0), levels(0.0))),
        call(iterator(levels(-10000.0), levels(0.0), levels(9999.0), levels(10000.0))),
        call(iterator(levels(-10000.0), levels(-10000.0))),
        call(iterator(levels(10000.0, -10000.0, 0.0), levels(10000.0, -10000.0, 0.0))),
        call(iterator(tensor([[-10000.0, 0.5, 9999.0], [9999.0, -10000.0, 10000.0]]), rng.tensor(2, 4))),
    ]


def misfit_chunks(rng):
    """No chunk at all, and chunks that do not fit each other."""
    return [
        call(iterator()),
        call(iterator(rng.tensor(3, 2), rng.tensor(4, 2))),
        call(iterator(rng.tensor(3, 2), rng.tensor(3, 2, dtype="float32"))),
        call(iterator(tensor(rng.integers(3, 2)))),
        call(iterator(rng.normal(3, 2))),
        call(iterator(tensor(1.0))),
    ]


ODD_ONES_OUT = ((3, 2, 2), (2, 3, 2), (2, 2, 3))  # batch sizes of query, key and value that do not go together


def misfit_blocks(rng):
    """Arguments of blockwise attention that do not fit."""
    query, key, value = rng.tensor(4, 2), rng.tensor(5, 2), rng.tensor(5, 3)
    return [
        call(query, rng.tensor(5, 3), value),
        call(query, key, rng.tensor(6, 3)),
        call(query, key, value, block_size=0),
        call(query, key, rng.tensor(5, 3, dtype="float32")),
        call(query, key, value, attn_mask=tensor(mask_of(rng, 5, 4))),
        call(query, key, value, attn_mask=rng.tensor(4, 5)),
        call(query, key, value, block_size=-1),
        call(rng.tensor(4, 2, dtype="float32"), key, value),
        call(query, rng.tensor(5, 2, dtype="float32"), value),
        call(rng.tensor(2), key, value),
        call(query, rng.tensor(2), value),
        call(query, key, rng.tensor(5)),
        *(call(rng.tensor(a, 4, 2), rng.tensor(b, 5, 2), rng.tensor(c, 5, 3)) for a, b, c in ODD_ONES_OUT),
    ]


def misfit_groups(rng):
    """Arguments of grouped attention that do not fit."""
    query, key, value = rng.tensor(2, 6, 4, 3), rng.tensor(2, 4, 5, 3), rng.tensor(2, 4, 5, 2)
    two, nobody = rng.tensor(2, 2, 5, 3), Array("tensor", "float64", (2, 0, 5, 3), b"")
    return [
        call(query, key, value),
        call(query, two, value),
        call(query, two, rng.tensor(2, 2, 6, 3)),
        call(rng.tensor(6, 4, 3), two, two),
        call(query, two, two, tensor(mask_of(rng, 2, 2, 4, 5))),
        call(query, two, rng.tensor(2, 2, 5, 3, dtype="float32")),
        call(query, two, rng.tensor(2, 1, 5, 3)),
        call(query, rng.tensor(1, 2, 5, 3), rng.tensor(1, 2, 5, 3)),
        call(rng.tensor(1, 2, 4, 3), rng.tensor(1, 1, 2, 3), rng.tensor(1, 1, 2, 2, 3)),
        call(query, nobody, nobody),
        call(query.nested(), two, two),
        call(query, two.nested(), two),
        call(query, two, two.nested()),
    ]


def misfit_steps(rng):
    """Appends of another shape than what the cache holds."""
    return [
        built(call(9), step(rng, (2,), 1), step(rng, (3,), 1)),
        built(call(9), step(rng, (2,), 1), step(rng, (1,), 1)),
        built(call(9), step(rng, (2,), 1), step(rng, (2,), 1, d_k=4)),
        built(call(9), step(rng, (2,), 1), step(rng, (2,), 1, d_v=1)),
    ]


def misfit_arguments(rng):
    """Caches and appends that cannot be right."""
    keys = rng.tensor(2, 3, 4)
    return [
        built(call(0)),
        built(call(4.0)),
        built(call(4), method("append", keys, rng.tensor(2, 2, 4))),
        built(call(4), method("append", keys, rng.tensor(2, 3, 4, dtype="float32"))),
        built(call(4), method("append", rng.tensor(3), rng.tensor(3))),
    ]


def overflow(rng):
    """Appends of more positions than there is room for, at once or in the end."""
    return [
        built(call(3), step(rng, (2,), 4)),
        built(call(3), step(rng, (2,), 1), step(rng, (2,), 1), step(rng, (2,), 2)),
        built(call(1), step(rng, (), 1), step(rng, (), 1)),
        built(call(4), step(rng, (), 2), step(rng, (), 2), step(rng, (), 1)),
    ]


def broadcast_masks(rng):
    """Calls whose mask has axes of length 1, or fewer axes."""
    first = {"lead": (3, 2), "queries": 5, "keys": 7, "block_size": 4}
    second = {"lead": (2, 5), "queries": 3, "keys": 7, "block_size": 4}
    masks = [
        (first, spread(rng, 4, 7)),
        (second, spread(rng, 4, 5, 1, 7)),
        (first, spread(rng, 4, 3, 1, 5, 7)),
        (second, [[True]] * 3),
        (first, [[[[True]]]] * 3),
    ]
    return [blocks(rng, **sizes, d_v=1, attn_mask=tensor(mask)) for sizes, mask in masks]


def grouped_alike_keys(rng):
    """Calls in which all key heads are alike, so that the values alone can tell them apart."""
    calls = []
    for groups, queries, keys, d_v in ((2, 4, 5, 2), (3, 5, 4, 7)):
        key = tensor([[rng.normal(keys, 1)] * groups])
        calls.append(call(rng.tensor(1, 6, queries, 1), key, rng.tensor(1, groups, keys, d_v)))
    return calls
