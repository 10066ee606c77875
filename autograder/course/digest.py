"""One digest over several pieces of data, which cannot run into each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def digest_of_parts(parts: Iterable[bytes]) -> str:
    """SHA-256 over the parts, each preceded by its length in 8 bytes; 64 hexadecimal digits."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
