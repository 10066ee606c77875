"""Hidden checks of the masks."""

import math

from selfcheck.checks._dtypes import DTYPES
from selfcheck.checks._masks_inputs import mixed_rows
from selfcheck.checks.masks import disagreeing
from selfcheck.plan import call, check, dtype, tensor


@check(
    "masks.padding_mask",
    sees="lengths of every integer dtype, one sequence, as many sequences as positions, and no sequence at all",
    points=1,
    coinciding=True,
)
def padding_edges(rng):
    integers = [call(tensor(rng.sample(range(1, 9), 3), name), 9) for name in ("int32", "int16", "uint8")]
    single = tensor([rng.integer(3, 7)], "int64")
    none = tensor([], "int64")
    as_many, long = tensor(rng.sample(range(4), 3), "int64"), tensor([3, rng.integer(130, 250)], "uint8")
    return [
        *integers,
        call(single),
        call(single, 11),
        call(none, 5),
        call(none),
        call(tensor([0, 0], "int64")),
        call(as_many, 3),
        call(long, 255),
    ]


@check(
    "masks.causal_mask",
    sees="a single query sees every key, as many keys as queries may be asked for, and no length is too small",
    points=1,
    coinciding=True,
)
def causal_edges(rng):
    square = rng.integer(4, 9)
    return [
        call(1, rng.integer(3, 9)),
        call(1),
        call(square, square),
        call(square, 1),
        call(rng.integer(2, 5), 0),
        call(0, 3),
        call(rng.integer(20, 40), 31),
        call(rng.integer(70, 140), rng.integer(141, 170)),
    ]


@check("masks.sliding_window_mask", sees="long and short sequences, windows of the whole length", points=1)
def window_edges(rng):
    length = rng.integer(5, 9)
    return [
        call(rng.integer(30, 40), rng.integer(6, 12)),
        call(rng.integer(110, 150), rng.integer(40, 100)),
        call(length, length),
        call(length, 2),
        call(1, 3),
        call(0, 2),
    ]


@check(
    "masks.document_mask",
    sees="large ids of every integer dtype, as many rows as tokens, and no token at all",
    points=1,
    coinciding=True,
)
def documents_edges(rng):
    far = [2**53 + rng.integer(0, 2), 2**53 + 2, 2**53 + 2, 2**53 + 3, 2**53 + 2 + 2**32]
    shared = rng.integer(1, 4)  # a document of the same name in both rows
    rows = [[shared, shared, 7, 7, 8], [5, 5, shared, shared, 7]]
    return [
        call(tensor([far], "int64")),
        *[call(tensor(rows, name)) for name in ("int32", "int16", "uint8")],
        call(tensor([[4]], "int64")),
        call(tensor(rng.integers(3, 3, low=-1, high=2), "int64")),
        call(tensor([[], []], "int64")),
    ]


@check(
    "masks.combine_masks",
    sees="one mask alone, many at once, and masks that only together have the full shape",
    points=1,
    coinciding=True,
)
def combine_edges(rng):
    batch, heads, queries, keys = rng.sizes(4, 2, 10)
    same = [tensor(rng.booleans(3, *ones, 3), "bool") for ones in ((1, 1), (), (1,))]
    column, row = tensor(mixed_rows(rng, queries, 1), "bool"), tensor(mixed_rows(rng, keys), "bool")
    head = tensor(mixed_rows(rng, heads, 1, 1), "bool")
    return [
        call(tensor(rng.booleans(batch, keys), "bool")),
        call(*disagreeing(rng, rng.integer(6, 13), 4, 3)),
        call(column, None, row),
        call(*same),
        call(head, column, row, tensor(rng.booleans(batch, 1, 1, keys), "bool")),
        call(row, tensor(rng.random() < 0.5, "bool")),
    ]


@check(
    "masks.to_additive",
    sees="masks without an axis, without an entry, square, and all alike",
    points=1,
    coinciding=True,
)
def additive_edges(rng):
    return [
        call(tensor(True, "bool")),
        call(tensor(False, "bool"), dtype("bfloat16")),
        call(tensor([[], []], "bool")),
        call(tensor([[False] * 3, [True] * 3], "bool"), dtype("float16")),
        call(tensor(mixed_rows(rng, 2, 3, 4), "bool"), dtype("float64")),
        call(tensor(mixed_rows(rng, 3, 3), "bool")),
        call(tensor(mixed_rows(rng, *[rng.integer(1, 3) for _ in range(rng.integer(4, 7))], 2), "bool")),
    ]


@check(
    "masks.masked_softmax",
    sees="scores of ±10⁴, equal scores, equal sizes, a single key, other axes, and no entry at all",
    points=1,
    coinciding=True,
)
def softmax_edges(rng):
    mask = tensor(mixed_rows(rng, 2, 4), "bool")
    # All different: where two are equal, a right answer by way of the logarithm loses digits in float32.
    spread = [[100.0 * number for number in rng.sample(range(-150, 150), 4)] for _ in range(2)]
    scores, across = rng.tensor(4, 2, 3), [[[True]], [[False]], [[True]], [[True]]]
    return [
        call(tensor(spread), mask),
        call(tensor(spread, "float32"), mask),
        call(tensor([[rng.gauss(0, 1)] * 4] * 2), mask),
        call(tensor([[0.0] * 4, [1.0] * 4]), mask),
        call(rng.tensor(4, 4), tensor(mixed_rows(rng, 4, 4), "bool")),
        call(rng.tensor(4, 4), tensor(mixed_rows(rng, 4, 4), "bool"), 0),
        call(rng.tensor(3, 3, 3), tensor(mixed_rows(rng, 3, 3), "bool"), 1),
        call(rng.tensor(3, 1), tensor([[True], [False], [True]], "bool")),
        call(rng.tensor(4), tensor(mixed_rows(rng, 4), "bool"), 0),
        call(scores, tensor(across, "bool"), dim=0),
        call(scores, dim=-3),
        call(rng.tensor(1, 1)),
        call(tensor([[], []], "float64"), dim=0),
        call(rng.tensor(2, 4), tensor([False], "bool")),
        call(rng.tensor(2, 4), tensor(rng.random() < 0.5, "bool")),
        call(rng.tensor(2, 3, 5, 4), tensor(mixed_rows(rng, 3, 5, 4), "bool"), 1),
    ]


@check(
    "masks.masked_softmax",
    sees="half precision: right weights down to its smallest number, zeros in a fully masked row, finite gradients",
    compares=("dtype", "values", "gradient"),
    tolerance=2e-2,  # bfloat16 keeps 8 bits, and a sum of a few weights rounds each of them
    points=1,
)
def softmax_half(rng):
    mask, empty = mixed_rows(rng, 3, 5), [[True, False, True, True, False], [False] * 5, [True] * 5]
    scores = rng.normal(3, 5)
    scores[0][mask[0].index(False)] = 60_000.0  # float16 ends at 65504
    hidden = [[-math.inf] * 5, *rng.normal(2, 5)]
    alone = [[column == row for column in range(5)] for row in range(3)]
    lowest = [[-65_504.0 if allowed else 0.0 for allowed in row] for row in alone]
    return [
        made
        for name in DTYPES[:2]
        for made in (
            call(tensor(scores, name), tensor(mask, "bool")),
            call(rng.tensor(3, 5, dtype=name), tensor(empty, "bool")),
            call(tensor(hidden, name)),
            call(tensor(lowest, name), tensor(alone, "bool")),
        )
    ]
