"""What chapter 11 says of the results file that it draws: read from the file, not measured again."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import results
from tests.chapters.chapter11 import PAGE

pytestmark = pytest.mark.proof(depends=["book/chapters/11-efficient.md", "solutions/benchmarks/results/*.json"])

FOUND = results.load("epyc-2-cores")
FORMS = ("naive", "loop over heads", "online softmax, autograd", "blockwise 256", "SDPA", "SDPA, dense mask")


def row(variant: str, length: int, pass_: str = "forward", **wanted: Any) -> dict[str, Any]:
    wanted = {"what": "attention", "dtype": "float32", "causal": True} | wanted
    (only,) = results.rows(FOUND, **wanted, **{"variant": variant, "length": length, "pass": pass_})
    return only


def times(length: int, pass_: str = "forward") -> dict[str, float]:
    """Seconds as multiples of the naive form's."""
    base = row("naive", length, pass_)
    return {name: results.ratio(row(name, length, pass_), base) for name in FORMS}


def test_the_file_is_of_a_processor_and_the_page_names_it():
    environment = FOUND["environment"]
    assert environment["device"] == "cpu" and environment["cores"] == 2 and "EPYC" in environment["processor"]
    assert "the file of the two EPYC cores" in PAGE
    on_gpu = [name for name in results.machines() if results.load(name)["environment"]["device"] == "cuda"]
    assert ("no GPU was lent" in PAGE) == (not on_gpu)


def test_the_loop_and_the_one_pass_form_are_ahead_forward_and_fall_back_in_training():
    for length in (1024, 2048, 4096):
        found = times(length)
        assert found["loop over heads"] < 0.5 and found["online softmax, autograd"] < 1
    short, long = times(1024, "forward+backward"), times(4096, "forward+backward")
    for name in ("loop over heads", "online softmax, autograd"):
        assert short[name] < 1 < long[name]
    assert long["blockwise 256"] < 1.3 * long["SDPA"]


def test_blockwise_attention_keeps_to_the_bars_in_time_and_memory():
    for pass_ in ("forward", "forward+backward"):
        for variant in ("blockwise 128", "blockwise 256"):
            assert results.ratio(row(variant, 8192, pass_), row("SDPA", 8192, pass_)) <= 1.4
    for variant in ("blockwise 128", "blockwise 256"):
        assert 80 * row(variant, 8192)["peak_bytes"] <= row("naive", 8192)["peak_bytes"]


def test_a_dense_mask_takes_longer_than_no_mask_at_4096():
    assert results.ratio(row("SDPA, dense mask", 4096), row("SDPA", 4096, causal=False)) > 1


def test_the_layers_that_miss_the_fast_kernel_take_up_to_six_and_a_half_times_as_long():
    slow, ratios = ("MultiheadAttention, weights", "EncoderLayer, dropout 0.1", "EncoderLayer, eval, fast path"), []
    for causal in (False, True):
        rows = {one["variant"]: one for one in results.rows(FOUND, what="module", causal=causal)}
        ratios += [results.ratio(rows[name], rows["fused QKV" if "Multi" in name else "fused layer"]) for name in slow]
    assert 1.4 < min(ratios) < 1.6 and 6 < max(ratios) < 6.6


def test_flex_was_timed_where_its_error_passes_the_gate():
    lengths = {one["length"] for one in results.rows(FOUND, what="attention", variant="flex")}
    assert lengths == {512, 1024}
    ratios = [row("flex", n, causal=False)["error"] / row("naive", n, causal=False)["error"] for n in (512, 1024)]
    assert [round(ratio, 1) for ratio in ratios] in ([1.1, 1.5], [1.2, 1.5], [1.1, 1.6], [1.2, 1.6])
    assert row("flex", 1024)["error"] < row("naive", 1024)["error"]
