"""Puts a folder in another's place completely or not at all, whatever the disk does meanwhile.

Two folders cannot change places in one step everywhere. So the former one is put aside under a name from which it comes
back, when the change fails or, after a crash, when somebody looks for it.
"""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)


def former_of(target: Path) -> Path:
    """Where a folder lies while another takes its place."""
    return target.with_name(f".{target.name}-before")


def take_place(draft: Path, target: Path, then: Callable[[], object] = lambda: None) -> list[Path]:
    """Put a draft in a folder's place; returns what is left over, to be removed: the former folder.

    then: called when the draft is in place. Where it fails, or anything before, the former folder comes back and the
    draft stays where it was; the OSError is raised.
    """
    left = recover(target)
    former = former_of(target) if os.path.lexists(target) else None
    if former:
        target.rename(former)
    try:
        draft.rename(target)
        then()
    except BaseException:
        with suppress(OSError):
            if former is None or os.path.lexists(former):
                if os.path.lexists(target):
                    target.rename(draft)
                if former:
                    former.rename(target)
        raise
    return [*left, former] if former else left


def recover(target: Path) -> list[Path]:
    """Bring a folder back that was put aside by somebody who was ended; returns what is left over, to be removed."""
    former = former_of(target)
    if os.path.lexists(former):
        if os.path.lexists(target):
            former.rename(former.with_name(f".{target.name}-left-{os.urandom(6).hex()}"))
        else:
            former.rename(target)
    return [*target.parent.glob(f".{glob.escape(target.name)}-left-*")]


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        sync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows what lies in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:  # network drives may not know how
            raise
