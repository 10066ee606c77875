"""Hidden checks of positions."""

from selfcheck.checks._position_views import learned, zeros
from selfcheck.checks._positions_modules import ADDING, LEARNED
from selfcheck.checks.positions import ALIBI, ROTARY, SHIFT, TABLE
from selfcheck.plan import built, call, check, refused, tensor

FAR = 1e-4  # float32 angles at positions of a few dozen are off by about 1e-5


@check(TABLE, sees="one position, long, wide and square tables, and other bases", points=1, tolerance=FAR)
def table_edges(rng):
    return [
        call(1, 2),
        call(rng.integer(30, 60), 4),
        call(rng.integer(3, 6), 16),
        call(rng.integer(3, 6), 2 * rng.integer(257, 400)),
        call(*[rng.choice((4, 6, 8))] * 2),
        call(rng.choice((4, 6)), 12),
        call(rng.integer(3, 6), 12, base=rng.choice((2.5, 50.0, 500000.0))),
        call(rng.integer(3, 6), 12, base=rng.choice((0.25, 0.5))),
    ]


@check(SHIFT, sees="far shifts in both directions, wide matrices and other bases", points=1, tolerance=FAR)
def shift_edges(rng):
    return [
        call(rng.integer(20, 60), 4),
        call(-rng.integer(20, 60), 4),
        call(rng.integer(2, 9), 14),
        call(4, 4),
        call(3, 6),
        call(-rng.integer(2, 9), 6, base=rng.choice((2.5, 50.0))),
        call(rng.integer(2, 9), 6, base=rng.choice((0.25, 0.5))),
    ]


@check(ADDING, sees="batches of every size, equal sizes, one token, and one object used for several lengths", points=1)
def encoding_edges(rng):
    batch, length = rng.sizes(2, 2, 7)
    return [
        built(call(6, length), call(rng.tensor(batch, length, 6)), call(rng.tensor(1, 1, 6))),
        built(call(2), call(rng.tensor(length, batch, 2)), call(rng.tensor(batch, length, 2))),
        built(call(4, 1, 0.5), call(rng.tensor(batch, 1, 4))),
        built(call(4, length), call(rng.tensor(batch, length, 4)), training=True),
        built(call(2), call(zeros(1, 1024, 2)), refused(call(zeros(1, 1025, 2)))),
        built(call(4, 4), call(rng.tensor(4, 4, 4)), call(rng.tensor(4, 2, 4))),
        built(call(2, 3), call(rng.tensor(17, 3, 2))),
        built(call(4, 9), call(rng.tensor(2, 7, 4, dtype="float16")), call(rng.tensor(2, 7, 4))),
    ]


@check(LEARNED, sees="batches of every size, equal sizes, one token, and one object used for several lengths", points=1)
def learned_edges(rng):
    batch, length, d_model = rng.sizes(3, 2, 8)
    return [
        learned(rng, d_model, length, call(rng.tensor(batch, length, d_model)), call(zeros(batch, 1, d_model))),
        learned(rng, d_model, 20, call(rng.tensor(length, batch, d_model))),
        learned(rng, 1, 1, call(rng.tensor(batch, 1, 1))),
        learned(rng, length, length, call(rng.tensor(length, length, length)), call(rng.tensor(1, 1, length))),
        learned(rng, d_model, length, call(rng.tensor(1, length, d_model, dtype="float32")), dtype="float32"),
    ]


@check(
    ROTARY,
    sees="wide heads, far positions, other bases, equal sizes, rows of zeros and ones, any number of leading axes",
    points=2,
    tolerance=1e-3,
)
def rotary_edges(rng):
    batch, heads, length = rng.sizes(3, 2, 8)
    return [
        call(rng.tensor(length, 12)),
        call(rng.tensor(batch, heads, length, 4), offset=rng.integer(200, 400)),
        call(rng.tensor(9, 2, 1, 4, 6), base=rng.choice((2.5, 500000.0))),
        call(rng.tensor(batch, heads, 1, 8), offset=rng.integer(1, 60)),
        call(rng.tensor(length, 6), base=rng.choice((0.25, 0.5))),
        call(rng.tensor(length, 4, dtype="float32"), 50.0, 7),
        call(rng.tensor(4, 4, 4, 4), offset=4),
        call(tensor([[0.0] * 6, [1.0] * 6, rng.normal(6)]), offset=-2),
    ]


@check(ALIBI, sees="one head and many, a single query, no keys, equal sizes and long rows", points=1)
def alibi_edges(rng):
    return [
        call(8, rng.integer(3, 6)),
        call(1, rng.integer(3, 6)),
        call(32, 2, 3),
        call(128, 2, rng.integer(3, 6)),
        call(4, 1, rng.integer(6, 12)),
        call(16, rng.integer(2, 6), 40),
        call(4, 4),
        call(4, 8, 4),
        call(2, 2, 4),
        call(2, 3, 0),
    ]
