"""Reads the folder of a submission once: its digest, its files, its time stamp."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..course.digest import digest_of_parts
from .safe_files import NotTaken, reader, walk
from .taking import MOST_FILES, MOST_NOTEBOOK_BYTES, MOST_PACKAGE_BYTES, STAMP
from .time_stamps import MOST_STAMP_BYTES

MOST_STORED = 2 * MOST_FILES  # files; a cleaned submission has fewer
MOST_STORED_BYTES = MOST_NOTEBOOK_BYTES + MOST_PACKAGE_BYTES  # of all of them, likewise


@dataclass(frozen=True)
class Snapshot:
    """A folder read once: its digest, its files by their path in it, its time stamp."""

    digest: str
    files: dict[str, bytes]
    stamp: str


def snapshot(folder: Path) -> Snapshot:
    """Read a folder once. The digest covers every file but the time stamp; of what no cleaning leaves behind, only that
    it is there. Of a folder that is too large to be a cleaned one the files are left out.
    """
    files: dict[str, bytes] = {}

    def parts() -> Iterator[bytes]:
        left = MOST_STORED_BYTES
        for name, path, plain in islice(walk(folder, folders=True), MOST_STORED):
            if path == folder / STAMP:
                continue
            content = b""
            with suppress(OSError, NotTaken):  # what cannot be read was not there when it was cleaned
                content = reader(path)(MOST_NOTEBOOK_BYTES) if plain else b""
            left -= len(content)
            if plain and left >= 0:
                files[name] = content
            yield from (os.fsencode(name), b"file" if plain else b"other", content)

    return Snapshot(digest_of_parts(parts()), files, read_stamp(folder))


def read_stamp(folder: Path) -> str:
    """The time stamp that nbgrader wrote beside a submission; "" where there is none that can be read."""
    try:
        return reader(folder / STAMP)(MOST_STAMP_BYTES).decode("ascii")
    except (OSError, NotTaken, ValueError):
        return ""
