"""The claims of chapter 7 about one encoder layer: its numbers, its parts, its cost, its usual mistakes."""

from __future__ import annotations

import math
import os
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from attention.encoder import Encoder, EncoderLayer, attention_columns, layer_norm
from attention.masks import causal_mask, padding_mask
from attention.multi_head import load_torch_weights
from attention.positions import sinusoidal_encoding
from attention.worked_example import EXAMPLE, self_attention

pytestmark = pytest.mark.proof(depends="book/chapters/07-encoder.md")

PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
EXACT = 1e-10  # float64, values of order 1 to 10, some hundreds of additions
NUMBERS = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in EXAMPLE.items()}


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def shown(tensor: Tensor, *numbers: float) -> bool:
    return torch.allclose(tensor, torch.tensor(numbers, dtype=torch.float64), rtol=0, atol=PRINTED)


def layer_by_hand() -> dict[str, Tensor]:
    """Every stage of the running example's encoder layer, (3, 4) or (3, 6), without the package's encoder."""
    heads = []
    for suffix in ("", "2"):
        matrices = [EXAMPLE[f"w_{part}{suffix}"] for part in ("query", "key", "value")]
        heads.append(torch.as_tensor(self_attention(EXAMPLE["inputs"], *matrices, scale=True)[0]))
    stages = {"attended": torch.cat(heads, -1) @ NUMBERS["w_output"]}
    stages["first sum"] = NUMBERS["inputs"] + stages["attended"]
    stages["first norm"] = F.layer_norm(stages["first sum"], (4,))
    stages["hidden"] = stages["first norm"] @ NUMBERS["w_ff1"] + NUMBERS["b_ff1"]
    stages["ffn"] = stages["hidden"].relu() @ NUMBERS["w_ff2"] + NUMBERS["b_ff2"]
    stages["second sum"] = stages["first norm"] + stages["ffn"]
    stages["output"] = F.layer_norm(stages["second sum"], (4,))
    return stages


# The layer by hand


def test_the_residual_adds_what_attention_says_to_what_the_token_was():
    stages = layer_by_hand()
    assert shown(stages["attended"][0], 4.2019, 9.4041, 4.7889, 4.2782)
    assert shown(stages["first sum"][0], 5.2019, 9.4041, 5.7889, 4.2782)
    assert NUMBERS["inputs"].max() == 2 and stages["first sum"].max() > 11


def test_the_three_steps_of_the_norm_on_token_1():
    row = layer_by_hand()["first sum"][0]
    mean = row.sum() / 4
    deviation = row - mean
    variance = deviation.square().sum() / 4
    assert shown(torch.stack([row.sum(), mean]), 24.6731, 6.1683)
    assert shown(deviation, -0.9664, 3.2358, -0.3794, -1.8900)
    assert shown(deviation.square(), 0.9339, 10.4703, 0.1439, 3.5723)
    assert shown(
        torch.stack([deviation.square().sum(), variance, torch.sqrt(variance + 1e-5)]), 15.1204, 3.7801, 1.9442
    )
    assert shown(deviation / torch.sqrt(variance + 1e-5), -0.4970, 1.6643, -0.1951, -0.9721)
    assert shown(layer_norm(layer_by_hand()["first sum"])[0], -0.4970, 1.6643, -0.1951, -0.9721)


def test_the_feed_forward_layer_on_token_1_and_who_fires():
    stages = layer_by_hand()
    assert [round(u, 3) for u in stages["hidden"][0].tolist()] == [0.308, 0.692, 1.302, -0.636, 0.167, 3.832]
    fires = (stages["hidden"] > 0).T.tolist()
    assert fires[0] == [True, False, False] and fires[3] == [False, True, False]
    assert all(fires[unit] == [True] * 3 for unit in (1, 2, 4, 5))
    assert shown(stages["ffn"][0], 0.4751, -2.1394, 5.1334, -1.1673)


def test_the_second_residual_and_norm_complete_the_layer():
    stages = layer_by_hand()
    row = stages["second sum"][0]
    assert shown(row, -0.0220, -0.4751, 4.9383, -2.1394)
    assert shown(torch.stack([row.mean(), row.var(correction=0)]), 0.5755, 6.9663)
    assert shown(stages["output"][0], -0.2264, -0.3980, 1.6530, -1.0286)


def test_layer_norm_forgets_the_level_and_the_size_of_a_token():
    row = layer_by_hand()["first sum"]
    assert (layer_norm(100 * row + 7) - layer_norm(row)).abs().max() < PRINTED
    assert layer_norm(torch.full((4,), 5.0)).count_nonzero() == 0
    gain, bias = torch.tensor([2.0, 1, 1, 1]).double(), torch.tensor([0.0, 0, 0, 1]).double()
    assert shown(layer_norm(row, gain, bias)[0], -0.9941, 1.6643, -0.1951, 0.0279)


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


def test_the_column_form_of_the_example_is_the_row_form_transposed():
    matrices = [NUMBERS[f"w_{part}"].T for part in ("query", "key", "value")]
    output = attention_columns(NUMBERS["inputs"].T, *matrices)
    assert shown(output[:, 0], 1.8639, 6.3194, 1.7042)


def norm_columns(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    mean = x.mean(0)
    variance = (x - mean).square().mean(0)
    return norm.weight[:, None] * (x - mean) / torch.sqrt(variance + norm.eps) + norm.bias[:, None]


def layer_columns(x: Tensor, layer: EncoderLayer, heads: int) -> Tensor:
    a, f = layer.self_attention, layer.feed_forward
    weights = zip(*(p.weight.chunk(heads) for p in (a.q_proj, a.k_proj, a.v_proj)), strict=True)
    stacked = torch.cat([attention_columns(x, *each) for each in weights])
    y = norm_columns(x + a.out_proj.weight @ stacked + a.out_proj.bias[:, None], layer.norm1)
    hidden = torch.relu(f.linear1.weight @ y + f.linear1.bias[:, None])
    return norm_columns(y + f.linear2.weight @ hidden + f.linear2.bias[:, None], layer.norm2)


def test_a_whole_encoder_in_columns_equals_the_rows():
    torch.manual_seed(3)
    encoder = Encoder(2, 512, 8, 2048, 0.0).double()
    for layer in encoder.layers:
        for name in ("q_proj", "k_proj", "v_proj"):
            nn.init.zeros_(getattr(layer.self_attention, name).bias)
    z = words = random(512, 24) + sinusoidal_encoding(24, 512).T  # a column per word
    with torch.no_grad():
        for layer in encoder.layers:
            z = layer_columns(z, layer, 8)
        assert (z.T - encoder(words.T[None])[0]).abs().max() < EXACT


# Counts


def test_parameters_are_those_of_the_formula():
    layer, d, f = EncoderLayer(512, 8, 2048), 512, 2048
    parts = [layer.self_attention, layer.feed_forward, nn.ModuleList([layer.norm1, layer.norm2])]
    counted = [sum(p.numel() for p in part.parameters()) for part in parts]
    assert counted == [4 * (d * d + d), 2 * d * f + f + d, 4 * d] == [1_050_624, 2_099_712, 2_048]
    assert sum(p.numel() for p in layer.parameters()) == 3_152_384


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


def test_the_other_formulas_for_the_norm_differ_where_the_page_says():
    row = layer_by_hand()["first sum"][:1]
    deviation, variance = row - row.mean(), row.var(correction=0)
    right, outside = layer_norm(row), deviation / (variance.sqrt() + 1e-5)
    assert (right - outside).abs().max() < 1e-4  # agrees on ordinary data
    by_variance = deviation / (variance + 1e-5)
    assert by_variance.std(correction=0).item() == pytest.approx(1 / variance.sqrt().item(), rel=1e-4)
    flat = 0.001 * layer_norm(row)
    sizes = [
        layer_norm(flat).square().mean().sqrt().item(),
        (flat / (flat.var(correction=0).sqrt() + 1e-5)).square().mean().sqrt().item(),
        (flat / (flat.var(correction=0) + 1e-5)).square().mean().sqrt().item(),
    ]
    assert sizes == pytest.approx([0.302, 0.990, 90.909], rel=2e-3)
    assert math.sqrt(3 / 4) == pytest.approx(1 - 0.134, abs=1e-3)  # an eighth, for d = 4
    assert math.sqrt(511 / 512) == pytest.approx(1 - 0.001, abs=1e-4)


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


@pytest.mark.full
def test_a_norm_along_axis_1_of_a_batch_mixes_the_tokens():
    x = random(2, 5, 8, seed=14)
    other = x.clone()
    other[:, 4] += 1 + torch.arange(8)

    def along(x: Tensor, axis: int) -> Tensor:
        return (x - x.mean(axis, keepdim=True)) / torch.sqrt(x.var(axis, correction=0, keepdim=True) + 1e-6)

    moved = {axis: (along(other, axis) - along(x, axis))[:, :4].abs().max().item() for axis in (1, -1)}
    assert moved[1] > 0.5 and moved[-1] == 0


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
