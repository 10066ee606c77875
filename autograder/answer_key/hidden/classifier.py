"""Hidden checks of the classifier."""

from selfcheck.arrays import array
from selfcheck.checks._classifier_lessons import TRIES, learnt, presence, taught
from selfcheck.checks._classifier_pairs import PAIR
from selfcheck.checks._classifier_texts import (
    CLASSES,
    D_FF,
    D_MODEL,
    MAX_LENGTH,
    MORE_HEADS,
    VOCAB,
    classifier,
    form,
    matcher,
    matrix_rows,
    numbers_of,
    padded,
    pair_form,
    pair_uses_agree,
    pair_warm_up,
    some_texts,
    uses_agree,
    varied,
    warm_up,
)
from selfcheck.checks._classifier_words import STIRRED
from selfcheck.checks._dtypes import DTYPES
from selfcheck.checks.classifier import MEAN, STEP, TEXT, mask_of, model
from selfcheck.plan import built, call, check, loss, optimizer, tensor

from ._lowest import STIRRED_MUCH, by_largest

MANY, LONG = 17, 30  # texts, and the words of each


def form_of_many(step, answer):
    """The answer's form; where there are many texts, whether what they say has a say in it."""
    shown = (form if matrix_rows(answer) else pair_form)(step, answer)
    rows = matrix_rows(answer) or [[number] for number in numbers_of(answer) or ()]
    return (shown, array([varied(rows)])) if step.get("stirred") and rows else shown


@check(MEAN, sees="every dtype, one token, one feature, equal sizes", tolerance=2e-2, points=1)
def mean_sizes(rng):
    calls = [call(rng.tensor(2, 4, 3, dtype=dtype), mask_of((3, 0), 4)) for dtype in DTYPES]
    equal = [call(rng.tensor(3, 3, 3), mask_of((1, 3, 2), 3)), call(rng.tensor(2, 3, 3), mask_of((1, 2), 3))]
    return [*calls, *equal, call(rng.tensor(1, 1, 1)), call(rng.tensor(3, 1, 2), mask_of((1, 0, 1), 1))]


@check(MEAN, sees="padding of any value gives no gradient, and disturbs none", compares="gradient", points=1)
def mean_gradient_padding(rng):
    x = rng.normal(5, 3, 7)
    x[0][2][:2] = [float("nan"), float("inf")]
    return call(tensor(x), mask_of((2, 3, 3, 3, 3), 3))


@check(
    TEXT,
    sees="one token, one class, one text, one word; several layers and heads; 512 tokens; many long texts",
    view=form_of_many,
    points=1,
    given=True,
)
def text_sizes(rng):
    return [
        built(call(VOCAB, 1, 4, 1, 5, 1), call(padded(some_texts(rng, (1,)), 1))),
        built(call(VOCAB, 4, 12, 3, 7, 3, padding_id=VOCAB - 1), call(padded(some_texts(rng, (6, 2)), 6, VOCAB - 1))),
        built(call(2, 5, 6, 3, 8, 2, dropout=0.5), call(tensor([[1, 1, 0]] * 2, "int64")), training=True),
        built(call(1, 2, 4, 2, 5, 1, max_length=1), call(tensor([[0]] * 3, "int64"))),
        built(call(VOCAB, 2, 4, 1, 5, 1), call(padded(some_texts(rng, (512,)), 512))),
        built(classifier(), call(padded(some_texts(rng, [LONG] * MANY), LONG)), stirred=STIRRED),
    ]


@check(TEXT, sees="an empty text among the others does no harm while it learns", view=learnt, points=1)
def text_learns_with_empty(rng):
    padding = rng.integer(2, VOCAB)
    return taught(
        presence(rng, True, padding),
        call(VOCAB, CLASSES, D_MODEL, MORE_HEADS, D_FF, 2, MAX_LENGTH, 0.0, padding),
        steps=80,
        rate=0.02,
        tries=TRIES,
    )


@check(
    TEXT,
    sees="more padding changes no logit, with several layers, up to max_length, however low the scores",
    view=by_largest(uses_agree),
    points=1,
    given=True,
)
def text_padding_layers(rng):
    padding = rng.integer(2, VOCAB)
    texts = some_texts(rng, (2, 1, 3, 0, 2), padding)
    uses = [call(padded(texts, length, padding)) for length in (3, 7, 20)]
    sizes = VOCAB, CLASSES, D_MODEL, MORE_HEADS, D_FF
    construct = call(*sizes, 2, max_length=20, padding_id=padding)
    texts = some_texts(rng, (2, 3))
    by_default = [call(padded(texts, length)) for length in (3, 6)]
    equal = some_texts(rng, (1, 3, 2))
    return [
        built(construct, *uses, lessons=warm_up(rng, padding=padding)),
        built(call(*sizes, 1), *by_default),
        built(call(*sizes, 1), *(call(padded(equal, length)) for length in (3, D_MODEL))),
        built(call(*sizes, 1, max_length=20, padding_id=padding), *uses, stirred=STIRRED_MUCH),
    ]


@check(
    STEP,
    sees="classes as targets, several inputs, old gradients and dropout at once; as many features as rows",
    compares=("values", "state", "kept"),
    points=1,
)
def step_everything(rng):
    target = tensor([rng.integer(0, 5) for _ in range(11)], "int64")
    batch = (rng.tensor(11, 3), rng.tensor(11, 9), rng.tensor(11, 1), target)
    made = model(rng, 3, 9, 1, outputs=5, stale=True, dropout=0.3, training=False)
    square = (rng.tensor(2, 2), rng.tensor(2, 2))
    return [
        call(made, batch, optimizer("0", 0.2), loss("cross_entropy")),
        call(model(rng, 2, outputs=2), square, optimizer("0", 0.2, decay=0.3), loss("mse_loss")),
    ]


@check(STEP, sees="what is in the batch stays as it was", compares="unchanged", points=1)
def step_unchanged(rng):
    batch = (rng.tensor(3, 2), rng.tensor(3, 1))
    return call(model(rng, 2), batch, optimizer("0", 0.1), loss("mse_loss"))


@check(
    PAIR,
    sees="one pair, one token, one word, several layers and heads, 512 tokens, many long texts on either side",
    view=form_of_many,
    points=1,
    given=True,
)
def pair_sizes(rng):
    single = padded(some_texts(rng, (1,)), 1)
    many = [padded(some_texts(rng, [length] * MANY), length) for length in (LONG, 3)]
    wide = [
        padded(some_texts(rng, lengths), max(lengths), VOCAB - 1) for lengths in ((11, 2, 3, 5, 1), (1, 2, 14, 3, 5))
    ]
    return [
        built(call(VOCAB, 4, 1, 5, 1), call(single, single)),
        built(call(VOCAB, D_MODEL, MORE_HEADS, D_FF, 2, padding_id=VOCAB - 1), call(*wide)),
        built(call(1, 4, 2, 5, 1), call(tensor([[0]] * 3, "int64"), tensor([[0, 0]] * 3, "int64"))),
        built(call(VOCAB, 4, 1, 5, 1), call(padded(some_texts(rng, (512,)), 512), single)),
        *(built(matcher(), call(*sides), stirred=STIRRED) for sides in (many, many[::-1])),
    ]


@check(
    PAIR,
    sees="padding changes nothing, up to max_length on both sides, however low the scores",
    view=by_largest(pair_uses_agree),
    points=1,
    given=True,
)
def pair_padding_most(rng):
    padding = rng.integer(2, VOCAB)
    left, right = some_texts(rng, (2, 0, 3, 1, 2), padding), some_texts(rng, (1, 3, 0, 2, 2), padding)
    widths = (3, 3), (20, 3), (3, 20), (20, 20)
    uses = [call(padded(left, a, padding), padded(right, b, padding)) for a, b in widths]
    sizes = VOCAB, D_MODEL, MORE_HEADS, D_FF
    construct = call(*sizes, 2, max_length=20, padding_id=padding)
    left, right = some_texts(rng, (2, 3)), some_texts(rng, (3, 1))
    by_default = [call(padded(left, a), padded(right, b)) for a, b in ((3, 3), (6, 3), (3, 5))]
    one, other = some_texts(rng, (1, 3, 2)), some_texts(rng, (2, 1, 3))
    equal = [call(padded(one, a), padded(other, b)) for a, b in ((3, 3), (D_MODEL, 3), (3, D_MODEL))]
    return [
        built(construct, *uses, lessons=pair_warm_up(rng, padding, pairs=14)),
        built(call(*sizes, 1), *by_default),
        built(call(*sizes, 1), *equal),
        built(call(*sizes, 1, max_length=20, padding_id=padding), *uses, stirred=STIRRED_MUCH),
    ]
