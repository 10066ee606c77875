"""Visible checks of the decoder: loss, probabilities and generation here; the layer and the models beside it.

generate is given a small language model, a table: what it answers depends on all tokens before, and on its mode.
"""

from dataclasses import replace

from selfcheck.plan import call, check, generator, tensor

from . import (
    _decoder_layer,  # noqa: F401
    _decoder_model,  # noqa: F401
    _decoder_refused,
    _decoder_translator,  # noqa: F401
    _generators,
)
from . import _decoder_texts as texts
from ._dtypes import DTYPES

LOSS, CHANCES, TEXT = "decoder.next_token_loss", "decoder.next_token_probabilities", "decoder.generate"


# 10.4 next_token_loss


@check(LOSS, sees="the logits at t are judged by the token at t + 1, in nats, and the mean is taken, large or not")
def loss_shift(rng):
    large = call(texts.large_logits(rng, 2, 4, 5), texts.ids(rng, 2, 4, 5))
    return [texts.lesson(rng, *rng.sizes(3, 2, 9)), large]


@check(LOSS, sees="under a mask the mean is that over the real targets of all rows together")
def loss_mask(rng):
    return texts.lesson(rng, 3, 7, 5, texts.right_padded(rng.sample((2, 3, 4, 7), 3), 7))


@check(LOSS, sees="whether a target counts is said by its own place in the mask, wherever padding stands")
def loss_mask_anywhere(rng):
    mask = [[False, False, True, True, True], [True, False, True, False, True]]
    return texts.lesson(rng, 2, 5, 8, rng.sample(mask, 2))


@check(LOSS, sees="without a real target the loss is 0", given=True)
def loss_nothing(rng):
    return texts.nothing_to_predict(rng)


@check(LOSS, sees="logits at padding have no influence, NaN neither")
def loss_padding(rng):
    logits = rng.normal(2, 5, 8)
    logits[0][2] = [float("nan")] * 8
    logits[0][3] = [float("inf"), 0.0] * 3 + [float("nan")] * 2
    logits[0][4] = logits[1][4] = [float("nan")] * 8
    return call(tensor(logits), texts.ids(rng, 2, 5, 8), tensor(texts.right_padded((2, 5), 5)))


@check(LOSS, sees="gradients reach the logits that predict a real token, and no others", compares="gradient")
def loss_gradient(rng):
    return texts.lesson(rng, 2, 5, 8, texts.right_padded((5, 3), 5))


@check(LOSS, sees="without a real target the gradients are zero", compares="gradient", given=True)
def loss_nothing_gradient(rng):
    return texts.nothing_to_predict(rng)


@check(LOSS, sees="the loss has the dtype of the logits", compares="dtype")
def loss_dtype(rng):
    return [texts.lesson(rng, 2, 3, 4, dtype=dtype) for dtype in DTYPES]


@check(LOSS, sees="the arguments are left as they were", compares="unchanged")
def loss_unchanged(rng):
    return texts.lesson(rng, 2, 5, 3, texts.right_padded((4, 3), 5))


@check(LOSS, sees="arguments that do not fit are refused", compares="error")
def loss_errors(rng):
    return _decoder_refused.loss_calls(rng)


# 10.5 next_token_probabilities


@check(CHANCES, sees="with nothing set it is the softmax over the vocabulary, whatever axes stand in front")
def chances_softmax(rng):
    return [call(texts.spread_logits(rng, *shape)) for shape in ((), (4,), (2, 5), (3, 1))]


@check(CHANCES, sees="the logits are divided by the temperature, before the softmax")
def chances_temperature(rng):
    return [call(texts.spread_logits(rng, 4), temperature) for temperature in (0.5, 2.5)]


@check(CHANCES, sees="at temperature 0 all weight lies on the largest logit")
def chances_greedy(rng):
    return [call(texts.spread_logits(rng, 4), temperature) for temperature in (0, 0.0)]


@check(CHANCES, sees="a small temperature, large logits and rows of -inf give no NaN: such a row gives zeros")
def chances_sharp(rng):
    rows = rng.sample([[900.0, -400.0, 2.0, 1.5], [-800.0, -801.0, -900.0, -802.5]], 2)
    nothing = [float("-inf")] * 4
    beside = tensor([nothing, [1.5, float("-inf"), -0.5, 0.5]])
    return [
        call(tensor(rows)),
        call(tensor([[30.0, 29.98, -7.0], [-12.0, -31.0, -12.01]]), 0.02),
        *(call(beside, *settings) for settings in ((), (0,))),
        *(call(tensor([nothing]), *settings) for settings in ((0.8, 2), (0.8, None, 0.7))),
    ]


@check(CHANCES, sees="top_k keeps the most probable, whose sum is 1 again")
def chances_top_k(rng):
    return [call(texts.spread_logits(rng, 4), top_k=top_k) for top_k in rng.sample((1, 2, 3, 4), 2)]


@check(
    CHANCES,
    sees="of tied logits top_k are kept, one at temperature 0, and no more than reach top_p",
    view=texts.in_order,
)
def chances_ties(rng):
    shared = [call(texts.tied(rng, 6, 3, 0), 0), call(texts.tied(rng, 4, 4, 0), top_p=0.5)]
    return [call(texts.tied(rng, 7, 4, 1), top_k=3), call(texts.tied(rng, 5, 5, 0), top_k=2), *shared]


@check(CHANCES, sees="a top_k of the vocabulary's size or more keeps all")
def chances_top_k_large(rng):
    return [call(texts.spread_logits(rng, 2), top_k=top_k) for top_k in (6, 7, 50)]


@check(CHANCES, sees="top_p keeps tokens until their sum reaches it, that which crosses it included")
def chances_top_p(rng):
    chances = (0.4, 0.3, 0.2, 0.07, 0.03)
    rows = tensor([texts.chosen_logits(rng, chances).nested() for _ in range(3)])
    return [call(texts.chosen_logits(rng, chances), top_p=top_p) for top_p in (0.55, 0.75)] + [call(rows, top_p=0.95)]


@check(CHANCES, sees="where the most probable token alone reaches top_p, it is kept alone")
def chances_top_p_small(rng):
    return [call(texts.chosen_logits(rng, (0.6, 0.25, 0.1, 0.05)), top_p=top_p) for top_p in (0.5, 0.01)]


@check(CHANCES, sees="a top_p of 1 keeps all")
def chances_top_p_one(rng):
    return call(texts.spread_logits(rng, 4), top_p=1.0)


@check(CHANCES, sees="top_k cuts first, and top_p counts what is left as 1")
def chances_both(rng):
    return [
        call(texts.chosen_logits(rng, (0.4, 0.3, 0.2, 0.1)), top_k=2, top_p=0.55),
        call(texts.chosen_logits(rng, (0.3, 0.25, 0.2, 0.15, 0.1)), top_k=3, top_p=0.7),
        call(texts.chosen_logits(rng, (0.5, 0.3, 0.15, 0.05)), top_k=3, top_p=0.6),
    ]


@check(CHANCES, sees="top_p looks at the probabilities after the temperature")
def chances_temperature_first(rng):
    logits = texts.chosen_logits(rng, (0.62, 0.26, 0.08, 0.04))
    return [call(logits, 2.0, top_p=0.6), call(logits, 0.5, top_p=0.8)]


@check(CHANCES, sees="the probabilities have the dtype of the logits", compares="dtype")
def chances_dtype(rng):
    return [call(texts.spread_logits(rng, 2, dtype=dtype), *more) for dtype in DTYPES for more in ((0.8, 4, 0.9), (0,))]


@check(CHANCES, sees="the logits are left as they were", compares="unchanged")
def chances_unchanged(rng):
    logits = [texts.spread_logits(rng, 2) for _ in range(4)]
    return [call(logits[0], 0.8, 3), call(logits[1], top_p=0.5), call(logits[2], top_k=3), call(logits[3], 0)]


@check(CHANCES, sees="arguments that do not fit are refused", compares="error")
def chances_errors(rng):
    return _decoder_refused.probability_calls(rng)


# 10.6 generate


@check(
    TEXT,
    sees="the prompt comes back with what was written: each token from the last logits of all before it",
    compares=("values", "dtype"),
)
def text_greedy(rng):
    narrow = texts.text(rng, 5, 1, 3)
    model, prompt, new = narrow.args
    return [texts.text(rng, 3, 5, 9), narrow, call(model, tensor(prompt.nested(), "int32"), new)]


@check(TEXT, sees="any function from ids to logits will do, no module alone, and logits of the newest token alone")
def text_function(rng):
    return [texts.text(rng, 3, 1, 5, plain=True), texts.text(rng, 5, 3, 9, plain=True, newest=True)]


@check(TEXT, sees="a module runs in evaluation mode")
def text_evaluation(rng):
    return texts.text(rng, 3, 5, 9, training=True)


@check(TEXT, sees="afterwards a module is in the mode in which it came", compares="state", given=True)
def text_mode(rng):
    return [texts.text(rng, 2, 3, 1, training=training) for training in (True, False)]


@check(TEXT, sees="nothing is recorded for gradients", compares="state", given=True)
def text_recorded(rng):
    return texts.text(rng, 2, 3, 2)


@check(TEXT, sees="each token is drawn as often as the softmax says, at any temperature", view=texts.how_often)
def text_frequencies(rng):
    return [texts.lottery(rng, temperature=temperature) for temperature in (1.0, 4.0, 0.25)]


@check(TEXT, sees="each row draws for itself, and each call", view=texts.draws_differ, given=True)
def text_rows(rng):
    return [texts.lottery(rng, 34), replace(texts.lottery(rng, 34), times=2)]


@check(
    TEXT,
    sees="temperature, top_k and top_p have their effect on what is drawn, and the prompt stays as it was",
    compares=("values", "unchanged"),
)
def text_settings(rng):
    settings = (
        {"temperature": 0.001},
        {"temperature": 3.0, "top_k": 1},
        {"temperature": 3.0, "top_p": 0.01},
        {"temperature": 3.0, "top_k": 5, "top_p": 0.01},
    )
    return [texts.text(rng, 9, 3, 5, **more) for more in settings]


def _several_generators(rng):
    return _generators.in_several_states(rng, texts.lottery(rng, 34))


@check(
    TEXT,
    sees="the random numbers come from the generator that is given",
    compares="generator",
    outside=_several_generators,
    outside_view=_generators.draws_follow,
)
def text_generator(rng):
    return texts.text(rng, 2, 3, 4, temperature=2.0, generator=generator(rng.integer(1, 1000)))


@check(TEXT, sees="a row that has ended is filled with end_id, and the others go on")
def text_end(rng):
    return texts.ending(rng, 5, 9, rng.sample((2, 4, None), 3))


@check(TEXT, sees="it stops when all rows have ended, and not before; 0 is an id like others")
def text_stops(rng):
    return [texts.ending(rng, 5, 9, rng.sample((1, 2, 3), 3), end=end) for end in (None, 0)]


@check(TEXT, sees="an end_id in the prompt does not count")
def text_end_in_prompt(rng):
    return texts.ending(rng, 5, 9, rng.sample((2, 4, None), 3), in_prompt=True)


@check(TEXT, sees="with max_new_tokens = 0 the prompt comes back", given=True)
def text_nothing_new(rng):
    return texts.text(rng, 3, 5, 0)


@check(TEXT, sees="arguments that do not fit are refused", compares="error")
def text_errors(rng):
    return _decoder_refused.text_calls(rng)
