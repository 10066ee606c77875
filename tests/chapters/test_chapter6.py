"""The claims of chapter 6 and its deeper pages about positions; numbers worked by hand are read from the pages."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask, masked_softmax
from attention.multi_head import MultiHeadAttention
from attention.positions import (
    LearnedPositionalEmbedding,
    PositionalEncoding,
    alibi_bias,
    apply_rotary,
    shift_matrix,
    sinusoidal_encoding,
)
from attention.worked_example import EXAMPLE

pytestmark = [
    pytest.mark.proof(
        depends=["book/chapters/06-positions.md", "book/deeper/sinusoidal-table.md", "book/deeper/rotary-elsewhere.md"]
    ),
    pytest.mark.timeout(1800),
]

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "chapters" / "06-positions.md").read_text("utf-8")

ROUNDING = 1e-12  # float64, values of order 1 to 100, a few hundred operations


@pytest.fixture(autouse=True)
def float64_by_default():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def example(name: str) -> Tensor:
    return torch.tensor(EXAMPLE[name], dtype=torch.float64)


def worst(difference: Tensor) -> float:
    return difference.abs().max().item()


def head_1(x: Tensor, key_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    query, key, value = (x @ example(f"w_{name}") for name in ("query", "key", "value"))
    return scaled_dot_product_attention(query, key, value, key_mask)


# A set


def test_reordering_the_words_reorders_weights_and_outputs_and_nothing_else():
    outputs, weights = head_1(example("inputs"))
    for order in map(list, permutations(range(3))):
        moved_outputs, moved_weights = head_1(example("inputs")[order])
        assert worst(moved_outputs - outputs[order]) < ROUNDING
        assert worst(moved_weights - weights[order][:, order]) < ROUNDING


def test_a_mean_over_attention_is_a_bag_of_words():
    torch.manual_seed(0)
    layer, x = MultiHeadAttention(16, 4), random(1, 3, 16, seed=1)

    def sentence(x: Tensor, mask: Tensor | None = None) -> Tensor:
        return layer(x, x, x, mask)[0].mean(1)

    swapped = x[:, [2, 1, 0]]
    assert worst(sentence(x) - sentence(swapped)) < ROUNDING
    table = sinusoidal_encoding(3, 16)
    assert worst(sentence(x + table) - sentence(swapped + table)) > 1e-3
    assert worst(sentence(x, causal_mask(3)) - sentence(swapped, causal_mask(3))) > 1e-3


def test_a_causal_mask_lets_a_row_count_itself():
    first = masked_softmax(torch.zeros(8, 8), causal_mask(8))[:, 0]
    assert worst(first - 1 / torch.arange(1, 9)) < ROUNDING


# The table


def test_the_slowest_pair_and_the_length_of_a_row():
    for d_model, slowest in ((4, 628), (16, 19869), (128, 54410), (512, 60611)):
        assert round(2 * math.pi * 10000 ** ((d_model - 2) / d_model)) == slowest
        assert d_model != 512 or f"the slowest pair needs {slowest:,}" in PAGE
        rows = sinusoidal_encoding(256, d_model)
        assert worst(rows.norm(dim=1) - math.sqrt(d_model / 2)) < ROUNDING
        assert rows[0].tolist() == [0.0, 1.0] * (d_model // 2)
        assert torch.pdist(rows).min() > 0.05
        assert rows.abs().max() <= 1


def test_a_position_as_a_column_is_the_table_transposed():
    columns = sinusoidal_encoding(1024, 512).T
    assert columns.shape == (512, 1024)
    place, i = 700, 100
    assert columns[2 * i, place].item() == pytest.approx(math.sin(place / 10000 ** (2 * i / 512)), abs=1e-12)
    assert columns[2 * i + 1, place].item() == pytest.approx(math.cos(place / 10000 ** (2 * i / 512)), abs=1e-12)


# By hand


def test_the_running_example_with_positions_by_hand():
    encoding = sinusoidal_encoding(3, 4)
    rows = [[0, 1, 0, 1], [0.8415, 0.5403, 0.0100, 1.0000], [0.9093, -0.4161, 0.0200, 0.9998]]
    assert worst(encoding - torch.tensor(rows)) < 5.1e-5
    placed = example("inputs") + encoding
    sums = [[1, 1, 1, 1], [0.8415, 2.5403, 0.0100, 3.0000], [1.9093, 0.5839, 1.0200, 1.9998]]
    assert worst(placed - torch.tensor(sums)) < 5.1e-5
    query, key = placed @ example("w_query"), placed @ example("w_key")
    assert query[0].tolist() == [2, 1, 3] and key[0].tolist() == [2, 3, 1]
    scores = query @ key.T
    assert scores[0, 0] == 10
    assert [round(s, 4) for s in scores[0].tolist()] == [10.0, 19.1552, 14.4989]
    assert r"2 \cdot 2 + 1 \cdot 3 + 3 \cdot 1 = 10" in PAGE
    for row in [*rows[1:], *sums[1:]]:
        assert "[" + ", ".join(f"{number:.4f}" for number in row) + "]" in PAGE
    _, weights = head_1(placed)
    shown = [[0.005, 0.932, 0.063], [0.000, 0.999, 0.001], [0.000, 0.969, 0.030]]
    assert worst(weights - torch.tensor(shown)) < 5.1e-4


def test_a_score_of_sums_has_four_parts():
    x, e = example("inputs"), sinusoidal_encoding(3, 4)
    m = example("w_query") @ example("w_key").T
    parts = [a @ m @ b.T for a in (x, e) for b in (x, e)]
    whole = (x + e) @ m @ (x + e).T
    assert worst(sum(parts) - whole) < ROUNDING
    assert (parts[1] + parts[2] + parts[3])[0].gt(parts[0][0]).all()


def test_with_positions_an_exchange_of_words_is_noticed():
    x, e, order = example("inputs"), sinusoidal_encoding(3, 4), [2, 1, 0]
    outputs = head_1(x + e)[0]
    assert worst(head_1(x[order] + e)[0] - outputs[order]) == pytest.approx(0.4669, abs=5e-5)
    assert worst(head_1((x + e)[order])[0] - outputs[order]) < ROUNDING


# The shift


def residual(rows: Tensor, k: int) -> float:
    before, after = rows[:200], rows[k : 200 + k]
    best = torch.linalg.lstsq(before, after, driver="gelsd").solution
    return ((before @ best - after).norm() / after.norm()).item()


def test_one_matrix_shifts_every_position():
    rows = sinusoidal_encoding(1300, 64)
    for k in (1, 7, 100):
        assert worst(rows[:1000] @ shift_matrix(k, 64) - rows[k : 1000 + k]) < ROUNDING
    assert worst(shift_matrix(2, 64) @ shift_matrix(5, 64) - shift_matrix(7, 64)) < ROUNDING
    assert worst(shift_matrix(-3, 64) - shift_matrix(3, 64).T) < ROUNDING


def test_no_matrix_shifts_a_table_of_sines_alone():
    places = torch.arange(400)[:, None]
    for frequencies in (10000 ** (-torch.arange(0, 16, 2) / 16), 10000 ** (-torch.arange(16) / 16)):
        sines = (places * frequencies).sin()
        assert sines[0].count_nonzero() == 0  # zero times any matrix is zero, and row k is not
        for k in (1, 3, 7, 20, 100):
            assert 0.3 < residual(sines, k) < 0.55
            assert residual(sinusoidal_encoding(400, 16), k) < 1e-10


def test_the_dot_product_of_positions_knows_distance_and_not_direction():
    rows = sinusoidal_encoding(201, 128)
    products = rows @ rows.T
    assert worst(products - products.T) < ROUNDING
    theta = 10000 ** (-torch.arange(0, 128, 2) / 128)
    for k in range(0, 200, 7):
        diagonal = products.diagonal(k)
        assert worst(diagonal - (k * theta).cos().sum()) < ROUNDING
    assert products[100, 150].item() / 64 == pytest.approx(0.5462, abs=5e-5)  # half of the height is left at 50
    looks_left = rows[100] @ shift_matrix(-3, 128)
    assert (rows @ looks_left).argmax() == 97


def test_the_shift_by_three_has_full_rank_and_a_head_can_hold_it_for_half_as_many_pairs_as_it_is_wide():
    shift = shift_matrix(-3, 128)
    assert torch.linalg.matrix_rank(shift) == 128  # a product of d_model × d_head matrices has rank d_head at most
    few = torch.zeros(128, 128)
    few[:16, :16] = shift[:16, :16]
    assert torch.linalg.matrix_rank(few) == 16  # eight pairs fit into a head of 16
    rows = sinusoidal_encoding(201, 128)
    assert (rows[50:151] @ (rows[100] @ few)).argmax() == 50 - 3
    assert r"can hold such a turn for $d_\text{head}/2$ of the pairs" in PAGE


def test_the_shift_of_the_first_row_by_hand():
    first = sinusoidal_encoding(3, 4)[0] @ shift_matrix(1, 4)
    assert worst(first - sinusoidal_encoding(3, 4)[1]) < ROUNDING
    block = [[round(number, 4) for number in row] for row in shift_matrix(1, 4)[:2, :2].tolist()]
    assert block == [[0.5403, -0.8415], [0.8415, 0.5403]]
    assert r"0.5403 & -0.8415 \\ 0.8415 & 0.5403" in PAGE and "= [0.8415, 0.5403]" in PAGE


# Adding


@pytest.mark.full
def test_adding_is_concatenating_with_tied_projections():
    x, e, w = random(5, 8), random(5, 8, seed=1), random(8, 3, seed=2)
    tied = torch.cat([x, e], -1) @ torch.cat([w, w])
    assert worst(tied - (x + e) @ w) < ROUNDING


def test_the_table_of_64_positions_uses_19_of_128_directions():
    energy = torch.linalg.svdvals(sinusoidal_encoding(64, 128)).square()
    share = energy.cumsum(0) / energy.sum()
    assert share[17] < 0.99 <= share[18]


def test_the_module_keeps_its_table_out_of_the_state_dict_and_drops_from_the_sum():
    module = PositionalEncoding(8, max_length=6)
    assert not list(module.parameters()) and not module.state_dict()
    assert any(buffer.shape == (6, 8) for buffer in module.buffers())
    assert module(torch.zeros(2, 5, 8, dtype=torch.float16)).dtype == torch.float16
    with pytest.raises(ValueError, match="at most 6 long"):
        module(torch.zeros(1, 7, 8))
    torch.manual_seed(0)
    dropping, ones = PositionalEncoding(64, 6, dropout=0.25), 2 * torch.ones(100, 6, 64)
    share = (dropping.train()(ones) == 0).double().mean().item()
    assert abs(share - 0.25) < 0.02  # 38 400 entries: three deviations are 0.007
    assert (dropping.eval()(ones) != 0).all()


def test_bfloat16_cannot_count_past_256():
    places = torch.arange(4096)
    assert places[:257].to(torch.bfloat16).unique().numel() == 257
    assert places.to(torch.bfloat16).unique().numel() == 769
    assert places.to(torch.float16).unique().numel() == 3073
    exact = sinusoidal_encoding(4096, 64)
    assert worst(exact.to(torch.bfloat16).double() - exact) < 0.002  # half a unit of 8 bits below 1


def test_a_learned_row_past_the_longest_sentence_gets_no_gradient():
    torch.manual_seed(0)
    learned = LearnedPositionalEmbedding(64, max_length=32)
    learned(random(4, 10, 64)).square().sum().backward()
    assert (learned.weight.grad.abs().sum(1) > 0).nonzero().flatten().tolist() == list(range(10))
    fresh = F.normalize(learned.weight.detach(), dim=-1)
    sines = F.normalize(sinusoidal_encoding(32, 64), dim=-1)
    assert (fresh @ fresh.T).diagonal(1).mean().abs() < 0.1 and (sines @ sines.T).diagonal(1).mean() > 0.9
    assert 512 * 768 == 393_216


# Rotary


def rotary_half_split(x: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * 10000 ** (-torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], -1)


def test_the_rotation_of_the_running_example_by_hand():
    turned = apply_rotary(example("inputs"))
    assert turned[0].tolist() == [1, 0, 1, 0]
    assert worst(turned[1] - torch.tensor([-1.6829, 1.0806, -0.0200, 1.9999])) < 5.1e-5
    assert "[-1.6829, 1.0806]" in PAGE and "[-0.0200, 1.9999]" in PAGE
    assert worst(turned.norm(dim=1) - example("inputs").norm(dim=1)) < ROUNDING


def test_the_score_of_two_turned_words_by_hand_depends_on_distance_and_direction():
    first, second = example("inputs")[:1], example("inputs")[1:2]

    def score(m: int, n: int) -> float:
        return (apply_rotary(second, offset=m) @ apply_rotary(first, offset=n).T).item()

    assert (second @ first.T).item() == 0 and "It was 0 without positions" in PAGE
    for m, n in ((1, 0), (4, 3)):
        assert round(score(m, n), 4) == -1.7029
    assert round(score(0, 1), 4) == 1.7029
    assert "$-1.6829 - 0.0200 = -1.7029$" in PAGE and "$+1.7029$" in PAGE


def test_one_complex_product_is_the_rotation():
    x = random(12, 8)
    theta = 10000 ** (-torch.arange(0, 8, 2) / 8)
    angle = torch.arange(12)[:, None] * theta
    z = torch.view_as_complex(x.reshape(12, 4, 2)) * torch.polar(torch.ones_like(angle), angle)
    assert worst(torch.view_as_real(z).flatten(1) - apply_rotary(x)) < ROUNDING
    q, k = z[7], torch.view_as_complex(x.reshape(12, 4, 2))[2]  # the score of a pair, from the page
    unturned = torch.view_as_complex(x.reshape(12, 4, 2))[7]
    by_formula = (unturned * k.conj() * torch.polar(torch.ones(4), (7 - 2) * theta)).real.sum()
    k_turned = k * torch.polar(torch.ones(4), 2 * theta)
    assert worst((q * k_turned.conj()).real.sum() - by_formula) < ROUNDING


def test_ids_of_left_padded_rows_come_from_the_mask():
    real = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    assert (real.cumsum(-1) - 1).clamp(min=0).tolist() == [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]]


def test_rotary_scores_move_along_and_scores_of_an_added_table_do_not():
    x, w_q, w_k = random(12, 8), random(8, 8, seed=1), random(8, 8, seed=2)
    table = sinusoidal_encoding(1100, 8)

    def rotary(start: int, key_start: int | None = None) -> Tensor:
        key_start = start if key_start is None else key_start
        return apply_rotary(x @ w_q, offset=start) @ apply_rotary(x @ w_k, offset=key_start).T

    def added(start: int) -> Tensor:
        placed = x + table[start : start + 12]
        return placed @ w_q @ (placed @ w_k).T

    for start in (1, 10, 1000):
        assert worst(rotary(start) - rotary(0)) < 1e-10  # angles of up to 1000 are rounded at 1e-13
        assert worst(added(start) - added(0)) > 1
        assert worst(rotary(0, start) - rotary(0)) > 1


def test_the_two_pairings_differ_by_a_permutation_of_the_columns():
    q, k = random(12, 8), random(12, 8, seed=1)
    pi = torch.cat([torch.arange(0, 8, 2), torch.arange(1, 8, 2)])
    assert worst(rotary_half_split(q[:, pi]) - apply_rotary(q)[:, pi]) < ROUNDING
    ours = apply_rotary(q) @ apply_rotary(k).T
    assert worst(rotary_half_split(q[:, pi]) @ rotary_half_split(k[:, pi]).T - ours) < ROUNDING


def test_half_split_weights_in_adjacent_code_are_wrong_everywhere_but_at_distance_zero():
    q, k = random(12, 8), random(12, 8, seed=1)
    pi = torch.cat([torch.arange(0, 8, 2), torch.arange(1, 8, 2)])
    trained = rotary_half_split(q) @ rotary_half_split(k).T
    loaded = apply_rotary(q) @ apply_rotary(k).T
    assert worst((loaded - trained).diagonal()) < ROUNDING and worst((loaded - trained).diagonal(-1)) > 0.5
    inverse = pi.argsort()
    assert worst(apply_rotary(q[:, inverse]) @ apply_rotary(k[:, inverse]).T - trained) < ROUNDING


# ALiBi


def test_alibi_on_the_running_example_by_hand():
    scores = example("inputs") @ example("w_query") @ (example("inputs") @ example("w_key")).T / math.sqrt(3)
    biased = scores + alibi_bias(2, 3)[0]
    assert [round(s, 4) for s in biased[0].tolist()] == [1.1547, 2.2469, 2.1844]
    assert [round(w, 4) for w in biased[0].softmax(-1).tolist()] == [0.1475, 0.4396, 0.4129]
    assert "[1.1547, 2.2469, 2.1844]" in PAGE
    assert round(math.log(2) * 2, 1) == 1.4 and round(math.log(2) * 256) == 177
    assert "1.4 for the steepest of eight heads, 177 for the flattest" in PAGE


def test_identical_words_show_what_a_method_knows_about_positions():
    same, w_q, w_k = random(8, seed=7).expand(6, 8), random(8, 8, seed=1) / 4, random(8, 8, seed=2) / 4
    q, k = same @ w_q, same @ w_k
    assert worst((q @ k.T).softmax(-1) - 1 / 6) < ROUNDING
    rotary = (apply_rotary(q) @ apply_rotary(k).T).softmax(-1)
    assert worst(rotary[3] - 1 / 6) > 1e-3 and (rotary[3, 2] - rotary[3, 4]).abs() > 1e-3  # direction
    placed = same + sinusoidal_encoding(6, 8)
    added = (placed @ w_q @ (placed @ w_k).T).softmax(-1)
    assert (added[3, 2] - added[3, 4]).abs() > 1e-3  # direction
    alibi = (q @ k.T + alibi_bias(4, 6)[0]).softmax(-1)
    assert alibi[3].argmax() == 3 and alibi[3, 2].item() == pytest.approx(alibi[3, 4].item())  # no direction
