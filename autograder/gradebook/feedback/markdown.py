"""Markdown of learners and of questions as sanitised HTML, its formulas set."""

from __future__ import annotations

from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import MarkdownWithMath

from ..safe_html import InertRenderer, is_rendered
from .formulas import Formulas

MOST_FORMULAS = 200  # of one text


class _Typeset(InertRenderer):
    """Renders with formulas as MathML; its headings are none of the page's outline."""

    def __init__(self, formulas: Formulas) -> None:
        super().__init__()
        self._formulas, self._left = formulas, MOST_FORMULAS

    def heading(self, text: str, level: int, **attrs: object) -> str:
        return f"<p><strong>{text}</strong></p>\n"

    def _set(self, tex: str, display: bool) -> str:
        self._left -= 1
        made = self._formulas.html(tex, display) if self._left >= 0 else None
        return str(made) if made else f"<code>{escape(tex)}</code>"

    def inline_math(self, body: str) -> str:
        return self._set(body, False)

    def block_math(self, body: str) -> str:
        return f'<span class="formula">{self._set(body, True)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def rendered(source: str, formulas: Formulas) -> Markup:
    """A text as HTML that acts on nothing; what is too long or too deep for the renderer stands as it was written."""
    if source not in formulas.texts:
        formulas.texts[source] = _rendered(source, formulas)
    return formulas.texts[source]


def _rendered(source: str, formulas: Formulas) -> Markup:
    formulas.begin_text()
    if is_rendered(source):
        try:
            return Markup(MarkdownWithMath(renderer=_Typeset(formulas)).render(source))
        except (RecursionError, ValueError, KeyError, IndexError, AttributeError, TypeError):
            pass
    return Markup("<pre>{}</pre>").format(source)
