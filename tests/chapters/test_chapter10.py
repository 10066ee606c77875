"""The claims of chapter 10, with the functions that the page shows: one new row, a cache, and what it saves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from attention.efficient import KeyValueCache
from attention.worked_example import EXAMPLE

pytestmark = pytest.mark.proof(depends="book/chapters/10-decoder.md")

PAGE = Path(__file__).resolve().parents[2] / "book" / "chapters" / "10-decoder.md"
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
EXACT = 1e-12  # float64, values of order 1 to 10, some hundreds of additions


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the page's cells define and compute."""
    names: dict[str, Any] = {}
    threads = torch.get_num_threads()
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE.read_text("utf-8"), re.S):
        exec(re.sub(r"^(---\n.*?\n---\n|:tags:[^\n]*\n)", "", cell, flags=re.S), names)
    torch.set_num_threads(threads)
    return names


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_step_two_of_the_running_example_by_hand():
    inputs, *weights = (torch.tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key", "w_value"))
    query, key, value = (inputs @ weight for weight in weights)
    assert query[1].tolist() == [2, 2, 2] and query[2].tolist() == [2, 1, 3]
    assert (query[1] @ key[:2].T).tolist() == [4, 16]
    row = (query[1] @ key[:2].T / 3**0.5).softmax(dim=-1)
    assert torch.allclose(row, torch.tensor([0.0010, 0.9990]).double(), rtol=0, atol=PRINTED)
    assert torch.allclose(row @ value[:2], torch.tensor([1.9990, 7.9941, 0.0029]).double(), rtol=0, atol=PRINTED)


def test_step_by_step_equals_all_at_once(page):
    torch.manual_seed(0)
    writer, written = page["Writer"](d_model=16).double(), random(1, 9, 16)
    caches = [KeyValueCache(9) for _ in writer.layers]
    with torch.no_grad():
        steps = torch.cat([writer.step(token, caches) for token in written.split(1, dim=1)], dim=1)
        assert (steps - writer(written)).abs().max() < EXACT
        assert (page["again"](writer, written) - steps).abs().max() < EXACT


def test_flops_of_a_step_with_and_without_the_cache(page):
    d, t = 128, 20
    writer, x = page["Writer"](layers=1), random(1, t, d).float()
    caches = [KeyValueCache(t)]
    with torch.no_grad():
        for token in x[:, :-1].split(1, dim=1):
            writer.step(token, caches)
    assert 1e6 * page["megaflops"](lambda: writer(x)) == pytest.approx(8 * t * d * d + 4 * t * t * d)
    assert 1e6 * page["megaflops"](lambda: writer.step(x[:, -1:], caches)) == pytest.approx(8 * d * d + 4 * t * d)


@pytest.mark.full
def test_costs_of_writing_to_leading_order():
    T, d = 4000, 64
    again, cached = (
        sum(8 * t * d * d + 4 * t * t * d for t in range(1, T)),
        8 * T * d * d + sum(4 * t * d for t in range(T)),
    )
    assert again == pytest.approx(4 * T**2 * d**2 + 4 / 3 * T**3 * d, rel=1e-3)
    assert cached == pytest.approx(8 * T * d**2 + 2 * T**2 * d, rel=1e-3)
