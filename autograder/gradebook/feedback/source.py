"""A learner's module in colours, line by line, and the lines of one function or class of it."""

from __future__ import annotations

import html
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

AROUND = 2  # lines shown before and after one that a message names, where no function holds it
KEYWORDS = frozenset(keyword.kwlist)
#: What is coloured, by the page's class for it. A full lexer takes longer than all else of a page together.
TOKEN = re.compile(
    r"""
    (?P<c> \#[^\n]* )
    | (?P<s> [bBfFrRuU]{0,2} (?:
        \"{3} (?: [^\\] | \\. )*? (?: \"{3} | \Z ) | '{3} (?: [^\\] | \\. )*? (?: '{3} | \Z )
        | " (?: [^"\\\n] | \\. )* "? | ' (?: [^'\\\n] | \\. )* '? ) )
    | (?P<n> \.?\d (?: (?<=[eE])[+-] | [\w.] )* )
    | (?P<f> (?m:^)[ \t]*@[\w.]+ )
    | (?P<name> \w+ )
    """,
    re.VERBOSE | re.DOTALL,
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
    done, end, before, line = [], 0, "", 0
    continues: set[int] = set()
    for match in TOKEN.finditer(text):
        part, kind = match[0], match.lastgroup
        if kind == "name":
            kind = "f" if before in ("def", "class") else "k" if part in KEYWORDS else None
        before = part
        if kind:
            plain, end = text[end : match.start()], match.end()
            line += plain.count("\n")
            if kind == "s":
                continues.update(range(line + 1, line + 1 + part.count("\n")))
            line += part.count("\n")
            lines = _escaped(part).split("\n")
            done += [_escaped(plain), "\n".join(f'<b class="{kind}">{line}</b>' if line else "" for line in lines)]
    done.append(_escaped(text[end:]))
    return tuple(map(Markup, "".join(done).split("\n"))), frozenset(continues)


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)
