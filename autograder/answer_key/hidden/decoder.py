"""Hidden checks of the decoder."""

from selfcheck.checks import _decoder_inputs as inputs
from selfcheck.checks import _decoder_texts as texts
from selfcheck.checks import _decoder_views as views
from selfcheck.checks._decoder_layer import LAYER
from selfcheck.checks._decoder_model import MODEL
from selfcheck.checks._decoder_translator import TRANSLATOR, lengthened, sources
from selfcheck.checks._numbers import LOWEST
from selfcheck.checks.decoder import CHANCES, LOSS, TEXT
from selfcheck.plan import built, cache, call, check, generator, made, tensor

from ._decoder_models import form_or_heads, in_turn_or_in_pieces, one_in_zeros, with_other_heads
from ._lowest import DTYPE, ONE_OF_FIVE, STIRRED_MUCH, by_largest, with_lowest_scores

MANY = 15  # tokens of a long text
DTYPES = ("float16", "bfloat16", "float32", "float64")


@check(LAYER, sees="memory as long as the text, d_ff as wide as d_model, as many rows as heads, one token", points=1)
def layer_sizes(rng):
    def step(batch, length, source, d_model=4, heads=2, d_ff=4):
        state = inputs.decoder_state(rng, d_model, d_ff, cross=True)
        given = call(rng.tensor(batch, length, d_model), rng.tensor(batch, source, d_model))
        return built(inputs.layer(d_model, heads, d_ff, cross=True), given, state=state)

    return [step(2, 2, 2), step(3, 4, 4), step(1, 1, 5), step(3, 5, 1, 9, 3), step(2, 3, 2, 6, 1, 7)]


@check(
    LAYER, sees="through a cache too, gradients reach x, the memory and all parameters", compares="gradient", points=1
)
def decoder_layer_gradient(rng):
    pieces = inputs.parts(rng.tensor(1, 6, 6), (3, 2, 1))
    steps = [call(piece, cache=cache(13, "a")) for piece in pieces]
    reads = [
        call(
            rng.tensor(batch, length, 6),
            rng.tensor(batch, source, 6),
            tensor([[True, True, True, False, False][:length]] * batch),
        )
        for batch, length, source in inputs.BATCHES
    ]
    return [
        built(inputs.layer(), *steps, state=inputs.decoder_state(rng)),
        built(inputs.layer(cross=True), *reads, state=inputs.decoder_state(rng, cross=True)),
    ]


@check(
    LAYER,
    sees="both masks at once, where padding hides all there is, sizes are equal, and scores are the lowest there are",
    points=1,
)
def layer_masks(rng):
    own = tensor([[True, True, True, False], [False, False, True, True]])
    other = tensor([[True, False] * 3 + [True], [False] * 7])
    read = call(rng.tensor(2, 4, 6), rng.tensor(2, 7, 6), own, other)
    three, others = ([[j < count for j in range(3)] for count in counts] for counts in ((1, 3, 2), (2, 1, 3)))
    equal = call(rng.tensor(3, 3, 6), rng.tensor(3, 3, 6), tensor(three), tensor(others))
    masks = (own, other), (), (None, other), (own,)
    in_turn = [call(rng.tensor(2, 4, 6), rng.tensor(2, 7, 6), *some) for some in masks]  # none holds for a later use
    several = (read,), (equal,), in_turn
    return [
        *(built(inputs.layer(cross=True), *uses, state=inputs.decoder_state(rng, cross=True)) for uses in several),
        lowest_scores(rng),
    ]


def lowest_scores(rng):
    """A step on a layer with heads of one feature, each of whose scores is the smallest number, under both masks."""
    state = inputs.decoder_state(rng, 3, 8, cross=True, dtype=DTYPE)
    state = with_lowest_scores(state, "self_attention.", "cross_attention.")
    own = tensor([[True, False, False, False]] * 2)
    use = call(rng.tensor(2, 4, 3, dtype=DTYPE), rng.tensor(2, 5, 3, dtype=DTYPE), own, tensor(ONE_OF_FIVE))
    return built(inputs.layer(3, 3, 8, cross=True), use, state=state)


@check(LAYER, sees="post-norm with a cache and a memory, in pieces of any length", points=1)
def layer_post_norm_cache(rng):
    construct, state = inputs.layer(cross=True, norm_first=False), inputs.decoder_state(rng, cross=True)
    mask = [[True, True, False, True, False], [True, False, False, False, False], [False, True, True, True, True]]
    steps = []
    for batch, source, most in ((2, 5, 7), (3, 4, 8)):
        memory, pieces = rng.tensor(batch, source, 6), inputs.parts(rng.tensor(batch, 7, 6), (1, 3, 1, 2))
        real = tensor([row[:source] for row in mask[:batch]])
        uses = [call(piece, memory, memory_key_mask=real, cache=cache(most, "a")) for piece in pieces]
        steps.append(built(construct, *uses, state=state))
    return steps


@check(
    MODEL,
    sees="one head, one layer, one token, d_ff as wide as d_model, many layers; heads that count",
    view=form_or_heads,
    points=1,
    coinciding=True,
    given=True,
)
def model_of_other_sizes(rng):
    return [
        built(call(5, 4, 1, 4, 1), call(inputs.tokens(rng, 1, 1, 5))),
        built(call(1, 6, 2, 3, 1, max_length=2), call(tensor([[0, 0]] * 3, "int64"))),
        built(call(9, 4, 2, 4, 4, dropout=0.5), call(inputs.tokens(rng, 2, 2, 9)), training=True),
        with_other_heads(call(inputs.tokens(rng, 1, 7)), inputs.language_model),
        built(inputs.language_model(), *(call(inputs.tokens(rng, 2, 7)) for _ in range(2)), stirred=inputs.STIRRED),
    ]


@check(
    MODEL,
    sees="two texts written in turn, each with caches of its own, however low the scores",
    view=in_turn_or_in_pieces,
    points=1,
    given=True,
)
def model_caches_in_turn(rng):
    text, other = inputs.tokens(rng, 7, 10), inputs.tokens(rng, 7, 10)
    (begin, end), (start, _) = inputs.parts(text, (9, 1)), inputs.parts(other, (9, 1))
    order = ((start, "b"), (begin, "a"), (begin, "c"), (end, "a"), (end, "c"))
    steps = [call(tokens, made("new_caches", name)) for tokens, name in order]
    whole = inputs.tokens(rng, 3, 7)
    pieces = [call(piece, made("new_caches", "a")) for piece in inputs.parts(whole, (1,) * 7)]
    return [
        built(inputs.language_model(), *steps, stirred=inputs.STIRRED),
        built(inputs.language_model(1), call(whole), *pieces, stirred=STIRRED_MUCH),
    ]


@check(
    MODEL,
    sees="id 0 is a token like any other, and equal tokens at other positions differ, in many long texts too",
    points=1,
    view=views.depends,
)
def model_zero(rng):
    return [built(inputs.language_model(), call(one_in_zeros(n)), stirred=inputs.STIRRED) for n in (7, MANY)]


@check(
    TRANSLATOR,
    sees="one layer, one head, one token on each side, vocabularies of one; heads that count",
    view=form_or_heads,
    points=1,
    given=True,
)
def translator_sizes(rng):
    single, pair = tensor([[1], [2]], "int64"), (sources(rng, 1, 7), inputs.tokens(rng, 1, 9))
    nothing, target = tensor([[0, 0]], "int64"), inputs.tokens(rng, 1, 9)
    return [
        built(call(15, 11, 6, 1, 6, 1), call(single, single)),
        built(inputs.translator(dropout=0.5), call(*pair), training=True),
        built(call(1, 1, 6, 3, 5, 1, max_length=4), call(nothing, nothing)),
        with_other_heads(call(sources(rng, 1, 7), inputs.tokens(rng, 1, 9)), inputs.translator),
        built(inputs.translator(), *(call(sources(rng, 1, 7), target) for _ in range(2)), stirred=inputs.STIRRED),
    ]


@check(
    TRANSLATOR,
    sees="source and target of one length, a short and a long one, target tokens of id 0, several heads",
    view=views.depends,
    points=1,
    coinciding=True,
)
def translator_zero(rng):
    sides = [(inputs.same_text(rng, n + 2, n, inputs.SOURCE_VOCAB), one_in_zeros(n)) for n in (rng.integer(3, 5), MANY)]
    return [built(inputs.translator(1), call(*both), stirred=inputs.STIRRED) for both in sides]


@check(
    TRANSLATOR,
    sees="padding changes nothing up to max_length, in every row, however low the scores",
    view=by_largest(views.uses_agree),
    points=1,
    given=True,
)
def translator_padding_most(rng):
    padding = rng.integer(2, inputs.SOURCE_VOCAB)
    allowed = [token_id for token_id in range(inputs.SOURCE_VOCAB) if token_id != padding]
    some = [[rng.choice(allowed) for _ in range(length)] for length in (2, 0, 3, 1, 2, 0, 1)]
    target = inputs.tokens(rng, 7, 9, low=0)
    uses = [call(lengthened(some, length, padding), target) for length in (3, 5, 11)]
    construct = inputs.translator(max_length=11, padding_id=padding)
    low = inputs.translator(1, max_length=17, padding_id=padding)
    return [built(construct, *uses, stirred=inputs.STIRRED), built(low, *uses, stirred=STIRRED_MUCH)]


@check(LOSS, sees="large logits, one token of vocabulary, two tokens of text, a mask over everything", points=1)
def loss_sizes(rng):
    large = tensor([[[float(rng.integer(-900, 900)) for _ in range(4)] for _ in range(3)] for _ in range(2)])
    tokens = texts.ids(rng, 2, 3, 4)
    return [
        texts.lesson(rng, 3, 3, 3),
        texts.lesson(rng, 2, 4, 1),
        texts.lesson(rng, 1, 2, 5),
        texts.lesson(rng, 4, 4, 4, [[True] * 4] * 4),
        texts.lesson(rng, 4, 4, 4, [[j < count for j in range(4)] for count in (2, 4, 1, 3)]),
        call(large, tokens),
        call(large, tokens, tensor([[False, True, False], [True, False, False]])),
    ]


@check(LOSS, sees="gradients under a mask with holes", compares="gradient", points=1)
def loss_gradient_anywhere(rng):
    mask = [[False, True, False, True, True], [True, True, True, False, False], [False] * 5]
    return texts.lesson(rng, 3, 5, 7, rng.sample(mask, 3))


@check(CHANCES, sees="all settings at once, on any axes, however low the logits", points=1)
def chances_everything(rng):
    chances = (0.34, 0.27, 0.17, 0.12, 0.07, 0.03)
    return [
        call(texts.spread_logits(rng, 2, 3), 0.7, 4, 0.83),
        call(texts.chosen_logits(rng, chances), 1.0, 5, 0.79),
        call(texts.chosen_logits(rng, chances), 1.6, 3, 0.71),
        call(texts.spread_logits(rng, 1, 2), 0, 3, 0.5),
        call(texts.spread_logits(rng, 2, vocab=1), 0.5, 1, 0.5),
        call(texts.spread_logits(rng, 3), top_k=1),
        call(texts.spread_logits(rng, 6, 6), 0.8, 4, 0.83),
        call(texts.spread_logits(rng, 2, vocab=60), rng.integer(6, 30) + 0.5, rng.integer(12, 50)),
        *(call(texts.spread_logits(rng, 3), temperature) for temperature in (2e-4, 500.0)),
        *(call(low_logits(rng), **more) for more in ({"top_k": 2}, {"top_p": 0.75})),
    ]


def low_logits(rng):
    """Logits below -10,000, exact in float32, of which the first two have 0.71 of the sum and three 0.89."""
    return tensor([-2e4 + level for level in rng.sample((0.0, -0.5, -1.0, -2.0, -2.5), 5)])


@check(CHANCES, sees="ties under top_p and at temperature 0; top_k of a tied rest", view=texts.in_order, points=1)
def chances_tied(rng):
    return [
        call(texts.tied(rng, 5, 5, 0), top_p=0.5),
        call(texts.tied(rng, 4, 4, 0), 0),
        call(texts.tied(rng, 6, 3, 2), 0.9, 4, 0.999),
        call(texts.tied(rng, 4, 4, 0), top_k=3, top_p=0.5),
        call(tensor([LOWEST] * 5, DTYPE), top_k=1),
        call(tensor([LOWEST] * 7, DTYPE), top_p=0.1),
    ]


@check(CHANCES, sees="in half precision the answer is rounded once", tolerance=8e-3, points=1)
def chances_half(rng):
    return [call(texts.spread_logits(rng, 2, dtype=dtype), 0.8, 5, 0.93) for dtype in DTYPES[:2]]


@check(
    TEXT,
    sees="one row, one token, a prompt of one, many tokens, a plain function that ends; a module learns afterwards too",
    compares=("values", "kept"),
    points=1,
)
def text_sizes(rng):
    return [
        texts.text(rng, 1, 1, 1),
        texts.text(rng, 1, 4, 9),
        texts.text(rng, 2, rng.integer(20, 60), 7),
        texts.text(rng, 3, 3, 3),
        texts.ending(rng, 5, 9, rng.sample((2, 3, 4), 3), plain=True),
        texts.ending(rng, 2, 3, (3,)),
        texts.ending(rng, 2, 4, (1,), in_prompt=True),
    ]


@check(TEXT, sees="a sampled row that has ended is filled with end_id too", points=1)
def text_sampled_end(rng):
    drawn = {"temperature": 2.0, "generator": generator(rng.integer(1, 1000))}
    rows = rng.sample((2, 4, None), 3)
    return [texts.ending(rng, 5, 9, rows, **drawn, **more) for more in ({"top_k": 1}, {"top_p": 0.01})]


@check(TEXT, sees="the second token is drawn as often as the softmax says", view=texts.how_often, points=1)
def text_second_token(rng):
    return texts.lottery(rng, new=2, length=1)
