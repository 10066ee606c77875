"""Visible checks of the modules that add positions to their input."""

from selfcheck.plan import built, call, check, method, tensor

from . import _position_views as views
from ._dtypes import DTYPES
from ._position_views import apart, learned, sizes, zeros

ADDING = "positions.PositionalEncoding"
LEARNED = "positions.LearnedPositionalEmbedding"


# 6.3 PositionalEncoding


@check(ADDING, sees="zeros come back as the table: token p gets row p")
def encoding_of_zeros(rng):
    length, d_model = sizes(rng)
    return built(call(d_model, 23), call(zeros(1, length, d_model)), call(zeros(1, 23, d_model)))


@check(ADDING, sees="x itself comes through, neither scaled nor multiplied", view=views.what_became_of_x, given=True)
def encoding_of_x(rng):
    length, d_model = sizes(rng)
    return built(call(d_model, 23), call(rng.tensor(1, length, d_model)), call(zeros(1, length, d_model)))


@check(ADDING, sees="every sequence of a batch gets the same rows")
def encoding_batch(rng):
    batch, length = rng.sample((5, 8), 2)
    return built(call(2, max_length=17), call(zeros(batch, length, 2)))


@check(ADDING, sees="a sequence shorter than max_length gets the first rows")
def encoding_shorter(rng):
    first, second = rng.sample((4, 7, 9), 2)
    return built(call(2), call(zeros(1, first, 2)), call(zeros(1, second, 2)))


@check(ADDING, sees="the state dict is empty", compares="parameters", given=True)
def encoding_state(rng):
    length, d_model = sizes(rng)
    return built(call(d_model, length))


def training(rng, rate):
    """Two uses of one object that is built with dropout: one in training, one in evaluation."""
    length = rng.choice((15, 16, 17))
    x = rng.tensor(1, length, 20, dtype="float32")
    return built(call(20, 23, dropout=rate), call(x), method("eval"), call(x), training=True)


@check(ADDING, sees="in training, dropout acts on the sum: what is left is divided by 1 - dropout", view=views.dropped)
def encoding_dropout(rng):
    return training(rng, 0.25)


@check(ADDING, sees="in evaluation nothing is dropped", view=views.lost_in_evaluation, given=True)
def encoding_evaluation(rng):
    return training(rng, 0.5)


@check(ADDING, sees="a gradient reaches x", compares="gradient", given=True)
def encoding_gradient(rng):
    return built(call(2, 9), call(rng.tensor(1, 5, 2)))


@check(ADDING, sees="the result has the dtype of x", compares="dtype")
def encoding_dtype(rng):
    return [built(call(4, 6), call(rng.tensor(1, 6, 4, dtype=dtype))) for dtype in DTYPES]


@check(ADDING, sees="x is left as it was", compares="unchanged")
def encoding_unchanged(rng):
    return built(call(4, 6), call(rng.tensor(1, 6, 4)))


@check(ADDING, sees="a sequence longer than max_length, another width and an odd d_model are refused", compares="error")
def encoding_errors(rng):
    length = rng.integer(3, 6)
    return [
        built(call(4, length), call(rng.tensor(2, length + 1, 4))),
        built(call(4), call(rng.tensor(2, length, 6))),
        built(call(4), call(rng.tensor(length, 4))),
        built(call(4), call(tensor(rng.integers(2, length, 4)))),
        built(call(5)),
        built(call(4, dropout=1.5)),
        built(call(4, dropout=float("nan"))),
    ]


# 6.4 LearnedPositionalEmbedding


@check(LEARNED, sees="the one parameter is weight, (max_length, d_model)", compares="parameters")
def learned_parameters(rng):
    return [built(call(*apart(rng, 2))), built(call(rng.integer(3, 9)))]


@check(LEARNED, sees="zeros come back as the weight: token p gets row p")
def learned_of_zeros(rng):
    length, d_model = apart(rng, 2)
    return learned(rng, d_model, 13, call(zeros(1, length, d_model)))


@check(LEARNED, sees="x itself comes through as it is", view=views.what_became_of_x)
def learned_of_x(rng):
    length, d_model = apart(rng, 2)
    return learned(rng, d_model, 13, call(rng.tensor(1, length, d_model)), call(zeros(1, length, d_model)))


@check(LEARNED, sees="every sequence of a batch gets the same rows, in training as well")
def learned_batch(rng):
    batch, length, d_model = apart(rng, 3)
    return learned(rng, d_model, 13, call(zeros(batch, length, d_model)), training=True)


@check(LEARNED, sees="a sequence shorter than max_length gets the first rows")
def learned_shorter(rng):
    first, second, d_model = apart(rng, 3)
    return learned(rng, d_model, 13, *(call(zeros(1, length, d_model)) for length in (first, second, 13)))


@check(LEARNED, sees="gradients reach x and the rows that were used, and no other row", compares="gradient")
def learned_gradient(rng):
    length, d_model = apart(rng, 2)
    return learned(rng, d_model, 13, call(rng.tensor(1, length, d_model)))


@check(LEARNED, sees="a new weight holds random numbers of deviation 0.02", view=views.start)
def learned_start(rng):
    return built(call(16, 200), call(zeros(1, 70, 16, dtype="float32")))


@check(LEARNED, sees="the result has the dtype of x", compares="dtype")
def learned_dtype(rng):
    same = [learned(rng, 2, 3, call(rng.tensor(1, 3, 2, dtype=dtype)), dtype=dtype) for dtype in DTYPES]
    return [*same, learned(rng, 2, 3, call(rng.tensor(1, 3, 2, dtype="float16")), dtype="float32")]


@check(LEARNED, sees="x is left as it was", compares="unchanged")
def learned_unchanged(rng):
    length, d_model = apart(rng, 2)
    return learned(rng, d_model, length, call(rng.tensor(1, length, d_model)))


@check(LEARNED, sees="a sequence longer than max_length, and another width, are refused", compares="error")
def learned_errors(rng):
    length = rng.integer(3, 6)
    return [
        built(call(3, length), call(rng.tensor(2, length + 1, 3))),
        built(call(3), call(rng.tensor(2, length, 4))),
        built(call(3), call(rng.tensor(length, 3))),
        built(call(3), call(tensor(rng.integers(2, length, 3)))),
        built(call(0)),
        built(call(3, -1)),
    ]
