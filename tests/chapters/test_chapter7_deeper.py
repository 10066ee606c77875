"""The claims of chapter 7's deeper pages about parts, columns and cost, computed anew."""

from __future__ import annotations

import math
import os
import re
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from attention.encoder import Encoder, EncoderLayer, attention_columns, layer_norm
from attention.masks import causal_mask, padding_mask
from attention.multi_head import load_torch_weights
from attention.positions import sinusoidal_encoding
from autograder.course.paths import BOOK

pytestmark = pytest.mark.proof(depends="book/deeper")

EXACT = 1e-10  # float64, values of order 1 to 10, some hundreds of additions


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_only_attention_lets_one_token_move_another():
    torch.manual_seed(1)
    layer = EncoderLayer(8, 2, 16, 0.0).double()

    def without_attention(x: Tensor) -> Tensor:
        return layer.norm2(x + layer.feed_forward(layer.norm1(x)))

    whole = torch.func.jacrev(lambda x: layer(x[None])[0])(random(3, 8)).norm(dim=(1, 3))
    alone = torch.func.jacrev(without_attention)(random(3, 8)).norm(dim=(1, 3))
    assert (whole > 0).all() and torch.equal(alone, alone.diag().diag())


@pytest.mark.parametrize("norm_first", [False, True])
def test_torchs_encoder_layer_with_masks_is_ours_once_polarity_is_turned(norm_first):
    torch.manual_seed(2)
    theirs = nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True, norm_first=norm_first).double()
    ours = EncoderLayer(16, 4, 32, 0.0, norm_first=norm_first).double()
    load_torch_weights(ours.self_attention, theirs.self_attn)
    for mine, other in ((ours.norm1, theirs.norm1), (ours.norm2, theirs.norm2)):
        mine.load_state_dict(other.state_dict())
    ours.feed_forward.linear1.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.linear2.load_state_dict(theirs.linear2.state_dict())
    x, real, causal = random(2, 5, 16), padding_mask(torch.tensor([5, 3])), causal_mask(5)
    expected = theirs(x, src_mask=~causal, src_key_padding_mask=~real)
    assert (ours(x, causal, real) - expected).abs().max() < EXACT
    assert (ours(x, causal.flip(-1), real) - expected).abs().max() > 0.1


# Columns


@pytest.fixture(scope="module")
def columns_page() -> dict[str, Any]:
    """The functions of the page in columns."""
    source = (BOOK / "deeper" / "encoder-columns.md").read_text("utf-8")
    names: dict[str, Any] = {"torch": torch, "attention_columns": attention_columns, "HEADS": 8}
    exec("".join(re.findall(r"^def (?:norm|layer)_columns\(.*?^    return [^\n]*\n", source, re.M | re.S)), names)
    return names


def test_a_whole_encoder_in_columns_equals_the_rows(columns_page):
    torch.manual_seed(3)
    encoder = Encoder(2, 512, 8, 2048, 0.0).double()
    for layer in encoder.layers:
        for name in ("q_proj", "k_proj", "v_proj"):
            nn.init.zeros_(getattr(layer.self_attention, name).bias)
    z = words = random(512, 24) + sinusoidal_encoding(24, 512).T  # a column per word
    with torch.no_grad():
        for layer in encoder.layers:
            z = columns_page["layer_columns"](z, layer)
        assert (z.T - encoder(words.T[None])[0]).abs().max() < EXACT


# Counts


def test_the_flop_counter_agrees_with_the_formula_part_by_part():
    d, f, n = 64, 256, 24
    layer = EncoderLayer(d, 4, f, 0.0)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        layer(torch.zeros(1, n, d))
    seen = {name: sum(kinds.values()) for name, kinds in counter.get_flop_counts().items()}
    projections = sum(seen[f"EncoderLayer.self_attention.{name}_proj"] for name in ("q", "k", "v", "out"))
    assert projections == 8 * n * d * d
    assert seen["EncoderLayer.self_attention"] - projections == 4 * n * n * d
    assert seen["EncoderLayer.feed_forward"] == 4 * n * d * f
    assert sum(seen[f"EncoderLayer.{norm}"] for norm in ("norm1", "norm2") if f"EncoderLayer.{norm}" in seen) == 0


@pytest.mark.full
def test_where_scores_and_values_overtake_the_other_parts():
    d = 512
    for n in (2 * d, 4 * d, 6 * d):
        quadratic, projections, feed_forward = 2 * n * n * d, 4 * n * d * d, 2 * n * d * 4 * d
        rivals = {2 * d: projections, 4 * d: feed_forward, 6 * d: projections + feed_forward}
        assert quadratic == rivals[n]
    share = 2 * 1024 / (2 * 1024 + 12 * d)
    assert share == 0.25
    norms, rest = 16 * 128 * d, 2 * (12 * 128 * d * d + 2 * 128 * 128 * d)
    assert 0.001 < norms / rest < 0.0015


@pytest.mark.full
def test_by_the_count_attention_beats_a_gru_up_to_n_equal_to_d_and_nothing_cheaper():
    d = 64
    attention = {n: 4 * n * d * d + 2 * n * n * d for n in (1, 32, 64, 65)}
    assert attention[32] < 6 * 32 * d * d and attention[64] == 6 * 64 * d * d and attention[65] > 6 * 65 * d * d
    assert all(work > 3 * n * d * d > 2 * n * d * d for n, work in attention.items())


# Mistakes


@pytest.mark.full
def test_the_scale_of_a_head_belongs_to_the_heads_own_width():
    words, rng = random(512, 64, seed=6), torch.Generator().manual_seed(8)
    queries, keys = (
        ((torch.randn(512, 512, generator=rng).double() / math.sqrt(512)) @ words).unflatten(0, (8, 64))
        for _ in range(2)
    )
    largest = {s: (keys.mT @ queries * s).softmax(1).amax(1).mean().item() for s in (1.0, 1 / 8, 512**-0.5)}
    assert largest[1.0] > 0.75 and 0.1 < largest[1 / 8] < 0.2 and largest[512**-0.5] < 0.06


def test_heads_beside_each_other_in_columns_multiply_the_tokens():
    rng, x = torch.Generator().manual_seed(9), random(32, 3)
    heads = [attention_columns(x, *torch.randn(3, 32, 32, generator=rng).double()) + x for _ in range(8)]
    assert torch.cat([layer_norm(y.T).T for y in heads], 1).shape == (32, 24)
    assert torch.cat([y[:4] for y in heads]).shape == x.shape  # on top of each other, 32 / 8 features each


def test_a_norm_per_head_makes_a_faint_head_as_large_as_a_loud_one():
    loud, faint = random(64, seed=10), 0.01 * random(64, seed=11)
    together = layer_norm(torch.cat([loud, faint]))
    assert together[64:].norm() < 0.1 * together[:64].norm()
    assert 0.9 < layer_norm(faint).norm() / layer_norm(loud).norm() < 1


def moments(x: Tensor) -> tuple[float, float]:
    z = (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True)
    return z.pow(3).mean().item(), z.pow(4).mean().item() - 3


def test_layer_norm_makes_neither_a_normal_distribution_nor_independent_entries():
    x = torch.empty(2000, 512, dtype=torch.float64).exponential_(generator=torch.Generator().manual_seed(12))
    before, after = moments(x), moments(layer_norm(x))
    assert after == pytest.approx(before, rel=1e-6) and before[0] > 1.8 and before[1] > 5
    correlation = torch.corrcoef(layer_norm(random(100_000, 4, seed=13)).T)
    off = correlation[~torch.eye(4, dtype=torch.bool)]
    assert (off + 1 / 3).abs().max() < 0.01  # three standard errors of a correlation over 100 000 rows


@pytest.fixture(scope="module")
def keras() -> ModuleType:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    assert keras.backend.backend() == "torch"
    return keras


def test_keras_layer_normalization_acts_on_the_last_axis_with_an_epsilon_of_its_own(keras):
    x = random(2, 5, 8, seed=15).float()
    assert keras.layers.LayerNormalization().epsilon == 1e-3
    output = keras.layers.LayerNormalization(epsilon=1e-6)(x).detach()
    assert torch.allclose(output, layer_norm(x, eps=1e-6), atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize(("width", "low", "high"), [(64, 0.0, 1e-9), (32, 0.6, 0.8), (8, 0.9, 1.0)])
def test_keys_that_are_also_values_cost_nothing_in_a_full_width_head_and_much_in_a_narrow_one(width, low, high):
    w_q, w_k, w_v = random(3, 64, width, seed=19)
    wanted = w_q @ w_k.T
    query = torch.linalg.lstsq(w_v, wanted.T).solution.T
    assert low <= ((query @ w_v.T - wanted).norm() / wanted.norm()).item() <= high


@pytest.mark.full
def test_the_exact_gelu_is_the_one_with_the_error_function():
    u = torch.linspace(-3, 3, 13, dtype=torch.float64)
    exact = u * 0.5 * (1 + torch.erf(u / math.sqrt(2)))
    assert (F.gelu(u) - exact).abs().max() < 1e-12
    assert 1e-5 < (F.gelu(u, approximate="tanh") - exact).abs().max() < 1e-3
