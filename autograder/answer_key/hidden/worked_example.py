"""Hidden checks of the worked example."""

from math import inf

from selfcheck.checks._worked_example_inputs import shares, small
from selfcheck.plan import call, check, ndarray

LOWEST = -3e38  # nearly the smallest number in single precision
#: Length, input width, key width and value width, of which some are equal.
EQUAL = ((4, 4, 4, 4), (5, 4, 3, 4), (3, 3, 5, 4), (5, 4, 4, 3), (4, 5, 4, 4), (3, 5, 4, 3))


@check(
    "worked_example.project",
    sees="a single token, a single feature, many tokens and equal sizes work",
    points=1,
    coinciding=True,
)
def project_edges(rng):
    d_in, d, d_v = rng.sizes(3)
    return [
        call(rng.normal(1, d_in), rng.normal(d_in, d), rng.normal(d_in, d), rng.normal(d_in, d_v)),
        call(rng.normal(d, 1), rng.normal(1, d_in), rng.normal(1, d_in), rng.normal(1, 1)),
        call(rng.normal(17, 24), rng.normal(24, 20), rng.normal(24, 20), rng.normal(24, rng.integer(26, 33))),
        call(rng.normal(30, d_in), w_query=rng.normal(d_in, 1), w_key=rng.normal(d_in, 1), w_value=rng.normal(d_in, d)),
        *(
            call(rng.normal(length, width), rng.normal(width, d), rng.normal(width, d), rng.normal(width, d_v))
            for length, width, d, d_v in EQUAL
        ),
    ]


@check(
    "worked_example.dot_scores",
    sees="one query, one key, one feature, zeros, equal sizes and large numbers work",
    points=1,
    coinciding=True,
)
def dot_edges(rng):
    few, many = rng.sizes(2)
    return [
        call(queries=rng.normal(1, few), keys=rng.normal(many, few)),
        call(rng.normal(many, few), rng.normal(1, few)),
        call(rng.normal(few, 1), rng.normal(many, 1)),
        call(rng.normal(4, 4), rng.normal(4, 4)),
        call(rng.normal(17, 27), rng.normal(rng.integer(19, 25), 27)),
        call(rng.normal(3, 5), rng.normal(3, 5)),
        call(rng.normal(5, 3), rng.normal(3, 3)),
        call([[0.0] * few, [1.0] * few], [[0.0] * few, [1.0] * few, [-1.0] * few]),
        call([[1000 * x for x in row] for row in rng.integers(few, many)], rng.integers(few + 1, many)),
    ]


@check(
    "worked_example.softmax",
    sees="-inf, 10 000 and -10 000 together stay finite, along every axis",
    points=1,
    coinciding=True,
)
def softmax_extremes(rng):
    offsets = rng.sample([10_000.0, -10_000.0, 0.0], 3)
    rows = [[offset + number / 4 for number in rng.sample(range(12), 3)] + [-inf] for offset in offsets]
    rows.append([-inf] * 4)
    columns = [list(column) for column in zip(*rows, strict=True)]
    return [call(rows), call(columns, axis=0), call(ndarray([rows]), axis=2), call([[-inf, LOWEST, -inf]])]


@check(
    "worked_example.softmax",
    sees="a column, equal scores, equal sizes, an array of four axes and a single score work",
    points=1,
    coinciding=True,
)
def softmax_more_axes(rng):
    sizes = rng.sizes(4, 2, 10)
    return [
        call(rng.normal(5, 1), axis=-2),
        call(rng.normal(*sizes), axis=1),
        call(rng.normal(*sizes), axis=-2),
        call([[rng.normal()]]),
        call(rng.normal(2, 1, 3, 2, rng.integer(17, 30)), axis=rng.choice((-1, 2, 4))),
        call([[0.0] * 3, [1.0] * 3, [-5.0] * 3, [10_000.0] * 3]),
        *(call(rng.normal(4, 4), axis=axis) for axis in (0, 1, -2)),
        *(call(rng.normal(3, 3, 3), axis=axis) for axis in (0, 1, -1)),
    ]


@check(
    "worked_example.weighted_sum",
    sees="one query, one value, one feature, zeros, negative weights and equal sizes work",
    points=1,
    coinciding=True,
)
def mix_edges(rng):
    few, many = rng.sizes(2)
    return [
        call(weights=shares(rng, 1, few), values=rng.normal(few, many)),
        call([[1.0], [0.5], [0.0]], rng.normal(1, many)),
        call(shares(rng, many, few), rng.normal(few, 1)),
        call(shares(rng, 4, 4), rng.normal(4, 4)),
        call(rng.normal(17, 25), rng.normal(25, rng.integer(19, 24))),
        call(shares(rng, 3, 5), rng.normal(5, 5)),
        call(shares(rng, 5, 3), rng.normal(3, 5)),
        call([[0.0] * few, [1.0] * few], rng.normal(few, many)),
        call(shares(rng, few, many), rng.integers(many, few + 1, low=-9)),
        call(rng.normal(few, many), rng.normal(many, 3)),
    ]


@check(
    "worked_example.self_attention",
    sees="a single token attends to itself, and equal widths make no difference, with and without the scale",
    points=1,
    coinciding=True,
)
def attention_one_token(rng):
    d_in, d, d_v = rng.sizes(3)
    matrices = small(rng, d_in, d), small(rng, d_in, d), rng.normal(d_in, d_v)
    equal = [
        (rng.normal(length, width), small(rng, width, d), small(rng, width, d), rng.normal(width, d_v))
        for length, width, d, d_v in EQUAL
    ]
    return [
        call(rng.normal(1, d_in), *matrices),
        call(rng.normal(1, d_in), *matrices, scale=True),
        *(call(*argument, scale=scale) for argument in equal for scale in (False, True)),
    ]


@check("worked_example.self_attention", sees="scores in the thousands give finite weights", points=1)
def attention_large(rng):
    length, d_in, d, d_v = rng.sizes(4, 3, 10)
    inputs = [[10 * number for number in row] for row in rng.integers(length, d_in, low=-9)]
    return call(inputs, *(rng.integers(d_in, width, low=-3, high=4) for width in (d, d, d_v)))
