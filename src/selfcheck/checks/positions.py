"""Visible checks of positions.

Where frequencies are not what a check is about, the base is 1 or 2: then all pairs of columns turn alike, or nearly.
Where the order of columns is not, the numbers of a row are sorted before they are compared. Of the two classes, zeros
as input show what is added, and the difference between two inputs what becomes of the input itself.
"""

from selfcheck.plan import call, check, tensor

from . import _position_parts as parts
from . import _position_views as views
from . import _positions_modules  # noqa: F401
from ._dtypes import DTYPES
from ._position_views import ones, sizes, wide

TABLE, SHIFT = "positions.sinusoidal_encoding", "positions.shift_matrix"
ROTARY, ALIBI = "positions.apply_rotary", "positions.alibi_bias"
LOW_BASES = (5.0, 20.0, 100.0)  # far from 10000
ALIBI_SIZES = ((8, 2, 5), (4, 7, 10), (8, 3, 10))  # heads, queries and more keys
ODD_AND_FAR = (265, 287, 309, 331, 353, 375)  # beyond what bfloat16 counts, a third of a half turn from whole ones


# 6.1 sinusoidal_encoding


@check(TABLE, sees="position 0 comes first: its angles are 0, so its row is 0, 1, 0, 1, …")
def table_first_row(rng):
    return call(1, wide(rng))


@check(TABLE, sees="with a single pair of columns, row p is sin p and cos p, in radians", tells=parts.other_frequencies)
def table_one_pair(rng):
    return call(rng.choice((5, 7, 8)), 2)


@check(
    TABLE,
    sees="row p holds sine and cosine of p · base^(-2i / d_model) for each pair i, in whatever order",
    view=views.rows_sorted,
    tells=parts.other_frequencies,
)
def table_frequencies(rng):
    return call(*sizes(rng))


@check(TABLE, sees="base sets how fast the frequencies fall", view=views.rows_sorted, tells=parts.other_frequencies)
def table_base(rng):
    return call(*sizes(rng), base=rng.choice(LOW_BASES))


@check(
    TABLE,
    sees="every number stands in its place: pair i has its sine in column 2i, its cosine in column 2i + 1",
    tells=parts.other_frequencies,
)
def table_whole(rng):
    length, d_model = sizes(rng)
    return call(max_length=length, d_model=d_model)


@check(TABLE, sees="the table has the default dtype", compares="dtype")
def table_dtype(rng):
    return call(*sizes(rng))


@check(TABLE, sees="an odd d_model, a negative length and a base of 0 are refused", compares="error")
def table_errors(rng):
    length = rng.integer(2, 6)
    return [call(length, wide(rng) - 1), call(-length, 4), call(length, 4, base=0.0), call(length, 4.0)]


# 6.2 shift_matrix


@check(SHIFT, sees="a single pair of columns turns by offset radians, forward", tells=parts.other_rotation)
def shift_one_pair(rng):
    return call(rng.integer(1, 6), 2)


@check(SHIFT, sees="a negative offset turns backward", tells=parts.other_rotation)
def shift_backward(rng):
    return call(-rng.integer(1, 6), 2)


@check(SHIFT, sees="an offset of 0 leaves every position where it is")
def shift_zero(rng):
    return call(0, wide(rng))


@check(
    SHIFT,
    sees="there is one 2×2 block on the diagonal for each pair, and nothing outside the blocks",
    view=views.blocks,
)
def shift_blocks(rng):
    return call(rng.choice((1, 2, 4, 5)), wide(rng), base=2.0)


@check(
    SHIFT,
    sees="the diagonal holds, twice for each pair i, the cosine of offset · base^(-2i / d_model), in whatever order",
    view=views.diagonal_sorted,
    tells=parts.other_rotation,
)
def shift_frequencies(rng):
    return call(rng.integer(3, 6), wide(rng))


@check(SHIFT, sees="base is the table's base", view=views.diagonal_sorted, tells=parts.other_rotation)
def shift_base(rng):
    return call(rng.integer(2, 6), wide(rng), base=rng.choice(LOW_BASES))


@check(SHIFT, sees="encoding[p] @ matrix is encoding[p + offset] for every p", tells=parts.other_rotation)
def shift_whole(rng):
    return call(offset=rng.integer(2, 6), d_model=wide(rng))


@check(SHIFT, sees="the matrix has the default dtype", compares="dtype")
def shift_dtype(rng):
    return call(rng.integer(1, 6), wide(rng))


@check(SHIFT, sees="an odd d_model, an offset that is no int and a base of 0 are refused", compares="error")
def shift_errors(rng):
    offset = rng.integer(1, 6)
    return [call(offset, wide(rng) - 1), call(offset + 0.5, 4), call(True, 4), call(offset, 4, base=0.0)]


# 6.5 apply_rotary


@check(ROTARY, sees="at position 0 nothing turns: the first row comes back as it was, column by column", given=True)
def rotary_position_zero(rng):
    return call(rng.tensor(2, 1, wide(rng)))


@check(
    ROTARY,
    sees="a single pair of columns turns by its position in radians, from the first column to the second",
    tells=parts.other_angles,
)
def rotary_one_pair(rng):
    return call(rng.tensor(1, rng.choice((5, 7, 8)), 2))


@check(ROTARY, sees="columns 2i and 2i + 1 turn together, and every pair turns", tells=parts.other_angles)
def rotary_pairs(rng):
    return call(rng.tensor(1, *sizes(rng)), base=1.0)


@check(ROTARY, sees="pair i turns by position · base^(-2i / d_head)", view=views.rows_sorted, tells=parts.other_angles)
def rotary_frequencies(rng):
    return call(tensor(ones(1, *sizes(rng))))


@check(ROTARY, sees="base sets how fast the frequencies fall", view=views.rows_sorted, tells=parts.other_angles)
def rotary_base(rng):
    return call(tensor(ones(1, *sizes(rng))), base=rng.choice(LOW_BASES))


@check(ROTARY, sees="offset is the position of the first row", view=views.rows_sorted, tells=parts.other_angles)
def rotary_offset(rng):
    return call(tensor(ones(1, 5, 2)), offset=rng.choice((3, 4, 7, 8)))


@check(ROTARY, sees="positions run along the last axis but one, whatever stands in front of it")
def rotary_axes(rng):
    batch, heads, length = rng.choice((9, 11)), 3, 5
    return [call(rng.tensor(*lead, length, 2)) for lead in ((), (batch,), (batch, heads))]


@check(ROTARY, sees="every number stands in its place, with many pairs, an offset and heads", tells=parts.other_angles)
def rotary_whole(rng):
    batch, heads = rng.choice(((1, 4), (4, 1)))
    return call(rng.tensor(batch, heads, 9, 6), offset=rng.choice((2, 5, 10)))


@check(
    ROTARY,
    sees="in bfloat16 neighbouring positions stay apart, far into a text",
    tolerance=0.03,  # bfloat16 has 8 bits: three roundings of numbers up to √2
    view=views.rows_sorted,
)
def rotary_far(rng):
    return call(tensor(ones(1, 8, 2), "bfloat16"), offset=rng.choice(ODD_AND_FAR))


@check(ROTARY, sees="a gradient reaches x", compares="gradient")
def rotary_gradient(rng):
    return call(rng.tensor(1, 5, 2))


@check(ROTARY, sees="the result has the dtype of x", compares="dtype")
def rotary_dtype(rng):
    return [call(rng.tensor(1, 3, 2, dtype=dtype)) for dtype in DTYPES]


@check(ROTARY, sees="x is left as it was", compares="unchanged")
def rotary_unchanged(rng):
    return call(rng.tensor(1, *sizes(rng)))


@check(ROTARY, sees="an odd width, a single axis, integers and a base of 0 are refused", compares="error")
def rotary_errors(rng):
    length = rng.integer(3, 6)
    return [
        call(rng.tensor(length, 5)),
        call(rng.tensor(6)),
        call(tensor(rng.integers(length, 4))),
        call(rng.tensor(length, 4), base=0.0),
    ]


# 6.6 alibi_bias


@check(
    ALIBI,
    sees="head h of H has the slope 2^(-8h / H), the steepest first",
    view=views.steepness,
    tells=parts.other_slopes_or_distances,
)
def alibi_slopes(rng):
    return [call(heads, 2) for heads in (8, 16, 32)]  # with two positions the largest distance is 1


@check(
    ALIBI,
    sees="with L = S the bias falls with the distance |i - j|, before and behind the query",
    view=views.distances,
    tells=parts.other_slopes_or_distances,
)
def alibi_distance(rng):
    return call(*rng.choice(((2, 5), (8, 5), (8, 6))))


@check(
    ALIBI,
    sees="with more keys than queries, the last query stands at the last key",
    view=views.distances,
    tells=parts.other_slopes_or_distances,
)
def alibi_longer_keys(rng):
    return call(*rng.choice(ALIBI_SIZES))


@check(
    ALIBI,
    sees="with fewer keys than queries, the last query still stands at the last key",
    view=views.distances,
    tells=parts.other_slopes_or_distances,
)
def alibi_fewer_keys(rng):
    heads, keys, queries = rng.choice(ALIBI_SIZES)
    return call(num_heads=heads, query_length=queries, key_length=keys)


@check(
    ALIBI,
    sees="the bias is minus each head's slope times the distance, heads first: (H, L, S), without keys too",
    tells=parts.other_slopes_or_distances,
)
def alibi_whole(rng):
    return [call(*rng.choice(ALIBI_SIZES)), call(2, 5, 0)]


@check(ALIBI, sees="the bias has the default dtype", compares="dtype")
def alibi_dtype(rng):
    return call(2, rng.integer(3, 6))


@check(ALIBI, sees="a number of heads that is no power of two and a negative length are refused", compares="error")
def alibi_errors(rng):
    length = rng.integer(1, 4)
    return [call(rng.choice((3, 5, 6, 12)), 4), call(0, 4), call(2, -length), call(2, -length, 4), call(2, 4, -1)]
