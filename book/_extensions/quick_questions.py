"""The `quick-question` directive: a question between two sections, its answers folded until it is answered."""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.build.quick_questions import KINDS, Question, find, name_of, named_parts, near, path_of

FILES = "quick-questions"  # in _static; Jupyter Book would give every page whatever lies in book/_static itself
#: Pages whose end, once reached, is remembered as read.
READ = ("chapters/", "deeper/", "prerequisites", "notation")


class QuickQuestion(SphinxDirective):
    """```{quick-question} masks.first-row```"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        try:
            question = find(self.arguments[0])
        except (LookupError, ValueError) as problem:
            raise self.error(str(problem)) from problem
        self.env.note_dependency(str(path_of(question.id)))
        self.env.metadata[self.env.docname]["quick-questions"] = "yes"
        return list(self._parts(question))

    def _parts(self, question: Question) -> Any:
        name = question.anchor
        yield html(
            f'<div class="quick-question" id="{name}" data-question="{question.id}" data-kind="{question.kind}"'
            f' data-tolerance="{question.tolerance:g}" role="group" aria-labelledby="{name}-kind">'
            f'<p class="qq-kind" id="{name}-kind">Question: {KINDS[question.kind]}</p><div class="qq-prompt">'
        )
        yield from self.parse_text_to_nodes(question.prompt)
        yield html("</div>" + choices(question) + '<details class="qq-answers"><summary>Answer</summary>')
        if question.kind == "order":
            yield html('<pre class="qq-right-order">' + escape("\n".join(question.lines)) + "</pre>")
        yield html('<ul class="qq-says">')
        for data, (title, says) in zip(facts(question), named_parts(question), strict=True):
            yield html(f"<li {data}>")
            yield from self.parse_text_to_nodes(f"**{title}.** {says}")
            yield html("</li>")
        yield html("</ul></details></div>")


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def facts(question: Question) -> list[str]:
    """Attributes of the sentences, in the order of `named_parts`: which answer each belongs to."""
    if question.kind == "order":
        pairs = [f'data-first="{one.chosen[0]}" data-then="{one.chosen[1]}"' for one in question.options]
        return ["data-right", *pairs]
    found = []
    for at in question.shown:
        option = question.options[at]
        value = f' data-value="{option.chosen!r}"' if question.kind == "number" else ""
        found.append(f'data-option="{at}"{value}{" data-right" if option.right else ""}')
    return found + ["data-otherwise"] * bool(question.otherwise)


def choices(question: Question) -> str:
    """What can be chosen, as a list that a script makes into controls; a number is typed, so it has none."""
    if question.kind == "number":
        return f'<p class="qq-near">{near(question)}</p>'
    if question.kind == "order":
        items = [f'<li data-line="{at}"><code>{escape(question.lines[at])}</code></li>' for at in question.shown]
        return f'<ol class="qq-choices">{"".join(items)}</ol>'
    items = [f'<li data-option="{at}">{choice(question, at)}</li>' for at in question.shown]
    return f'<ul class="qq-choices">{"".join(items)}</ul>'


def choice(question: Question, at: int) -> str:
    chosen = question.options[at].chosen
    if question.kind != "mask":
        return f"<code>{escape(str(chosen))}</code>"
    rows = (
        "".join(f'<span class="qq-{"may" if cell == "1" else "not"}">{cell} </span>' for cell in row) for row in chosen
    )
    drawn = "".join(f'<span class="qq-row">{row}</span>' for row in rows)
    return f'<span class="qq-letter">{name_of(question, at)}</span> <span class="qq-mask">{drawn}</span>'


def copy_files(app: Sphinx) -> None:
    """Puts scripts and style where the finished pages ask for them."""
    if app.builder.format == "html":
        shutil.copytree(Path(app.srcdir) / "quick_questions", Path(app.outdir) / "_static" / FILES, dirs_exist_ok=True)


def add_files(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Gives a page what it needs: the style where questions stand, the starting script there and where one reads."""
    asks = "quick-questions" in (app.env.metadata.get(pagename) or {})
    if asks:
        app.add_css_file(f"{FILES}/questions.css")
    if asks or pagename.startswith(READ):
        app.add_js_file(f"{FILES}/start.js", loading_method="defer", **{"data-page": pagename})


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("quick-question", QuickQuestion)
    app.connect("builder-inited", copy_files)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
