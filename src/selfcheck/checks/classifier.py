"""Visible checks of the classifier.

masked_mean and train_step are compared number by number. The two models are free inside: they are taught a little, and
facts about their logits are compared.
"""

from selfcheck.plan import built, call, check, loss, network, optimizer, tensor

from . import _classifier_pairs, _classifier_words  # noqa: F401
from ._classifier_lessons import TRIES, learnt, order, order_learnt, presence, right_classes, taught
from ._classifier_texts import (
    MORE_HEADS,
    VOCAB,
    classifier,
    finite_rows,
    form,
    logits,
    padded,
    padding_effect,
    rows_apart,
    same_logits,
    some_texts,
    uses_agree,
    warm_up,
)
from ._dtypes import DTYPES

MEAN, TEXT = "classifier.masked_mean", "classifier.TextClassifier"
STEP = "classifier.train_step"


# 8.1 masked_mean


def mask_of(lengths, longest):
    """Booleans (B, L), True at the first tokens of each row."""
    return tensor([[place < length for place in range(longest)] for length in lengths])


@check(MEAN, sees="without a mask it is the mean over all positions of each sequence")
def mean_plain(rng):
    return call(rng.tensor(*rng.sizes(3, 2, 8)))


@check(MEAN, sees="with a mask it is the mean over the real tokens: their sum, divided by their number")
def mean_masked(rng):
    x = rng.normal(3, 5, 7)
    x[1][2] = [0.0] * 7  # a real token like others
    return call(tensor(x), mask_of((2, 4, 3), 5))


@check(MEAN, sees="padding counts for nothing, whatever stands there, NaN included")
def mean_padding(rng):
    x = rng.normal(2, 8, 5)
    x[0][2:] = [[float("nan")] * 5] * 6
    x[1][6] = [float("nan"), float("inf"), 1e9, -1e9, 0.0]
    return call(tensor(x), mask_of((2, 6), 8))  # the first text is not the longest


@check(MEAN, sees="a sequence without a real token gives zeros")
def mean_empty(rng):
    return call(rng.tensor(3, 5, 7), mask_of((0, 5, 0), 5))


@check(MEAN, sees="real tokens may stand anywhere")
def mean_anywhere(rng):
    mask = rng.booleans(2, 8)
    return call(rng.tensor(2, 8, 5), tensor([[False, *row[1:7], True] for row in mask]))


@check(MEAN, sees="in float16 a mean of large features over many tokens is finite, and of no token 0", tolerance=1.5e-3)
def mean_float16(rng):
    lengths = (50, 2, 0)  # the first sum overflows, the second does not: a sum without its division shows as such
    x = [[[round((1400 if place < real else 100) + 400 * rng.random())] for place in range(90)] for real in lengths]
    return call(tensor(x, "float16"), mask_of(lengths, 90))


@check(MEAN, sees="the answer has the dtype of x", compares="dtype")
def mean_dtype(rng):
    return [call(rng.tensor(2, 3, 4, dtype=dtype), mask_of((2, 3), 3)) for dtype in DTYPES]


@check(MEAN, sees="gradients reach the real tokens alone, and an empty sequence gives none", compares="gradient")
def mean_gradient(rng):
    return call(rng.tensor(3, 5, 7), mask_of((3, 0, 1), 5))


@check(MEAN, sees="the arguments are left as they were", compares="unchanged")
def mean_unchanged(rng):
    return call(rng.tensor(2, 4, 3), mask_of((3, 2), 4))


@check(MEAN, sees="arguments that do not fit are refused", compares="error")
def mean_errors(rng):
    return [
        call(rng.tensor(3, 4)),
        call(rng.tensor(2, 3, 4), mask_of((2, 3), 4)),
        call(rng.tensor(2, 3, 4), rng.tensor(2, 3)),
        call(tensor(rng.integers(2, 3, 4))),
    ]


# 8.2 TextClassifier


@check(
    TEXT,
    sees="the logits are (B, num_classes), floating-point and finite",
    compares=("values", "dtype", "unchanged"),
    view=form,
    given=True,
)
def text_shape(rng):
    batch, classes, longest = rng.sample((5, 8, 11), 3)
    texts = some_texts(rng, [longest - 1] * (batch - 1) + [longest])
    return built(classifier(classes), call(padded(texts, longest)))


@check(TEXT, sees="from texts of different lengths it learns which word decides", view=learnt, tells=right_classes)
def text_learns(rng):
    return taught(presence(rng), classifier(), steps=60, rate=0.02, tries=TRIES)


@check(TEXT, sees="it learns which of two words comes first, with one layer", view=order_learnt, tells=right_classes)
def text_order(rng):
    return taught(order(rng), classifier(classes=2, heads=MORE_HEADS), steps=120, rate=0.01, tries=TRIES)


@check(TEXT, sees="the answers are logits, no probabilities", view=logits, given=True)
def text_logits(rng):
    return taught(presence(rng), classifier(), steps=12)


@check(TEXT, sees="more padding on the right changes no logit", view=padding_effect, given=True)
def text_padding(rng):
    texts = some_texts(rng, (4, 2, 3, 1, 4))
    uses = [call(padded(texts, length)) for length in (4, 6, 11)]
    return built(classifier(layers=2, heads=MORE_HEADS), *uses, lessons=warm_up(rng))


@check(
    TEXT,
    sees="padding_id says which id is padding; any other id, 0 too, is a word",
    view=uses_agree,
    given=True,
    tells=same_logits,
)
def text_padding_id(rng):
    padding = rng.integer(2, VOCAB)
    texts = some_texts(rng, (3, 2, 1, 3, 2), padding)
    others = [[0, *text[1:]] for text in texts]
    uses = [call(padded(texts, 3, padding)), call(padded(texts, 6, padding)), call(padded(others, 3, padding))]
    return built(classifier(padding=padding), *uses, lessons=warm_up(rng, padding=padding))


@check(TEXT, sees="a text's logits do not depend on the other texts of its batch", view=rows_apart, given=True)
def text_rows(rng):
    texts = some_texts(rng, (4, 2, 3, 4, 1))
    uses = [call(padded(some, 8)) for some in (texts, texts[:1], texts[-2:], texts[1:3])]
    return built(classifier(), *uses, lessons=warm_up(rng))


@check(TEXT, sees="a text that is all padding gives finite logits", view=finite_rows, given=True)
def text_empty(rng):
    texts = some_texts(rng, (8, 0, 2, 4, 5))
    return built(classifier(), call(padded(texts, 8)), lessons=warm_up(rng))


@check(TEXT, sees="a text may have max_length tokens, whether that is 5 or 1030", view=finite_rows, given=True)
def text_max_length(rng):
    short, long = some_texts(rng, (5, 1030))
    return [
        built(classifier(max_length=5), call(padded([short], 5))),
        built(classifier(max_length=1030), call(padded([long], 1030))),
    ]


@check(TEXT, sees="in evaluation nothing is random", view=uses_agree, given=True)
def text_evaluation(rng):
    texts = padded(some_texts(rng, (8, 4, 2, 3, 5)), 8)
    return [
        built(classifier(dropout=dropout), call(texts), call(texts), lessons=warm_up(rng)) for dropout in (0.5, 0.0)
    ]


@check(
    TEXT,
    sees="in training dropout acts, with the probability that was passed: 0 drops nothing",
    view=uses_agree,
    given=True,
)
def text_dropout(rng):
    texts = padded(some_texts(rng, (8, 4, 8, 2, 5)), 8)
    return [
        built(classifier(dropout=dropout), call(texts), call(texts), lessons=warm_up(rng), training=True)
        for dropout in (0.5, 0.0)
    ]


@check(TEXT, sees="arguments that do not fit are refused", compares="error")
def text_errors(rng):
    return [
        built(classifier(max_length=5), call(padded(some_texts(rng, (6, 3)), 6))),
        built(classifier(), call(tensor([1, 2, 3], "int64"))),
        built(classifier(), call(rng.tensor(2, 3))),
        built(classifier(classes=0)),
        built(call(VOCAB, 2, 8, 3, 16, 1)),
        built(call(0, 2, 8, 2, 16, 1)),
        built(call(VOCAB, 2, -8, 2, 16, 1)),
        built(classifier(max_length=0)),
        built(call(VOCAB, 2, 8, 2, 16, 1), call(padded(some_texts(rng, (513,)), 513))),
    ]


# 8.3 train_step


HIDDEN = 7  # units of a model's hidden layer


def model(rng, *widths, outputs=1, **more):
    """A small network: output(dropout(tanh(Σ inputs[i](x_i))))."""
    shapes = {"output.weight": (outputs, HIDDEN), "output.bias": (outputs,)}
    for place, width in enumerate(widths):
        shapes |= {f"inputs.{place}.weight": (HIDDEN, width), f"inputs.{place}.bias": (HIDDEN,)}
    return network(widths, HIDDEN, outputs, rng.state(shapes), **more)


@check(STEP, sees="it gives the loss before the step")
def step_loss(rng):
    batch = (rng.tensor(5, 3), rng.tensor(5, 1))
    return call(model(rng, 3), batch, optimizer("0", 0.5), loss("mse_loss"))


@check(STEP, sees="the loss is a Python float", compares="dtype")
def step_float(rng):
    batch = (rng.tensor(4, 2), rng.tensor(4, 1))
    return call(model(rng, 2), batch, optimizer("0", 0.1), loss("mse_loss"))


@check(STEP, sees="the parameters take one step down the gradient of the loss", compares="state")
def step_update(rng):
    batch = (rng.tensor(5, 3), rng.tensor(5, 1))
    return call(model(rng, 3), batch, optimizer("0", 0.3), loss("mse_loss"))


@check(STEP, sees="gradients that were there before have no influence", compares="state")
def step_stale(rng):
    batch = (rng.tensor(5, 3), rng.tensor(5, 1))
    return call(model(rng, 3, stale=True), batch, optimizer("0", 0.3), loss("mse_loss"))


@check(
    STEP, sees="the model gets every input of the batch, the loss its last entry as it is", compares=("values", "state")
)
def step_inputs(rng):
    batch = (rng.tensor(11, 3), rng.tensor(11, 9), tensor(rng.integers(11, high=5), "int64"))
    return call(model(rng, 3, 9, outputs=5), batch, optimizer("0", 0.3), loss("cross_entropy"))


@check(STEP, sees="loss_fn gets the model's answer first and the target second", compares=("values", "state"))
def step_order(rng):
    target = tensor([[round(0.1 + 0.8 * rng.random(), 2)] for _ in range(5)])
    batch = (rng.tensor(5, 3), target)
    return call(model(rng, 3), batch, optimizer("0", 0.3), loss("binary_cross_entropy_with_logits"))


@check(
    STEP, sees="a model in evaluation is set to training first, so that its dropout acts", compares=("values", "state")
)
def step_training(rng):
    batch = (rng.tensor(5, 3), rng.tensor(5, 1))
    return call(model(rng, 3, dropout=0.5, training=False), batch, optimizer("0", 0.1), loss("mse_loss"))


@check(STEP, sees="the model is in training mode afterwards", compares="state")
def step_mode(rng):
    batch = (rng.tensor(3, 2), rng.tensor(3, 1))
    return call(model(rng, 2, training=False, shows_mode=True), batch, optimizer("0", 0.3), loss("mse_loss"))


@check(STEP, sees="a batch without input and target is refused", compares="error")
def step_errors(rng):
    return call(model(rng, 3), (rng.tensor(4, 3),), optimizer("0", 0.1), loss("mse_loss"))
