"""Ctrl-C that meets code whose exceptions are only printed, or caught with everything else, still ends a command."""

import ctypes
import os
import signal
import sys
import threading
import time

import pytest

from autograder.cli.interrupts import no_interrupt_lost


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


class Finalised:
    def __del__(self):
        interrupt()


def in_a_finaliser():
    Finalised()


def in_a_callback():
    ctypes.CFUNCTYPE(None)(interrupt)()


def goes_on(lost):
    """A command that loses the interrupt and works on."""
    lost()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        time.sleep(0.01)
    raise AssertionError("it went on to its end")


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler and sys.unraisablehook is sys.__unraisablehook__
    )
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def own_hook(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)  # pytest has one of its own


@pytest.mark.parametrize("lost", [in_a_finaliser, in_a_callback])
def test_an_interrupt_that_is_only_printed_comes_once_more(lost, capfd):
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), no_interrupt_lost():
        goes_on(lost)
    assert time.monotonic() - start < 15 and "ignored" not in capfd.readouterr().err


def test_an_interrupt_that_a_library_catches_counts_at_the_end():
    with pytest.raises(KeyboardInterrupt), no_interrupt_lost():
        try:
            interrupt()
            time.sleep(5)
        except BaseException:
            caught = True
    assert caught


def test_an_interrupt_that_a_library_makes_another_error_of_counts_too():
    with pytest.raises(KeyboardInterrupt), no_interrupt_lost():
        try:
            interrupt()
            time.sleep(5)
        except KeyboardInterrupt:
            raise RuntimeError("refused") from None


def test_other_errors_pass_and_other_threads_are_left_alone(capfd):
    with pytest.raises(RuntimeError, match="refused"), no_interrupt_lost():
        raise RuntimeError("refused")

    class Broken:
        def __del__(self):
            raise ValueError("in a finaliser")

    with no_interrupt_lost():
        Broken()
    assert "ValueError: in a finaliser" in capfd.readouterr().err
    seen = []
    thread = threading.Thread(
        target=lambda: [seen.append(True) for _ in [0] for _ in [no_interrupt_lost().__enter__()]]
    )
    thread.start()
    thread.join()
    assert seen == [True]
