"""Chapter 4's table of mask conventions, proven on torch and on the real keras."""

from __future__ import annotations

import math
import os
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask, combine_masks, masked_softmax, padding_mask, to_additive
from attention.scores import scaled_dot_scores

pytestmark = pytest.mark.proof(depends="book/deeper/mask-conventions.md")

ROUNDING = 2e-6  # float32, values of order 1, a handful of additions


@pytest.fixture(scope="module")
def keras() -> ModuleType:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    assert keras.backend.backend() == "torch"
    keras.utils.set_random_seed(0)
    return keras


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def worst(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


BATCH, HEADS, WIDTH = 2, 2, 8
X, Y = random(BATCH, 3, WIDTH, seed=20), random(BATCH, 5, WIDTH, seed=21)
BY_KEY = padding_mask(torch.tensor([4, 5]))[:, None, :]
BY_PAIR = combine_masks(BY_KEY, causal_mask(3, 5))


def inverted(mask: Tensor) -> Tensor:
    """The opposite mask, but rows that block nothing stay: no empty rows."""
    return torch.where(mask.all(-1, keepdim=True), mask, ~mask)


def one_head(mask: Tensor) -> Tensor:
    return scaled_dot_product_attention(X, Y, Y, mask)[0]


SINGLE = {
    "sdpa bool": lambda m: F.scaled_dot_product_attention(X, Y, Y, attn_mask=m),
    "sdpa float": lambda m: F.scaled_dot_product_attention(X, Y, Y, attn_mask=to_additive(m)),
    "tensorflow tutorial": lambda m: (scaled_dot_scores(X, Y) + (~m).float() * -1e9).softmax(-1) @ Y,
    "mask == 0": lambda m: scaled_dot_scores(X, Y).masked_fill(m.int() == 0, -1e9).softmax(-1) @ Y,
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_single_head_convention_agrees_when_converted_and_only_then(name):
    assert worst(SINGLE[name](BY_PAIR), one_head(BY_PAIR)) < ROUNDING
    assert worst(SINGLE[name](inverted(BY_PAIR)), one_head(BY_PAIR)) > 0.1


def heads_of(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.linear(x, weight, bias).unflatten(-1, (HEADS, -1)).transpose(1, 2)


MULTI = {
    "attn_mask bool": (BY_PAIR, lambda m: {"attn_mask": (~m).repeat_interleave(HEADS, 0)}),
    "attn_mask float": (BY_PAIR, lambda m: {"attn_mask": to_additive(m).repeat_interleave(HEADS, 0)}),
    "key_padding_mask": (BY_KEY, lambda m: {"key_padding_mask": ~m[:, 0]}),
}


@pytest.mark.parametrize("name", MULTI)
def test_multihead_attention_means_the_opposite(name):
    mask, arguments = MULTI[name]
    torch.manual_seed(0)
    module = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    weights, biases = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
    parts = [heads_of(x, w, b) for x, w, b in zip((X, Y, Y), weights, biases, strict=True)]
    ours = module.out_proj(scaled_dot_product_attention(*parts, mask[:, None])[0].transpose(1, 2).flatten(-2))
    assert worst(module(X, Y, Y, **arguments(mask))[0], ours) < ROUNDING
    assert worst(module(X, Y, Y, **arguments(inverted(mask)))[0], ours) > 0.05


def test_keras_attention_takes_our_mask_and_does_not_scale(keras):
    layer = keras.layers.Attention()
    ours = one_head(BY_KEY)
    assert worst(layer([X / math.sqrt(WIDTH), Y, Y], mask=[None, BY_KEY[:, 0]]), ours) < ROUNDING
    assert worst(layer([X, Y, Y], mask=[None, BY_KEY[:, 0]]), ours) > 0.1
    assert worst(layer([X / math.sqrt(WIDTH), Y, Y], mask=[None, inverted(BY_KEY)[:, 0]]), ours) > 0.1


def test_keras_multi_head_attention_takes_our_mask(keras):
    layer = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    layer(X, Y)
    wq, bq, wk, bk, wv, bv, wo, bo = (weight.value for weight in layer.weights)
    parts = [torch.einsum("bld,dhk->bhlk", x, w) + b[:, None] for x, w, b in ((X, wq, bq), (Y, wk, bk), (Y, wv, bv))]
    ours = torch.einsum("bhlk,hkd->bld", scaled_dot_product_attention(*parts, BY_PAIR[:, None])[0], wo) + bo
    assert worst(layer(X, Y, attention_mask=BY_PAIR), ours) < ROUNDING
    assert worst(layer(X, Y, attention_mask=inverted(BY_PAIR)), ours) > 0.05


@pytest.mark.full
def test_keras_aligns_its_causal_flags_to_the_start(keras):
    start = torch.ones(3, 5, dtype=torch.bool).tril()
    _, single = keras.layers.Attention()([X, Y], use_causal_mask=True, return_attention_scores=True)
    multi = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    _, weights = multi(X, Y, use_causal_mask=True, return_attention_scores=True)
    assert torch.equal(single[0] > 0, start) and torch.equal(weights[0, 0] > 0, start)


QUERY = torch.tensor([[[1.0, 1.0]]])
MEMORY = torch.tensor([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]])
VALUE_MASK = torch.tensor([[True, True, False, False]])


def test_the_keras_example_by_hand_and_in_keras(keras):
    small = math.exp(2 - 4)
    expected = [small / (1 + small), 1 / (1 + small), 0.0, 0.0]
    assert [round(w, 4) for w in expected] == [0.1192, 0.8808, 0.0, 0.0]
    output, weights = keras.layers.Attention()(
        [QUERY, MEMORY, MEMORY], mask=[None, VALUE_MASK], return_attention_scores=True
    )
    assert weights.flatten().tolist() == pytest.approx(expected, abs=1e-6)
    assert output.flatten().tolist() == pytest.approx([1.8808, 1.8808], abs=5e-5)
    assert worst(masked_softmax(QUERY @ MEMORY.mT, VALUE_MASK), weights) < 1e-6


@pytest.mark.full
def test_keras_takes_query_value_key_in_this_order(keras):
    other = random(1, 4, 2, seed=30)
    output = keras.layers.Attention()([QUERY, MEMORY, other])
    assert worst(output, (QUERY @ other.mT).softmax(-1) @ MEMORY) < 1e-6


@pytest.mark.full
def test_a_keras_embedding_with_mask_zero_masks_the_padding_id(keras):
    ids, layer = torch.tensor([[5, 3, 0, 0]]), keras.layers.Attention()
    for mask_zero, padding_seen in ((True, 0), (False, 8)):
        embedded = keras.layers.Embedding(10, 4, mask_zero=mask_zero)(ids)
        _, weights = layer([embedded, embedded], return_attention_scores=True)
        assert weights[0, :, 2:].count_nonzero().item() == padding_seen


@pytest.mark.full
def test_what_keras_gives_on_an_empty_row(keras):
    nothing = torch.zeros(1, 4, dtype=torch.bool)
    _, weights = keras.layers.Attention()([QUERY, MEMORY, MEMORY], mask=[None, nothing], return_attention_scores=True)
    assert weights.flatten().tolist() == [0.25] * 4
    layer = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    blocked = torch.zeros(BATCH, 3, 5, dtype=torch.bool)
    fused = layer(X, Y, attention_mask=blocked)
    output, weights = layer(X, Y, attention_mask=blocked, return_attention_scores=True)
    _, _, _, _, wv, bv, wo, bo = (weight.value for weight in layer.weights)
    mean_value = (torch.einsum("bld,dhk->bhlk", Y, wv) + bv[:, None]).mean(-2)
    assert output.count_nonzero() == 0 and weights.count_nonzero() == 0
    assert worst(fused, (torch.einsum("bhk,hkd->bd", mean_value, wo) + bo)[:, None]) < ROUNDING


def test_the_first_mask_of_keras_zeroes_output_rows_and_hides_no_key(keras):
    queries, query_mask = torch.tensor([[[1.0, 1.0], [2.0, 0.0]]]), torch.tensor([[True, False]])
    masked = {"mask": [query_mask, VALUE_MASK], "return_attention_scores": True}
    output, weights = keras.layers.Attention()([queries, MEMORY, MEMORY], **masked)
    assert output[0, 1].count_nonzero() == 0 and output[0, 0].count_nonzero() == 2
    assert weights[0, 1].sum().item() == pytest.approx(1, abs=1e-6)


def keras_weights(layer) -> Tensor:
    _, weights = layer([QUERY, MEMORY, MEMORY], mask=[None, VALUE_MASK], return_attention_scores=True)
    return weights


@pytest.mark.full
@pytest.mark.parametrize("width", [2, 64])
def test_use_scale_is_a_learned_scalar_that_starts_at_one(keras, width):
    layer = keras.layers.Attention(use_scale=True)
    layer([torch.ones(1, 1, width), torch.ones(1, 4, width)])
    (scale,) = layer.weights
    assert scale.trainable and scale.shape == () and scale.value.item() == 1.0


def test_use_scale_set_to_one_over_root_d_is_our_attention(keras):
    layer = keras.layers.Attention(use_scale=True)
    ours = scaled_dot_product_attention(QUERY, MEMORY, MEMORY, VALUE_MASK)[1]
    assert worst(keras_weights(layer), ours) > 0.05
    keras_weights(layer)[0, 0, 0].backward()
    (scale,) = layer.trainable_weights
    assert scale.value.grad.item() != 0.0
    scale.assign(1 / math.sqrt(2))
    assert worst(keras_weights(layer), ours) < 1e-6


def test_one_source_means_two_things_by_a_mask():
    """Seed 003: 1 is blocked in its own function, True is visible in the Keras call beside it."""
    scores = QUERY @ MEMORY.mT / math.sqrt(2)
    read_as_blocked = (scores + VALUE_MASK.float() * -1e9).softmax(-1)
    assert read_as_blocked[..., :2].count_nonzero() == 0
    assert worst((scores + (~VALUE_MASK).float() * -1e9).softmax(-1), masked_softmax(scores, VALUE_MASK)) < 1e-6
