"""Says what is wrong with the machine, the disk above all, and what to do: a fault of it is never a learner's."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections.abc import Iterator

from .printable import printable

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
READ_ONLY = {errno.EROFS}
FORBIDDEN = {errno.EACCES, errno.EPERM}
LOST = {errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN}
#: What SQLite calls these.
SQLITE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}
SQLITE_TEXTS = {
    "database or disk is full": errno.ENOSPC,
    "attempt to write a readonly database": errno.EROFS,
    "disk I/O error": errno.EIO,
    "unable to open database file": errno.EACCES,
}
IN_A_TEXT = re.compile(r"\[Errno (?P<code>\d{1,4})\][^:\n]*(?:: '(?P<file>[^'\n]+)')?")
MOST = 300  # characters of a file's path, or of an error's text


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and those it came from: libraries wrap what the system says."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is not None and id(cause) not in seen:
            seen.add(id(cause))
            waiting += [cause.__cause__, cause.__context__]
            yield cause


def machine_fault(error: BaseException) -> str:
    """What is wrong with the machine and what to do, in a line; "" where that is not what an error came from."""
    for cause in causes(error):
        if isinstance(cause, OSError) and cause.errno:
            return _told(cause.errno, cause.strerror or "", cause.filename2 or cause.filename)  # where it was to go
        code = SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
        if code:
            return _told(code, str(cause), "the gradebook")
    return ""


def error_in_text(text: str) -> OSError | None:
    """The error that the machine gave, where a library has made a text of it; None where the text tells of none."""
    match = IN_A_TEXT.search(text)
    if match:
        code = int(match["code"])
        return OSError(code, os.strerror(code), *([match["file"]] if match["file"] else []))
    return next((OSError(code, said, "the gradebook") for said, code in SQLITE_TEXTS.items() if said in text), None)


def unforeseen(error: BaseException) -> str:
    """An error that nobody expected of one submission, in a line for the instructor."""
    return printable(f"{type(error).__name__}: {error}", keep="")[:MOST]


def _told(code: int, reason: str, file: object) -> str:
    place = printable(os.fsdecode(file), keep="")[-MOST:] if isinstance(file, str | bytes | os.PathLike) else ""
    at = f" ({place})" if place else ""
    if code in FULL:
        return f"the disk is full{at}: make room"
    if code in READ_ONLY:
        return f"the disk is read-only{at}: make it writable"
    if code in FORBIDDEN:
        return f"you may not do that{at}, {reason}: give yourself the right, or move what is in the way"
    if code in LOST:
        return f"the disk does not answer{at}, {reason}: see to it"
    return f"{place or 'the machine'}: {reason or os.strerror(code)}: mend that"
