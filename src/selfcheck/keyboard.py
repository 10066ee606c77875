"""Reads single keys from a terminal without waiting for Enter."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any


class Keyboard:
    """The keys of the terminal that this process reads from; where it reads from no terminal, none is ever pressed."""

    def __init__(self) -> None:
        self.is_there = sys.stdin is not None and sys.stdin.isatty()
        self._windows: Any = importlib.import_module("msvcrt") if sys.platform == "win32" else None

    @contextlib.contextmanager
    def single_keys(self) -> Iterator[None]:
        """Within it, keys come one by one and are not shown; Ctrl-C interrupts as ever."""
        if not self.is_there or self._windows:
            yield
            return
        termios, tty = importlib.import_module("termios"), importlib.import_module("tty")
        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # a key that was pressed just before stays
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def pressed(self, seconds: float) -> str:
        """The key that is pressed within so many seconds, in small letters; "" for none."""
        if not self.is_there:
            time.sleep(seconds)
            return ""
        if self._windows:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                if self._windows.kbhit():
                    return str(self._windows.getwch()).lower()
                time.sleep(0.02)
            return ""
        ready, _, _ = importlib.import_module("select").select([sys.stdin], [], [], seconds)
        return os.read(sys.stdin.fileno(), 1).decode("utf-8", "replace").lower() if ready else ""
