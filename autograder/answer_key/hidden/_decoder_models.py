"""Inputs and views of the hidden checks of models that write."""

from dataclasses import replace

from selfcheck.arrays import array
from selfcheck.checks import _decoder_inputs as inputs
from selfcheck.checks import _decoder_views as views
from selfcheck.plan import built, tensor

from ._lowest import by_largest

OTHER_HEADS = 4  # of a model: they divide its d_model too


def with_other_heads(step, construct):
    """A model, and a second one that was made with another number of heads, each asked by the same call."""
    other = replace(step, construct=construct(heads=OTHER_HEADS))
    return built(construct(), step, other, stirred=inputs.STIRRED)


def form_or_heads(step, answer):
    """A model's form; of two models with different numbers of heads, or two texts, 1 where their logits differ."""
    if len(step["uses"]) == 1:
        return views.form(step, answer)
    outputs = views.several(answer, 2)
    return views.unlike(answer) if outputs is None else array(int(not all(map(views.all_agree, *outputs))))


@by_largest
def in_turn_or_in_pieces(step, answer):
    """Of two texts in turn, which logits agree; of a text at once and then in pieces, where they do."""
    return (views.pairs_agree if len(step["uses"]) == 5 else views.pieces_agree)(step, answer)


def one_in_zeros(length):
    """As one_token_changed, where every token is 0 and those in their places are 1."""
    zeros = [0] * length
    ones = [[int(i == j) for i in range(length)] for j in range(length)]
    return tensor([zeros, *ones, zeros], "int64")
