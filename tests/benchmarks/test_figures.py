"""Figures and result files, on results that are made up here and nowhere else."""

import json

import matplotlib.pyplot as plt
import pytest

from benchmarks import figures, results

PEAKS = {"flop_per_s": {"float32": 1e11, "bfloat16": 4e11}, "bytes_per_s": 4e10, "exponentials_per_s": 1e9}


@pytest.fixture
def found():
    environment = {"device": "cpu", "device_name": "made", "processor": "made", "cores": 2, "threads": 2}
    environment |= {"torch": "2", "date": "2026-01-02T00:00:00+00:00", "peaks": PEAKS}
    rows = []
    for variant, power, dtype in (("naive", 2.0, "float32"), ("SDPA", 1.5, "float32"), ("SDPA", 1.0, "bfloat16")):
        for length in (256, 512, 1024, 2048):
            row = {"what": "attention", "variant": variant, "pass": "forward", "dtype": dtype, "causal": False}
            row |= {"batch": 1, "heads": 2, "length": length, "width": 8, "backend": "eager", "error": 1e-7}
            seconds = 1e-8 * length**power
            row["seconds"] = {"median": seconds, "quartiles": [seconds, 2 * seconds], "rounds": 3}
            row |= {
                "baseline_error": 1e-7,
                "exact_rows": 64,
                "checked": "output",
                "peak_bytes": int(100 * length**power),
            }
            rows.append(results.complete(row, environment))
    return {"format": 1, "quick": False, "environment": environment, "results": [], "rows": rows}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_fitted_exponent_of_a_power_is_that_power(power):
    assert figures.exponent([128, 512, 4096], [3.0 * x**power for x in (128, 512, 4096)]) == pytest.approx(power)


def test_one_point_has_no_exponent():
    assert figures.exponent([128], [1.0]) != figures.exponent([128], [1.0])


@pytest.mark.parametrize("draw", [figures.time_against_length, figures.memory_against_length])
def test_lines_carry_their_exponent(found, draw):
    names = [text.get_text() for text in draw(found).legends[0].get_texts()]
    assert names == ["naive, L^2.00", "SDPA (eager), L^1.50", "SDPA (eager) bfloat16, L^1.00"]


def test_errors_stand_beside_the_rounding_of_their_dtype(found):
    figure = figures.error_against_length(found, dtype="float32")
    assert [text.get_text() for text in figure.axes[0].texts] == ["ε of float32"]


def test_rates_have_a_panel_for_each_width(found):
    wider = [row | {"width": 16, "flop_per_s": 2 * row["flop_per_s"]} for row in found["rows"]]
    panels = figures.rate_against_length(found | {"rows": found["rows"] + wider}, dtype="float32").axes
    assert [ax.get_ylabel() for ax in panels] == ["TFLOP/s, d = 8", "TFLOP/s, d = 16"]
    for one, two in zip(*(ax.get_lines() for ax in panels), strict=True):
        assert list(two.get_ydata()) == [2 * y for y in one.get_ydata()]


def test_shares_and_predictions_are_drawn_at_one_length(found):
    shares = figures.share_of_peak(found)
    assert "L = 2048" in shares.axes[0].get_xlabel() and len(shares.axes[0].containers[0]) == 3
    pairs = figures.predicted_against_measured(found, length=512)
    assert [one.get_label() for one in pairs.axes[0].containers] == ["predicted", "measured"]


def test_the_roof_bends_where_bytes_and_products_take_equally_long(found):
    roof = figures.roofline(found, dtype="float32").axes[0].get_lines()[0]
    assert max(roof.get_ydata()) == PEAKS["flop_per_s"]["float32"]


@pytest.mark.parametrize("name", ["time_against_length", "memory_against_length", "error_against_length",
                                  "rate_against_length", "share_of_peak", "predicted_against_measured",
                                  "roofline"])  # fmt: skip
def test_every_figure_is_narrow_enough_and_has_words(found, name):
    figure = getattr(figures, name)(found)
    assert figure.get_size_inches()[0] <= 4.7
    assert "naive" in figures.describe(figure)
    assert figures.describe(figure).endswith(".")


def test_what_is_not_there_is_named(found):
    with pytest.raises(ValueError, match="no row has.*'causal': True"):
        figures.time_against_length(found, causal=True)
    with pytest.raises(ValueError, match=r"at L = 7; there are \[256"):
        figures.share_of_peak(found, length=7)


def test_a_file_is_written_whole_and_read_back(found, tmp_path):
    path = tmp_path / "made.json"
    results.write(found, path)
    assert results.load(path) == json.loads(json.dumps(found)) and list(tmp_path.iterdir()) == [path]
    assert results.says(results.load(path)) == "made, 2 cores, 2 threads, torch 2, 2026-01-02"


def test_what_cannot_be_written_leaves_the_old_file(found, tmp_path):
    path = tmp_path / "made.json"
    path.write_text("before")
    with pytest.raises(TypeError):
        results.write(found | {"rows": [object()]}, path)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_another_format_or_machine_is_refused_with_advice(found, tmp_path):
    results.write(found | {"format": 0}, tmp_path / "old.json")
    with pytest.raises(ValueError, match="format 0, expected 1; measure again"):
        results.load(tmp_path / "old.json")
    with pytest.raises(FileNotFoundError, match="no results of nowhere"):
        results.load("nowhere")


def test_rows_are_found_and_compared(found):
    one, other = (results.rows(found, variant=name, length=1024, dtype="float32")[0] for name in ("naive", "SDPA"))
    assert results.ratio(one, other) == pytest.approx(1024**0.5)
    assert [line[0] for line in results.table(found, length=256)] == ["naive", "SDPA", "SDPA"]


def test_every_kept_result_was_measured_in_full_and_passed_the_gate():
    for machine in results.machines():
        kept = results.load(machine)
        assert not kept["quick"] and kept["rows"] and kept["environment"]["torch"]
        for row in kept["rows"]:
            assert row["seconds"] is None or row["error"] is not None, row
