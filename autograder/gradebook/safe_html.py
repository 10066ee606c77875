"""Sanitised HTML for what learners wrote, on nbgrader's pages."""

from __future__ import annotations

import html
import re

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from selfcheck.source import text_of

from ..course.printable import printable

MOST_ANSWER = 20_000  # characters of a written answer that are rendered as Markdown: some patterns take quadratic time
MOST_FORMULAS = 300  # that may begin in it: from each a pattern looks for its end through all that follows
FORMULA_STARTS = ("\\\\[", "\\\\(", "\\begin{")
MOST_SOURCE = 60_000  # characters of a module on a page, five times the longest of the reference's
MOST_LINE = 400  # colouring one line takes quadratic time, and so do blank lines in a row
MOST_BLANK = 5
HARMLESS_LINK = re.compile(r"(?:https?://|mailto:|#)[^\s\"'<>]*", re.ASCII)
HARMLESS_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=]*", re.ASCII)


class InertRenderer(IPythonRenderer):
    """Renders Markdown with no HTML but its own: no scripts, styles, classes or ids, and nothing that is fetched."""

    def __init__(self) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False, exclude_anchor_links=True)

    def block_code(self, code: str, info: str | None = None) -> str:
        return f"<pre><code>{html.escape(code)}</code></pre>\n"  # without colours, whose language a learner chooses

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not HARMLESS_LINK.fullmatch(url):
            return f"{text} ({html.escape(url)})"
        return f'<a href="{html.escape(url)}" rel="noopener noreferrer">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if not HARMLESS_PICTURE.fullmatch(url):
            return f"[picture: {html.escape(text)} ({html.escape(url[:200])})]"
        return f'<img src="{url}" alt="{html.escape(text)}">'

    def heading(self, text: str, level: int, **attrs: object) -> str:
        return f"<h{level}>{text}</h{level}>\n"


def is_rendered(source: str) -> bool:
    """Whether a text is short enough to be rendered as Markdown."""
    return len(source) <= MOST_ANSWER and sum(map(source.count, FORMULA_STARTS)) <= MOST_FORMULAS


def answer_html(source: str) -> str:
    """Markdown as sanitised HTML; what is too long or too deep for the renderer stands as it was written."""
    if is_rendered(source):
        try:
            return MarkdownWithMath(renderer=InertRenderer()).render(source)
        except (RecursionError, ValueError, KeyError, IndexError, AttributeError, TypeError):
            pass
    return f"<pre>{html.escape(source)}</pre>"


def unchanged(text: str) -> str:
    """In place of nbgrader's filter for links into notebook servers of old, which takes quadratic time."""
    return text


def source_text(data: bytes) -> str:
    """A module's text for a page that colours it: printable, its lines, its blanks and its length bounded."""
    text = text_of(data[: 4 * MOST_SOURCE]).removeprefix("\ufeff")
    shown, blank, left = [], 0, MOST_SOURCE
    for line in text.split("\n"):
        line = printable(line[: MOST_LINE + 1], keep="\t").rstrip()
        blank = 0 if line else blank + 1
        if blank > MOST_BLANK:
            continue
        if len(line) > MOST_LINE:
            line = f"{line[:MOST_LINE]} …"
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    if left >= 0 and len(data) <= 4 * MOST_SOURCE:
        return "\n".join(shown)
    rest = f"# … the page ends here: the file has {len(data)} bytes and lies among the submitted ones"
    return "\n".join([*shown, rest])
