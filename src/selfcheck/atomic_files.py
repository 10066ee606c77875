"""Writes a file completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_atomically(path: Path, content: bytes | str, mode: int = 0o666, sync: bool = True) -> None:
    """Put a content (a text as UTF-8) in a file's place in one step; folders above it are made.

    mode: the file's permissions, less what the umask takes away; sync: wait until the disk has the content
    A link in the file's place is replaced, not followed.
    Whoever writes the same file at the same time does the same: the last one's content stays. Where writing fails,
    the OSError is raised and the old content stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            with contextlib.suppress(OSError):  # Google Drive may not know how
                if sync:
                    os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
