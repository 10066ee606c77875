"""Reads what students hand in, a folder, a zip or single files, within limits: nothing is followed, unpacked or run.

Only what can be part of a submission is read at all: modules, the notebook, nbgrader's ticket. Everything else is known
by its name.
"""

from __future__ import annotations

import io
import itertools
import mmap
import stat
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..course.printable import printable_name
from ..sandbox.limited import LIMITS_TEXT, items_of
from .layout import is_dropping, parts_of
from .safe_files import NotTaken, reader, walk
from .taking import (
    HAND_IN,
    MOST_FILE_BYTES,
    MOST_FILES,
    MOST_NOTEBOOK_BYTES,
    MOST_PACKAGE_BYTES,
    STAMP,
    TICKET,
    TICKET_BYTES,
    UNREADABLE,
    Entry,
    Received,
    take,
)

__all__ = [
    "MOST_FILE_BYTES",
    "MOST_FILES",
    "MOST_NOTEBOOK_BYTES",
    "MOST_PACKAGE_BYTES",
    "STAMP",
    "TICKET",
    "TICKET_BYTES",
    "UNREADABLE",
    "Received",
    "most_entries",
    "read_files",
    "read_folder",
    "read_package",
    "read_path",
    "read_zip",
]
MOST_ENTRIES = 20_000  # of a folder or a zip, whose names are looked at
MOST_EXTRA_BYTES = 4096  # of an entry's extra fields; honest ones have some dozens
MOST_WITH_EXTRAS = 10  # entries with more, for the bytes by which entries are counted may stand elsewhere by chance
MOST_ZIP_BYTES = 64 * 2**20
SINGLE_FILES = (".ipynb", ".py")


def read_path(path: Path, problem_set: str) -> Received:
    """A submission in whatever a path names: a folder, a zip, or the notebook or a module alone.

    Raises ValueError where it is none of these.
    """
    if path.is_dir():
        return read_folder(path, problem_set)
    if path.suffix.casefold() in SINGLE_FILES:
        return read_files({path.name: path}, problem_set)
    return read_zip(path, problem_set)


def read_folder(folder: Path, problem_set: str) -> Received:
    """A submission in a folder; links are not followed, pipes and devices not opened."""
    entries = _entries(folder)
    listed = list(itertools.islice(entries, MOST_ENTRIES))
    return _take_or_unpack(listed, problem_set, _more(entries), _in_a_process)


def read_files(files: dict[str, Path], problem_set: str) -> Received:
    """A submission in single files, by the names that they are to have; links are not followed."""
    entries = [Entry(name, reader(path) if _is_plain(path) else None) for name, path in files.items()]
    return _take_or_unpack(entries, problem_set, (), _in_a_process)


def read_zip(path: Path, problem_set: str) -> Received:
    """A submission in a zip, read in memory within limits and never unpacked; ValueError where it is no zip."""
    return _in_a_process(path.absolute(), path.name, problem_set)


def read_package(folder: Path) -> Received:
    """The modules in `folder`/attention; what lies beside that folder is not looked at."""
    package = folder / "attention"
    if not package.is_dir() or package.is_symlink():
        return Received({}, None, ("there is no folder `attention`",))
    return take(list(itertools.islice(_entries(package, "attention/"), MOST_ENTRIES)), "")


def _is_plain(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(path.lstat().st_mode)
    return False


def _entries(folder: Path, before: str = "") -> Iterator[Entry]:
    """What lies in a folder; before: what its names begin with."""
    owner = folder.stat().st_uid
    for name, path, plain in walk(folder):
        yield Entry(before + name, reader(path, owner) if plain else None)


def _more(entries: Iterator[Entry]) -> tuple[str, ...]:
    return (f"what comes after {MOST_ENTRIES} files is not looked at",) if next(entries, None) else ()


def _take_or_unpack(
    entries: Sequence[Entry], problem_set: str, more: Sequence[str], unpacked: Callable[[bytes, str, str], Received]
) -> Received:
    """The parts among these entries; where there are none, those in the one zip among them."""
    received = take(entries, problem_set, more)
    zips = [
        entry for entry in entries if entry.name.casefold().endswith(".zip") and not is_dropping(parts_of(entry.name))
    ]
    if not received.refusal or received.files or len(zips) != 1 or zips[0].read is None:
        return received
    try:
        data = zips[0].read(MOST_ZIP_BYTES + 1)
    except (NotTaken, *UNREADABLE):
        return received
    return unpacked(data, parts_of(zips[0].name)[-1], problem_set)


def _in_a_process(source: Path | bytes, name: str, problem_set: str) -> Received:
    """A zip read in a process of its own, within limits."""
    contents = items_of(_contents, source, name, problem_set)
    if not contents.complete:
        raise ValueError(f"{printable_name(name)} takes more than {LIMITS_TEXT} to read. {HAND_IN}")
    return contents.items[0]


def _contents(source: Path | bytes, name: str, problem_set: str) -> Iterator[Received]:
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size > MOST_ZIP_BYTES:
        raise ValueError(f"{printable_name(name)} has more than {MOST_ZIP_BYTES // 2**20} MiB: is it the right file?")
    if isinstance(source, bytes):
        yield _unzipped(io.BytesIO(source), source, name, problem_set, _again)
    elif not size:
        yield _unzipped(io.BytesIO(), b"", name, problem_set, None)
    else:
        with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield _unzipped(file, data, name, problem_set, _again)


def _again(data: bytes, name: str, problem_set: str) -> Received:
    """A zip in a zip; one in that is not looked into."""
    if len(data) > MOST_ZIP_BYTES:
        raise ValueError(f"{printable_name(name)} has more than {MOST_ZIP_BYTES // 2**20} MiB: is it the right file?")
    return _unzipped(io.BytesIO(data), data, name, problem_set, None)


def _unzipped(
    file: io.BufferedReader | io.BytesIO,
    data: bytes | mmap.mmap,
    name: str,
    problem_set: str,
    inner: Callable[[bytes, str, str], Received] | None,
) -> Received:
    """What is taken of a zip. data: the file's bytes; inner: reads a zip in it"""
    shown = printable_name(name)
    entries, with_extras = most_entries_in(data)
    if entries > MOST_ENTRIES:
        raise ValueError(f"{shown} holds more than {MOST_ENTRIES} files: is it the right one?")
    if with_extras > MOST_WITH_EXTRAS:
        raise ValueError(f"{shown} holds entries with more than {MOST_EXTRA_BYTES} bytes of extra fields. {HAND_IN}")
    try:
        with zipfile.ZipFile(file) as archive:
            files = [info for info in archive.infolist() if not _zip_name(info).endswith("/")]
            inside = [Entry(_zip_name(info), _unpacker(archive, info)) for info in files]
            return _take_or_unpack(inside, problem_set, (), inner) if inner else take(inside, problem_set)
    except UNREADABLE as error:
        raise ValueError(f"{shown} is no readable zip: {printable_name(str(error))}. {HAND_IN}") from None


def most_entries(path: Path) -> tuple[int, int]:
    """As `most_entries_in`, of a file."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return 0, 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return most_entries_in(data)


def most_entries_in(data: bytes | mmap.mmap) -> tuple[int, int]:
    """No fewer than the files that a zip can list, and than those of them with large extra fields, known before the
    list is read, for each begins with these bytes. To read extra fields takes the square of their length.
    """
    count = with_extras = 0
    place = data.find(b"PK\1\2")
    while place >= 0 and count <= MOST_ENTRIES:
        count += 1
        with_extras += int.from_bytes(data[place + 30 : place + 32], "little") > MOST_EXTRA_BYTES
        place = data.find(b"PK\1\2", place + 4)
    return count, with_extras


def _zip_name(info: zipfile.ZipInfo) -> str:
    """A name in a zip with slashes: some programs on Windows write it with backslashes."""
    return info.filename.replace("\\", "/")


def _unpacker(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[int], bytes] | None:
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return None

    def read(most: int) -> bytes:
        if info.flag_bits & 1:
            raise NotTaken("is encrypted: left out")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # What unpacks the others does not stop after so many bytes.
            raise NotTaken("is packed in a way that is not read here, only deflated: left out")
        with archive.open(info) as file:
            return file.read(most)

    return read
