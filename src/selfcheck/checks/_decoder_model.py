"""Visible checks of the language model."""

from selfcheck.plan import built, call, check, entries, made, tensor

from . import _decoder_refused
from ._decoder_inputs import (
    STIRRED,
    VOCAB,
    WIDTHS,
    gradients,
    in_another_order,
    language_model,
    one_token_changed,
    parts,
    tokens,
    without_one,
)
from ._decoder_norms import on_a_line_or_ellipse
from ._decoder_views import (
    a_vector_per_position,
    added_and_normalised,
    as_many_as_layers,
    depends,
    form,
    form_of_words,
    last_logits_differ,
    last_use_differs,
    no_shares,
    pieces_agree,
    positions_alike,
    rows_apart,
    table_learns,
    tied_output,
    uses_agree,
    without_part,
)

MODEL = "decoder.LanguageModel"


# 10.3 LanguageModel


@check(
    MODEL,
    sees="the logits are (B, L, vocab_size), floating-point and finite, those of token 0 too",
    compares=("values", "dtype", "unchanged"),
    view=form_of_words,
    given=True,
)
def model_shape(rng):
    batch, length = rng.sample((7, 9), 2)
    return [
        built(language_model(), call(tokens(rng, batch, length))),
        built(language_model(1), call(tokens(rng, 3, 1))),
    ]


@check(MODEL, sees="the logits at i depend on token i, on all before it, and on none after it", view=depends)
def model_causal(rng):
    return built(language_model(), call(one_token_changed(rng, 7)), stirred=STIRRED)


@check(MODEL, sees="the order of earlier tokens matters, with one layer already", view=last_logits_differ)
def model_order(rng):
    return built(language_model(1), call(in_another_order(rng, 7)), stirred=STIRRED)


@check(MODEL, sees="the answers are logits, neither probabilities nor their logarithms", view=no_shares, given=True)
def model_logits(rng):
    return built(language_model(), call(tokens(rng, 1, 7)), stirred=STIRRED)


@check(MODEL, sees="a text's logits do not depend on the other texts of its batch", view=rows_apart, given=True)
def model_rows(rng):
    texts = tokens(rng, 4, 7).nested()
    uses = [call(tensor(some, "int64")) for some in (texts, texts[:1], texts[-2:])]
    return built(language_model(), *uses, stirred=STIRRED)


@check(
    MODEL,
    sees="the output layer is the token embedding: one table of vocab_size · d_model, not two",
    view=tied_output,
    given=True,
)
def model_tied(rng):
    return built(call(400, 9, 3, 5, 1, max_length=7), entries())


@check(
    MODEL,
    sees="the table learns from the output too, for tokens that the text lacks, each token's row from its own logit",
    view=table_learns,
    given=True,
)
def model_tied_learns(rng):
    text, other = without_one(rng, 3, 7)
    uses = gradients(call(tokens(rng, 3, 7))), gradients(call(text), of=other)
    return [built(language_model(1), use, stirred=STIRRED) for use in uses]


@check(
    MODEL,
    sees="every matrix that is learnt has its part in the logits, those of tokens 0 too",
    view=without_part,
    given=True,
)
def model_learns(rng):
    texts = tokens(rng, 7, 9), tensor([[0] * 9] * 7, "int64")
    return [built(language_model(), gradients(call(text)), stirred=STIRRED) for text in texts]


@check(MODEL, sees="num_layers and d_ff say how much the layers learn", view=as_many_as_layers, given=True)
def model_layers(rng):
    sizes = {61: (3, 7), 6: (4, 12)}
    return [
        built(call(11, 8, 2, d_ff, 5, max_length=14), entries(), entries(tokens(rng, *text, 11)), stirred=STIRRED)
        for d_ff, text in sizes.items()
    ]


@check(MODEL, sees="the positions are learnt, max_length of them", view=a_vector_per_position, given=True)
def model_positions(rng):
    return built(call(7, 9, 3, 5, 1, max_length=4000), entries())


@check(MODEL, sees="a norm stands between the last layer and the output", view=on_a_line_or_ellipse, given=True)
def model_last_norm(rng):
    return built(call(VOCAB, 2, 1, 19, 1, max_length=29, dropout=0.0), call(tokens(rng, 5, 9)), stirred=1.0)


@check(MODEL, sees="with caches, token by token gives the logits of all at once", view=pieces_agree, given=True)
def model_caches(rng):
    text = tokens(rng, 1, 7)
    uses = [call(part, made("new_caches", "a")) for part in parts(text, (1,) * 7)]
    return built(language_model(), call(text), *uses, stirred=STIRRED)


@check(MODEL, sees="with caches, so does a prompt and then some tokens at a time", view=pieces_agree, given=True)
def model_caches_chunks(rng):
    text = tokens(rng, 1, 7)
    uses = [call(part, made("new_caches", "a")) for part in parts(text, rng.choice(((3, 1, 3), (2, 4, 1), (4, 2, 1))))]
    return built(language_model(), call(text), *uses, stirred=STIRRED)


@check(MODEL, sees="with caches, what the earlier tokens were has its influence", view=last_use_differs)
def model_caches_read(rng):
    a, b, *rest = rng.sample(range(1, VOCAB), 8)
    texts = [[a, *rest], [b, *rest], [a, *rest]], [[a]] * 3
    uses = [call(tensor(part, "int64"), made("new_caches", "a")) for part in texts]
    return built(language_model(1), *uses, stirred=STIRRED)


@check(MODEL, sees="new_caches() gives empty ones each time", view=uses_agree, given=True)
def model_caches_fresh(rng):
    text = tokens(rng, 3, 7)
    uses = [call(text, made("new_caches", name)) for name in "abc"]
    return built(language_model(1), call(text), *uses, stirred=STIRRED)


@check(MODEL, sees="max_length positions fit, with caches too", view=form, given=True)
def model_max_length(rng):
    text, most = tokens(rng, 3, 7), language_model(1, max_length=7)
    uses = [call(part, made("new_caches", "a")) for part in parts(text, (4, 3))]
    return [built(most, call(text)), built(most, *uses), built(call(3, *WIDTHS, 1), call(tokens(rng, 1, 256, 3)))]


@check(MODEL, sees="in evaluation nothing is random", view=uses_agree, given=True)
def model_evaluation(rng):
    text = tokens(rng, 1, 7)
    return built(language_model(dropout=0.5), call(text), call(text), stirred=STIRRED)


@check(
    MODEL,
    sees="in training dropout acts, with the probability that was passed: 0 drops nothing",
    view=uses_agree,
    given=True,
)
def model_dropout(rng):
    text = tokens(rng, 1, 7)
    return [
        built(language_model(dropout=dropout), call(text), call(text), stirred=STIRRED, training=True)
        for dropout in (0.5, 0.0)
    ]


@check(
    MODEL,
    sees="dropout acts on tokens and positions together, before the first layer",
    view=positions_alike,
    given=True,
)
def model_embedding_dropout(rng):
    """Where all is dropped, what is left is the same everywhere: what the last norm makes of zeros."""
    return built(language_model(dropout=0.9999999), call(tokens(rng, 1, 7)), stirred=STIRRED, training=True)


@check(
    MODEL,
    sees="dropout acts in every layer on what it adds; the sums are not normalised",
    view=added_and_normalised,
    given=True,
)
def model_layers_dropout(rng):
    """Where all is dropped that the layers add, no gradient reaches them."""
    use = gradients(call(tokens(rng, 1, 7)))
    return built(language_model(dropout=0.9999999), use, stirred=STIRRED, training=True)


@check(MODEL, sees="arguments that do not fit are refused", compares="error")
def model_errors(rng):
    return _decoder_refused.model_steps(rng, language_model(max_length=4), VOCAB, 4)
