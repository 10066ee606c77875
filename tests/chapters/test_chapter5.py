"""The claims of chapter 5 about splitting, mixing and counting heads, proven without running the page."""

from __future__ import annotations

import copy
import math
import re

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask, document_mask, padding_mask, sliding_window_mask
from attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from attention.worked_example import EXAMPLE
from tests.chapters.chapter5 import FILES, LOOP_OR_BATCH, PAGE, ROUNDING, count, layer_of, random, worst

pytestmark = pytest.mark.proof(depends=FILES)


def split_wrong(x: Tensor, num_heads: int) -> Tensor:
    return x.reshape(x.shape[0], num_heads, x.shape[1], x.shape[2] // num_heads)


def merge_wrong(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], x.shape[2], -1)


# Two heads by hand


def by_loops(suffix: str) -> tuple[list[list[float]], list[list[float]], list[list[float]]]:
    """Scores, scaled weights and output of one head, with Python's own numbers."""

    def project(name: str) -> list[list[float]]:
        matrix = EXAMPLE[f"w_{name}{suffix}"]
        return [
            [sum(x * w for x, w in zip(row, column, strict=True)) for column in zip(*matrix, strict=True)] for row in X
        ]

    X = EXAMPLE["inputs"]
    queries, keys, values = (project(name) for name in ("query", "key", "value"))
    scores = [[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries]
    exponentials = [[math.exp(s / math.sqrt(3)) for s in row] for row in scores]
    weights = [[e / sum(row) for e in row] for row in exponentials]
    outputs = [[sum(w * v[f] for w, v in zip(row, values, strict=True)) for f in range(3)] for row in weights]
    return scores, weights, outputs


def test_the_second_head_of_the_running_example_by_hand():
    scores, weights, outputs = by_loops("2")
    assert scores == [[2, 6, 5], [4, 4, 6], [4, 8, 8]]
    assert weights[0] == pytest.approx([0.0598, 0.6022, 0.3380], abs=5e-5)
    assert outputs[0] == pytest.approx([1.9402, 2.3380, 3.0847], abs=5e-5)
    exponentials = [math.exp(s / math.sqrt(3)) for s in (2, 6, 5)]
    numbers = [*exponentials, sum(exponentials), *weights[0], *outputs[0]]
    assert all(f"{number:.4f}" in PAGE for number in numbers)


def printed(row: str) -> list[float]:
    """The numbers of a piece of the page."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", row)]


def test_the_matrices_and_vectors_on_the_page_are_those_of_the_second_head():
    for symbol, name in (("W_Q^2", "w_query2"), ("W_K^2", "w_key2"), ("W_V^2", "w_value2"), ("W_O", "w_output")):
        (matrix,) = re.findall(re.escape(symbol) + r" = \\begin\{bmatrix\} (.*?) \\end", PAGE)
        assert [printed(row) for row in matrix.split(r"\\")] == EXAMPLE[name]
    x = torch.tensor(EXAMPLE["inputs"])
    vectors = [x @ torch.tensor(EXAMPLE[f"w_{part}2"]) for part in ("query", "key", "value")]
    rows = re.findall(r"^\| ([123]) \| (\$.*\$) \| (\$.*\$) \| (\$.*\$) \|$", PAGE, re.M)
    assert [int(token) for token, *_ in rows] == [1, 2, 3]
    for token, *shown in rows:
        assert [printed(vector) for vector in shown] == [rows_[int(token) - 1].tolist() for rows_ in vectors]


def test_what_each_head_adds_to_the_output_of_token_1():
    w_output = torch.tensor(EXAMPLE["w_output"]).double()
    adds = [torch.tensor(by_loops(s)[2][0]).double() @ w_output[3 * h : 3 * h + 3] for h, s in enumerate(("", "2"))]
    for name, row in zip(("head 1 adds", "head 2 adds", "sum"), [*adds, sum(adds)], strict=True):
        (shown,) = re.findall(rf"^\| {name} \|(.*)\|$", PAGE, re.M)
        assert printed(shown) == pytest.approx(row.tolist(), abs=5.1e-5)


def test_reshape_alone_deals_the_queries_out_as_the_page_says():
    packed = torch.cat([torch.tensor(EXAMPLE[f"w_query{s}"]) for s in ("", "2")], -1)
    both = torch.tensor(EXAMPLE["inputs"]) @ packed
    assert both.reshape(2, 3, 3)[0].tolist() == [both[0, :3].tolist(), both[0, 3:].tolist(), both[1, :3].tolist()]
    assert "head 1 gets two rows of token 1 and one of token 2" in PAGE
    head_1, head_2 = both.reshape(3, 2, 3).transpose(0, 1).tolist()
    text = ", ".join(" ".join(map(str, row)) for row in head_1), ", ".join(" ".join(map(str, row)) for row in head_2)
    assert f"head 1 is {text[0]}; head 2 is {text[1]}; each has one row per token" in PAGE


def test_both_heads_side_by_side_and_mixed_by_hand():
    side = [[*a, *b] for a, b in zip(by_loops("")[2], by_loops("2")[2], strict=True)]
    w_output = EXAMPLE["w_output"]
    output = [[sum(c * w_output[i][j] for i, c in enumerate(row)) for j in range(4)] for row in side]
    assert side[0] == pytest.approx([1.8639, 6.3194, 1.7042, 1.9402, 2.3380, 3.0847], abs=5e-5)
    assert output[0] == pytest.approx([4.2019, 9.4041, 4.7889, 4.2782], abs=5e-5)
    assert "4.2019, 9.4041, 4.7889, 4.2782]" in PAGE
    x = torch.tensor(EXAMPLE["inputs"]).double()[None]
    both = {n: torch.tensor([a + b for a, b in zip(EXAMPLE[f"w_{n}"], EXAMPLE[f"w_{n}2"], strict=True)]).double()
            for n in ("query", "key", "value")}  # fmt: skip
    heads, _ = scaled_dot_product_attention(*(split_heads(x @ both[name], 2) for name in ("query", "key", "value")))
    assert worst(merge_heads(heads)[0], torch.tensor(side, dtype=torch.float64)) < ROUNDING


def test_one_wide_head_adds_the_scores_of_two_narrow_ones_and_blurs_them():
    first, second = (torch.tensor(by_loops(suffix)[0]).double() for suffix in ("", "2"))
    wide = ((first + second) / math.sqrt(6)).softmax(-1)
    assert wide[1].tolist() == pytest.approx([0.0051, 0.6899, 0.3049], abs=5e-5) and "0.6899, 0.3049]" in PAGE
    assert round(by_loops("")[1][1][1], 2) == 0.91 and round(by_loops("2")[1][1][2], 2) == 0.61


# Splitting and merging


def test_each_number_goes_where_the_picture_says():
    numbers = torch.arange(12.0).reshape(1, 3, 4)
    assert split_heads(numbers, 2)[0].tolist() == [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]
    assert split_wrong(numbers, 2)[0].tolist() == [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]
    cut = numbers.reshape(1, 3, 2, 2)
    assert cut.stride() == (12, 4, 2, 1) and cut.transpose(1, 2).stride() == (12, 2, 4, 1)


def test_a_round_trip_does_not_find_a_missing_transpose_but_changing_one_token_does():
    x = random(1, 6, 8)
    changed = x.clone()
    changed[:, 2] += 1
    for split, merge, rows in (
        (split_heads, merge_heads, [[2], [2]]),
        (split_wrong, merge_wrong, [[4, 5], []]),
    ):
        assert torch.equal(merge(split(x, 2)), x) and split(x, 2).shape == (1, 2, 6, 4)
        moved = (split(x, 2) != split(changed, 2)).any(-1)[0]
        assert [head.nonzero().flatten().tolist() for head in moved] == rows


@pytest.mark.parametrize(
    ("split", "merge", "leaks"),
    [(split_heads, merge_heads, False), (split_wrong, merge_wrong, False), (split_heads, merge_wrong, True)],
)
def test_merging_without_the_transpose_leaks_the_future(split, merge, leaks):
    def attend(x: Tensor) -> Tensor:
        h = split(x, 2)
        return merge(scaled_dot_product_attention(h, h, h, causal_mask(h.shape[-2]))[0])

    x, leak = random(1, 6, 8), 0.0
    for t in range(1, 6):
        future = x.clone()
        future[:, t:] = random(1, 6 - t, 8, seed=t)
        leak = max(leak, worst(attend(future)[:, :t], attend(x)[:, :t]))
    assert (leak > 0.1) is leaks and (leaks or leak == 0.0)


def test_without_the_transpose_the_first_half_of_a_sentence_never_meets_the_second():
    x = random(1, 6, 8)

    def layer(sequence: Tensor) -> Tensor:
        h = split_wrong(sequence, 2)
        return merge_wrong(scaled_dot_product_attention(h, h, h)[0])

    depends = torch.autograd.functional.jacobian(layer, x)[0, :, :, 0].abs().amax(dim=(1, 3)) > 0
    assert torch.equal(depends, torch.block_diag(torch.ones(3, 3), torch.ones(3, 3)).bool())


def test_view_refuses_what_reshape_copies():
    turned = random(2, 3, 5, 4).transpose(1, 2)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        turned.view(2, 5, 12)
    assert turned.reshape(2, 5, 12).data_ptr() != turned.data_ptr()


# The output projection


def test_the_layer_is_a_sum_over_heads():
    layer, x = layer_of(32, 4, bias=False), random(2, 7, 32, seed=1)
    output, weights = layer(x, x, x)
    total = torch.zeros_like(output)
    for h in range(4):
        rows = slice(8 * h, 8 * h + 8)
        value_map = layer.v_proj.weight[rows].T @ layer.out_proj.weight[:, rows].T  # (32, 32), rank 8
        assert torch.linalg.matrix_rank(value_map) == 8
        total = total + weights[:, h] @ x @ value_map
    assert worst(total, output) < ROUNDING


def test_an_invertible_mixing_inside_a_head_and_the_order_of_heads_do_not_matter():
    layer, x = layer_of(32, 4), random(2, 7, 32, seed=1)
    before, weights = layer(x, x, x)
    mixed, rows, mixing = copy.deepcopy(layer), slice(16, 24), random(8, 8, seed=2)
    renumbered, order = copy.deepcopy(layer), torch.tensor([2, 0, 3, 1])
    columns = (order[:, None] * 8 + torch.arange(8)).flatten()
    with torch.no_grad():
        mixed.v_proj.weight[rows] = mixing @ layer.v_proj.weight[rows]
        mixed.v_proj.bias[rows] = mixing @ layer.v_proj.bias[rows]
        mixed.out_proj.weight[:, rows] = layer.out_proj.weight[:, rows] @ mixing.inverse()
        for name in ("q_proj", "k_proj", "v_proj"):
            getattr(renumbered, name).weight.copy_(getattr(layer, name).weight[columns])
            getattr(renumbered, name).bias.copy_(getattr(layer, name).bias[columns])
        renumbered.out_proj.weight.copy_(layer.out_proj.weight[:, columns])
    assert worst(mixed(x, x, x)[0], before) < 1e-10  # a random 8 × 8 matrix is inverted on the way
    assert worst(renumbered(x, x, x)[0], before) < ROUNDING
    assert worst(renumbered(x, x, x)[1], weights[:, order]) < ROUNDING


def explained(target: Tensor, seen: list[list[Tensor]]) -> float:
    left = 0.0
    for feature, heads in enumerate(seen):
        column = target[:, feature : feature + 1]
        if heads:
            hears = torch.cat(heads, -1)
            column = column - hears @ torch.linalg.lstsq(hears, column).solution
        left += column.square().sum().item()
    return 1 - left / target.square().sum().item()


def test_concatenating_and_averaging_each_fail_half_of_a_task_that_a_learned_projection_solves():
    first, second = random(4000, 8, seed=3), random(4000, 8, seed=4)
    nothing = torch.zeros(4000, 4).double()
    difference = torch.cat([first[:, :4] - second[:, :4], nothing], -1)
    side_by_side = torch.cat([first[:, :4], second[:, :4]], -1)
    concatenated = [[first]] * 4 + [[second]] * 4
    averaged = [[first, second]] * 4 + [[]] * 4
    learned = [[first, second]] * 8
    assert explained(difference, concatenated) == pytest.approx(0.5, abs=0.03)  # 4000 samples
    assert explained(side_by_side, averaged) == pytest.approx(0.5, abs=0.03)
    for target, wiring in (
        (side_by_side, concatenated), (difference, averaged), (difference, learned), (side_by_side, learned),
    ):  # fmt: skip
        assert explained(target, wiring) == pytest.approx(1.0, abs=1e-12)


# The module's masks


def test_masks_of_every_shape_reach_the_right_axis():
    layer, x = layer_of(8, 2), random(3, 6, 8)
    real = padding_mask(torch.tensor([6, 2, 4]))
    _, by_key = layer(x, x, x, causal_mask(6), key_mask=real)
    _, by_hand = layer(x, x, x, causal_mask(6) & real[:, None, None, :])
    assert torch.equal(by_key, by_hand) and by_key[1, :, :, 2:].count_nonzero() == 0
    _, per_head = layer(x, x, x, torch.stack([causal_mask(6), sliding_window_mask(6, 2)]))
    assert (per_head[0, :, -1] > 0).sum(-1).tolist() == [6, 2]


def test_a_document_mask_without_a_head_axis_is_silent_where_batch_and_heads_are_equal():
    layer, x = layer_of(8, 2), random(3, 6, 8)
    mask = document_mask(torch.tensor([[0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]]))
    with pytest.raises(ValueError, match="attn_mask must broadcast"):
        layer(x, x, x, mask)
    _, silent = layer(x[:2], x[:2], x[:2], mask[:2])
    _, right = layer(x[:2], x[:2], x[:2], mask[:2, None])
    assert (silent * ~mask[:2, None]).sum() > 0.1 and (right * ~mask[:2, None]).sum() == 0


def test_one_key_a_fully_masked_row_and_one_head_isolate_the_parts():
    layer, x = layer_of(8, 2), random(3, 6, 8)
    output, weights = layer(x, x[:, :1], x[:, :1])
    assert (weights == 1).all()
    assert worst(output, layer.out_proj(layer.v_proj(x[:, :1])).expand_as(output)) < ROUNDING
    output, weights = layer(x, x, x, key_mask=padding_mask(torch.tensor([6, 0, 3])))
    assert weights[1].count_nonzero() == 0 and worst(output[1], layer.out_proj.bias.expand(6, 8)) == 0
    single = layer_of(8, 1)
    plain, _ = scaled_dot_product_attention(single.q_proj(x), single.k_proj(x), single.v_proj(x))
    assert worst(single(x, x, x)[0], single.out_proj(plain)) < ROUNDING


# One loop, or one batch


def looped(layer: MultiHeadAttention, x: Tensor) -> Tensor:
    heads = []
    for rows in torch.arange(layer.d_model).chunk(layer.num_heads):
        parts = (F.linear(x, p.weight[rows], p.bias[rows]) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
        heads.append(scaled_dot_product_attention(*parts)[0])
    return layer.out_proj(torch.cat(heads, -1))


def test_the_loop_over_heads_equals_the_batch_in_output_and_gradients():
    layer, x = layer_of(48, 6), random(2, 9, 48, seed=1)
    assert worst(looped(layer, x), layer(x, x, x)[0]) < ROUNDING
    gradients = []
    for output in (looped(layer, x), layer(x, x, x)[0]):
        gradients.append(torch.autograd.grad(output.square().sum(), list(layer.parameters())))
    assert max(map(worst, *gradients)) < 1e-11  # sums over 18 tokens of values of order 10


class CountOperators(TorchDispatchMode):
    total = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.total += not any(result.alias_info for result in operator._schema.returns)
        return operator(*args, **(kwargs or {}))


def test_loop_and_batch_do_the_same_work_in_very_different_numbers_of_calls():
    layer, x = layer_of(64, 8).eval(), random(1, 16, 64)
    calls, work = [], []
    for form in (looped, lambda layer, x: layer(x, x, x)[0]):
        with torch.no_grad(), CountOperators() as operators:
            form(layer, x)
        with torch.no_grad(), FlopCounterMode(display=False) as flops:
            form(layer, x)
        calls.append(operators.total)
        work.append(flops.get_total_flops())
    assert work[0] == work[1] == 589_824
    assert calls[0] > 6 * calls[1]


@pytest.mark.parametrize("num_heads", [1, 2, 4, 8])
def test_heads_as_wide_as_the_output_multiply_the_parameters_by_their_number(num_heads):
    narrow = count(MultiHeadAttention(512, num_heads, bias=False))
    wide = num_heads * 3 * 512 * 512 + num_heads * 512 * 512
    assert narrow == 4 * 512 * 512 and wide == num_heads * narrow
    assert num_heads != 8 or f"{wide:,} against {narrow:,}" in PAGE


def test_the_wide_loop_equals_its_batched_form():
    x, w, w_o = random(2, 5, 6), random(3, 3, 6, 4, seed=1), random(12, 4, seed=2)
    heads = [scaled_dot_product_attention(*(x @ matrix for matrix in head))[0] for head in w]
    query, key, value = torch.einsum("bli,hpio->pbhlo", x, w)
    batched = merge_heads(scaled_dot_product_attention(query, key, value)[0]) @ w_o
    assert worst(torch.cat(heads, -1) @ w_o, batched) < 1e-11


# Costs


def test_weights_take_four_bytes_per_pair_and_head_and_nothing_else_depends_on_the_heads():
    x, flops = torch.randn(2, 64, 32), set()
    for num_heads in (1, 2, 8):
        layer = MultiHeadAttention(32, num_heads)
        with FlopCounterMode(display=False) as counted:
            _, weights = layer(x, x, x)
        flops.add(counted.get_total_flops())
        assert weights.untyped_storage().nbytes() == 4 * 2 * num_heads * 64 * 64
        assert count(layer) == 4 * 32 * 33
    assert len(flops) == 1
    assert 4 * 8 * 16 * 2048 * 2048 == 2 * 2**30
    assert 4 * 8 * 1024 * 1024 == 32 * 2**20 and 4 * 1024 * 1024 == 4 * 2**20
    assert "2 GiB for 16 heads, a batch of 8 and 2048 tokens" in PAGE
    assert "32 MiB in float32 for eight heads and 1024 tokens" in LOOP_OR_BATCH
    assert "the 4 MiB of one head" in LOOP_OR_BATCH


@pytest.mark.parametrize("num_heads", [1, 4, 8, 16])
def test_a_head_compares_in_as_many_directions_as_it_is_wide(num_heads):
    layer, d_head = layer_of(64, num_heads), 64 // num_heads
    assert torch.linalg.matrix_rank(layer.q_proj.weight[:d_head].T @ layer.k_proj.weight[:d_head]) == d_head
