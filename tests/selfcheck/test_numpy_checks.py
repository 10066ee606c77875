"""While a watch imports torch, a process without it checks NumPy exercises."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.release import bundle as releasing
from selfcheck.catalogue.names import exercises_named
from selfcheck.learner import Stopped
from selfcheck.numpy_checks import NumpyChecks

from .terminals import Terminal, save, unpack

EXERCISE = ("worked_example", "2.1")
PROJECT = exercises_named("2.1")
WRONG = "return inputs, inputs, inputs"
ENDLESS = "while True: pass"
#: Stands where a watch finds it first, and takes minutes to import.
SLOW_TORCH = "import time\ntime.sleep(600)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return unpack(releasing.bundle("ps3"), tmp_path)


@pytest.fixture
def checks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NumpyChecks]:
    monkeypatch.chdir(folder)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs behind `&` ignores it
    process = NumpyChecks()
    signal.signal(signal.SIGINT, before)
    yield process
    process.end()


def test_a_save_is_answered_while_torch_is_being_imported(folder: Path) -> None:
    (folder / "torch.py").write_text(SLOW_TORCH, "utf-8")
    watch = Terminal(folder, ["watch"])
    try:
        watch.until("h hint")
        save(folder, *EXERCISE, WRONG)
        watch.until("0 of 6 visible checks pass")
        watch.until("h hint")
        assert "torch is being loaded" not in watch.seen
        save(folder, "masks", "4.2", "return mask")
        watch.until("torch is being loaded")
    finally:
        watch.kill()


def test_ctrl_c_stops_a_check_and_neither_the_watch_nor_the_process(folder: Path) -> None:
    (folder / "torch.py").write_text(SLOW_TORCH, "utf-8")
    watch = Terminal(folder, ["watch"])
    try:
        watch.until("h hint")
        source = (folder / "attention" / "worked_example.py").read_text("utf-8")
        save(folder, *EXERCISE, ENDLESS)
        watch.until("still running, in line ")
        watch.send(b"\x03")
        watch.until("The watch goes on.")
        assert "stopped while your code ran, in line " in watch.seen
        (folder / "attention" / "worked_example.py").write_text(source, "utf-8")
        save(folder, *EXERCISE, WRONG)
        watch.until("0 of 6 visible checks pass")
        assert "torch is being loaded" not in watch.seen
    finally:
        watch.kill()


def test_the_process_sees_each_save_and_judges_as_this_one(folder: Path, checks: NumpyChecks) -> None:
    (before,) = checks.results(PROJECT, False) or ()
    assert not before.started
    save(folder, *EXERCISE, WRONG)
    (after,) = checks.results(PROJECT, False) or ()
    assert after.started and not after.passed
    assert after.exercise == PROJECT[0]


def test_a_process_that_has_ended_leaves_the_check_to_this_one(folder: Path, checks: NumpyChecks) -> None:
    save(folder, *EXERCISE, f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})")
    assert checks.results(PROJECT, False) is None
    assert checks.results(PROJECT, False) is None


def test_who_stops_a_check_is_told_where_it_was(folder: Path, checks: NumpyChecks) -> None:
    save(folder, *EXERCISE, f"import os; os.kill(os.getpid(), {int(signal.SIGINT)})")
    with pytest.raises(Stopped, match="stopped while your code ran, in line"):
        checks.results(PROJECT, False)


def test_without_forks_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(OSError, match="forks no process"):
        NumpyChecks()
