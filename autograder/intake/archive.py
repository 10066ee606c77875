"""Reads what students hand in, a folder or a zip, within limits: nothing is followed, unpacked or run.

Only what can be part of a submission is read at all: modules, the notebook, nbgrader's ticket. Everything else is known
by its name.
"""

from __future__ import annotations

import itertools
import mmap
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from selfcheck.catalogue import exercises

from ..course.folder import Course
from ..course.printable import printable_name
from ..sandbox.limited import LIMITS_TEXT, items_of
from .safe_files import NotTaken, reader, walk

MOST_FILE_BYTES = 2**20
MOST_FILES = 50
MOST_PACKAGE_BYTES = 2**21  # what is read of it takes the grader seconds per MiB
MOST_ENTRIES = 100_000  # whose names are looked at
MOST_ZIP_ENTRIES = 20_000
MOST_EXTRA_BYTES = 4096  # of an entry's extra fields; honest ones have some dozens
MOST_WITH_EXTRAS = 10  # entries with more, for the bytes by which entries are counted may stand elsewhere by chance
MOST_NAME = 100  # characters of a module's file
MOST_TOLD = 5  # things of which one reason is told, each by its name
MOST_NOTEBOOK_BYTES = 20 * 2**20
MOST_ZIP_BYTES = 64 * 2**20
MOST_KEPT = 2000  # files of a submission that are kept as they came
MOST_KEPT_BYTES = 64 * 2**20
HAND_IN = "Hand in the folder, or the zip that pack() makes"
STAMP = "timestamp.txt"
TICKET = "submission_secret.txt"  # by it nbgrader's exchange hands the feedback back to whoever submitted
TICKET_BYTES = 64
UNREADABLE = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
    struct.error,
)


@dataclass(frozen=True)
class Received:
    """The parts of a submission that are taken: module texts, the notebook's bytes, and remarks on the rest.

    ticket: nbgrader's submission secret, "" for a submission that did not come through its exchange
    """

    files: dict[str, bytes]
    notebook: bytes | None
    remarks: tuple[str, ...]
    ticket: str = ""


@dataclass(frozen=True)
class Entry:
    """One thing that was handed in: its name, and how to read so many of its bytes; None for what is no plain file."""

    name: str
    read: Callable[[int], bytes] | None


def read_folder(folder: Path, problem_set: str) -> Received:
    """A submission in a folder; links are not followed, pipes and devices not opened."""
    return _take(_entries(folder), problem_set)


def read_zip(path: Path, problem_set: str) -> Received:
    """A submission in a zip, read in memory within limits and never unpacked; ValueError where it is no zip."""
    found = items_of(_contents, path.absolute(), problem_set)
    if not found.complete:
        raise ValueError(f"{printable_name(path.name)} takes more than {LIMITS_TEXT} to read. {HAND_IN}")
    return found.items[0]


def _contents(path: Path, problem_set: str) -> Iterator[Received]:
    shown = printable_name(path.name)
    if path.stat().st_size > MOST_ZIP_BYTES:
        raise ValueError(f"{shown} has more than {MOST_ZIP_BYTES // 2**20} MiB: is it the right file?")
    entries, with_extras = most_entries(path)
    if entries > MOST_ZIP_ENTRIES:
        raise ValueError(f"{shown} holds more than {MOST_ZIP_ENTRIES} files: is it the right one?")
    if with_extras > MOST_WITH_EXTRAS:
        raise ValueError(f"{shown} holds entries with more than {MOST_EXTRA_BYTES} bytes of extra fields. {HAND_IN}")
    try:
        with zipfile.ZipFile(path) as archive:
            found = (info for info in archive.infolist() if not _zip_name(info).endswith("/"))
            yield _take((Entry(_zip_name(info), _unpacker(archive, info)) for info in found), problem_set)
    except UNREADABLE as error:
        raise ValueError(f"{shown} is no readable zip: {printable_name(str(error))}. {HAND_IN}") from None


def read_package(folder: Path) -> Received:
    """The modules in `folder`/attention; what lies beside that folder is not looked at."""
    package = folder / "attention"
    if not package.is_dir() or package.is_symlink():
        return Received({}, None, ("there is no folder `attention`",))
    return _take(_entries(package, "attention/"), "")


def _entries(folder: Path, before: str = "") -> Iterator[Entry]:
    """What lies in a folder; before: what its names begin with."""
    owner = folder.stat().st_uid
    for name, path, plain in walk(folder):
        yield Entry(before + name, reader(path, owner) if plain else None)


def keep(course: Course, student: str, problem_set: str, path: Path) -> None:
    """Copy what came in to `received`, under the time of its arrival: plain files of a size that could be meant."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = course.received(student, problem_set) / now
    target.mkdir(parents=True)
    if not path.is_dir():
        shutil.copyfile(path, target / path.name)
        return
    owner, left = path.stat().st_uid, MOST_KEPT_BYTES
    for name, source, plain in itertools.islice(walk(path), MOST_KEPT):
        with suppress(OSError, NotTaken):  # a name too long for a second place, a file that nobody may read
            data = reader(source, owner)(min(left, MOST_NOTEBOOK_BYTES) + 1) if plain else None
            if data is not None and len(data) <= min(left, MOST_NOTEBOOK_BYTES):
                left -= len(data)
                (target / "submission" / name).parent.mkdir(parents=True, exist_ok=True)
                (target / "submission" / name).write_bytes(data)


def most_entries(path: Path) -> tuple[int, int]:
    """No fewer than the files that a zip can list, and than those of them with large extra fields, known before the
    list is read, for each begins with these bytes. To read extra fields takes the square of their length.
    """
    with path.open("rb") as file:
        if not path.stat().st_size:
            return 0, 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            count = with_extras = 0
            place = data.find(b"PK\1\2")
            while place >= 0 and count <= MOST_ZIP_ENTRIES:
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


def _take(entries: Iterator[Entry], problem_set: str) -> Received:
    found = _Taken(problem_set)
    for entry in itertools.islice(entries, MOST_ENTRIES):
        found.take(entry)
    if next(entries, None):
        found.left_out[f"what comes after {MOST_ENTRIES} files is not looked at"] = []
    return Received(found.files, found.notebook, found.remarks(), found.ticket)


class _Taken:
    """Gathers the parts of a submission, one entry at a time."""

    def __init__(self, problem_set: str) -> None:
        self.problem_set = problem_set
        self.files: dict[str, bytes] = {}
        self.notebook: bytes | None = None
        self.ticket = ""
        self.left_out: dict[str, list[str]] = {}  # why → what
        self.asked_for = {f"{exercise.module}.py" for exercise in exercises()}

    def remarks(self) -> tuple[str, ...]:
        """A line on each thing that was left out; where there are many for one reason, on the first of them."""
        lines = []
        for reason, names in self.left_out.items():
            lines += [f"{name} {reason}" for name in names[:MOST_TOLD]] or [reason]
            if len(names) > MOST_TOLD:
                lines.append(f"and {len(names) - MOST_TOLD} more: each {reason}")
        return tuple(lines)

    def take(self, entry: Entry) -> None:
        """Read an entry if it can be part of a submission, and remark on what it is otherwise."""
        shown = printable_name(entry.name) or "what has no name"
        parts = PurePosixPath(entry.name).parts
        inside = parts[1:] if len(parts) > 1 and parts[0] == self.problem_set else parts
        try:
            self._take(inside, entry.read)
        except NotTaken as reason:
            self.left_out.setdefault(str(reason), []).append(shown)
        except UNREADABLE as error:
            trouble = f"cannot be read ({type(error).__name__}): left out"
            self.left_out.setdefault(trouble, []).append(shown)

    def _take(self, inside: tuple[str, ...], read: Callable[[int], bytes] | None) -> None:
        if read is None:
            raise NotTaken("is no plain file: left out")
        if len(inside) == 2 and inside[0] == "attention" and inside[1].endswith(".py"):
            if len(inside[1]) > 3 * MOST_NAME:  # to order its accents would take its length squared
                raise NotTaken("has no name that can be imported: left out")
            self._take_module(unicodedata.normalize("NFC", inside[1]), read)  # macOS writes letter and accent apart
        elif inside == (f"{self.problem_set}.ipynb",):
            self._take_notebook(read)
        elif inside == (TICKET,):
            ticket = read(2 * TICKET_BYTES + 1)
            if len(ticket) == 2 * TICKET_BYTES and set(ticket) <= set(b"0123456789abcdef"):
                self.ticket = ticket.decode()
        elif inside != (STAMP,) and not _comes_with_release(inside):
            raise NotTaken("is no part of the problem set: left out")

    def _take_module(self, name: str, read: Callable[[int], bytes]) -> None:
        # `import` looks for the NFKC form of a name: no other can be found by it.
        can_be_imported = name.removesuffix(".py").isidentifier() and unicodedata.normalize("NFKC", name) == name
        if not can_be_imported or len(name) > MOST_NAME:
            raise NotTaken("has no name that can be imported: left out")
        twin = next((one for one in self.files if one.casefold() == name.casefold()), None)
        asked_for = name in self.asked_for and twin not in self.asked_for
        if twin and not asked_for:
            raise NotTaken("is there twice: the first counts")
        if len(self.files) >= MOST_FILES and not asked_for:
            raise NotTaken("is one file too many: left out")
        data = read(MOST_FILE_BYTES + 1)
        in_all = len(data) + sum(map(len, self.files.values()))
        if len(data) > MOST_FILE_BYTES or (in_all > MOST_PACKAGE_BYTES and not asked_for):
            raise NotTaken("is too large: left out")
        self.files[name] = data
        if twin:
            del self.files[twin]
            raise NotTaken(f"counts, and {printable_name(twin)} does not: their names differ in case alone")

    def _take_notebook(self, read: Callable[[int], bytes]) -> None:
        if self.notebook is not None:
            raise NotTaken("is there twice: the first counts")
        data = read(MOST_NOTEBOOK_BYTES + 1)
        if len(data) > MOST_NOTEBOOK_BYTES:
            raise NotTaken("is too large: left out")
        self.notebook = data


def _comes_with_release(parts: tuple[str, ...]) -> bool:
    return bool(parts) and (
        parts[0] in ("selfcheck", "__MACOSX", ".selfcheck.json") or "__pycache__" in parts or parts[-1].startswith(".")
    )
