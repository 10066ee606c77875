"""Ctrl-C ends a command wherever it comes."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.05  # seconds, after which an interrupt that was lost comes once more


@contextmanager
def no_interrupt_lost() -> Iterator[None]:
    """Raise KeyboardInterrupt at the latest at the end, whatever becomes of it where Ctrl-C finds the program.

    Python prints an exception that a finaliser or a callback raises, and goes on; there it comes once more. A library
    that catches everything makes another error of it, or none. In another thread than the main one it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = threading.Event()
    waiting: list[threading.Timer] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        came.set()
        raise KeyboardInterrupt

    def unraisable(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            hook(lost)
            return
        again = threading.Timer(AGAIN, _thread.interrupt_main)
        again.daemon = True
        waiting.append(again)
        again.start()

    hook, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    if handler is not signal.default_int_handler:  # somebody else's, or ignored as in a background job
        yield
        return
    sys.unraisablehook = unraisable
    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    except Exception:
        if came.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        for again in waiting:  # first: one that came after the handler is put back would end in a traceback
            again.cancel()
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook
    if came.is_set():
        raise KeyboardInterrupt
