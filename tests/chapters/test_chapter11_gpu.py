"""What chapter 11 and its deeper pages say of the GPU that was measured: read from its results file."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import programs, results
from benchmarks.gate import FACTOR
from tests.chapters.chapter11 import FILES, PAGE, PAGES

pytestmark = pytest.mark.proof(depends=[*FILES, "solutions/benchmarks/results/*.json"])

FOUND = results.load("nvidia-h200")
LONG, TEXT = 16384, PAGES["attention-at-full-length"]
FUSED = ("SDPA", "SDPA flash", "SDPA efficient", "SDPA cudnn", "flex", "triton")
EPSILON = 2.0**-7  # of bfloat16


def row(
    variant: str, width: int, *, pass_: str = "forward", causal: bool = False, length: int = LONG
) -> dict[str, Any]:
    wanted = {"what": "attention", "width": width, "causal": causal, "length": length, "pass": pass_}
    (only,) = results.rows(FOUND, variant=variant, **wanted)
    return only


def rates(variant: str, **wanted: Any) -> list[float]:
    """TFLOP/s at both widths."""
    return [row(variant, width, **wanted)["flop_per_s"] / 1e12 for width in (64, 128)]


def test_the_file_is_of_the_gpu_that_the_pages_name_and_every_row_passed_its_gate():
    about = FOUND["environment"]
    assert about["device"] == "cuda" and about["device_name"] == "NVIDIA H200" and about["torch"].startswith("2.11")
    assert {one["dtype"] for one in FOUND["rows"]} == {"bfloat16"}
    assert {one["batch"] * one["length"] for one in FOUND["rows"]} == {LONG}
    assert {(one["heads"], one["width"]) for one in FOUND["rows"]} == {(32, 64), (16, 128)}
    for one in FOUND["rows"]:
        assert one["error"] <= max(FACTOR * one["baseline_error"], EPSILON)


def test_the_kernel_reaches_what_it_was_built_for():
    assert rates("triton")[1] >= 450 and rates("triton")[0] >= 400
    assert min(rates("triton", causal=True)) >= 400
    assert min(rates("triton", pass_="backward") + rates("triton", pass_="backward", causal=True)) >= 230


def test_sdpa_picked_cudnn_at_every_length():
    assert {one["backend"] for one in FOUND["rows"] if one["variant"] == "SDPA"} == {"cudnn"}
    assert "SDPA by itself picked cuDNN's kernel at every length" in TEXT
    assert "on an H200 with torch 2.11 SDPA picked it at every length" in PAGES["sdpa-backends"]


def test_what_the_page_says_of_the_naive_form():
    allowed = [one["flops"] / one["predicted_seconds"] / 1e12 for one in (row("naive", d) for d in (64, 128))]
    said = "allow {:.0f} and {:.0f} TFLOP/s; it reaches {:.0f} and {:.0f}."
    assert said.format(*allowed, *rates("naive")) in TEXT
    assert (
        "At 8192 it is slowest, {:.0f} and {:.0f}: the reason stands below".format(*rates("naive", length=8192)) in TEXT
    )
    for length in (1024, 2048, 4096, LONG):
        assert all(a < b for a, b in zip(rates("naive", length=8192), rates("naive", length=length), strict=True))
    peaks = row("naive", 64)["peak_bytes"] / 2**30, row("triton", 64)["peak_bytes"] / 2**20
    assert "it takes {:.0f} GiB for its matrices, this course's kernel {:.0f} MiB".format(*peaks) in TEXT


def per_score(width: int, *, pass_: str = "forward", causal: bool = False) -> list[float]:
    """Picoseconds per score of the naive form, from 1024 to 16,384 tokens."""
    found = [row("naive", width, pass_=pass_, causal=causal, length=LONG >> step) for step in (4, 3, 2, 1, 0)]
    return [one["seconds"]["median"] / (one["batch"] * one["heads"] * one["length"] ** 2) * 1e12 for one in found]


def test_of_the_naive_form_s_operations_only_the_softmax_can_be_what_is_slow_at_4096_and_8192():
    narrow, wide, masked = per_score(64), per_score(128), per_score(64, causal=True)
    backward = per_score(64, pass_="backward")
    assert all(abs(a / b - 1) < 0.04 for a, b in zip(narrow, wide, strict=True)), "products take as long per score"
    masks = [a - b for a, b in zip(masked, narrow, strict=True)]
    assert max(masks) / min(masks) < 1.06
    assert max(backward[1:]) / min(backward[1:]) < 1.03
    assert min(narrow[2:4]) > 1.2 * max(narrow[0], narrow[1], narrow[4]), "and the two lengths stand out"


def test_what_the_pages_say_of_the_kernels():
    short, long = rates("triton", causal=True, length=1024), rates("triton", causal=True)
    said = "at 1024 this course's kernel reaches {:.0f} and {:.0f} TFLOP/s, at 16,384 it reaches {:.0f} and {:.0f}"
    assert said.format(*short, *long) in TEXT
    back = rates("triton", pass_="backward") + rates("SDPA cudnn", pass_="backward")
    assert "{:.0f} and {:.0f} TFLOP/s, where cuDNN reaches {:.0f} and {:.0f}".format(*back) in TEXT
    assert "reaches {:.0f} and {:.0f} on an H200".format(*rates("triton")) in PAGE
    said = "reaches {:.0f} TFLOP/s at $d = 64$ and {:.0f} at $d = 128$, forward without a mask"
    assert said.format(*rates("triton")) in PAGES["triton-kernel"]
    for variant in ("naive", *FUSED):
        for causal in (False, True):
            assert rates(variant, causal=causal)[0] < rates(variant, causal=causal)[1]


def test_exponentials_do_not_wait_where_the_page_says_so():
    peaks = FOUND["environment"]["peaks"]
    product, exponential = peaks["measured"]["flop_per_s"]["bfloat16"], 1 / peaks["exponentials_per_s"]
    bars = [4 * d / (4 * d / product + exponential) / 1e12 for d in (64, 128)]
    assert all(rate > bar for rate, bar in zip(rates("SDPA cudnn"), bars, strict=True))
    assert rates("triton")[0] > bars[0] and rates("triton")[1] < bars[1] and max(rates("SDPA flash")) < min(bars)
    assert abs(rates("triton")[0] / rates("SDPA cudnn")[0] - 1) < 0.02


def test_fewer_programs_side_by_side_are_slower():
    (shared,) = FOUND["results"]
    by = {(one["width"], one["choice"][3]): one for one in shared["rows"]}
    assert len(by) == len(shared["rows"]) == sum(map(len, programs.CHOICES.values()))
    assert [by[64, stages]["programs"] for stages in (2, 3, 4)] == [3, 2, 1]
    assert [by[128, stages]["programs"] for stages in (2, 3, 4)] == [2, 2, 1]
    rate = {key: f"{one['flop_per_s'] / 1e12:.0f}" for key, one in by.items()}
    said = f"three programs side by side reach {rate[64, 2]} TFLOP/s, two {rate[64, 3]} and one alone {rate[64, 4]}."
    assert said in TEXT and f"At $d = 128$ two reach {rate[128, 3]} and one {rate[128, 4]};" in TEXT
    assert by[64, 3]["registers"] == by[64, 4]["registers"] and by[128, 3]["registers"] == by[128, 4]["registers"]
