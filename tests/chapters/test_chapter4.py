"""The claims of chapter 4 about masks, proven."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

from attention.dot_product import scaled_dot_product_attention
from attention.masks import (
    causal_mask,
    combine_masks,
    document_mask,
    masked_softmax,
    padding_mask,
    sliding_window_mask,
    to_additive,
)
from attention.scores import scaled_dot_scores
from attention.worked_example import EXAMPLE

pytestmark = pytest.mark.proof(depends="book/chapters/04-masks.md")

PAGE = (Path(__file__).parents[2] / "book" / "chapters" / "04-masks.md").read_text(encoding="utf-8")

ROUNDING = 2e-6  # float32, values of order 1, a handful of additions


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def running_example() -> tuple[Tensor, Tensor, Tensor]:
    inputs = torch.tensor(EXAMPLE["inputs"], dtype=torch.float64)
    return tuple(inputs @ torch.tensor(EXAMPLE[f"w_{name}"], dtype=torch.float64) for name in ("query", "key", "value"))


def worst(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


# Three attempts


def test_the_causal_weights_of_the_running_example_by_hand():
    query, key, value = running_example()
    output, weights = scaled_dot_product_attention(query, key, value, causal_mask(3))
    small = math.exp((4 - 16) / math.sqrt(3))
    row = [small / (1 + small), 1 / (1 + small), 0.0]
    assert weights[1].tolist() == pytest.approx(row, abs=1e-12)
    assert [round(w, 4) for w in row] == [0.0010, 0.9990, 0.0]
    assert output[0].tolist() == [1.0, 2.0, 3.0]
    assert output[1].tolist() == pytest.approx([1.9990, 7.9941, 0.0029], abs=5e-5)


def test_weights_erased_after_the_softmax_do_not_sum_to_one():
    query, key, _ = running_example()
    sums = (scaled_dot_scores(query, key).softmax(-1) * causal_mask(3)).sum(-1)
    assert sums.tolist() == pytest.approx([0.1361, 0.9097, 1.0], abs=5e-5)


def test_renormalising_is_the_masked_softmax_on_paper():
    scores, mask = random(5, 5, dtype=torch.float64), causal_mask(5)
    kept = scores.softmax(-1) * mask
    assert worst(kept / kept.sum(-1, keepdim=True), masked_softmax(scores, mask)) < 1e-15


@pytest.mark.parametrize(("dtype", "last_good"), [(torch.float32, 103.0), (torch.float16, 17.0)])
def test_renormalising_breaks_where_a_forbidden_score_is_large(dtype, last_good):
    mask = torch.tensor([True, False])
    for gap, finite in ((last_good, True), (last_good + 1, False)):
        scores = torch.tensor([0.0, gap], dtype=dtype)
        kept = scores.softmax(-1) * mask
        assert bool((kept / kept.sum()).isfinite().all()) is finite
        assert masked_softmax(scores, mask).tolist() == [1.0, 0.0]


def future_leak(weights_of) -> float:
    inputs = 0.5 * random(6, 4, seed=1)
    projections = [torch.tensor(EXAMPLE[f"w_{name}"], dtype=torch.float32) for name in ("query", "key", "value")]

    def attend(x: Tensor) -> Tensor:
        query, key, value = (x @ projection for projection in projections)
        return weights_of(scaled_dot_scores(query, key)) @ value

    found = 0.0
    for t in range(1, 6):
        changed = inputs.clone()
        changed[t:] = random(6 - t, 4, seed=t + 1)
        found = max(found, worst(attend(changed)[:t], attend(inputs)[:t]))
    return found


def test_the_leak_test_passes_the_right_mask_and_fails_the_wrong_ones():
    see = causal_mask(6)
    assert future_leak(lambda s: masked_softmax(s, see)) == 0.0
    assert future_leak(lambda s: s.softmax(-1)) > 0.1
    assert future_leak(lambda s: s.softmax(-1) * see) > 0.1
    assert future_leak(lambda s: masked_softmax(s, ~see)) > 0.1


def test_masked_scores_and_hidden_keys_get_a_gradient_of_exactly_zero():
    scores = random(4, 4).requires_grad_()
    (masked_softmax(scores, causal_mask(4)) @ random(4, 3, seed=1)).square().sum().backward()
    assert scores.grad.triu(1).count_nonzero() == 0 and scores.grad.tril().count_nonzero() > 0
    key = random(4, 3, seed=2).requires_grad_()
    hidden = torch.tensor([True, True, False, True])
    scaled_dot_product_attention(random(4, 3, seed=3), key, random(4, 3, seed=4), hidden)[0].square().sum().backward()
    assert key.grad[2].count_nonzero() == 0 and key.grad[[0, 1, 3]].count_nonzero() == 9


def test_a_mask_does_not_clean_a_value_that_is_nan():
    query, value = random(1, 3, 4), random(1, 3, 4, seed=1)
    value[0, 2] = torch.nan
    mask = torch.tensor([True, True, False])
    assert scaled_dot_product_attention(query, query, value, mask)[0].isnan().all()
    assert F.scaled_dot_product_attention(query, query, value, attn_mask=mask.expand(3, 3)).isnan().all()


# Padding


def test_a_padding_mask_along_the_query_axis_leaves_the_padding_visible():
    x, real = random(2, 4, 8), padding_mask(torch.tensor([2, 4]))
    _, right = scaled_dot_product_attention(x, x, x, real.unsqueeze(-2))
    _, wrong = scaled_dot_product_attention(x, x, x, real.unsqueeze(-1))
    assert right[0, :, 2:].count_nonzero() == 0
    assert wrong[0, :2, 2:].gt(0).all() and wrong[0, 2:].count_nonzero() == 0
    with pytest.raises(ValueError, match="attn_mask must broadcast"):
        scaled_dot_product_attention(x[:, :3], x, x, real.unsqueeze(-1))


def test_a_key_of_zeros_takes_part():
    query, words = random(1, 8, seed=1), random(3, 8, seed=2)
    exponentials = scaled_dot_scores(query, words).exp().sum().item()
    for padding in (1, 5, 40):
        keys = torch.cat([words, torch.zeros(padding, 8)])
        _, weights = scaled_dot_product_attention(query, keys, keys)
        assert weights[0, 3:].sum().item() == pytest.approx(padding / (padding + exponentials), rel=1e-5)


def test_padded_columns_are_not_zero_once_positions_are_added():
    angle = torch.arange(6)[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8)
    positions = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
    words, real = random(3, 8), padding_mask(torch.tensor([3]), 6)
    x = torch.cat([words, torch.zeros(3, 8)]) + positions
    assert x[3:].abs().amax(-1).gt(0.9).all()
    alone, _ = scaled_dot_product_attention(x[:3], x[:3], x[:3])
    masked, _ = scaled_dot_product_attention(x, x, x, real)
    unmasked, _ = scaled_dot_product_attention(x, x, x)
    assert worst(masked[:3], alone) < ROUNDING and worst(unmasked[:3], alone) > 0.1


# Causal, windows, documents, tasks


def torch_weights(query: Tensor, key: Tensor, **options) -> Tensor:
    identity = torch.eye(key.shape[-2])
    return F.scaled_dot_product_attention(query[None], key[None], identity[None], **options)[0]


def test_torch_aligns_its_causal_flag_to_the_start_and_we_to_the_end():
    query, key = random(5, 8), random(5, 8, seed=1)
    at_once = torch_weights(query, key, is_causal=True)
    flagged = torch_weights(query[3:], key, is_causal=True)
    assert torch.equal(flagged > 0, torch.ones(2, 5, dtype=torch.bool).tril())
    assert worst(flagged, at_once[3:]) > 0.1
    assert worst(torch_weights(query[3:], key, attn_mask=causal_mask(2, 5)), at_once[3:]) < ROUNDING
    assert torch.equal(torch_weights(query[3:], key, attn_mask=causal_lower_right(2, 5)) > 0, causal_mask(2, 5))
    assert torch.equal(torch_weights(query[3:], key, attn_mask=causal_upper_left(2, 5)) > 0, flagged > 0)


def test_one_new_query_sees_the_first_key_alone_where_the_flag_is_used():
    tokens = random(4, 8)
    assert torch_weights(tokens[3:], tokens, is_causal=True).tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert causal_mask(1, 4).all()


def test_more_queries_than_keys_leave_the_first_rows_empty():
    assert causal_mask(3, 2).any(-1).tolist() == [False, True, True]


@pytest.mark.parametrize(("length", "window"), [(10, 3), (7, 7), (12, 1), (9, 5)])
def test_the_pairs_of_a_window_and_its_reach_through_layers(length, window):
    mask = sliding_window_mask(length, window)
    assert mask.sum().item() == length * window - window * (window - 1) // 2
    reached = torch.eye(length)
    for layers in range(1, 4):
        reached = ((mask.float() @ reached) > 0).float()
        assert reached[-1].sum().item() == min(length, layers * (window - 1) + 1)


def test_packed_documents_give_what_they_give_alone():
    query, key, value = (random(1, 9, 8, seed=seed) for seed in (1, 2, 3))
    mask = combine_masks(document_mask(torch.tensor([[0, 0, 0, 1, 1, 2, 2, 2, 2]])), causal_mask(9))
    packed, _ = scaled_dot_product_attention(query, key, value, mask)
    loose, _ = scaled_dot_product_attention(query, key, value, causal_mask(9))
    for start, stop in ((0, 3), (3, 5), (5, 9)):
        part = slice(start, stop)
        alone, _ = scaled_dot_product_attention(query[:, part], key[:, part], value[:, part], causal_mask(stop - start))
        assert worst(packed[:, part], alone) < ROUNDING
    assert worst(packed, loose) > 0.1


def test_a_task_can_ask_for_any_mask():
    prefix = causal_mask(6) | (torch.arange(6) < 3)
    assert prefix[:3, :3].all() and not prefix[3:, 3:].triu(1).any()
    order = torch.argsort(torch.tensor([2, 0, 3, 1]))
    left = torch.arange(5)[:, None] <= order
    assert left.sum(-1).tolist() == [4, 3, 2, 1, 0]
    assert left[1].tolist() == [True, True, False, True]


def test_left_padding_under_a_causal_mask_makes_empty_rows():
    left_padded = torch.tensor([[False, False, True, True, True]])
    assert combine_masks(left_padded[:, None, :], causal_mask(5))[0].sum(-1).tolist() == [0, 0, 1, 2, 3]


# The additive form and finite fills


def test_the_additive_form_agrees_and_a_product_with_infinity_does_not():
    scores, mask = random(4, 4), causal_mask(4)
    assert torch.equal(masked_softmax(scores + to_additive(mask)), masked_softmax(scores, mask))
    product = (~mask).float() * -torch.inf
    assert product[mask].isnan().all()
    added = (scores + mask.float()).softmax(-1)  # a boolean cast to numbers is no additive mask
    assert added[~mask].gt(0).all()


@pytest.mark.full
def test_minus_1e9_does_not_exist_in_float16():
    assert torch.tensor(-1e9).half().item() == -math.inf and torch.finfo(torch.float16).max == 65504
    assert torch.tensor(-1e9).bfloat16().isfinite()
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(2, dtype=torch.float16).masked_fill(torch.tensor([True, False]), -1e9)
    blocked = torch.tensor([0.0, 1.0], dtype=torch.float16)
    assert (blocked * -1e9).tolist() == [0.0, -math.inf]
    assert (blocked * torch.tensor([-1e9]).half())[0].isnan()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_finite_fill_on_an_empty_row(dtype):
    scores = torch.tensor([2.0, 4.0, 6.0, 8.0], dtype=dtype)
    weights = (scores + torch.ones(4, dtype=dtype) * -1e9).softmax(-1)
    if dtype == torch.float16:
        assert weights.isnan().all()
    else:
        assert weights.tolist() == [0.25] * 4
    assert masked_softmax(scores, torch.zeros(4, dtype=torch.bool)).tolist() == [0.0] * 4


# The empty row


def additive(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores + to_additive(mask)).softmax(-1)


def filled(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.nan_to_num(scores.masked_fill(~mask, -torch.inf).softmax(-1))


@pytest.mark.parametrize(
    ("weights_of", "finite_output", "nans"),
    [
        (additive, False, 48),
        (lambda scores, mask: torch.nan_to_num(additive(scores, mask)), True, 32),
        (filled, True, 0),
        (masked_softmax, True, 0),
    ],
    ids=["additive", "additive repaired", "filled and repaired", "masked_softmax"],
)
def test_what_one_empty_sentence_does_to_the_gradient_of_all(weights_of, finite_output, nans):
    x, projection = random(8, 5, 4), random(4, 12, seed=1).requires_grad_()
    mask = padding_mask(torch.tensor([5, 3, 4, 1, 2, 5, 3, 0]))[:, None, :]
    query, key, value = (x @ projection).chunk(3, -1)
    output = weights_of(scaled_dot_scores(query, key), mask) @ value
    output[:7].square().sum().backward()
    assert bool(output[7].isfinite().all()) is finite_output
    assert projection.grad.isnan().sum().item() == nans


@pytest.mark.filterwarnings("ignore:Error detected in:UserWarning", "ignore:Anomaly Detection has been:UserWarning")
def test_anomaly_detection_finds_the_nan_that_masked_fill_stops():
    mask = torch.zeros(2, 3, dtype=torch.bool)
    with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match="SoftmaxBackward0"):
        filled(random(2, 3).requires_grad_(), mask).sum().backward()
    with torch.autograd.set_detect_anomaly(True):
        masked_softmax(random(2, 3).requires_grad_(), mask).sum().backward()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_an_empty_row_gives_zeros_and_finite_gradients_in_every_dtype(dtype):
    tensors = [random(2, 3, 4, seed=seed).to(dtype).requires_grad_() for seed in range(3)]
    mask = torch.tensor([True, False])[:, None, None].expand(2, 3, 3)
    output, weights = scaled_dot_product_attention(*tensors, mask)
    output.square().sum().backward()
    assert output[1].count_nonzero() == 0 and weights[1].count_nonzero() == 0 and output[0].count_nonzero() > 0
    assert all(tensor.grad.isfinite().all() and tensor.grad[1].count_nonzero() == 0 for tensor in tensors)


def rows_of_the_short_table() -> dict[str, list[str]]:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.M)
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in rows}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_multihead_attention_gives_nan_with_weights_and_on_the_fast_path_and_zeros_without():
    x, blocked = random(1, 3, 8), torch.ones(3, 3, dtype=torch.bool)
    torch.manual_seed(0)
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    nn.init.normal_(module.out_proj.bias)
    for training, gradient in ((True, True), (True, False), (False, True), (False, False)):
        module.train(training)
        with torch.set_grad_enabled(gradient):
            kept, _ = module(x, x, x, attn_mask=blocked)
            fused, _ = module(x, x, x, attn_mask=blocked, need_weights=False)
        assert kept.isnan().all()
        if training or gradient:
            assert torch.equal(fused[0, 0], module.out_proj.bias)
        else:
            assert fused.isnan().all()
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    padding = torch.tensor([[False] * 3, [True] * 3])
    with torch.no_grad():
        assert layer(x.expand(2, 3, 8), src_key_padding_mask=padding).isfinite().all()
        assert layer.eval()(x.expand(2, 3, 8), src_key_padding_mask=padding)[1].isnan().all()
    assert rows_of_the_short_table()["torch MHA"] == ["**True**", "–", "NaN or 0"]


def test_what_torch_gives_on_an_empty_row():
    x, nothing = random(1, 3, 8), torch.zeros(3, 3, dtype=torch.bool)
    assert rows_of_the_short_table()["torch SDPA"] == ["False", "start", "0"]
    assert F.scaled_dot_product_attention(x, x, x, attn_mask=nothing).count_nonzero() == 0
    assert F.scaled_dot_product_attention(x, x, x, attn_mask=to_additive(nothing)).count_nonzero() == 0
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    assert module(x, x, x, attn_mask=~nothing)[0].isnan().all()
    assert module(x, x, x, key_padding_mask=torch.ones(1, 3, dtype=torch.bool))[0].isnan().all()
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        module(x, x, x, is_causal=True)


# Cost


def test_what_a_mask_costs_in_memory():
    mask = causal_mask(512)
    assert mask.untyped_storage().nbytes() == 512 * 512
    assert to_additive(mask).untyped_storage().nbytes() == 4 * 512 * 512
    assert mask.expand(8, 16, 512, 512).untyped_storage().nbytes() == 512 * 512
    assert padding_mask(torch.full((8,), 512))[:, None, None].untyped_storage().nbytes() == 8 * 512
