"""The `progress` directive: a table of the chapters that a script fills with what this browser remembers."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.build.exercise_text import chapter_page
from autograder.build.page_archive import PROBLEM_SET
from autograder.build.quick_questions import FOLDER, in_chapter
from selfcheck.catalogue import in_problem_set

FILES = "quick-questions"  # in _static, where `quick_questions` copies them


class progress(nodes.General, nodes.Element):  # noqa: N801  docutils names its nodes in lower case
    """Where the table goes; what it lists is known once every page is read."""


class ProgressDirective(SphinxDirective):
    """```{progress}```"""

    def run(self) -> list[nodes.Node]:
        for path in FOLDER.glob("*.toml"):
            self.env.note_dependency(str(path))
        self.env.metadata[self.env.docname]["progress"] = "yes"
        return [progress()]


def fill_in(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replaces the node by a table of the chapters and a list of the deeper pages."""
    for node in list(doctree.findall(progress)):
        node.replace_self(nodes.raw("", "".join(_parts(app, docname)), format="html"))


def _parts(app: Sphinx, here: str) -> Iterator[str]:
    pages = [page for page in sorted(app.env.titles) if page.startswith("chapters/")]
    # A script shows these; without one, the table says what there is to do.
    yield "<noscript><p>Your progress is kept by a script, not running here. Here is what there is.</p></noscript>"
    yield '<p class="progress-total" role="status"></p>'
    yield '<table class="progress-table"><thead><tr><th scope="col">Chapter</th><th scope="col">Read</th>'
    yield '<th scope="col">Answered</th><th scope="col">Solved</th></tr></thead><tbody>'
    for page in pages:
        asked = [question.id for question in in_chapter(page.partition("-")[2])]
        checked = (one for one in in_problem_set(PROBLEM_SET) if chapter_page(one) == page)
        tasks = list(dict.fromkeys(one.id for one in checked))
        yield f'<tr data-page="{page}"><th scope="row">{_link(app, here, page)}</th><td data-what="read">–</td>'
        yield _cell("answered", asked) + _cell("solved", tasks) + "</tr>"
    yield "</tbody></table>"
    deeper = [page for page in sorted(app.env.titles) if page.startswith("deeper/")]
    yield f'<details class="progress-deeper"><summary>Going deeper: <span>{len(deeper)} pages</span></summary><ul>'
    for page in sorted(deeper, key=lambda one: _title(app, one).casefold()):
        yield f'<li data-page="{page}">{_link(app, here, page)} <span data-what="read"></span></li>'
    yield "</ul></details>"


def _cell(what: str, names: list[str]) -> str:
    return f'<td data-what="{what}" data-names="{" ".join(names)}">{len(names) or "–"}</td>'


def _link(app: Sphinx, here: str, page: str) -> str:
    return f'<a class="reference internal" href="{app.builder.get_relative_uri(here, page)}">{_title(app, page)}</a>'


def _title(app: Sphinx, page: str) -> str:
    return escape(app.env.titles[page].astext())


def add_files(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if "progress" in (app.env.metadata.get(pagename) or {}):
        app.add_css_file(f"{FILES}/questions.css")
        app.add_js_file(f"{FILES}/progress.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("quick_questions")
    app.add_node(progress)
    app.add_directive("progress", ProgressDirective)
    app.connect("doctree-resolved", fill_in)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
