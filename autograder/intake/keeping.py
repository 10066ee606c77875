"""Keeps what came in as it came: plain files of a size that could be meant, under the time of their arrival."""

from __future__ import annotations

import errno
import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ..course.folder import Course
from .safe_files import NotTaken, reader, walk
from .taking import MOST_NOTEBOOK_BYTES

MOST_KEPT = 2000  # files of a submission that are kept as they came
MOST_KEPT_BYTES = 64 * 2**20
UNNAMEABLE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.EISDIR, errno.ENOTDIR)


def keep(course: Course, student: str, problem_set: str, source: Path | Mapping[str, Path]) -> Path:
    """Copy a folder, a file, or files by the names that they are to have, to `received`; returns where they are.

    All that is to be kept is there or nothing: OSError where it cannot be written.
    """
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = course.received(student, problem_set) / now
    draft = target.with_name(f".{now}")
    try:
        draft.mkdir(parents=True)
        if isinstance(source, Path) and not source.is_dir():
            shutil.copyfile(source, draft / source.name)
        else:
            _copy(source, draft / "submission")
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        _forget(target)
        raise
    return target


@contextmanager
def kept(course: Course, student: str, problem_set: str, source: Path | Mapping[str, Path]) -> Iterator[Path]:
    """As `keep`, for what is taken in within it: where that fails, nothing is kept."""
    place = keep(course, student, problem_set, source)
    try:
        yield place
    except BaseException:
        _forget(place)
        raise


def _forget(place: Path) -> None:
    """Remove what was kept, and the folders that were made for it."""
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):  # others of this student's are there
        place.parent.rmdir()
        place.parent.parent.rmdir()


def _copy(source: Path | Mapping[str, Path], target: Path) -> None:
    target.mkdir()
    left = MOST_KEPT_BYTES
    for name, read in itertools.islice(_readers(source), MOST_KEPT):
        data = None
        with suppress(OSError, NotTaken):  # a file that nobody may read
            data = read(min(left, MOST_NOTEBOOK_BYTES) + 1)
        if data is not None and len(data) <= min(left, MOST_NOTEBOOK_BYTES):
            left -= len(data)
            try:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(data)
            except OSError as error:
                if error.errno not in UNNAMEABLE:  # a name too long for a second place
                    raise


def _readers(source: Path | Mapping[str, Path]) -> Iterator[tuple[str, Callable[[int], bytes]]]:
    if isinstance(source, Path):
        owner = source.stat().st_uid
        yield from ((name, reader(path, owner)) for name, path, plain in walk(source) if plain and _is_kept(path))
    else:
        yield from ((name, reader(path)) for name, path in source.items() if _is_kept(path))


def _is_kept(path: Path) -> bool:
    """Whether a file has a size that could be meant: two thousand larger ones would take minutes to read."""
    with suppress(OSError):
        return path.lstat().st_size <= MOST_NOTEBOOK_BYTES
    return False
