"""The claims of chapter 11 about computing attention in pieces: its numbers by hand, its work, its memory."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.efficient import blockwise_attention, blockwise_gradients, merge_partials, online_softmax
from benchmarks.gate import error
from studies import counting
from tests.chapters.chapter11 import (
    EXACT,
    FILES,
    PAGE,
    PRINTED,
    between,
    example,
    numbers,
    page_names,
    random,
    table,
)

pytestmark = pytest.mark.proof(depends=FILES)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    return page_names()


def row_2() -> tuple[Tensor, Tensor]:
    """The scaled scores of row 2, and the values."""
    query, key, value = example()
    return query[1] @ key.T / math.sqrt(3), value


def shown(tensor: Tensor, written: list[float]) -> bool:
    return torch.allclose(tensor.double().flatten(), torch.tensor(written).double(), rtol=0, atol=PRINTED)


# One pass, by hand


def test_the_scores_and_values_of_row_2():
    query, key, value = example()
    text = between("**By hand.** Row 2", "Block 1 is")
    found = numbers(text)
    assert found[:3] == (query[1] @ key.T).tolist() and shown(row_2()[0], found[3:6])
    assert found[6:15] == value.flatten().tolist()


def test_every_number_of_the_table_in_two_blocks():
    row, value = row_2()
    cells = table("| after | block 1 | block 2 |")
    r, late = torch.exp(row[0] - row[1]).item(), torch.exp(row[2] - row[1]).item()
    total, summed = r + 1 + late, r * value[0] + value[1] + late * value[2]
    assert [float(cell) for cell in cells["$m$"]] == [round(row[0].item(), 4), round(row[1].item(), 4)]
    assert cells["$r$"][1] == f"$e^{{2.3094 - 9.2376}}$ $= {r:.5f}$"
    assert cells["new terms"] == ["1", f"1 and $e^{{6.9282 - 9.2376}}$ $= {late:.4f}$"]
    assert cells["$\\ell$"] == ["1", f"${r:.5f} \\cdot 1 + 1 + {late:.4f} = {total:.4f}$"]
    for entry in range(3):
        first, second, third = (int(value[k, entry]) for k in range(3))
        work = f"${r:.5f} \\cdot {first} + {second} + {late:.4f} \\cdot {third} = {summed[entry]:.4f}$"
        assert cells[f"$a$, entry {entry + 1}"] == [str(first), work]
    assert shown(summed / total, numbers(cells["$a / \\ell$"][1]))
    assert shown(row.softmax(0) @ value, numbers(cells["$a / \\ell$"][1]))


def test_what_row_2_becomes_where_one_of_the_two_is_not_rescaled():
    row, value = row_2()
    late = torch.exp(row[2] - row[1])
    first, second = re.findall(r"ends with the sum (\S+); without it in \$a\$, with \$\[(.+?)\]\$", PAGE)[0]
    assert float(first) == round((1 + 1 + late).item(), 4)
    assert shown(value[0] + value[1] + late * value[2], numbers(second))


def test_row_2_in_two_parts_that_meet_later():
    row, value = row_2()
    late = torch.exp(row[2] - row[1])
    total, summed = 1 + late, value[1] + late * value[2]
    cells = table("| number | key 1 | keys 2 and 3 | both |")
    m, both, together = merge_partials((row[0], torch.ones_like(total), value[0]), (row[1], total, summed))
    assert [float(cell) for cell in cells["$m$"]] == [round(x.item(), 4) for x in (row[0], row[1], m)]
    assert cells["factor"][:2] == [f"{torch.exp(row[0] - m):.5f}", "1"]
    assert cells["$\\ell$"] == ["1", f"{total:.4f}", f"$0.00098 \\cdot 1 + {total:.4f} = {both:.4f}$"]
    for entry in range(3):
        wanted = [f"{value[0, entry]:.0f}", f"{summed[entry]:.4f}", f"{together[entry]:.4f}"]
        assert cells[f"$a$, entry {entry + 1}"] == wanted


def test_pieces_of_64_cost_no_accuracy_and_single_scores_cost_a_few_roundings():
    scores = 4 * torch.randn(64, 4096, generator=torch.Generator().manual_seed(0))
    exact = scores.double().softmax(-1)

    def off(weights: Tensor) -> float:
        return ((weights - exact).abs() / exact).max().item()

    theirs, pieces = off(scores.softmax(-1)), off(online_softmax(scores.split(64, -1)))
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
    row, value = row_2()
    row.requires_grad_()
    weights = row.softmax(0)
    (weights @ value)[0].backward()
    found = numbers(between("**By hand**, for row 2", "They sum to 0"))
    assert found[:3] == [1, 0, 0] and shown(weights.detach(), found[3:6])
    assert found[6:9] == value[:, 0].tolist() and found[9] == round((weights @ value)[0].item(), 4)
    products, gradients = found[10:], row.grad.tolist()
    for entry, (weight, product, mean, gradient) in enumerate(zip(*[iter(products)] * 4, strict=True)):
        assert (weight, product, mean) == (found[3 + entry], value[entry, 0], found[9])
        assert gradient == round(gradients[entry], 5)
    assert abs(row.grad.sum().item()) < EXACT


def test_the_gradients_of_row_2_are_those_of_the_exercise(page):
    query, key, value = example()
    output, log_sum = page["tiles_forward"](query, key, value, 2)
    upstream = torch.zeros_like(output)
    upstream[1, 0] = 1.0  # g_2 = [1, 0, 0]
    leaves = [x.clone().requires_grad_() for x in (query, key, value)]
    right = torch.autograd.grad(page["naive_attention"](*leaves), leaves, upstream)
    found = blockwise_gradients(query, key, value, output, log_sum[:, 0], upstream, 2)
    assert all((one - other).abs().max() < EXACT for one, other in zip(found, right, strict=True))


def log_sum_gradients(form: Any, inputs: Tensor, upstream: Tensor) -> tuple[Tensor, ...]:
    """Gradients by blocks, after the page's forward pass, which keeps m + log l."""
    output, log_sum = form["tiles_forward"](*inputs, 256)
    return blockwise_gradients(*inputs, output, log_sum[:, 0], upstream, 256)


def test_two_numbers_per_query_keep_the_gradients_as_exact_as_naives_and_their_logarithm_does_not(page):
    def gradients(form: Any, inputs: Tensor, upstream: Tensor) -> list[Tensor]:
        leaves = [x.clone().requires_grad_() for x in inputs]
        return list(torch.autograd.grad(form(*leaves), leaves, upstream))

    def off(found: Sequence[Tensor], exact: Sequence[Tensor]) -> float:
        return sum(error(a, e) for a, e in zip(found, exact, strict=True))

    for length, least, most in ((1024, 1.07, 1.2), (2048, 1.17, 1.37)):  # an eighth, a quarter
        inputs, upstream = random(3, length, 64).float(), random(length, 64, seed=1).float()
        exact = gradients(page["naive_attention"], inputs.double(), upstream.double())
        naive = off(gradients(page["naive_attention"], inputs, upstream), exact)
        assert off(gradients(lambda *x: blockwise_attention(*x, 256), inputs, upstream), exact) < 1.05 * naive
        assert least * naive < off(log_sum_gradients(page, inputs, upstream), exact) < most * naive


# Work, traffic and memory


@pytest.mark.full
def test_the_naive_matrix_has_the_size_that_the_page_says():
    assert 32768**2 * 4 == 4 * 2**30 and "for one head and 32768 tokens 4 GiB in float32" in PAGE


@pytest.mark.parametrize(("length", "d", "size"), [(64, 8, 16), (96, 4, 32), (32, 16, 8)])
def test_what_is_moved_is_what_the_equation_says(length, d, size):
    matrix, tiles = counting.written_out(length, d), counting.by_tiles(length, d, size)
    assert matrix.moved == 4 * length**2 + 4 * length * d
    assert tiles.moved == 2 * length * d + 2 * length**2 * d // size
    assert torch.allclose(matrix.tensors["output"], tiles.tensors["output"], atol=1e-6)


def test_a_larger_block_reads_less_and_a_small_one_more_than_the_matrix():
    moved = [counting.by_tiles(64, 8, size).moved for size in (1, 4, 16, 64)]
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > counting.written_out(64, 8).moved > moved[1]


def test_flops_forward_and_backward_of_each_form(page):
    naive, tiles = counting.work(page["naive_attention"], 512), counting.work(blockwise_attention, 512)
    # Of the form by blocks the products are one feature wider than the 64: what is subtracted comes with them.
    assert naive == counting.work(page["one_pass_attention"], 512) == [4, 8]
    assert tiles == pytest.approx([4, 10], rel=1 / 64) and min(tiles[0] - 4, tiles[1] - 10) > 0
    assert sum(tiles) / sum(naive) == pytest.approx(7 / 6, rel=1 / 64)
    assert "4 forward and 8 backward, the blockwise form 4 and 10, a sixth more" in PAGE


def test_with_a_causal_mask_the_share_of_the_work_tends_to_a_half():
    def causal(*inputs: Tensor) -> Tensor:
        return blockwise_attention(*inputs, is_causal=True)

    shares = [counting.work(causal, n)[0] / 4 for n in (512, 1024, 2048)]
    assert shares[0] > shares[1] > shares[2] > 0.5 and shares[2] < 0.57


def test_memory_grows_with_the_square_or_with_the_length_as_the_page_says():
    from peak_memory import peak_memory

    cases = [
        *(("naive", n, False) for n in (512, 2048)),
        *(("blockwise", n, True) for n in (1024, 4096)),
        *(("one pass, autograd", n, False) for n in (1024, 4096)),
        *(("one pass, autograd", n, True) for n in (512, 2048)),
    ]
    found = peak_memory(cases)
    # Four times the length: 16 or 4 times the memory. A few MiB, which torch keeps for itself, stand beside them.
    naive, blocks, forward, plain = (found[k + 1] / found[k] for k in (0, 2, 4, 6))
    assert 9 < naive < 20 and 2 < blocks < 7 and 1.5 < forward < 11 and 9 < plain < 30
    assert found[5] < found[1]  # one pass forward, at twice naive's length
    assert found[7] > 64 > 32 > found[3]  # MiB: the matrices, 16 each, are back at half of blockwise's length


def test_the_one_pass_function_is_right_with_its_gradients(page):
    inputs = [x.requires_grad_() for x in random(3, 2, 70, 8)]
    output, expected = page["one_pass_attention"](*inputs, size=32), page["naive_attention"](*inputs)
    assert (output - expected).abs().max() < EXACT
    upstream = random(2, 70, 8, seed=1)
    for ours, right in zip(
        torch.autograd.grad(output, inputs, upstream), torch.autograd.grad(expected, inputs, upstream), strict=True
    ):
        assert (ours - right).abs().max() < EXACT
