"""Attacks by archives: zips that lie, burst or climb, and what is none."""

from __future__ import annotations

import bz2
import io
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

from .handing_in import FULL, HONEST, MODULE, STUB, HandIn, as_released

NAME = f"attention/{MODULE}.py"
Entries = list[tuple[str | zipfile.ZipInfo, bytes]]


def zipped(entries: Entries, method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    """A zip of these entries, names twice among them."""
    place = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(place, "w", method) as archive:
        warnings.simplefilter("ignore")
        for name, data in entries:
            archive.writestr(name, data)
        archive.comment = comment
    return place.getvalue()


def as_zip(entries: Entries, then: Callable[[bytes], bytes] = lambda data: data, file: str = "ps1.zip", **more: object):
    """A zip of the released notebook and these entries, changed by `then`."""

    def make(place: Path, released: dict) -> Path:
        path = place / file
        path.write_bytes(then(zipped([*entries, ("ps1.ipynb", as_released(released))], **more)))
        return path

    return make


def as_file(name: str, content: Callable[[], bytes]):
    """Something else with a name."""

    def make(place: Path, released: dict) -> Path:
        (place / name).write_bytes(content())
        return place / name

    return make


def linked(target: str) -> zipfile.ZipInfo:
    """An entry that would be unpacked as a symbolic link."""
    info = zipfile.ZipInfo(target)
    info.create_system, info.external_attr = 3, 0o120777 << 16
    return info


def with_flag(data: bytes) -> bytes:
    """Every entry marked as encrypted."""
    changed = bytearray(data)
    for mark, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        found = changed.find(mark)
        while found >= 0:
            changed[found + place] |= 1
            found = changed.find(mark, found + 4)
    return bytes(changed)


def with_size(data: bytes) -> bytes:
    """The list of contents says that the first file has ten bytes."""
    changed, found = bytearray(data), data.find(b"PK\1\2")
    changed[found + 24 : found + 28] = struct.pack("<I", 10)
    return bytes(changed)


def overlapping(data: bytes) -> bytes:
    """Both entries of the list of contents lead to the first file."""
    changed = bytearray(data)
    second = data.find(b"PK\1\2", data.find(b"PK\1\2") + 4)
    changed[second + 42 : second + 46] = bytes(4)
    return bytes(changed)


def listing(count: int) -> bytes:
    """A zip whose list of contents has so many entries, all of one file."""
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"x"
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count % 65536, count % 65536, count * len(entry), 0, 0)
    return entry * count + end


def listed(count: int, name: bytes, extra: bytes = b"") -> bytes:
    """A zip whose list of contents has so many entries with this name and this extra field, all of nothing."""
    head = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0x800, 0, 0, 0, 0, 0, 0, len(name), len(extra), 0, 0, 0, 0, 0)
    entry = head + name + extra
    return entry * count + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, count * len(entry), 0, 0)


def tar(mode: str) -> bytes:
    """A tar with a link that leads out of it."""
    place = io.BytesIO()
    with tarfile.open(fileobj=place, mode=mode) as archive:
        info = tarfile.TarInfo(NAME)
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    return place.getvalue()


OWN = (NAME, HONEST)
NO_ZIP = r"is no readable zip: .*Hand in the folder, or the zip that pack\(\) makes"
ATTACKS = [
    HandIn("climbing", "names that climb out", as_zip([OWN, (f"../../{NAME}", STUB)]), FULL, r"\.\./\.\./.* no part"),
    HandIn("absolute", "an absolute name", as_zip([(f"/{NAME}", HONEST)]), log=f"/{NAME} is no part.*is missing"),
    HandIn("backslashes", "separators of Windows, honestly", as_zip([(NAME.replace("/", "\\"), HONEST)]), FULL),
    HandIn("climbing-back", "backslashes that climb", as_zip([OWN, ("..\\..\\x.py", STUB)]), FULL, "x.py is no part"),
    HandIn("bomb", "a hundred megabytes in a few", as_zip([(NAME, bytes(10**8))]), log=f"{NAME} is too large"),
    HandIn(
        "bomb-bzip2",
        "a bomb whose unpacking does not stop after so many bytes",
        as_zip([(NAME, bytes(10**7))], method=zipfile.ZIP_BZIP2),
        refused="packed in a way that is not read here",
    ),
    HandIn(
        "lzma",
        "a way of packing that is not read",
        as_zip([OWN], method=zipfile.ZIP_LZMA),
        refused="packed in a way that is not read here",
    ),
    HandIn(
        "overlapping", "entries on top of each other", as_zip([OWN, ("b.txt", b"")], overlapping), FULL, "b.txt is no"
    ),
    HandIn(
        "overlapping-modules",
        "the stub's bytes under the module's name too",
        as_zip([("attention/other.py", STUB), OWN], overlapping),
        log=r"worked_example.py cannot be read \(BadZipFile\)",
    ),
    HandIn("nested", "a zip in the zip", as_zip([("ps1.zip", zipped([OWN]))]), log="ps1.zip is no part.*is missing"),
    HandIn("encrypted", "an entry behind a password", as_zip([OWN], with_flag), refused=f"{NAME} is encrypted"),
    HandIn(
        "wrong-sum",
        "content that is not what its sum says",
        as_zip([(NAME, b"x = 1234")], lambda data: data.replace(b"x = 1234", b"x = 4321"), method=zipfile.ZIP_STORED),
        log="cannot be read .BadZipFile",
    ),
    HandIn("lying-size", "a list that says ten bytes", as_zip([OWN], with_size), log="cannot be read .BadZipFile"),
    HandIn("twice", "a name twice, a stub first", as_zip([(NAME, STUB), OWN]), log="is there twice: the first counts"),
    HandIn("folder-with-content", "a folder that is a file", as_zip([(f"{NAME}/", HONEST)]), log="is missing"),
    HandIn("zipped-link", "a link as an entry", as_zip([(linked(NAME), b"/etc/passwd")]), log="is no plain file"),
    HandIn("comment", "a comment of 64 KiB", as_zip([OWN], comment=b"x" * 65_535), FULL),
    HandIn("comment-with-ends", "a comment of many ends", as_zip([OWN], comment=b"PK\5\6" * 16_000), refused=NO_ZIP),
    HandIn(
        "behind-a-program", "a zip behind something else", as_zip([OWN], lambda data: b"#!/bin/sh\n" * 99 + data), FULL
    ),
    HandIn(
        "nameless",
        "a name that is empty",
        as_zip([OWN, ("nul.txt", b"")], lambda data: data.replace(b"nul.txt", bytes(7))),
        FULL,
        "what has no name is no part",
    ),
    HandIn("cut-off", "the end is missing", as_zip([OWN], lambda data: data[:-30]), refused=NO_ZIP),
    HandIn("tar", "a tar with a link", as_file("ps1.tar", lambda: tar("w")), refused=NO_ZIP),
    HandIn("tar-gz", "the same, packed", as_file("ps1.tar.gz", lambda: tar("w:gz")), refused=NO_ZIP),
    HandIn("tar-as-zip", "a tar under a zip's name", as_file("ps1.zip", lambda: tar("w")), refused=NO_ZIP),
    HandIn(
        "bz2-as-zip", "packed bytes that are no zip", as_file("ps1.zip", lambda: bz2.compress(HONEST)), refused=NO_ZIP
    ),
    HandIn("empty-file", "nothing at all", as_file("ps1.zip", bytes), refused=NO_ZIP),
    HandIn(
        "entries", "seventy thousand entries", as_file("ps1.zip", lambda: listing(70_000)), refused="more than 20000"
    ),
    HandIn(
        "notebooks",
        "nineteen thousand notebooks whose names say nothing",
        as_file("ps1.zip", lambda: zipped([(f"{number}.ipynb", b"{}") for number in range(19_000)])),
        refused="nothing of ps1 in it.*and 18992 files more",
    ),
    HandIn(
        "notebook-bombs",
        "gigabytes of notebooks whose names say nothing, beside the work",
        as_zip([*((f"{number}.ipynb", bytes(20 * 2**20 - 1)) for number in range(99)), OWN]),
        FULL,
        "0.ipynb is no part",
    ),
    HandIn(
        "accents",
        "names of thousands of accents, which are to be put in order",
        as_file("ps1.zip", lambda: listed(100, ("attention/a" + "\u0300\u0316" * 8000 + ".py").encode())),
        refused="has no name that can be imported",
    ),
    HandIn(
        "extra-fields",
        "entries with sixteen thousand extra fields each",
        as_file("ps1.zip", lambda: listed(100, b"x", b"\xff\xfe\0\0" * 16_000)),
        refused="more than 4096 bytes of extra fields. Hand in the folder",
    ),
    HandIn(
        "colouring-name",
        "a file whose name colours the terminal",
        as_file("\x1b[31m\u202ea.zip", lambda: b"no"),
        refused=r"\\x1b\[31m\\u202ea.zip is no readable zip",
    ),
]
