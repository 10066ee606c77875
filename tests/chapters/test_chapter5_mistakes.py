"""The claims of chapter 5 and its deeper pages about torch's layer, sixty tokens and the mistakes to be found."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask
from attention.multi_head import load_torch_weights, merge_heads, split_heads
from tests.chapters.chapter5 import FILES, HEADS_ELSEWHERE, PAGE, ROUNDING, layer_of, random, worst

pytestmark = pytest.mark.proof(depends=FILES)

# Torch's packed weights


def test_packed_weights_agree_with_torch_and_its_conventions_are_the_opposite():
    torch.manual_seed(13)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        theirs.out_proj.bias.normal_()
    ours = layer_of(12, 3)
    load_torch_weights(ours, theirs)
    query, memory, mask, real = random(2, 4, 12), random(2, 6, 12, seed=1), causal_mask(4, 6), torch.ones(2, 6).bool()
    real[1, 3:] = False
    output, weights = ours(query, memory, memory, mask, real)
    masks = {"attn_mask": ~mask, "key_padding_mask": ~real}
    their_output, their_weights = theirs(query, memory, memory, average_attn_weights=False, **masks)
    _, averaged = theirs(query, memory, memory, **masks)
    assert worst(output, their_output) < ROUNDING and worst(weights, their_weights) < ROUNDING
    assert averaged.shape == (2, 4, 6) and worst(averaged, weights.mean(1)) < ROUNDING


def test_torch_returns_weights_after_dropout_and_we_before_it():
    torch.manual_seed(16)
    theirs, x = nn.MultiheadAttention(12, 3, dropout=0.5, batch_first=True).double().train(), random(2, 6, 12)
    ours = layer_of(12, 3, dropout=0.5).train()
    load_torch_weights(ours, theirs)
    assert (theirs(x, x, x, average_attn_weights=False)[1].sum(-1) - 1).abs().max() > 0.1
    assert (ours(x, x, x)[1].sum(-1) - 1).abs().max() < ROUNDING


def test_torch_reads_length_first_and_attends_across_the_batch():
    torch.manual_seed(21)
    x = random(2, 6, 16)
    other = x.clone()
    other[1] += 1
    for batch_first, leaks in ((False, True), (True, False)):
        layer = nn.MultiheadAttention(16, 4, batch_first=batch_first).double().eval()
        moved = worst(layer(other, other, other)[0][0], layer(x, x, x)[0][0])
        assert (moved > 0.01) is leaks and (leaks or moved == 0)


# Sixty tokens


def test_sixty_tokens_of_256_features_in_eight_heads():
    torch.manual_seed(17)
    to_query, to_key, to_value = (nn.Linear(256, 512) for _ in range(3))
    to_output, y = nn.Linear(512, 512), torch.rand(1, 60, 256)
    q, k, v = (split_heads(p(y), 8) for p in (to_query, to_key, to_value))
    heads, weights = scaled_dot_product_attention(q, k, v)
    assert q.shape == heads.shape == (1, 8, 60, 64) and weights.shape == (1, 8, 60, 60)
    assert weights.numel() == 28_800 and r"28\,800" in HEADS_ELSEWHERE
    assert to_output(merge_heads(heads)).shape == (1, 60, 512)


# Find the mistake


def test_heads_along_the_sequence_make_it_eight_times_as_long():
    heads = [random(6, 16, seed=seed) for seed in range(8)]
    assert torch.cat(heads, 0).shape == (48, 16) and (8 * 6) ** 2 == 64 * 6**2
    assert torch.cat([head[:, :2] for head in heads], -1).shape == (6, 16)


def test_without_an_output_projection_a_feature_hears_one_head():
    layer, x = layer_of(16, 4), random(1, 6, 16)
    q, k, v = (split_heads(p(x), 4) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    changed = v.clone()
    changed[:, 2] += 1
    before, after = (merge_heads(scaled_dot_product_attention(q, k, values)[0]) for values in (v, changed))
    assert ((after - before).abs().amax((0, 1)) > 0).nonzero().flatten().tolist() == [8, 9, 10, 11]
    assert ((layer.out_proj(after) - layer.out_proj(before)).abs().amax((0, 1)) > 1e-6).all()


def test_an_average_of_heads_is_narrow_and_cancels_opposites():
    heads = split_heads(random(1, 6, 16), 4)
    assert heads.mean(1).shape == (1, 6, 4)
    assert worst(torch.stack([heads[:, 0], -heads[:, 0]]).mean(0), torch.zeros(1, 6, 4).double()) == 0


def test_five_words_given_as_a_batch_of_five_attend_to_themselves_alone():
    layer, words = layer_of(512, 8), random(5, 512)
    _, alone = layer(words[:, None], words[:, None], words[:, None])
    _, together = layer(words[None], words[None], words[None])
    assert alone.shape == (5, 8, 1, 1) and (alone == 1).all()
    assert together.shape == (1, 8, 5, 5) and not (together == 1).any()


def test_dividing_by_the_width_of_the_model_flattens_the_weights_unless_there_is_one_head():
    x = 2 * random(1, 60, 512)
    assert f"{math.sqrt(8):.2f}" in PAGE
    for num_heads, differs in ((8, True), (1, False)):
        layer = layer_of(512, num_heads)
        q, k = (split_heads(p(x), num_heads) for p in (layer.q_proj, layer.k_proj))
        _, right = layer(x, x, x)
        wrong = (q @ k.mT / math.sqrt(512)).softmax(-1)
        more = (torch.special.entr(wrong).sum(-1) - torch.special.entr(right).sum(-1)).mean().item()
        assert (more > 0.1) is differs and (differs or abs(more) < ROUNDING)
