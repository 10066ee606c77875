"""Makes the n-th change that a command makes below a folder fail, as a disk would that is full, read-only or broken."""

from __future__ import annotations

import errno
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHANGES = ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: What fails, and how: this change alone, this one and all later ones, or whatever is written from there on.
ONCE, ONWARD, FULL = "once", "onward", "full"
CODES = (errno.ENOSPC, errno.EROFS, errno.EIO)


class Disk:
    """Counts the changes below a folder, and has them fail from the n-th on. fails: 0 for never"""

    def __init__(self) -> None:
        self.root, self.fails, self.code, self.how = "", 0, errno.ENOSPC, ONCE
        self.count, self.fired = 0, False
        self._is_hooked = False

    def hook(self) -> None:
        if not self._is_hooked:
            self._is_hooked = True
            sys.addaudithook(self._see)

    def _see(self, event: str, given: tuple) -> None:
        if not self.root or not self._changes(event, given):
            return
        self.count += 1
        if not self.fails or self.count < self.fails or (self.how != ONWARD and self.count > self.fails):
            return
        self.fired = True
        if self.how == FULL:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        else:
            raise OSError(self.code, os.strerror(self.code), given[0])

    def _changes(self, event: str, given: tuple) -> bool:
        if event == "open":
            path, _, flags = given
            return isinstance(flags, int) and bool(flags & WRITING) and self._is_below(path)
        return event in CHANGES and any(self._is_below(path) for path in given[:2])

    def _is_below(self, path: object) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(self.root)


DISK = Disk()


@contextmanager
def failing(root: Path | str, fails: int, how: str = ONCE, code: int = errno.ENOSPC) -> Iterator[Disk]:
    """Within it the change of this number below `root` fails; 0: none does, they are counted."""
    DISK.hook()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    DISK.fails, DISK.how, DISK.code, DISK.count, DISK.fired = fails, how, code, 0, False
    DISK.root = f"{root}{os.sep}"
    try:
        yield DISK
    finally:
        DISK.root = ""
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
