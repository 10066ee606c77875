"""Visible checks of the masks."""

from selfcheck.plan import Draw, call, check, dtype, elsewhere, tensor

from . import _masks_softmax  # noqa: F401
from ._dtypes import DTYPES
from ._masks_inputs import mixed_rows

NO_DEVICE = "nowhere"  # torch refuses a device of this name, so the refusal shows that the name has reached it


# 4.1 padding_mask


@check("masks.padding_mask", sees="True stands at the real tokens, on the left, and False at the padding")
def padding_values(rng):
    return call(padding_lengths(rng))


@check("masks.padding_mask", sees="with max_length, the mask has that many columns")
def padding_max_length(rng):
    return call(padding_lengths(rng), max_length=rng.integer(10, 13))


@check("masks.padding_mask", sees="a sequence may be empty, or fill its row")
def padding_extremes(rng):
    longest = rng.choice((5, 7, 8))
    return call(tensor([longest, 0, rng.integer(1, 4)], "int64"), longest)


@check(
    "masks.padding_mask",
    sees="the mask is boolean and on the device of the lengths, which are left as they were",
    compares=("dtype", "unchanged"),
)
def padding_dtype(rng):
    return [call(padding_lengths(rng)), elsewhere(call(padding_lengths(rng)))]


@check("masks.padding_mask", sees="lengths that cannot be are refused", compares="error")
def padding_errors(rng):
    lengths = rng.sample(range(3, 9), 3)
    return [
        call(tensor(lengths, "int64"), max(lengths) - 1),
        call(tensor([*lengths, -1], "int64"), 10),
        call(tensor(lengths, "float32")),
        call(tensor([lengths], "int64")),
        call(tensor(lengths, "int64"), 10.0),
    ]


def padding_lengths(rng: Draw):
    """Lengths of four sequences, all different, none of them 4."""
    return tensor(rng.sample((1, 2, 3, 5, 6, 7, 8), 3) + [9], "int64")


# 4.2 causal_mask


@check("masks.causal_mask", sees="the future is hidden")
def causal_square(rng):
    return call(query_length=rng.integer(3, 8))


@check("masks.causal_mask", sees="with more keys than queries, the last query sees every key")
def causal_longer_keys(rng):
    queries, extra = rng.sizes(2, 2, 7)
    return call(queries, queries + extra)


@check("masks.causal_mask", sees="with fewer keys than queries, the last query still sees every key")
def causal_fewer_keys(rng):
    keys, extra = rng.sizes(2, 2, 7)
    return [call(query_length=keys + extra, key_length=keys), call(query_length=extra, key_length=0)]


@check("masks.causal_mask", sees="the mask is boolean", compares="dtype")
def causal_dtype(rng):
    return call(rng.integer(2, 6), rng.integer(2, 6))


@check("masks.causal_mask", sees="the mask is made on the device asked for", compares="error")
def causal_device(rng):
    return call(rng.integer(2, 6), device=NO_DEVICE)


@check("masks.causal_mask", sees="a length that is negative or no int is refused", compares="error")
def causal_errors(rng):
    length = rng.integer(2, 6)
    return [call(-1, length), call(length + 0.5, length), call(length, -1), call(length, length + 0.5)]


# 4.3 sliding_window_mask


@check("masks.sliding_window_mask", sees="position i sees itself and the window - 1 positions before it")
def window_band(rng):
    window = rng.integer(3, 5)
    return call(2 * window + rng.integer(1, 4), window)


@check("masks.sliding_window_mask", sees="a window of 1 sees itself alone")
def window_of_one(rng):
    return call(length=rng.integer(4, 8), window=1)


@check("masks.sliding_window_mask", sees="a window longer than the sequence hides the future and nothing else")
def window_of_everything(rng):
    length = rng.integer(4, 8)
    return call(length, 2 * length + rng.integer(2, 9))


@check("masks.sliding_window_mask", sees="the mask is boolean", compares="dtype")
def window_dtype(rng):
    return call(rng.integer(4, 8), rng.integer(2, 4))


@check("masks.sliding_window_mask", sees="the mask is made on the device asked for", compares="error")
def window_device(rng):
    return call(rng.integer(4, 8), rng.integer(2, 4), device=NO_DEVICE)


@check(
    "masks.sliding_window_mask", sees="a negative length and a window without a position are refused", compares="error"
)
def window_errors(rng):
    length, window = rng.integer(4, 8), rng.integer(2, 4)
    return [call(-length, window), call(length + 0.5, window), call(length, 0), call(length, window + 0.5)]


# 4.4 document_mask


@check("masks.document_mask", sees="a token sees all of its own document and nothing of another")
def documents_one_row(rng):
    names = rng.sample(range(1, 6), 3)
    return call(tensor([row_of_documents(rng, sorted(names))], "int64"))


@check("masks.document_mask", sees="each row of the batch is compared with itself alone")
def documents_batch(rng):
    rows = [row_of_documents(rng, sorted(rng.sample(range(1, 6), count))) for count in (2, 3)]
    length = max(len(row) for row in rows)
    filled = [row + [row[-1]] * (length - len(row)) for row in rows]
    return call(tensor([filled[0], [rows[0][0]] * length, filled[1]], "int64"))


@check("masks.document_mask", sees="an id is only a name: 0, negative and large ids are documents too, in any order")
def documents_names(rng):
    names = rng.sample((-4, -3, -2, -1), 1) + [0] + rng.sample(range(1, 6), 1)
    opposite, large = rng.integer(6, 9), 2**53  # a float keeps no two neighbours of this size apart
    far = [opposite, -opposite, large, large + 1]
    return [call(tensor([row_of_documents(rng, rng.sample(some, len(some)))], "int64")) for some in (names, far)]


@check("masks.document_mask", sees="a document may come in several pieces")
def documents_in_pieces(rng):
    first, second, third = sorted(rng.sample(range(1, 6), 3))
    pieces = [first, second, first, third, second]
    return call(tensor([row_of_documents(rng, pieces)], "int64"))


@check(
    "masks.document_mask",
    sees="the mask is boolean, and the ids are left as they were",
    compares=("dtype", "unchanged"),
)
def documents_dtype(rng):
    return call(tensor([row_of_documents(rng, [1, 2])], "int64"))


@check("masks.document_mask", sees="ids that are no integers, or not in rows, are refused", compares="error")
def documents_errors(rng):
    ids = row_of_documents(rng, [1, 2])
    return [call(tensor([ids], "float32")), call(tensor(ids, "int64")), call(tensor([[ids]], "int64"))]


def row_of_documents(rng: Draw, names: list[int]) -> list[int]:
    """A row of ids: each name two or three times running, the last four times."""
    counts = [rng.integer(2, 4) for _ in names[1:]] + [4]
    return [name for name, count in zip(names, counts, strict=True) for _ in range(count)]


# 4.5 combine_masks


@check("masks.combine_masks", sees="a boolean mask: True where both masks allow it", compares=("values", "dtype"))
def combine_two(rng):
    rows, columns = rng.sizes(2, 3, 8)
    return call(*disagreeing(rng, 2, rows, columns))


@check("masks.combine_masks", sees="every mask has a say, however many there are")
def combine_many(rng):
    rows, columns = rng.sizes(2, 3, 8)
    return [call(*disagreeing(rng, count, rows, columns)) for count in (3, 4)]


@check("masks.combine_masks", sees="masks of different shapes broadcast")
def combine_broadcast(rng):
    calls = []
    for sizes in ((3, 5, 7), (7, 4, 2)):
        batch, queries, keys = rng.sample(sizes, 3)
        padding, causal = tensor(rng.booleans(batch, 1, 1, keys), "bool"), tensor(rng.booleans(queries, keys), "bool")
        calls += [call(padding, causal), call(causal, padding)]
    return calls


@check("masks.combine_masks", sees="None restricts nothing")
def combine_none(rng):
    first, second = disagreeing(rng, 2, *rng.sizes(2, 3, 8))
    return [call(None, first, None, second), call(first, None)]


@check("masks.combine_masks", sees="without any mask the answer is None", given=True)
def combine_nothing(rng):
    return [call(None), call(*[None] * rng.integer(2, 5)), call()]


@check("masks.combine_masks", sees="the masks that came in are not changed", compares="unchanged")
def combine_unchanged(rng):
    return call(*disagreeing(rng, 3, *rng.sizes(2, 3, 8)))


@check("masks.combine_masks", sees="what is no boolean mask, or does not broadcast, is refused", compares="error")
def combine_errors(rng):
    rows, columns = rng.sizes(2, 3, 8)
    mask, other = tensor(rng.booleans(rows, columns), "bool"), tensor(rng.booleans(columns, rows), "bool")
    return [call(mask, other), call(mask, rng.tensor(rows, columns)), call(mask, rng.booleans(rows, columns))]


def disagreeing(rng: Draw, count: int, rows: int, columns: int) -> list:
    """Boolean masks such that each forbids an entry which all of the others allow."""
    masks = [rng.booleans(rows, columns) for _ in range(count)]
    for i in range(count):
        for j in range(count):
            masks[j][i // columns][i % columns] = j != i
    return [tensor(mask, "bool") for mask in masks]


# 4.6 to_additive


@check("masks.to_additive", sees="0 where attention is allowed, minus infinity where it is not")
def additive_values(rng):
    return call(tensor(mixed_rows(rng, *rng.sizes(2, 2, 7)), "bool"))


@check("masks.to_additive", sees="the shape is kept, whatever it is")
def additive_shape(rng):
    shapes = [(rng.integer(3, 6),), (4, 1, 1, 7), (2, 1, 8, 5)]
    return [call(tensor(mixed_rows(rng, *shape), "bool")) for shape in shapes]


@check(
    "masks.to_additive",
    sees="the result has the dtype asked for, and the mask is left as it was",
    compares=("dtype", "unchanged"),
)
def additive_dtype(rng):
    mask = tensor(mixed_rows(rng, *rng.sizes(2, 2, 7)), "bool")
    return [call(mask, dtype(name)) for name in DTYPES]


@check("masks.to_additive", sees="minus infinity is minus infinity in every dtype, half precision included")
def additive_precision(rng):
    mask = tensor(mixed_rows(rng, *rng.sizes(2, 2, 7)), "bool")
    return [call(mask, dtype=dtype(name)) for name in ("bfloat16", "float16", "float64")]


@check("masks.to_additive", sees="what is no boolean mask, or no floating dtype, is refused", compares="error")
def additive_errors(rng):
    length = rng.integer(3, 6)
    return [
        call(tensor(rng.integers(length, high=2), "int64")),
        call(rng.tensor(length, dtype="float32")),
        call(tensor(rng.booleans(length), "bool"), dtype("int64")),
        call(rng.booleans(length)),
        call(tensor(rng.booleans(length), "bool"), 32),
    ]
