"""Runs selfcheck on the files of a bundle as a learner does: in a pseudo-terminal, or with its output in a pipe."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

LIMIT = 120  # seconds for a process that answers in two on a quiet machine
NONE: Mapping[str, str] = MappingProxyType({})
Talk = Callable[[Callable[[str], str], Callable[[bytes], None]], None]


def unpack(files: Mapping[str, str], folder: Path) -> Path:
    """Writes the files of a bundle into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def save(folder: Path, module: str, number: str, body: str, top: str = "") -> None:
    """Writes an answer in the place of an exercise's stub; `top` comes to stand before the module's imports."""
    path = folder / "attention" / f"{module}.py"
    before = path.read_text("utf-8")
    written = re.sub(rf'raise NotImplementedError\("exercise {re.escape(number)}:.*', body, before, count=1)
    assert written != before
    head, imports, rest = written.partition("\nimport ")  # that of ps1 imports nothing
    path.write_text(f"{head}\n{top}{imports}{rest}" if top else written, "utf-8")


def variables(more: Mapping[str, str] = NONE) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    return {
        **kept,
        "COLUMNS": "160",
        "TERM": "xterm",
        "PYTHONUTF8": "1",
        "EDITOR": "",
        "SELFCHECK_SERVER": "no",
        **more,
    }


def terminal(folder: Path, *words: str, more: Mapping[str, str] = NONE) -> str:
    """What a command prints into a pipe."""
    command = [sys.executable, "-m", "selfcheck", *words]
    done = subprocess.run(command, cwd=folder, env=variables(more), capture_output=True, text=True, timeout=LIMIT)
    return done.stdout + done.stderr


class Terminal:
    """A command that runs in a pseudo-terminal."""

    def __init__(self, folder: Path, words: Sequence[str], more: Mapping[str, str] = NONE) -> None:
        self.seen = ""
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(folder)
            os.execve(sys.executable, [sys.executable, "-m", "selfcheck", *words], variables(more))

    def until(self, text: str) -> str:
        """Reads until a text appears, after what has been read before; everything that has been read."""
        start = len(self.seen)
        while text not in self.seen[start:]:
            assert self._read(), f"{text!r} did not come; so far: {self.seen}"
        return self.seen

    def send(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def ended(self) -> int:
        """Reads to the end; the exit code."""
        while self._read():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._terminal)
        return status

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], LIMIT)
        assert ready, f"nothing came any more; so far: {self.seen}"
        try:
            new = os.read(self._terminal, 10_000).decode("utf-8", "replace")
        except OSError:  # the other end is closed
            return False
        self.seen += new
        return bool(new)


def in_a_terminal(folder: Path, words: Sequence[str], talk: Talk, more: Mapping[str, str] = NONE) -> str:
    """Runs selfcheck in a pseudo-terminal; talk(until, send) reads until a text appears, and types."""
    command = Terminal(folder, words, more)
    try:
        talk(command.until, command.send)
    finally:
        command.kill()
    return command.seen


def comes_true(what: Callable[[], bool]) -> bool:
    """Whether something becomes true in the time that a process may take."""
    end = time.monotonic() + LIMIT
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
