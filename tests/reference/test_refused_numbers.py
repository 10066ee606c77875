"""An argument that should be a number, a flag or a function, and is none, is refused in a sentence that names it."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from attention.decoder import DecoderLayer, LanguageModel, generate
from attention.dot_product import scaled_dot_product_attention
from attention.efficient import blockwise_attention, modified_attention
from attention.encoder import Encoder, EncoderLayer, FeedForward, layer_norm
from attention.multi_head import MultiHeadAttention
from attention.positions import apply_rotary, longer_base, shift_matrix, sinusoidal_encoding

pytestmark = pytest.mark.proof()
X = torch.ones(2, 3, 4)
PROMPT = torch.zeros(1, 2, dtype=torch.long)
#: By what is refused, how it is given.
TAKE_A_NUMBER = {
    "dropout_p": [lambda value: scaled_dot_product_attention(X, X, X, dropout_p=value)],
    "dropout": [
        lambda value: MultiHeadAttention(4, 2, dropout=value),
        lambda value: FeedForward(4, 8, dropout=value),
        lambda value: EncoderLayer(4, 2, 8, dropout=value),
        lambda value: Encoder(1, 4, 2, 8, dropout=value),
        lambda value: DecoderLayer(4, 2, 8, dropout=value),
        lambda value: LanguageModel(7, 4, 2, 8, 1, max_length=5, dropout=value),
    ],
    "eps": [lambda value: layer_norm(X, eps=value)],
    "base": [
        lambda value: sinusoidal_encoding(3, 4, value),
        lambda value: shift_matrix(1, 4, value),
        lambda value: apply_rotary(X, value),
        lambda value: longer_base(value, 2.0, 8),
    ],
    "factor": [lambda value: longer_base(10.0, value, 8)],
    "softcap": [lambda value: modified_attention(X, X, X, softcap=value)],
    "scale": [lambda value: modified_attention(X, X, X, scale=value)],
}
USES = [(name, use) for name, uses in TAKE_A_NUMBER.items() for use in uses]


@pytest.mark.parametrize(("name", "use"), USES)
def test_what_is_no_number_is_refused_by_name(name, use):
    for value in ("a", [1.0], torch.ones(2), 1j):
        with pytest.raises(TypeError, match=f"^{name} must be a number, got {type(value).__name__}"):
            use(value)


@pytest.mark.parametrize(("name", "use"), USES)
def test_numbers_of_every_kind_are_taken(name, use):
    for value in (1, np.float32(1.0), np.int64(1), torch.tensor(1.0)):
        use(value)


@pytest.mark.parametrize("attend", [blockwise_attention, modified_attention])
def test_a_text_is_no_flag(attend):
    for value in ("no", "False", None, 2):
        with pytest.raises(TypeError, match="is_causal must be True or False"):
            attend(X, X, X, is_causal=value)
    for value in (True, False, 1, 0, np.True_):
        torch.testing.assert_close(attend(X, X, X, is_causal=value), attend(X, X, X, is_causal=bool(value)))


def test_a_model_that_cannot_be_called_and_no_generator_are_refused():
    with pytest.raises(TypeError, match=r"model must be callable, from ids \(B, L\) to logits"):
        generate(3, PROMPT, 1)
    with pytest.raises(TypeError, match="generator must be a torch.Generator or None, got int 3"):
        generate(nn.Identity(), PROMPT, 1, generator=3)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("logit", [math.nan, -math.inf, math.inf])
def test_logits_without_probabilities_are_refused_and_their_row_is_named(temperature, logit):
    logits = torch.tensor([[[0.0, 1.0]], [[logit, logit]]])
    with pytest.raises(ValueError, match=f"finite maximum in each row, got {logit} in row 1"):
        generate(lambda ids: logits, PROMPT.expand(2, -1), 1, temperature)
    one_left = torch.tensor([[[-math.inf, 1.0]]])
    assert generate(lambda ids: one_left, PROMPT, 1, temperature).tolist() == [[0, 0, 1]]
