"""Puts each line of code into an element: one too long for the screen then wraps below its own indent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

TAGS = re.compile(r"<[^>]*>")
#: Pygments' classes of names, punctuation and blanks, which both styles leave in the colour of the block.
UNCOLOURED = {"n", "nn", "nx", "p", "w"}


class LinesFormatter(HtmlFormatter):
    """`<span class="line" style="--indent: 4">…</span>` for each line, and an element for what has a colour of its own.

    The newlines stay between the lines.
    """

    def _get_css_classes(self, ttype: Any) -> str:
        names: str = super()._get_css_classes(ttype)
        return "" if UNCOLOURED.issuperset(names.split()) else names

    def _format_lines(self, tokensource: Any) -> Iterator[tuple[int, str]]:
        for is_code, text in super()._format_lines(tokensource):
            yield (is_code, in_an_element(text)) if is_code else (is_code, text)


def in_an_element(line: str) -> str:
    """line: one line of highlighted code in HTML, with its newline."""
    code = line.rstrip("\n")
    plain = TAGS.sub("", code)
    indent = len(plain) - len(plain.lstrip(" "))
    style = f' style="--indent: {indent}"' if indent else ""
    if not plain:  # an empty line keeps its newline inside: else it is lost where a reader selects and copies
        return f'<span class="line">{line}</span>'
    return f'<span class="line"{style}>{code}</span>' + line[len(code) :]


def setup(app: Sphinx) -> dict[str, Any]:
    PygmentsBridge.html_formatter = LinesFormatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
