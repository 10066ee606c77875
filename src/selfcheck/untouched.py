"""Tells the stub as it was generated from a module that a learner has edited.

The first line of a stub begins with `# Generated` and ends with a digest of all other lines.
"""

from __future__ import annotations

import hashlib


def digest_of(body: bytes) -> str:
    """Twelve hexadecimal digits of a stub's text without its first line."""
    return hashlib.sha256(body).hexdigest()[:12]


def is_untouched(content: bytes) -> bool:
    """Whether a module is the stub as it was generated, with line ends of whatever kind."""
    first, _, body = content.replace(b"\r\n", b"\n").partition(b"\n")
    return first.startswith(b"# Generated") and first.endswith(b" " + digest_of(body).encode())
