"""A learner's module in colours, line by line, and the lines of one function or class of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from markupsafe import Markup
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

AROUND = 2  # lines shown before and after one that a message names, where no function holds it
#: The class that a page gives to a kind of token; all others have none.
KINDS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "f"),
)


@dataclass(frozen=True)
class Line:
    """A line on a page. marked: whether a message names it"""

    number: int
    html: Markup
    marked: bool = False


class Module:
    """A module's text. text: printable and bounded, see safe_html.source_text"""

    def __init__(self, text: str) -> None:
        self.texts = text.split("\n")
        self._html, self._continues = _coloured(text)

    def __len__(self) -> int:
        return len(self.texts)

    def lines(self, numbers: Iterable[int], marked: Iterable[int] = ()) -> list[Line]:
        """Lines by their numbers, which begin at 1."""
        marks = set(marked)
        return [Line(number, self._html[number - 1], number in marks) for number in numbers]

    def holds(self, number: int, part: str) -> bool:
        """Whether there is such a line with such a text in it; what a page leaves out moves the others up."""
        return 1 <= number <= len(self) and " ".join(part.split()) in " ".join(self.texts[number - 1].split())

    def definition(self, symbol: str) -> range:
        """The numbers of the lines of the last function or class of this name at the module's top; empty for none."""
        begins = re.compile(rf"(?:async +)?(?:def|class) +{re.escape(symbol)}\b")
        begins_at = [at for at, line in enumerate(self.texts) if begins.match(line) and at not in self._continues]
        if not begins_at:
            return range(0)
        first, end = begins_at[-1], begins_at[-1] + 1
        while first and self.texts[first - 1].startswith("@"):
            first -= 1
        for at in range(end, len(self)):
            line = self.texts[at]
            if line[:1] in ("", " ", "\t", "#", ")", "]", "}") or at in self._continues:
                continue
            break
        else:
            at = len(self)
        while at > end and (not self.texts[at - 1].strip() or self.texts[at - 1].startswith("#")):
            at -= 1
        return range(first + 1, at + 1)

    def around(self, number: int) -> range:
        """The numbers of the lines about one."""
        return range(max(1, number - AROUND), min(len(self), number + AROUND) + 1)


@lru_cache(maxsize=64)
def _coloured(text: str) -> tuple[tuple[Markup, ...], frozenset[int]]:
    """The HTML of each line, and the places of those that go on with a string of the line before."""
    lines: list[list[tuple[str, str]]] = [[]]
    continues = set()
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        name, is_text = _class_of(kind)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
                if is_text:
                    continues.add(len(lines) - 1)
            if part:
                last = lines[-1][-1] if lines[-1] else ("-", "")
                if last[0] == name:
                    lines[-1][-1] = (name, last[1] + part)
                else:
                    lines[-1].append((name, part))
    return tuple(_html(line) for line in lines), frozenset(continues)


@cache
def _class_of(kind: _TokenType) -> tuple[str, bool]:
    """A page's class for a kind of token, "" for none, and whether it is of a string."""
    return next((name for known, name in KINDS if kind in known), ""), kind in String


def _html(parts: Sequence[tuple[str, str]]) -> Markup:
    texts = ((name, html.escape(part, quote=False)) for name, part in parts)
    return Markup("".join(f'<b class="{name}">{text}</b>' if name else text for name, text in texts))
