"""Hidden checks of attention before Transformers."""

from dataclasses import replace

from selfcheck.checks import _sequence_to_sequence_draws as draws
from selfcheck.checks import _sequence_to_sequence_inputs as inputs
from selfcheck.checks._dtypes import DTYPES
from selfcheck.checks._numbers import LOWEST
from selfcheck.checks._sequence_to_sequence_decoder import DECODER, SCORES
from selfcheck.checks._sequence_to_sequence_hard import HARD
from selfcheck.checks.dot_product import mask_of
from selfcheck.checks.sequence_to_sequence import ATTEND, HIERARCHICAL, LOCAL
from selfcheck.plan import built, call, check, generator, tensor

from ._lowest import DTYPE, ONE_OF_FIVE, of_zeros_and


@check(
    ATTEND,
    sees="every score, the lowest too, leading dimensions that broadcast, equal sizes, with and without a mask",
    points=1,
)
def attend_everything(rng):
    queries, keys, d_v = rng.sample((6, 9, 11), 3)
    calls = [
        inputs.attending(rng, kind, queries, keys, d_v, lead, (4, 4), mask=mask, key_lead=key_lead)
        for kind in SCORES
        for batch, heads, lead, key_lead in ((2, 3, (2, 3), (2, 1)), (3, 2, (3, 1), (3, 2)))
        for mask in (None, mask_of(rng, batch, 1, queries, keys), mask_of(rng, batch, heads, queries, keys))
    ]
    equal = mask_of(rng, 4, 4, 4)
    calls += [inputs.attending(rng, kind, 4, 4, 4, (4,), (4, 4), mask=equal) for kind in SCORES]
    calls.append(inputs.attending(rng, "dot", queries, keys, d_v, mask=rng.random() < 0.5))
    return [*calls, lowest_attended(rng)]


def lowest_attended(rng):
    """A call of attend whose allowed scores are the smallest number; those of forbidden keys are common ones."""
    mask = ONE_OF_FIVE[0]
    keys = tensor([[LOWEST] if allowed else [0.5] for allowed in mask], DTYPE)
    query, values = tensor([[1.0]] * 3, DTYPE), rng.tensor(5, 2, dtype=DTYPE)
    return call(query, keys, values, inputs.bound(rng, "dot", 1, 1), tensor(mask))


@check(ATTEND, sees="nothing that was given has changed", compares="unchanged", points=1)
def attend_unchanged(rng):
    queries, keys, d_v = rng.sizes(3, 2, 8)
    return inputs.attending(rng, "bilinear", queries, keys, d_v, widths=(3, 5), mask=mask_of(rng, queries, keys))


@check(
    LOCAL,
    sees="wide windows, narrow windows and whole ones, as many rows as positions, the lowest scores",
    coinciding=True,
    points=1,
)
def local_sizes(rng):
    length = rng.integer(4, 9)
    centers = [round(rng.random() * (length - 1), 1) for _ in range(3)]
    whole = call(rng.tensor(length), inputs.rows(float(rng.integer(0, length))), rng.integer(1, 4))
    square = call(rng.tensor(3, 3, 3), inputs.rows([[0.2, 1.0, 1.6], [1.9, 0.4, 0.7], [2.0, 1.3, 0.1]]), 1.35)
    calls = [call(rng.tensor(3, length), inputs.rows(centers), reach) for reach in (0.65, 2.35, 20.0)]
    lowest = call(inputs.rows([[LOWEST] * 7], DTYPE), inputs.rows([2.6], DTYPE), 0.5)
    long = call(rng.tensor(rng.integer(200, 260)), inputs.rows(130.4), round(70 + 50 * rng.random(), 2))
    return [whole, *calls, square, lowest, long]


@check(LOCAL, sees="nothing that was given has changed", compares="unchanged", points=1)
def local_unchanged(rng):
    return inputs.local(rng, 9, 2.15)


@check(
    HARD,
    sees="three unequal choices are drawn as often as they should be, and anew in each call",
    view=draws.three_shares,
    points=1,
)
def hard_three(rng):
    twice = replace(draws.three(rng), times=2)
    return [draws.three(rng), draws.three(rng, generator=generator(rng.integer(1, 1000))), twice]


@check(
    HARD,
    sees="a choice of score -inf is never drawn, nor where rows are as many as choices",
    view=draws.hidden_never_drawn,
    points=1,
)
def hard_hidden(rng):
    return [draws.with_hidden_choice(rng), draws.with_hidden_choice(rng, count=4)]


@check(
    HARD,
    sees="what is certain is taken in many batches, and nothing that was given has changed",
    compares=("values", "unchanged"),
    points=1,
)
def hard_unchanged(rng):
    return [draws.sure(rng, (17, 2), 5, 9), draws.sure(rng, (2,), 5, 9)]


@check(HIERARCHICAL, sees="mask and levels together, in every size, and for the lowest scores", points=1)
def hierarchical_everything(rng):
    batch, sentences, words, d = rng.sizes(4, 2, 10)
    counts = [[rng.integer(0, words + 1) for _ in range(sentences)] for _ in range(batch)]
    return [
        inputs.documents(rng, d, rng.tensor(batch, sentences, words, d), inputs.words_in(counts, words)),
        inputs.documents(rng, 1, rng.tensor(1, 2, 3, 1)),
        documents_with_a_mask_and_without(rng),
        inputs.documents(rng, 3, rng.tensor(3, 3, 3, 3), inputs.words_in([[1, 3, 2], [2, 0, 3], [3, 1, 1]], 3)),
        lowest_on_a_level(rng, "word", [[1]]),
        lowest_on_a_level(rng, "sentence", [[0, 3, 0]]),
    ]


def documents_with_a_mask_and_without(rng):
    """A step whose uses, of one shape, have a mask or none: it holds for no later use."""
    mask = tensor(inputs.words_in([[1, 3, 2], [2, 0, 3]], 4))
    uses = [call(rng.tensor(2, 3, 4, 5), *some) for some in ((mask,), (), ())]
    return built(call(5), *uses, state=inputs.hierarchy(rng, 5))


def lowest_on_a_level(rng, level, counts):
    """A step in which all words, or all sentences, have the smallest number as their score: tanh(50) is 1."""
    state = inputs.hierarchy(rng, 2, DTYPE, **{f"{level}_proj_weight": True})
    state |= {f"{level}_proj.bias": tensor([50.0, 0.0], DTYPE), f"{level}_query": tensor([LOWEST, 0.0], DTYPE)}
    x, mask = rng.tensor(1, len(counts[0]), 4, 2, dtype=DTYPE), inputs.words_in(counts, 4)
    return inputs.documents(rng, 2, x, mask, state)


@check(HIERARCHICAL, sees="gradients reach x and every parameter", compares="gradient", points=1)
def hierarchical_gradient(rng):
    return inputs.documents(rng, 5, rng.tensor(1, 3, 7, 5), inputs.words_in([[7, 2, 4]], 7))


@check(
    HIERARCHICAL,
    sees="every dtype is kept, and nothing that was given has changed",
    compares=("dtype", "unchanged"),
    points=1,
)
def hierarchical_dtype(rng):
    mask = inputs.words_in([[2, 1, 0]], 2)
    return [inputs.documents(rng, 3, rng.tensor(1, 3, 2, 3, dtype=dtype), mask) for dtype in DTYPES]


@check(DECODER, sees="every score, the lowest too, with a mask, with equal sizes, with many features", points=1)
def decoder_every_score(rng):
    smallest = inputs.decoding(rng, 1, 1, (1, 2, 2))
    steps = [step for kind in SCORES for step in inputs.decoding_lengths(rng, (rng.integer(1, 5), 5), (7, 3, 4), kind)]
    equal = inputs.words_in([[1, 3, 2]], 3)[0]
    steps += [inputs.decoding(rng, 3, 3, (3, 3, 3), kind, mask=equal) for kind in SCORES]
    wide = inputs.decoding(rng, 5, 17, (2, 3, 4), "bilinear")
    return [smallest, *steps, wide, decoding_in_turn(rng), lowest_decoding(rng)]


def decoding_in_turn(rng):
    """A step whose uses have one shape: neither a state nor a mask of one is left for the next."""
    mask = inputs.words_in([[1, 3]], 4)[0]
    step = inputs.decoding(rng, 5, 3, (2, 3, 4), mask=mask)
    others = [inputs.decoding(rng, 5, 3, (2, 3, 4), mask=some) for some in (None, mask)]
    return replace(step, uses=(*step.uses, *(use for other in others for use in other.uses)))


def lowest_decoding(rng):
    """A step whose scores all are the smallest number: they read one feature of the states, whose tanh is 1."""
    states = tensor([[[50.0, *rng.normal(2)] for _ in range(5)]], DTYPE)
    score = {"score_w1": of_zeros_and(3, 6, 3, 1.0), "score_w2": tensor([LOWEST, 0.0, 0.0], DTYPE)}
    return inputs.decoding(
        rng, 7, 3, (1, 2, 5), mask=ONE_OF_FIVE[:1], states=states, change=lambda state: score, dtype=DTYPE
    )


@check(DECODER, sees="gradients reach the source and all parameters, and stay finite", compares="gradient", points=1)
def decoder_gradient(rng):
    return [
        inputs.decoding(rng, vocab, d, shape, kind, mask=[*mask_of(rng, shape[0] - 1, shape[2]), [False] * shape[2]])
        for kind in ("additive", "bilinear")
        for vocab, d, shape in inputs.TWO_DECODERS
    ]


@check(
    DECODER,
    sees="every dtype is kept, and nothing that was given has changed",
    compares=("dtype", "unchanged"),
    points=1,
)
def decoder_dtype(rng):
    return [inputs.decoding(rng, 4, 2, (1, 2, 3), mask=[[True, True, False]], dtype=dtype) for dtype in DTYPES]
