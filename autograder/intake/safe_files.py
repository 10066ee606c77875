"""Walks, reads and removes folders that strangers have filled: within bounds, nothing followed, nothing waited for."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

MOST_LEVELS = 12  # of folders within folders
MOST_FOLDERS = 20_000  # that are looked into
MOST_IN_A_FOLDER = 100_000  # entries that are looked at


class NotTaken(Exception):
    """Something that is not read; its text says why, after the thing's name."""


def walk(folder: Path, folders: bool = False) -> Iterator[tuple[str, Path, bool]]:
    """What lies below a folder: its name there, its path, and whether it is a plain file.

    Level by level, so that what matters comes before what lies deep. Folders are named where they are not looked into:
    too deep, too many, or not readable. With `folders` all of them are.
    """
    waiting, left = deque([(folder, 0)]), MOST_FOLDERS
    while waiting:
        place, level = waiting.popleft()
        try:
            with os.scandir(place) as listing:
                entries = sorted(islice(listing, MOST_IN_A_FOLDER), key=lambda entry: entry.name)
        except OSError:
            yield place.relative_to(folder).as_posix(), place, False
            continue
        for entry in entries:
            path = Path(entry.path)
            enters = entry.is_dir(follow_symlinks=False) and level < MOST_LEVELS and left > 0
            if enters:
                left -= 1
                waiting.append((path, level + 1))
            if folders or not enters:
                yield path.relative_to(folder).as_posix(), path, entry.is_file(follow_symlinks=False)


def reader(path: Path, owner: int | None = None) -> Callable[[int], bytes]:
    """A function that reads so many bytes of a plain file; NotTaken for anything else.

    owner: the user whose folder this is: a second name for somebody else's file is not read
    """

    def read(most: int) -> bytes:
        # Between looking and opening it may have become a link or a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            known = os.fstat(descriptor)
            if not stat.S_ISREG(known.st_mode):
                raise NotTaken("is no plain file: left out")
            if owner is not None and known.st_nlink > 1 and known.st_uid != owner:
                raise NotTaken("is a hard link to somebody else's file: left out")
            return file.read(most)

    return read


def remove(folder: Path, scratch: Path) -> None:
    """Remove a folder however deep it is, for shutil.rmtree calls itself on every level.

    scratch: a folder on the same disk, where its parts are laid beside each other
    """
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".removed-") as place:
        waiting, number = [_moved(folder, place, 0)], 1
        while waiting:
            current = waiting.pop()
            with os.scandir(current) as listing:
                inner = [entry.path for entry in listing if entry.is_dir(follow_symlinks=False)]
            for path in inner:
                waiting.append(_moved(path, place, number))
                number += 1
            shutil.rmtree(current)


def _moved(path: str | Path, place: str, number: int) -> str:
    os.chmod(path, 0o700)  # a folder that its owner may not write cannot be moved elsewhere
    target = os.path.join(place, str(number))
    os.rename(path, target)
    return target
