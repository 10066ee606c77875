"""A watch imports torch while its first exercise is read, and only where an exercise needs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.release import bundle as releasing
from selfcheck import torch_ahead

from .terminals import Terminal, save, unpack

#: Stands before a module's own imports, and says whether somebody had imported torch to its end.
WITNESS = """
import os as _os, sys as _sys
with open(_os.environ["LOG"], "a") as _log:
    print(hasattr(_sys.modules.get("torch"), "library"), file=_log)
"""
BODY = "return torch.ones(3)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the ps3 bundle: NumPy alone in ps1, torch in ps2 and ps3."""
    return unpack(releasing.bundle("ps3"), tmp_path)


@pytest.mark.parametrize(
    ("words", "module", "number", "is_ahead"),
    [
        (["watch"], "masks", "4.2", True),
        (["watch", "masks"], "masks", "4.2", True),
        (["watch", "ps1"], "worked_example", "2.1", False),
    ],
)
def test_the_first_save_finds_torch_where_an_exercise_needs_it(
    folder: Path, words: list[str], module: str, number: str, is_ahead: bool
) -> None:
    log = folder / "log"
    watch = Terminal(folder, words, {"LOG": str(log)})
    try:
        watch.until("h hint")
        watch.send(b"h")  # keys are answered meanwhile
        watch.until("hint 1 of")
        save(folder, module, number, BODY, WITNESS)
        watch.until("h hint")
        assert log.read_text("utf-8").split()[0] == str(is_ahead)
    finally:
        watch.kill()


def test_q_ends_a_watch_cleanly_while_torch_is_being_imported(folder: Path) -> None:
    watch = Terminal(folder, ["watch"])
    watch.until("h hint")
    watch.send(b"q")
    assert watch.ended() == 0, watch.seen
    assert "Traceback" not in watch.seen and "terminate" not in watch.seen


def test_a_torch_that_cannot_be_imported_is_left_to_the_learners_own_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_ahead, "NEEDED", ("no_such_torch", "tomllib"))
    ahead = torch_ahead.TorchAhead()
    ahead.wait()  # before it has begun there is nothing to wait for
    ahead.begin()
    ahead.begin()
    ahead.wait()
    assert not ahead.is_loading and "no_such_torch" not in sys.modules
