"""Visible checks of the translating model."""

from selfcheck.plan import built, call, check, entries, tensor

from . import _decoder_refused
from ._decoder_inputs import (
    SOURCE_VOCAB,
    STIRRED,
    VOCAB,
    WIDTHS,
    gradients,
    in_another_order,
    one_token_changed,
    same_text,
    tokens,
    translator,
    without_one,
)
from ._decoder_norms import on_a_line_or_ellipse
from ._decoder_views import (
    as_many_as_layers,
    depends,
    form,
    last_logits_differ,
    logits,
    reached_in_layers,
    rows_apart,
    uses_agree,
    without_part,
    without_part_or_other_token,
)

TRANSLATOR = "decoder.EncoderDecoder"


# 10.7 EncoderDecoder


def sources(rng, batch, length, low=1):
    """Source ids without padding."""
    return tokens(rng, batch, length, SOURCE_VOCAB, low)


def lengthened(texts, length, padding=0):
    """Ids with so many of padding on the right."""
    return tensor([row + [padding] * (length - len(row)) for row in texts], "int64")


@check(
    TRANSLATOR,
    sees="the logits are (B, T, target_vocab_size), floating-point and finite",
    compares=("values", "dtype", "unchanged"),
    view=form,
    given=True,
)
def translator_shape(rng):
    batch, source, target = rng.sample((3, 7, 9), 3)
    return built(translator(1), call(sources(rng, batch, source), tokens(rng, batch, target)))


@check(TRANSLATOR, sees="the logits at t depend on target tokens 0 … t, and on no later one", view=depends)
def translator_causal(rng):
    pair = same_text(rng, 9, 3, SOURCE_VOCAB), one_token_changed(rng, 7)
    return built(translator(1), call(*pair), stirred=STIRRED)


@check(TRANSLATOR, sees="the logits at every t depend on every source token", view=depends)
def translator_reads_all(rng):
    pair = one_token_changed(rng, 7, SOURCE_VOCAB), same_text(rng, 9, 3)
    return built(translator(1), call(*pair), stirred=STIRRED)


@check(TRANSLATOR, sees="the order of the source matters", view=last_logits_differ)
def translator_source_order(rng):
    pair = in_another_order(rng, 7, SOURCE_VOCAB), same_text(rng, 3, 9)
    return built(translator(1), call(*pair), stirred=STIRRED)


@check(TRANSLATOR, sees="the order of earlier target tokens matters", view=last_logits_differ)
def translator_target_order(rng):
    pair = same_text(rng, 3, 9, SOURCE_VOCAB), in_another_order(rng, 7)
    return built(translator(1), call(*pair), stirred=STIRRED)


@check(TRANSLATOR, sees="more padding on the right of the source changes no logit", view=uses_agree, given=True)
def translator_padding(rng):
    texts, target = sources(rng, 1, 4).nested(), tokens(rng, 1, 7)
    uses = [call(lengthened(texts, length), target) for length in (4, 5, 9)]
    return built(translator(), *uses, stirred=STIRRED)


@check(
    TRANSLATOR,
    sees="padding_id says which source id is padding; any other id, 0 too, is a word",
    view=uses_agree,
    given=True,
)
def translator_padding_id(rng):
    padding = rng.integer(2, SOURCE_VOCAB)
    allowed = [word for word in range(1, SOURCE_VOCAB) if word != padding]
    texts = [[rng.choice(allowed) for _ in range(length)] for length in (3, 2, 1)]
    others, target = [[0, *text[1:]] for text in texts], tokens(rng, 3, 7)
    pairs = ((texts, 3), (texts, 6), (others, 3))
    uses = [call(lengthened(some, length, padding), target) for some, length in pairs]
    return built(translator(1, padding_id=padding), *uses, stirred=STIRRED)


@check(TRANSLATOR, sees="a source that is all padding gives finite logits", view=form, given=True)
def translator_empty(rng):
    first, last = (sources(rng, 1, length).nested()[0] for length in (7, 2))
    return built(translator(1), call(lengthened([first, [], last], 7), tokens(rng, 3, 9)), stirred=STIRRED)


@check(
    TRANSLATOR,
    sees="a pair's logits do not depend on the other pairs of its batch, nor on how long these are",
    view=rows_apart,
    given=True,
)
def translator_rows(rng):
    texts = [sources(rng, 1, length).nested()[0] for length in (7, 1, 2, 7)]
    pairs = [lengthened(texts, 7).nested(), tokens(rng, 4, 9).nested()]
    chosen = (slice(0, 4), slice(0, 1), slice(2, 4))
    uses = [call(*(tensor(side[rows], "int64") for side in pairs)) for rows in chosen]
    return built(translator(), *uses, stirred=STIRRED)


@check(TRANSLATOR, sees="the answers are logits, no probabilities", view=logits, given=True)
def translator_logits(rng):
    return built(translator(), call(sources(rng, 1, 7), tokens(rng, 1, 9)), stirred=STIRRED)


@check(
    TRANSLATOR,
    sees="every matrix, queries' and keys' too, and the encoder's last norm have their part in the logits, and each "
    "logit is its own token's",
    view=without_part_or_other_token,
    given=True,
)
def translator_learns(rng):
    text, other = without_one(rng, 3, 9)
    all_of_them, of_one = call(sources(rng, 1, 7), tokens(rng, 1, 9)), call(sources(rng, 3, 7), text)
    return [
        built(translator(), gradients(all_of_them), stirred=STIRRED),
        built(translator(1), gradients(of_one, of=other), stirred=STIRRED),
    ]


@check(TRANSLATOR, sees="no target token is padding: padding_id is a word there", view=without_part, given=True)
def translator_target_words(rng):
    padding = rng.integer(1, SOURCE_VOCAB)
    allowed = [word for word in range(SOURCE_VOCAB) if word != padding]
    source = tensor([rng.sample(allowed, 7) for _ in range(3)], "int64")
    target = tensor([[padding] * 9] * 3, "int64")
    return built(translator(1, padding_id=padding), gradients(call(source, target)), stirred=STIRRED)


@check(
    TRANSLATOR,
    sees="encoder and decoder have num_layers layers each, of width d_ff",
    view=as_many_as_layers,
    given=True,
)
def translator_layers(rng):
    def step(d_ff, batch, source, target):
        pair = tokens(rng, batch, source, 11), tokens(rng, batch, target, 17)
        return built(call(11, 17, 8, 2, d_ff, 5, max_length=14), entries(), entries(*pair), stirred=STIRRED)

    return [step(61, 3, 7, 12), step(6, 4, 13, 5)]


@check(TRANSLATOR, sees="a norm stands between the last layer and the output", view=on_a_line_or_ellipse, given=True)
def translator_last_norm(rng):
    construct = call(SOURCE_VOCAB, VOCAB, 2, 1, 19, 1, max_length=29, dropout=0.0)
    return built(construct, call(sources(rng, 5, 15), tokens(rng, 5, 9)), stirred=1.0)


@check(TRANSLATOR, sees="max_length tokens fit on either side", view=form, given=True)
def translator_max_length(rng):
    uses = [call(sources(rng, 3, source), tokens(rng, 3, target)) for source, target in ((7, 5), (5, 7))]
    long = call(sources(rng, 1, 256), tokens(rng, 1, 256, 3))
    return [built(translator(1, max_length=7), *uses), built(call(SOURCE_VOCAB, 3, *WIDTHS, 1), long)]


@check(TRANSLATOR, sees="in evaluation nothing is random", view=uses_agree, given=True)
def translator_evaluation(rng):
    pair = sources(rng, 1, 7), tokens(rng, 1, 9)
    return built(translator(dropout=0.5), call(*pair), call(*pair), stirred=STIRRED)


@check(
    TRANSLATOR,
    sees="in training dropout acts, with the probability that was passed: 0 drops nothing",
    view=uses_agree,
    given=True,
)
def translator_dropout(rng):
    pair = sources(rng, 1, 7), tokens(rng, 1, 9)
    return [
        built(translator(dropout=dropout), call(*pair), call(*pair), stirred=STIRRED, training=True)
        for dropout in (0.5, 0.0)
    ]


@check(
    TRANSLATOR, sees="dropout acts in every layer, on either side, on what it adds", view=reached_in_layers, given=True
)
def translator_layers_dropout(rng):
    """Where all is dropped that the layers add, no gradient reaches them."""
    use = gradients(call(sources(rng, 1, 7), tokens(rng, 1, 9)))
    return built(translator(dropout=0.9999999), use, stirred=STIRRED, training=True)


@check(TRANSLATOR, sees="arguments that do not fit are refused", compares="error")
def translator_errors(rng):
    return _decoder_refused.translator_steps(rng, translator(max_length=4), (SOURCE_VOCAB, VOCAB), 4)
