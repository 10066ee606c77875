"""The numbers of chapter 4's text, recomputed, and its experiment."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from statistics import mean

import pytest
import torch

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask, masked_softmax
from attention.scores import scaled_dot_scores
from attention.worked_example import EXAMPLE
from studies import masks as studies
from studies.recording import spread

pytestmark = pytest.mark.proof(depends=["book/chapters/04-masks.md", "book/studies/results/masks.json"])

PAGE = (Path(__file__).parents[2] / "book" / "chapters" / "04-masks.md").read_text(encoding="utf-8")
STUDY = studies.RECORD.load()["leak"]


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_scores_and_weights_of_the_text():
    inputs, w_query, w_key = (torch.tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key"))
    scores = scaled_dot_scores(inputs @ w_query, inputs @ w_key)
    for row in scores.tolist():
        assert "[" + ", ".join(f"{score:.4f}" for score in row) + "]" in PAGE
    unmasked = scores.softmax(-1)
    assert "Row 1 is [" + ", ".join(f"{weight:.4f}" for weight in unmasked[0].tolist()) + "]" in PAGE.replace("$", "")
    rows = re.findall(r"^\| ([123]) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.M)
    erased, masked = unmasked * causal_mask(3), masked_softmax(scores, causal_mask(3))
    assert [int(row[0]) for row in rows] == [1, 2, 3]
    for (_, after, total, before), kept, right in zip(rows, erased, masked, strict=True):
        assert numbers(after) == pytest.approx(kept.tolist(), abs=5.1e-5)
        assert numbers(total) == pytest.approx([kept.sum().item()], abs=5.1e-5)
        assert numbers(before) == pytest.approx(right.tolist(), abs=5.1e-5)


def test_the_function_on_the_page_is_one_row_of_the_exercise():
    (source,) = re.findall(r"```\{code-cell\} ipython3\n(def careful.*?)\n\n\n", PAGE, re.S)
    names = {"torch": torch}
    exec(compile(ast.parse(source), "04-masks.md", "exec"), names)
    for see in ([True, True, False], [False, True, False], [False] * 3):
        row = torch.tensor([0.3, -1.2, 0.8], requires_grad=True)
        weights = names["careful"](row, torch.tensor(see))
        assert torch.equal(weights, masked_softmax(row, torch.tensor(see)))
        weights.square().sum().backward()
        assert row.grad.isfinite().all()


def test_the_shares_of_the_text_are_those_of_the_study():
    last = {name: [curve[-1][1] for curve in curves] for name, curves in STUDY["found"].items()}
    steps = {curve[-1][0] for curves in STUDY["found"].values() for curve in curves}
    assert steps == {studies.STEPS} and f"after {studies.STEPS:,} steps" in PAGE and len(STUDY["seeds"]) == 5
    share, deviation = spread(last["erased after the softmax"])
    assert f"{share:.0%} right".replace("%", " %") in PAGE
    assert f"(standard deviation {deviation:.0%} over five seeds".replace("%", " %") in PAGE
    assert f"it gets {mean(last['−∞ before the softmax']):.1%}, chance".replace("%", " %") in PAGE
    assert last["no mask"] == [1.0] * 5
    # "Erasing and renormalising leaks nothing": 50 steps of 64 · 7 tokens have a standard error of 0.2 %
    assert all(abs(share - 1 / 8) < 0.01 for share in last["erased, renormalised"] + last["−∞ before the softmax"])


def test_a_mask_after_the_softmax_is_read_through_and_one_before_it_is_not():
    shares = {name: studies.guesses(name, seed=0, steps=200)[-1][1] for name in studies.MASKS}
    assert shares["no mask"] > 0.9 and shares["erased after the softmax"] > 0.3
    assert max(shares["−∞ before the softmax"], shares["erased, renormalised"]) < 0.15


def test_the_weight_that_zeros_take_in_the_text():
    """As on the page leak-tests: three random words of width 16, padded with zeros to 48; eight draws."""
    shares = []
    for seed in range(8):
        generator = torch.Generator().manual_seed(seed)
        words = torch.randn(3, 16, generator=generator)
        to_query, to_key = (torch.randn(16, 16, generator=generator) / 4 for _ in range(2))
        keys = torch.cat([words, torch.zeros(45, 16)]) @ to_key
        _, weights = scaled_dot_product_attention(words @ to_query, keys, keys)
        shares.append(weights[0, 3:].sum().item())
    low, high = (round(100 * share) for share in (min(shares), max(shares)))
    assert f"gives {low} to {high} % of its weight to padding, eight draws" in PAGE


def test_the_sizes_of_masks_in_the_text():
    plain = 4096 * 4096 / 2**20
    assert f"{plain:.0f} MiB, its additive form in float32 {4 * plain:.0f} MiB" in PAGE
    assert f"8 sentences and 16 heads {8 * 16 * 4 * plain / 1024:.0f} GiB" in PAGE
