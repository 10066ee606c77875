"""Choices of the kernel are timed after their gate, and how many programs fit on a multiprocessor is counted."""

from types import SimpleNamespace

import pytest
import torch

from benchmarks import attention_rows, gate, programs, variants


@pytest.fixture
def hopper(monkeypatch):
    """This CPU in a Hopper's place: what is computed is right, what is compiled and timed is made up."""
    pytest.importorskip("triton", reason="Triton is not installed here; what it compiles cannot be timed")

    def attend(chosen, *given):
        chosen.compiled = SimpleNamespace(n_regs=168, metadata=SimpleNamespace(shared=chosen.choice[3] << 15))
        return variants.naive(*given, causal=False)

    there = SimpleNamespace(shared_memory_per_multiprocessor=228 << 10)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: there)
    monkeypatch.setattr(programs, "attend", attend)
    monkeypatch.setattr(attention_rows, "cuda_seconds", lambda call: (0.5, call()))
    draw = lambda group: torch.randn(4, 1, 1, group.shape.length, group.shape.width).bfloat16().unbind()  # noqa: E731
    monkeypatch.setattr(attention_rows, "inputs", draw)
    return monkeypatch


def test_more_shared_memory_or_registers_leave_room_for_fewer_programs():
    there = 228 << 10
    assert [programs.side_by_side(168, kib << 10, 4, there) for kib in (72, 104, 136)] == [3, 2, 1]
    assert [programs.side_by_side(registers, 1 << 10, 4, there) for registers in (128, 129, 255)] == [4, 3, 2]
    assert programs.side_by_side(128, 1 << 10, 8, there) == 2


def test_every_choice_has_a_row_with_its_programs(hopper):
    found = programs.run(quick=True)
    assert [row["choice"] for row in found["rows"]] == [one for some in programs.CHOICES.values() for one in some]
    for row in found["rows"]:
        assert row["seconds"] == {"median": 0.5, "quartiles": (0.5, 0.5), "rounds": 3} and row["error"] < 0.01
        assert row["programs"] == {2: 3, 3: 2, 4: 1}[row["choice"][3]]
        assert row["flop_per_s"] == 4 * 2048 * 512**2 / 0.5
    assert "warps 4, stages 2: 168 registers, 64 KiB, 3 side by side" in programs.as_text(found)


def test_a_wrong_answer_is_not_timed(hopper):
    right = programs.attend
    hopper.setattr(programs, "attend", lambda chosen, *given: 1.1 * right(chosen, *given))
    hopper.setattr(attention_rows, "cuda_seconds", lambda _: pytest.fail("it was timed"))
    with pytest.raises(gate.GateError, match=r"choice \(64, 128, 4, 2\): the error of output"):
        programs.run(quick=True)


@pytest.mark.parametrize(("capability", "triton"), [((8, 9), object()), ((9, 0), None)], ids=["older", "no Triton"])
def test_older_gpus_and_those_without_triton_are_left_out(capability, triton, monkeypatch):
    monkeypatch.setattr(programs.importlib.util, "find_spec", lambda name: triton if name == "triton" else object())
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(programs, "time_group", lambda *_: pytest.fail("it was measured"))
    assert programs.run() is None


def test_a_choice_that_the_gpu_has_no_memory_for_has_no_row(hopper):
    right, refused = programs.attend, (64, 128, 4, 3)

    def attend(chosen, *given):
        if chosen.choice == refused:
            raise torch.OutOfMemoryError
        return right(chosen, *given)

    hopper.setattr(programs, "attend", attend)
    found = [row["choice"] for row in programs.run(quick=True)["rows"]]
    assert found == [one for some in programs.CHOICES.values() for one in some if one != refused]
