"""Runs cells in a kernel of Jupyter's on the files of a bundle, and answers what they ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_client.manager import start_new_kernel

from .terminals import LIMIT, variables


class Ran(NamedTuple):
    """What a cell has shown, as text, the prompts of what it asked, and how it ended."""

    shown: str
    asked: list[str]
    status: str


class Kernel:
    """A kernel that waits for cells."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str, answers: Sequence[str] | None = None) -> Ran:
        """Run a cell; answers: to what it asks, one after the other; None for a client that takes no input."""
        shown, asked, left = [], [], list(answers or ())

        def show(message: dict[str, Any]) -> None:
            content = message["content"]
            shown.append(content.get("text") or content.get("data", {}).get("text/plain") or content.get("evalue", ""))

        def answer(message: dict[str, Any]) -> None:
            asked.append(message["content"]["prompt"])
            assert left, f"asked once too often: {asked}; so far: {shown}"
            self._client.input(left.pop(0))

        ended = self._client.execute_interactive(
            code, allow_stdin=answers is not None, stdin_hook=answer, output_hook=show, timeout=LIMIT
        )
        assert not left, f"never asked for {left}; so far: {shown}"
        return Ran("".join(shown), asked, ended["content"]["status"])


@contextmanager
def kernel_in(folder: Path) -> Iterator[Kernel]:
    """A kernel that was started in a folder."""
    manager, client = start_new_kernel(startup_timeout=LIMIT, kernel_name="python3", cwd=str(folder), env=variables())
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
