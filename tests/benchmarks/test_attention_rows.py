"""No variant is timed before its gate; rows say what was measured. No test looks at how long anything took."""

import json
import math

import pytest
import torch
from click.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks import attention_rows, cost, exact, gate, modules, peaks, results, variants
from benchmarks.attention_rows import Group

SHAPE = cost.Shape(1, 2, 24, 8)
GROUP = Group(SHAPE, True, "float32", ("naive", "planted"), ("naive", "planted"), seconds=0.0, least=2, most=2)


def inverted(query, key, value, causal):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(-1)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ value


def unscaled(query, key, value, causal):
    return variants.naive(query * math.sqrt(query.shape[-1]), key, value, causal)


def wrong_end(query, key, value, causal):
    """Query i sees the last keys instead of the first."""
    length = query.shape[-2]
    seen = torch.ones(length, length, dtype=torch.bool).tril().flip(-1)
    return (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~seen, -torch.inf).softmax(-1) @ value


class Cut(torch.autograd.Function):
    """Passes its input on, and half of the gradient back."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, upstream):
        return upstream / 2


def wrong_gradient(query, key, value, causal):
    return variants.naive(query, Cut.apply(key), value, causal)


WRONG = [inverted, unscaled, wrong_end, wrong_gradient]


@pytest.fixture(autouse=True)
def no_children(monkeypatch):
    """In this process: what was planted here is not in another. Only test_memory looks at processes of their own."""
    monkeypatch.setattr(attention_rows, "run_apart", lambda function, *given: function(*given))
    monkeypatch.setattr(command, "run_apart", lambda function, *given: function(*given))
    monkeypatch.setattr(command.modules, "run", lambda *_: [])
    monkeypatch.setattr(command, "peaks", lambda *_: made_peaks())
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def made_peaks():
    rates = {"flop_per_s": {"float32": 1e11, "bfloat16": 4e11}, "bytes_per_s": 4e10, "exponentials_per_s": 1e9}
    return rates | {"source": dict.fromkeys(rates, "measured")}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_planted_wrong_variant_is_refused_and_nothing_is_timed(wrong, monkeypatch):
    monkeypatch.setattr(attention_rows, "_time_in_turn", lambda *_: pytest.fail("it was timed"))
    planted = {"naive": variants._bound(variants.naive), "planted": variants._bound(wrong)}
    with pytest.raises(gate.GateError, match="planted: the error of (output|gradient of key)"):
        attention_rows.time_group(GROUP, planted)


@pytest.mark.parametrize("wrong", WRONG)
def test_the_command_ends_with_1_and_writes_nothing_where_a_variant_is_wrong(wrong, monkeypatch, tmp_path):
    planted = {"naive": variants._bound(variants.naive), "planted": variants._bound(wrong)}
    monkeypatch.setattr(variants, "on_cpu", lambda: planted)
    monkeypatch.setattr(attention_rows, "cpu_groups", lambda *_: [GROUP])
    monkeypatch.setattr(attention_rows, "_time_in_turn", lambda *_: pytest.fail("it was timed"))
    done = CliRunner().invoke(command.main, ["--quick", "--device", "cpu", "--out", str(tmp_path / "x.json")])
    assert done.exit_code == 1
    assert "not timed, for it is wrong: planted" in done.output and " ms" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_ends_with_130_and_keeps_the_file_that_was_there(monkeypatch, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(attention_rows, "cpu_groups", interrupt)
    path = tmp_path / "x.json"
    path.write_text("before")
    done = CliRunner().invoke(command.main, ["--quick", "--device", "cpu", "--out", str(path)])
    assert done.exit_code == 130 and "nothing was written" in done.output
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_bfloat16_is_left_out_where_a_cpu_multiplies_it_far_more_slowly(monkeypatch):
    made = []
    monkeypatch.setattr(attention_rows, "time_group", lambda group: made.append(group.dtype) or [])
    for rate, dtypes in ((4e11, {"float32", "bfloat16"}), (1.1e10, {"float32", "bfloat16"}), (1e9, {"float32"})):
        made.clear()
        found = made_peaks() | {"flop_per_s": {"float32": 1e11, "bfloat16": rate}}
        monkeypatch.setattr(command, "peaks", lambda *_, found=found: found)
        monkeypatch.setattr(command.multi_head, "run", lambda _: {})
        monkeypatch.setattr(command, "as_text", lambda _: "")
        done = CliRunner().invoke(command.main, ["--quick", "--device", "cpu"])
        assert done.exit_code == 0 and set(made) == dtypes
        assert ("100 times as slowly as float32" in done.output) == ("bfloat16" not in dtypes)


def test_no_larger_product_is_tried_after_one_that_takes_long(monkeypatch):
    monkeypatch.setattr(peaks, "_fastest", lambda function, device: 1.0)
    assert peaks._matmul("float32", "cpu", (4, 8)) == 2 * 4**3
    monkeypatch.setattr(peaks, "_fastest", lambda function, device: 0.1)
    assert peaks._matmul("float32", "cpu", (4, 8)) == 2 * 8**3 / 0.1


@pytest.mark.parametrize(("free", "copied"), [(140 << 30, 4 << 30), (12 << 30, 3 << 30)])
def test_a_copy_takes_at_most_half_of_a_gpus_free_memory(free, copied, monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 141 << 30))
    made = []
    monkeypatch.setattr(torch, "zeros", lambda size, **_: made.append(size) or torch.ones(1))
    monkeypatch.setattr(peaks, "_fastest", lambda *_: 1.0)
    peaks._copy("cuda", quick=False)
    assert made == [copied]


def test_a_form_is_compiled_for_every_shape_and_not_for_the_first_eight_alone(monkeypatch):
    def counted(graph, _):
        made.append(graph)
        return graph

    compile_, made = torch.compile, []
    monkeypatch.setattr(torch, "compile", lambda function, **how: compile_(function, backend=counted, **how))
    torch.compiler.reset()
    attend = variants._compiled_naive(True)
    for length in range(8, 20):
        attend(*torch.zeros(3, 1, 2, length, 4))
    assert len(made) == 12
    torch.compiler.reset()


@pytest.mark.parametrize("name", ["NVIDIA H200", "unknown"])
def test_a_gpus_measured_rates_stand_beside_those_that_its_maker_states(monkeypatch, name):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: name)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    monkeypatch.setattr(peaks, "_matmul", lambda *_: 7e14)
    monkeypatch.setattr(peaks, "_copy", lambda *_: 4e12)
    monkeypatch.setattr(peaks, "_exponentials", lambda _: 4.2e12)
    found, stated = peaks.peaks("cuda"), name != "unknown"
    assert found["measured"] == {"flop_per_s": {"bfloat16": 7e14}, "bytes_per_s": 4e12}
    assert found["flop_per_s"] == {"bfloat16": 989e12 if stated else 7e14}
    assert found["bytes_per_s"] == (4.8e12 if stated else 4e12) and found["exponentials_per_s"] == 4.2e12
    assert found["source"]["flop_per_s"] == ("stated" if stated else "measured")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_asked_for_and_missing_is_an_error():
    done = CliRunner().invoke(command.main, ["--device", "cuda"])
    assert done.exit_code == 1 and "no CUDA GPU here; try --device cpu" in done.output


def test_every_variant_passes_and_its_rows_are_complete(monkeypatch, tmp_path):
    plain = {name: one for name, one in variants.on_cpu().items() if not one.compiled}
    groups = [
        Group(SHAPE, causal, dtype, tuple(n for n in plain if causal or not plain[n].only), ("SDPA",), 0.0, 2, 2)
        for causal in (False, True)
        for dtype in ("float32",)
    ]
    monkeypatch.setattr(attention_rows, "cpu_groups", lambda *_: groups)
    monkeypatch.setattr(command.multi_head, "run", lambda _: None)
    monkeypatch.setattr(command, "as_text", lambda _: "")
    path = tmp_path / "made.json"
    done = CliRunner().invoke(command.main, ["--quick", "--device", "cpu", "--out", str(path)])
    assert done.exit_code == 0, done.output
    found = results.load(path)
    assert {row["variant"] for row in found["rows"]} == set(plain)
    for row in found["rows"]:
        assert row["what"] == "attention" and row["pass"] in cost.PASSES and row["exact_rows"] == 24
        assert row["seconds"]["rounds"] == 2 and row["seconds"]["median"] > 0 and row["flop_per_s"] > 0
        assert row["flops"] == cost.flops(SHAPE, row["causal"], row["pass"])
        assert (row["predicted_seconds"] is None) == (row["pass"] != "forward")
        assert (row["peak_bytes"] is None) == (row["pass"] == "backward")
        assert 0 <= row["error"] < 1e-5 and row["backend"] in ("eager", "flash", "math")


def test_the_environment_says_on_what_it_was_measured():
    from benchmarks.environment import GPU, environment

    found = environment("cpu")
    assert found["torch"] == torch.__version__ and found["threads"] == torch.get_num_threads()
    assert found["device"] == "cpu" and found["cores"] >= 1 and found["processor"]
    assert all(found[name] is None for name in GPU)
    json.dumps(found)


def test_layers_pass_their_gate_and_a_wrong_one_does_not(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(modules, "D_MODEL", 16)
    rows = modules.run(quick=True)
    assert len(rows) == 16 and {row["causal"] for row in rows} == {False, True}
    assert {r["checked"] for r in rows if r["variant"] == "EncoderLayer, dropout 0.1"} == {"output, with dropout 0"}
    monkeypatch.setattr(modules, "time_in_turn", lambda *_, **__: pytest.fail("it was timed"))
    with pytest.raises(gate.GateError, match="fused QKV"):
        modules.run(quick=True, others={"fused QKV": lambda x: 1.001 * x})


def test_a_long_sequence_is_checked_at_some_queries_first_and_last_among_them():
    rows = exact.checked_rows(8192)
    assert len(rows) == len(rows.unique()) == 64 and rows[0] == 0 and rows[-1] == 8191
    assert exact.checked_rows(100).tolist() == list(range(100))


@pytest.mark.parametrize("causal", [False, True])
def test_exact_answers_are_those_of_torch_at_these_queries(causal):
    draw = torch.Generator().manual_seed(0)
    tensors = torch.randn(4, 1, 2, 20, 8, dtype=torch.float64, generator=draw).unbind()
    rows = torch.tensor([0, 7, 19])
    found = exact.answers_at(rows, *tensors, causal, torch.float64)
    torchs = exact.answers_of(lambda q, k, v: variants.sdpa(q, k, v, causal), rows, *tensors, backward=True)
    assert set(found) == set(torchs) and len(found) == 4
    for name in found:
        torch.testing.assert_close(found[name], torchs[name], atol=1e-12, rtol=0)  # float64, another order


def test_flops_follow_the_formula():
    shape = cost.Shape(2, 3, 10, 4)
    assert cost.flops(shape, False, "forward") == 4 * 2 * 3 * 100 * 4
    assert cost.flops(shape, True, "forward") == 2 * 2 * 3 * 100 * 4
    assert cost.flops(shape, False, "backward") == 2.5 * cost.flops(shape, False, "forward")
    assert cost.flops(shape, False, "forward+backward") == 3.5 * cost.flops(shape, False, "forward")


def test_an_unfused_form_moves_at_least_eight_bytes_per_score_in_half_precision():
    shape = cost.Shape(1, 1, 4096, 64)
    moved = sum(part["bytes"] for part in cost.operations("naive", shape, False, 2))
    assert moved >= 8 * shape.scores
    assert sum(part["bytes"] for part in cost.operations("SDPA", shape, False, 2)) == 4 * 2 * shape.features


def test_a_prediction_adds_on_a_cpu_and_overlaps_on_a_gpu():
    parts = [{"flops": 1e11, "bytes": 4e9, "exponentials": 5e8}]  # 1 s, 0.1 s, 0.5 s
    assert cost.predicted_seconds(parts, made_peaks(), "float32", "cpu") == pytest.approx(1.5)
    assert cost.predicted_seconds(parts, made_peaks(), "float32", "cuda") == pytest.approx(1.0)
    assert cost.predicted_seconds(parts, made_peaks(), "float16", "cpu") is None
