"""What chapter 11 and its deeper pages say of committed results: read from the files, not measured again."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import results
from studies import efficient as studies
from studies import misses
from tests.chapters.chapter11 import FILES, PAGE, PAGES

DATA = ["solutions/benchmarks/results/*.json", "book/studies/results/efficient.json"]
pytestmark = pytest.mark.proof(depends=[*FILES, *DATA])

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
    assert "On the two EPYC cores" in PAGES["attention-at-full-length"]


def test_the_simple_predictions_are_missed_by_the_factors_that_the_page_explains():
    for name, factor in (("naive", 3.5), ("online softmax, autograd", 8.8), ("compile(naive)", 4.9)):
        found = row(name, 4096)
        assert round(found["seconds"]["median"] / found["predicted_seconds"], 1) == factor
    assert (
        "3.5 times its prediction, the one-pass form 8.8 times and `compile(naive)` 4.9" in PAGES["attention-roofline"]
    )


def test_the_times_of_twice_the_length_are_those_of_the_page():
    growth = {name: results.ratio(row(name, 8192), row(name, 4096)) for name in ("SDPA", "blockwise 256", "naive")}
    said = "takes SDPA {:.1f} times as long, blockwise attention {:.1f} times and the naive form {:.1f} times"
    assert said.format(*growth.values()) in PAGES["attention-at-full-length"]
    steps = [results.ratio(row("naive", 2 * n), row("naive", n)) for n in (1024, 2048)]
    assert min(steps) < 2.5 and max(steps) > 6
    per_score = [row("naive", n)["seconds"]["median"] / (8 * n**2) * 1e9 for n in (1024, 2048, 4096)]
    said = "unevenly: {:.1f}, {:.1f} and {:.1f} ns per score"
    assert said.format(*per_score) in PAGES["attention-at-full-length"]


def test_the_loop_and_the_one_pass_form_fall_back_in_training():
    text = PAGES["attention-at-full-length"]
    short, long = times(1024, "forward+backward"), times(4096, "forward+backward")
    loop, one_pass = ([f"{at[name]:.1f}" for at in (short, long)] for name in FORMS[1:3])
    assert "takes {} of the naive form's time at 1024 and {} at 4096".format(*loop) in text
    assert "the one-pass form {} and {}:".format(*one_pass) in text
    assert f"{long['blockwise 256']:.1f} at 4096, where SDPA takes {long['SDPA']:.2f}" in text


def test_blockwise_attention_stays_near_sdpa_in_time_and_far_below_the_naive_form_in_memory():
    for pass_ in ("forward", "forward+backward"):
        for variant in ("blockwise 128", "blockwise 256"):
            assert results.ratio(row(variant, 8192, pass_), row("SDPA", 8192, pass_)) <= 1.6
    for variant in ("blockwise 128", "blockwise 256"):
        assert 80 * row(variant, 8192)["peak_bytes"] <= row("naive", 8192)["peak_bytes"]


def test_a_dense_mask_takes_longer_than_no_mask_at_4096():
    assert results.ratio(row("SDPA, dense mask", 4096), row("SDPA", 4096, causal=False)) > 1


def test_the_layers_that_miss_the_fast_kernel_take_up_to_five_and_a_half_times_as_long():
    slow, ratios = ("MultiheadAttention, weights", "EncoderLayer, dropout 0.1", "EncoderLayer, eval, fast path"), []
    for causal in (False, True):
        rows = {one["variant"]: one for one in results.rows(FOUND, what="module", causal=causal)}
        ratios += [results.ratio(rows[name], rows["fused QKV" if "Multi" in name else "fused layer"]) for name in slow]
    assert f"need {min(ratios):.1f} to {max(ratios):.1f} times as long" in PAGES["attention-at-full-length"]


def test_flex_was_timed_where_its_error_passes_the_gate():
    lengths = {one["length"] for one in results.rows(FOUND, what="attention", variant="flex")}
    assert lengths == {512, 1024}
    ratios = [row("flex", n, causal=False)["error"] / row("naive", n, causal=False)["error"] for n in (512, 1024)]
    assert [round(ratio, 1) for ratio in ratios] in ([1.1, 1.5], [1.2, 1.5], [1.1, 1.6], [1.2, 1.6])
    assert row("flex", 1024)["error"] < row("naive", 1024)["error"]


# The studies of the chapter


def found(part: str) -> Any:
    return studies.RECORD.found(part)


def test_every_part_names_its_machine_and_runs_on_one_thread():
    for part in studies.PARTS:
        about = studies.RECORD.load()[part]["environment"]
        assert about["threads"] == 1 and about["date"][:10] in studies.machine(part)
        assert about["torch"] in studies.machine(part) and about["processor"] in studies.machine(part)


def test_what_the_page_says_of_memory():
    peaks = {(form, n, back): mib for form, n, back, mib in found("memory")}
    naive, one, blocks = (peaks[form, 4096, True] for form in ("naive", "one pass, autograd", "blockwise"))
    assert f"{one:.0f} against {naive:.0f} MiB at 4096" in PAGE and f"grow with $L$: {blocks:.0f} MiB" in PAGE
    assert one > naive and peaks["one pass, autograd", 2048, False] < peaks["naive", 2048, False] / 2
    squares, lines = ("naive", "one pass, autograd"), ("blockwise", "SDPA")
    for form, low, high in (*((form, 2.9, 5) for form in squares), *((form, 1.3, 2.5) for form in lines)):
        lengths = studies.LENGTHS[form]
        ratios = [peaks[form, n, True] / peaks[form, n // 2, True] for n in lengths[1:]]
        assert all(low < ratio < high for ratio in ratios), (form, ratios)


def test_what_the_page_says_of_shared_heads():
    rows = found("decoding")
    assert len({cells[0] for cells in rows.values()}) == 1  # MFLOP
    assert [cells[1] for cells in rows.values()] == [32, 8, 2]
    assert f"a quarter of the bytes takes {rows['4'][2] / rows['16'][2]:.1f} of the time" in PAGE
    assert min(cells[3] for cells in rows.values()) > rows["16"][2]


def test_what_the_pages_say_of_predictions():
    text, rows = PAGES["attention-roofline"], found("misses")["rows"]
    simple = {name: f"{misses.ratio(one, 'benchmark'):.1f}" for name, one in rows.items()}
    assert f"took {simple['naive']} times as long as predicted" in PAGE
    assert f"{simple['one pass, autograd']} times in the one-pass form, and {simple['SDPA']} times in SDPA" in PAGE
    counted = {name: misses.ratio(one, "counted") for name, one in rows.items()}
    assert all(0.95 < ratio < 1.35 for ratio in counted.values())  # what the count leaves out is small
    low = {name: round(100 * (1 - 1 / ratio)) for name, ratio in counted.items()}
    assert f"With both the prediction is {low['naive']} % too low" in text
    assert f"was new pages, too: {low['loop over heads']} % too low" in text
    assert f"The prediction is {low['one pass, autograd']} % too low; it leaves out" in text
    assert f"The prediction is {low['compile(naive)']} % too low; the code" in text
    assert all(512 == 4 * 128 <= rows[name]["new_memory"] < 544 for name in ("naive", "loop over heads"))
    shown = {"Naive": "naive", "loop over heads": "loop over heads", "one pass": "one pass, autograd", "SDPA": "SDPA"}
    for said, name in (shown | {"compiled naive": "compile(naive)"}).items():
        bars = [f"{1000 * rows[name][part]:.0f}" for part in ("benchmark", "counted", "measured")]
        assert f"{said} {', '.join(bars)}{'.' if 'compiled' in said else ';'}" in text
    rates = {name: rate / 1e9 for name, rate in found("misses")["rates"].items()}
    assert f"it does {rates[misses.WHOLE]:.0f} GFLOP/s, the square product {rates[misses.SQUARE]:.0f}." in text
    powers = rates["exp of causal scores, 1/s"], rates["exp2, 1/s"]
    assert "it does {:.1f} billion per second, `exp2` of visible ones {:.1f}.".format(*powers) in text
    forward = found("forward")
    ratios = {name: t / sum(forward["predicted"][name].values()) for name, t in forward["measured"].items()}
    for name, said in (("naive", "Naive"), ("blockwise", "Blockwise"), ("SDPA", "SDPA")):
        assert f"- **{said}: {ratios[name]:.1f} times" in text
    rest = forward["measured"]["SDPA"] - forward["predicted"]["SDPA"]["products"]
    assert f"Beside the products there are {1000 * rest:.1f} ms for 8.4 million exponentials" in text
    alone = 8 * 1024**2 / forward["rates"]["exp2, 1/s"]
    assert f"torch's `exp2` alone takes {1000 * alone:.1f} ms" in text and alone < rest
    assert f"simple prediction is {100 * (1 - 1 / counted['SDPA']):.0f} % too low" in text
    one_thread = (simple[name] for name in ("naive", "one pass, autograd", "compile(naive)"))
    assert "with two heads, they are {}, {} and {}.".format(*one_thread) in text


def test_blockwise_attention_takes_little_longer_than_sdpa_on_one_thread_and_on_two():
    rows, text = found("beside SDPA"), PAGES["attention-roofline"]
    assert {(one["threads"], one["length"], one["causal"]) for one in rows} == {
        (threads, length, causal) for threads in (1, 2) for length in (2048, 8192) for causal in (False, True)
    }
    for threads, most in ((1, 1.2), (2, 1.5)):
        spans = []
        for pass_ in ("forward", "both"):
            ratios = [one[pass_] for one in rows if one["threads"] == threads]
            assert max(ratios) <= most
            spans.append(f"{min(ratios):.2f} to {max(ratios):.2f}")
        before = "`blockwise_attention` takes" if threads == 1 else "on two threads"
        passes = "{} times as long as SDPA forward and {} times with" if threads == 1 else "{} and {} times ("
        assert f"{before} {passes.format(*spans)}" in text


def test_the_naive_form_grows_evenly_where_its_memory_is_kept():
    kept, fresh = ([one for one in found("kept memory") if one["kept"] is is_kept] for is_kept in (True, False))
    assert [one["length"] for one in kept] == [one["length"] for one in fresh] == [1024, 1448, 2048, 2896, 4096]
    assert {round(one["new_bytes"]) for one in kept} == {0} and {round(one["new_bytes"]) for one in fresh} == {12}
    text = PAGES["attention-at-full-length"]
    old, new = ([one["nanoseconds"] for one in some] for some in (kept, fresh))
    assert f"a score takes {min(old):.1f} to {max(old):.1f} ns at five lengths from 1024 to 4096" in text
    assert f"and {min(new):.1f} to {max(new):.1f} ns with 12 bytes of new pages each time" in text


def test_what_the_page_says_of_training():
    trained = found("training")
    both = trained["both"]
    assert both["SDPA"] < both["blockwise"] < both["naive, head by head"] < both["naive"]
    assert both["naive, head by head"] < both["one pass, autograd"] < both["naive"]
    cold = found("forward")["measured"]["naive"]
    said = f"the naive form took {1000 * trained['forward']['naive']:.0f} ms forward, not {1000 * cold:.0f}"
    assert said in PAGES["attention-roofline"]


def test_a_dense_mask_takes_longer_than_no_mask():
    times = found("masks")
    assert times["SDPA, dense mask"] > times["SDPA, no mask"] > times["SDPA, is_causal"]


def test_the_kernels_are_more_exact_than_the_naive_form():
    for length, _, small, whole, naive, _ in found("kernel"):
        assert length == 1 or max(small, whole) < naive
