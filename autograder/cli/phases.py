"""Tells on the terminal which phase of a long command is running, and at its end what each took."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table


class Phases:
    """The phases of one command; the same name may come again and again, and its seconds add up."""

    def __init__(self, console: Console, total: int) -> None:
        """total: how many steps the command takes in all phases together"""
        self.console = console
        self.seconds: defaultdict[str, float] = defaultdict(float)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True)
        self._bar: TaskID = self._progress.add_task("", total=total)

    def __enter__(self) -> Phases:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @contextmanager
    def phase(self, name: str, about: str = "") -> Iterator[None]:
        """Run one step of a phase; about: what it works on, such as "ps3"."""
        self._progress.update(self._bar, description=f"{name} {about}".strip())
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] += time.monotonic() - started
            self._progress.advance(self._bar)

    def table(self, title: str) -> Table:
        """Seconds by phase."""
        shown = Table(title=title)
        shown.add_column("phase")
        shown.add_column("seconds", justify="right")
        for name, seconds in self.seconds.items():
            shown.add_row(name, f"{seconds:.0f}")
        shown.add_row("together", f"{sum(self.seconds.values()):.0f}")
        return shown
