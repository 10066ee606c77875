"""Collects what a learner's code prints, in the place of the standard output."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["Printed", "quiet"]

MOST_PRINTED = 2_000


class _Limited(io.BytesIO):
    """Takes the first bytes, and drops the others; its descriptor leads nowhere."""

    def write(self, data: Any) -> int:
        super().write(bytes(data)[: max(0, MOST_PRINTED - self.tell())])
        return len(data)

    def close(self) -> None:
        """Stay open: whoever closes the standard output has printed what was there."""

    def fileno(self) -> int:
        return _nowhere()


@functools.cache
def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)


class Printed(io.TextIOWrapper):
    """Collects what is printed, up to a limit; a file like the standard output in other respects."""

    def __init__(self) -> None:
        self._bytes = _Limited()
        super().__init__(self._bytes, encoding="utf-8", errors="replace", newline="\n", write_through=True)

    def getvalue(self) -> str:
        return self._bytes.getvalue().decode("utf-8", "replace")


@contextlib.contextmanager
def quiet(printed: Printed) -> Iterator[None]:
    """Within it, what the process prints goes to `printed`, and no warning is shown."""
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
