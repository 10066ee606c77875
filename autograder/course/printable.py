"""Makes learners' text safe to print: no control characters, no change of direction, no new lines."""

from __future__ import annotations

import unicodedata

MAX_NAME = 100


def printable(text: str, keep: str = "\n") -> str:
    """The text with each character that prints nothing replaced by its escape: controls, directions, surrogates.

    keep: characters that stay nevertheless
    The spaces of other scripts stay.
    """
    if text.isprintable():
        return text
    return "".join(char if char in keep or _is_visible(char) else ascii(char)[1:-1] for char in text)


def _is_visible(char: str) -> bool:
    return char.isprintable() or unicodedata.category(char) == "Zs"


def printable_line(value: object, most: int) -> str:
    """A text on one line, cut to `most` characters; "" for what is no text."""
    return printable(value[:most], keep="") if isinstance(value, str) else ""


def text_or_nothing(value: object) -> str:
    """A text as it is; "" for what is none."""
    return value if isinstance(value, str) else ""


def counted(count: int, what: str) -> str:
    """ "1 student", "2 students"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def printable_name(name: str) -> str:
    """A file's name on one line, cut to MAX_NAME characters."""
    return printable(name[:MAX_NAME], keep="") + ("…" if len(name) > MAX_NAME else "")
