"""Text of a learner's as it may be shown: nothing in it moves a cursor, turns a line round or begins a new one."""

from __future__ import annotations

import unicodedata

MOST_NAME = 100


def printable(text: str, keep: str = "\n") -> str:
    """The text with every character that has no picture of its own as its escape: controls, directions, surrogates.

    keep: characters that stay nevertheless
    The blanks of other scripts stay: they are as wide as they look.
    """
    if text.isprintable():
        return text
    return "".join(one if one in keep or _has_a_picture(one) else ascii(one)[1:-1] for one in text)


def _has_a_picture(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def printable_line(value: object, most: int) -> str:
    """A text in one line of bounded length; "" for what is no text."""
    return printable(value[:most], keep="") if isinstance(value, str) else ""


def counted(count: int, what: str) -> str:
    """ "1 student", "2 students"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def printable_name(name: str) -> str:
    """A file's name in one line of bounded length."""
    return printable(name[:MOST_NAME], keep="") + ("…" if len(name) > MOST_NAME else "")
