"""The claims of chapter 11 about computing attention in pieces: its numbers, its work, its memory."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.efficient import blockwise_attention, merge_partials, online_softmax
from attention.worked_example import EXAMPLE
from benchmarks.gate import error
from tests.chapters.chapter11 import EXACT, PRINTED, page_names, random

pytestmark = pytest.mark.proof(depends="book/chapters/11-efficient.md")


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    return page_names()


def example() -> list[Tensor]:
    """Queries, keys and values of the running example's first head."""
    x = torch.tensor(EXAMPLE["inputs"], dtype=torch.float64)
    return [x @ torch.tensor(EXAMPLE[f"w_{part}"], dtype=torch.float64) for part in ("query", "key", "value")]


def shown(tensor: Tensor, *numbers: float) -> bool:
    return torch.allclose(tensor, torch.tensor(numbers, dtype=torch.float64), rtol=0, atol=PRINTED)


# One pass


def test_row_2_in_two_pieces_by_hand():
    query, key, value = example()
    row = query[1] @ key.T / math.sqrt(3)
    assert shown(row, 2.3094, 9.2376, 6.9282)
    shrink, late = torch.exp(row[0] - row[1]), torch.exp(row[2] - row[1])
    assert round(shrink.item(), 5) == 0.00098 and round(late.item(), 4) == 0.0993
    total, summed = shrink + 1 + late, shrink * value[0] + value[1] + late * value[2]
    assert round(total.item(), 4) == 1.1003
    assert shown(summed, 2.1996, 8.5979, 0.3009) and shown(summed / total, 1.9991, 7.8141, 0.2735)
    assert shown(row.softmax(0) @ value, 1.9991, 7.8141, 0.2735)


def test_row_2_in_two_parts_that_meet_later():
    query, key, value = example()
    row = query[1] @ key.T / math.sqrt(3)
    late = torch.exp(row[2] - row[1])
    total, summed = 1 + late, value[1] + late * value[2]
    assert round(total.item(), 4) == 1.0993 and shown(summed, 2.1986, 8.5959, 0.2980)
    m, total, summed = merge_partials((row[0], torch.ones_like(total), value[0]), (row[1], total, summed))
    assert round(m.item(), 4) == 9.2376 and round(total.item(), 4) == 1.1003
    assert shown(summed, 2.1996, 8.5979, 0.3009)


def test_pieces_of_64_cost_no_accuracy_and_single_scores_cost_a_few_roundings():
    scores = 4 * torch.randn(64, 4096, generator=torch.Generator().manual_seed(0))
    exact = scores.double().softmax(-1)

    def off(weights: Tensor) -> float:
        return ((weights - exact).abs() / exact).max().item()

    theirs, pieces, single = off(scores.softmax(-1)), off(online_softmax(scores.split(64, -1))), 0.0
    single = off(online_softmax(scores.split(1, -1)))
    assert pieces < 2 * theirs and 3 * pieces < single < 1e-4


def test_without_the_running_maximum_large_scores_give_nan():
    huge = torch.tensor([[1e4, -1e4], [9e3, 1e4 + 1]])
    assert (huge.exp() / huge.exp().sum()).isnan().any()
    assert torch.equal(online_softmax(huge.split(1, dim=-1)), huge.softmax(-1))


# Blocks


def test_the_pages_tiles_give_attention_and_the_log_of_the_sums(page):
    query, key, value = example()
    output, log_sum = page["tiles_forward"](query, key, value, 2)
    assert (output - page["naive_attention"](query, key, value)).abs().max() < EXACT
    assert (log_sum[:, 0] - (query @ key.T / math.sqrt(3)).logsumexp(-1)).abs().max() < EXACT


def test_the_gradient_of_row_2_by_hand():
    query, key, value = example()
    row = (query[1] @ key.T / math.sqrt(3)).requires_grad_()
    weights = row.softmax(0)
    (weights @ value)[0].backward()
    assert shown(weights.detach(), 0.0009, 0.9088, 0.0903)
    assert value[:, 0].tolist() == [1, 2, 2] and round((weights @ value)[0].item(), 4) == 1.9991
    assert [round(g, 5) for g in row.grad.tolist()] == [-0.00089, 0.00081, 0.00008]
    assert abs(row.grad.sum().item()) < EXACT


def test_gradcheck_passes_with_the_row_sum_and_fails_without(page):
    inputs = [random(n, 3, seed=n).requires_grad_() for n in (5, 7)] + [random(7, 3, seed=9).requires_grad_()]
    assert torch.autograd.gradcheck(lambda *x: page["Tiles"].apply(*x, 2), inputs)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda *x: page["Forgetful"].apply(*x, 2), inputs)


def test_two_numbers_per_query_keep_the_gradients_as_exact_as_naives_and_their_logarithm_does_not(page):
    def gradients(form, inputs: Tensor, upstream: Tensor) -> list[Tensor]:
        leaves = [x.clone().requires_grad_() for x in inputs]
        return list(torch.autograd.grad(form(*leaves), leaves, upstream))

    def off(form, inputs: Tensor, upstream: Tensor) -> float:
        exact = gradients(page["naive_attention"], inputs.double(), upstream.double())
        return sum(error(a, e) for a, e in zip(gradients(form, inputs, upstream), exact, strict=True))

    for length, least, most in ((1024, 1.07, 1.2), (2048, 1.17, 1.37)):  # an eighth, a quarter
        inputs, upstream = random(3, length, 64).float(), random(length, 64, seed=1).float()
        naive = off(page["naive_attention"], inputs, upstream)
        assert off(lambda *x: blockwise_attention(*x, 256), inputs, upstream) < 1.05 * naive
        assert least * naive < off(lambda *x: page["Tiles"].apply(*x, 256), inputs, upstream) < most * naive


# Work and memory


@pytest.mark.full
def test_the_naive_matrix_has_the_size_that_the_page_says():
    assert 32768**2 * 4 == 4 * 2**30  # GiB for one head
    assert [n / 256 for n in (512, 2048, 8192, 32768)] == [2, 8, 32, 128]


def test_flops_forward_and_backward_of_each_form(page):
    naive, tiles = page["work"](page["naive_attention"], 512), page["work"](blockwise_attention, 512)
    assert naive == page["work"](page["one_pass_attention"], 512) == [4, 8] and tiles == [4, 10]
    assert sum(tiles) / sum(naive) == pytest.approx(7 / 6) and tiles[1] / tiles[0] == 2.5


def test_with_a_causal_mask_the_share_of_the_work_tends_to_a_half(page):
    shares = [page["work"](page["causal_blocks"], n)[0] / 4 for n in (512, 1024, 2048)]
    assert shares[0] > shares[1] > shares[2] > 0.5 and shares[2] < 0.57


def test_memory_grows_with_the_square_or_with_the_length_as_the_page_says(page):
    cases = [
        *(("naive", n, False) for n in (512, 2048)),
        *(("blockwise", n, True) for n in (1024, 4096)),
        *(("one pass, autograd", n, False) for n in (1024, 4096)),
        *(("one pass, autograd", n, True) for n in (512, 2048)),
    ]
    found = page["peak_memory"](cases)
    # Four times the length: 16 or 4 times the memory. A few MiB, which torch keeps for itself, stand beside them.
    naive, blocks, forward, plain = (found[k + 1] / found[k] for k in (0, 2, 4, 6))
    assert 9 < naive < 20 and 2 < blocks < 7 and 1.5 < forward < 11 and 9 < plain < 30
    assert found[5] < found[1]  # one pass forward, at twice naive's length
    assert found[7] > 64 > 32 > found[3]  # MiB: the matrices, 16 each, are back at half of blockwise's length


def test_the_one_pass_function_of_the_page_is_right_with_its_gradients(page):
    from peak_memory import one_pass_attention

    inputs = [x.requires_grad_() for x in random(3, 2, 70, 8)]
    output, expected = one_pass_attention(*inputs, size=32), page["naive_attention"](*inputs)
    assert (output - expected).abs().max() < EXACT
    upstream = random(2, 70, 8, seed=1)
    for ours, right in zip(
        torch.autograd.grad(output, inputs, upstream), torch.autograd.grad(expected, inputs, upstream), strict=True
    ):
        assert (ours - right).abs().max() < EXACT


def test_predictions_are_sums_of_work_over_rates(page):
    rates = {
        "matrix product, FLOP/s": 100.0,
        "memory used before, byte/s": 10.0,
        "new memory, byte/s": 2.0,
        "exp inside softmax, 1/s": 5.0,
        "exp2, 1/s": 4.0,
    }
    assert page["predict_tiles"](2, 10, 8, rates) == {"products": 64.0, "exponentials": 50.0}
    assert page["predict_naive"](2, 10, 8, rates) == {
        "Q Kᵀ": 400.0,  # 800 bytes into new memory take longer than 32 s of products
        "scale": 800.0,
        "softmax": 800.0,
        "weights · V": 80.0,
    }


@pytest.mark.full
def test_the_ceiling_of_naive_attention_on_an_h100():
    ceilings = [round(d / 2 * 3.35) for d in (64, 128)]  # FLOP per byte times TB/s
    assert ceilings == [107, 214]
    assert 8.8 < 989 / 107 < 9.5 and 214 / 989 < 1 / 4


def test_powers_of_two_give_the_same_weights():
    scores = random(64, 64).float().masked_fill(torch.ones(64, 64).triu(1).bool(), -math.inf)
    shifted = scores - scores.amax(1, keepdim=True)
    assert (torch.exp(shifted) - torch.exp2(shifted * math.log2(math.e))).abs().max() < 1e-6
    assert math.exp(-90) < torch.finfo(torch.float32).tiny < 1.2e-38
