"""The temporary folder that a sandbox is started from; what a grader that was killed has left is removed by the next.

It may hold a learner's code, for everybody to read, so it must not outlive the grader. A file in it is locked as long
as its grader lives: the kernel lets go of that however the grader ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, HELD = "attention-stage-", "held"


@contextmanager
def stage_folder() -> Iterator[Path]:
    """A new folder, for as long as the context lasts."""
    remove_left_over()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with open(folder / "new", "x", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.rename(folder / "new", folder / HELD)  # under this name only once it is locked
            yield folder


def remove_left_over() -> None:
    """Remove this user's folders that no grader holds any more."""
    for held in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{HELD}"):
        with suppress(OSError), open(os.open(held, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)) as file:
            if os.fstat(file.fileno()).st_uid == os.geteuid():
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError where its grader lives
                shutil.rmtree(held.parent, ignore_errors=True)
