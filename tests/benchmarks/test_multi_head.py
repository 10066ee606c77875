"""The benchmark times nothing that is wrong, and says what it measured on what."""

import json
import subprocess
import sys

import pytest
import torch
from click.testing import CliRunner
from torch import nn

from attention.multi_head import MultiHeadAttention
from autograder.course.paths import ROOT
from benchmarks import __main__ as command
from benchmarks import gate, multi_head, timing
from benchmarks.__main__ import as_text, main


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in {"BATCH": 2, "LENGTH": 5, "D_MODEL": 8, "HEADS": 2}.items():
        monkeypatch.setattr(multi_head, name, value)


def test_both_layers_give_the_same_answers():
    torch.manual_seed(0)
    ours, theirs = multi_head.layers(8, 2)
    x, upstream = torch.randn(2, 3, 5, 8, dtype=torch.float64).unbind()
    mine, others = (multi_head.answers(layer.double(), x, upstream) for layer in (ours, theirs))
    assert set(mine) == set(others) and len(mine) == 5
    for name in mine:
        torch.testing.assert_close(mine[name], others[name], atol=1e-12, rtol=0)


def test_a_wrong_layer_is_not_timed(monkeypatch):
    class Unscaled(MultiHeadAttention):
        def forward(self, query, key, value):
            return super().forward(query * 1.001, key, value)

    monkeypatch.setattr(multi_head, "time_in_turn", lambda *_, **__: pytest.fail("it was timed"))
    with pytest.raises(gate.GateError, match="error of output"):
        multi_head.run(quick=True, ours=Unscaled(8, 2))


@pytest.mark.parametrize("answer", [torch.tensor([1.0]), torch.tensor([1.0, float("nan")])])
def test_an_answer_of_another_shape_or_with_nan_never_passes(answer):
    exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
    with pytest.raises(gate.GateError):
        gate.pass_gate("x", {"y": answer}, {"y": exact.float() + 0.1}, {"y": exact})


def test_the_gate_allows_twice_the_error_of_the_baseline_and_no_more():
    exact = torch.tensor([1.0], dtype=torch.float64)
    passed = gate.pass_gate("x", {"y": exact + 0.19}, {"y": exact + 0.1}, {"y": exact})
    assert passed["y"] == pytest.approx(0.19)
    with pytest.raises(gate.GateError):
        gate.pass_gate("x", {"y": exact + 0.21}, {"y": exact + 0.1}, {"y": exact})


def test_an_error_of_a_few_roundings_is_none_however_lucky_the_baseline_is():
    exact = torch.tensor([1.0], dtype=torch.float64)
    near = exact.float() + torch.finfo(torch.float32).eps
    assert gate.pass_gate("x", {"y": near}, {"y": exact.float()}, {"y": exact})["y"] > 0


def test_variants_run_in_turn_and_the_warm_up_does_not_count():
    order = []
    found = timing.time_in_turn({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=3, warm_up=1)
    assert "".join(order) == "abbaabba"
    assert [len(one.seconds) for one in found.values()] == [3, 3]
    low, high = found["a"].quartiles
    assert low <= found["a"].median <= high


def test_a_ratio_is_taken_round_by_round():
    assert timing.ratio(timing.Timing((1.0, 10.0, 3.0)), timing.Timing((2.0, 20.0, 3.0))) == 0.5


def test_the_command_prints_the_ratio_and_writes_the_environment(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_rows", lambda *_: [])
    monkeypatch.setattr(command, "run_apart", lambda *_: {})
    path = tmp_path / "figures.json"
    done = CliRunner().invoke(main, ["--quick", "--device", "cpu", "--out", str(path)])
    assert done.exit_code == 0, done.output
    assert "ratio ours / torch's" in done.output
    found = json.loads(path.read_text())
    assert found["environment"]["torch"] == torch.__version__ and found["quick"]
    (result,) = found["results"]
    assert result["ratio"] > 0 and result["shape"]["heads"] == 2 and "quartiles" in as_text(result)


def test_a_failed_gate_ends_the_command_with_one_line(monkeypatch):
    monkeypatch.setattr(multi_head, "MultiHeadAttention", lambda *sizes: nn.MultiheadAttention(*sizes))
    monkeypatch.setattr(multi_head, "load_torch_weights", lambda module, reference: None)
    monkeypatch.setattr(command, "_rows", lambda *_: [])
    monkeypatch.setattr(command, "run_apart", lambda *_: {})
    done = CliRunner().invoke(main, ["--quick", "--device", "cpu"])
    assert done.exit_code == 1 and "not timed, for it is wrong" in done.output


def test_it_runs_from_the_folder_of_the_solutions():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT / "solutions",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "--quick" in done.stdout
