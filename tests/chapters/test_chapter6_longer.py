"""What chapter 6 and its deeper page say of models on rows longer than those of training, and single runs again."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from attention.positions import apply_rotary
from studies import positions
from studies.recording import spread

#: Trains models; a time limit is there to end what hangs, also on a machine with much else to do.
pytestmark = [
    pytest.mark.proof(
        depends=[
            "book/chapters/06-positions.md",
            "book/deeper/rotary-longer.md",
            "book/studies/results/positions.json",
        ]
    ),
    pytest.mark.timeout(1800),
]

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "chapters" / "06-positions.md").read_text("utf-8")
DEEPER = (BOOK / "deeper" / "rotary-longer.md").read_text("utf-8")


def found(method: str) -> list[dict[str, Any]]:
    return positions.RECORD.found("longer rows")[method]


def at(method: str, length: int, task: int) -> list[float]:
    """The share of right answers, seed by seed."""
    return [one["right"][positions.LENGTHS.index(length)][task] for one in found(method)]


def repaired(repair: str, task: int, length: int = 64) -> list[float]:
    return [one["repaired"][repair][positions.LENGTHS.index(length)][task] for one in found("rotary")]


# What the pages say of the record


def test_the_record_has_eight_seeds_on_one_thread():
    study = positions.RECORD.load()["longer rows"]
    assert study["seeds"] == list(range(8)) and study["environment"]["threads"] == 1
    assert list(study["found"]) == list(positions.METHODS)


def test_learned_and_sinusoidal_positions_break_at_once():
    for method in ("sinusoidal", "learned"):
        assert min(at(method, 16, 0) + at(method, 16, 1)) > 0.97
        assert max(at(method, 24, 0)) < 0.75 and spread(at(method, 24, 0))[0] < 0.5
    assert f"sinusoidal to {spread(at('sinusoidal', 24, 0))[0]:.2f}" in PAGE  # the figure's description


def test_rotary_holds_to_twice_the_length_and_is_at_chance_at_64():
    assert min(at("rotary", 32, 0)) > 0.97 and min(at("rotary", 32, 1)) > 0.9
    assert max(at("rotary", 64, 0)) < 0.15 and spread(at("rotary", 64, 0))[0] == pytest.approx(0.1, abs=0.02)


def test_alibi_holds_at_every_length_on_the_task_that_it_can_do():
    assert all(min(at("ALiBi", length, 1)) > 0.95 for length in positions.LENGTHS)
    assert all(max(at("ALiBi", length, 0)) < 0.45 for length in positions.LENGTHS)
    assert max(at("none", 16, 0)) < spread(at("ALiBi", 16, 0))[0]  # "which come last here at the trained length"


def test_in_all_eight_seeds_the_head_that_looked_three_back_looks_47_back():
    highest = [max(range(56), key=one["pointing"][-1].__getitem__) for one in found("rotary")]
    assert highest == [47] * 8 and "In all eight seeds the head that looked three back then looks **47** back" in PAGE
    assert all(max(range(8), key=one["pointing"][0].__getitem__) == 3 for one in found("rotary"))
    assert round(44 / (2 * math.pi), 3) == 7.003
    alike = [k for k in range(4, 64) if math.cos(k - 3) > 0.95]
    assert [k for k in alike if k < 16] == [9] and max(alike, key=lambda k: math.cos(k - 3)) == 47


def test_raising_the_base_repairs_without_training_what_dividing_positions_destroys():
    numbers = {repair: [spread(repaired(repair, task)) for task in (0, 1)] for repair in positions.REPAIRS}
    (plain_three, _), (plain_low, _) = numbers["rotary"]
    (divided_three, _), (divided_low, _) = numbers["positions divided"]
    (raised_three, deviation), (raised_low, _) = numbers["base raised"]
    assert f"it gets {divided_three:.2f} of three back right at 64 tokens, and {divided_low:.2f} of the last" in PAGE
    assert f"then get {raised_three:.2f} (standard deviation {deviation:.2f}) and {raised_low:.2f} right" in PAGE
    assert f"unchanged they got {plain_three:.2f} and {plain_low:.2f}" in PAGE
    assert min(repaired("base raised", 0)) > 0.5 > max(repaired("positions divided", 0, 24))
    assert f"base raised 1 until 48 and {raised_three:.2f} at 64" in DEEPER  # the figure's description


def test_the_angles_of_the_three_repairs():
    plain, divided, raised = (positions.frequencies(repair, 4.0) for repair in positions.REPAIRS)
    assert torch.allclose(divided, plain / 4)
    assert raised[0] == plain[0] == 1 and raised[-1].item() == pytest.approx(plain[-1].item() / 4)
    assert (raised[1:-1] < plain[1:-1]).all() and (raised[1:-1] > plain[1:-1] / 4).all()
    assert re.search(r"10000 \\cdot 4\^\{d/\(d-2\)\}", PAGE)
    x = torch.randn(2, 5, positions.D_HEAD, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(positions.turn(x, plain), apply_rotary(x), atol=1e-6)  # float32


# Single runs again: one seed for each method. The bands are wide, since rounding differs between machines.

#: For each method the (lowest, highest) share of right answers at each length: three back, then the last low digit.
EXPECTED = {
    "sinusoidal": {16: [(0.9, 1), (0.9, 1)], 24: [(0, 0.75), (0, 0.9)], 64: [(0, 0.4), (0, 0.8)]},
    "learned": {16: [(0.9, 1), (0.9, 1)], 24: [(0, 0.4), (0, 0.85)], 64: [(0, 0.3), (0, 0.75)]},
    "rotary": {16: [(0.9, 1), (0.9, 1)], 24: [(0.9, 1), (0.9, 1)], 32: [(0.6, 1), (0.8, 1)], 64: [(0, 0.4), (0, 0.7)]},
    "ALiBi": {16: [(0.2, 0.6), (0.9, 1)], 24: [(0.2, 0.6), (0.85, 1)], 64: [(0.1, 0.55), (0.8, 1)]},
    "none": {16: [(0.15, 0.5), (0.7, 1)], 64: [(0, 0.35), (0.3, 0.85)]},
}


@pytest.mark.parametrize("method", EXPECTED)
def test_what_a_method_does_beyond_the_trained_length(method):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as on the page
    try:
        _, again = positions.run(method, 0)
    finally:
        torch.set_num_threads(threads)
    shares = dict(zip(positions.LENGTHS, again["right"], strict=True))
    for length, bands in EXPECTED[method].items():
        for share, (low, high) in zip(shares[length], bands, strict=True):
            assert low <= share <= high, f"{method} at {length}: {again['right']}"
    if method == "rotary":
        assert again["repaired"]["base raised"][-1][0] > 0.4 > again["repaired"]["positions divided"][-1][0]
