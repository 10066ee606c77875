"""Writes files atomically: whoever reads one meanwhile sees the former text or the new one."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace a file by a text in one step; mode: its permissions, less what the umask takes away."""
    draft = path.with_suffix(f".{os.getpid()}.part")  # another grader may write the same
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
