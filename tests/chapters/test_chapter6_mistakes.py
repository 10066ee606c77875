"""Chapter 6's mistakes about positions, each with the test that finds it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attention.dot_product import scaled_dot_product_attention
from attention.positions import PositionalEncoding, apply_rotary, shift_matrix, sinusoidal_encoding
from attention.worked_example import EXAMPLE

pytestmark = pytest.mark.proof(depends="book/chapters/06-positions.md")

ROUNDING = 1e-12  # float64, values of order 1 to 10, a few hundred operations


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def table_of(length: int, d_model: int) -> Tensor:
    """The table in float64, whatever the default dtype is."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return sinusoidal_encoding(length, d_model)
    finally:
        torch.set_default_dtype(before)


def worst(difference: Tensor) -> float:
    return difference.abs().max().item()


def head_1(x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    weights = [torch.tensor(EXAMPLE[f"w_{name}"], dtype=torch.float64) for name in ("query", "key", "value")]
    return scaled_dot_product_attention(*(x @ weight for weight in weights), mask)


def inputs() -> Tensor:
    return torch.tensor(EXAMPLE["inputs"], dtype=torch.float64)


def test_i_that_runs_over_columns_breaks_the_pairs_and_the_dot_product():
    columns = torch.arange(16)
    angle = torch.arange(400, dtype=torch.float64)[:, None] / 10000 ** (2 * columns / 16)
    by_column = torch.where(columns % 2 == 0, angle.sin(), angle.cos())
    for table, right in ((by_column, False), (table_of(400, 16), True)):
        pairs = table.unflatten(-1, (-1, 2)).norm(dim=-1)
        products = (table @ table.T).diagonal(3)
        before, after = table[:200], table[3:203]
        best = torch.linalg.lstsq(before, after, driver="gelsd").solution
        left = ((before @ best - after).norm() / after.norm()).item()
        still = (table.amax(0) - table.amin(0) < 0.01).sum().item()
        if right:
            assert worst(pairs - 1) < ROUNDING and products.max() - products.min() < ROUNDING and left < 1e-10
            assert still == 1
        else:
            assert worst(pairs - 1) > 0.4 and products.max() - products.min() > 1 and left > 0.1 and still == 8


def test_i_taken_literally_leaves_the_table():
    with pytest.raises(IndexError):
        table_of(4, 4)[:, 2 * 3]  # the column 2i for i = d_model - 1


def test_positions_from_1_move_the_table_and_change_neither_distances_nor_rotary_scores():
    from_zero, from_one = table_of(3, 4), table_of(4, 4)[1:]
    assert worst(from_one - from_zero @ shift_matrix(1, 4).double()) < 1e-6  # the matrix is float32 here
    assert worst(from_one @ from_one.T - from_zero @ from_zero.T) < ROUNDING
    q, k = random(5, 8), random(5, 8, seed=1)
    moved = apply_rotary(q, offset=1) @ apply_rotary(k, offset=1).T
    assert worst(moved - apply_rotary(q) @ apply_rotary(k).T) < ROUNDING
    change = head_1(inputs() + from_one)[1] - head_1(inputs() + from_zero)[1]
    assert worst(change) == pytest.approx(0.1134, abs=5e-5)
    assert from_zero[0].tolist() == [0, 1, 0, 1] and from_one[0, 0] > 0.8


def padded(n: int, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return head_1(torch.cat([inputs(), torch.zeros(n - 3, 4, dtype=torch.float64)]) + table_of(n, 4), mask)


def test_a_padding_mask_mends_the_words_and_not_a_mean_over_all_rows():
    alone, _ = padded(3)
    for n, unmasked_mean, masked_mean in ((6, 3.4095, 2.0601), (60, 6.1511, 2.4242)):
        loose, loose_weights = padded(n)
        kept, weights = padded(n, torch.arange(n) < 3)
        assert loose_weights[0, 3:].sum() > 0 and worst(loose[:3] - alone) > 1e-4
        assert weights[:, 3:].count_nonzero() == 0 and worst(kept[:3] - alone) < ROUNDING
        assert worst(loose.mean(0) - alone.mean(0)) == pytest.approx(unmasked_mean, abs=5e-5)
        assert worst(kept.mean(0) - alone.mean(0)) == pytest.approx(masked_mean, abs=5e-5)
        assert worst(kept[:3].mean(0) - alone.mean(0)) < ROUNDING


def test_padded_columns_are_as_long_as_the_first_word_once_the_table_is_added():
    x = torch.cat([inputs(), torch.zeros(3, 4, dtype=torch.float64)]) + table_of(6, 4)
    assert worst(x[3:].norm(dim=1) - inputs()[0].norm()) < ROUNDING


def test_a_table_indexed_by_batch_sees_no_words_and_does_see_neighbours():
    w_q, w_k = random(8, 8, seed=1), random(8, 8, seed=2)
    batch, right = random(4, 5, 8, seed=3), PositionalEncoding(8).double()

    def by_batch(x: Tensor) -> Tensor:
        return x + table_of(1024, 8)[: x.shape[0], None]

    def gaps(place) -> tuple[float, float]:
        def attend(x: Tensor) -> Tensor:
            placed = place(x)
            return scaled_dot_product_attention(placed @ w_q, placed @ w_k, placed)[0]

        return tuple(worst(attend(batch.flip(axis)) - attend(batch).flip(axis)) for axis in (1, 0))

    words, sentences = gaps(by_batch)
    assert words < ROUNDING and sentences > 0.1
    words, sentences = gaps(right)
    assert words > 0.1 and sentences < ROUNDING
