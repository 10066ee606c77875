"""Gives every page what search engines and screen readers look for in its head."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.build.urls import course_title

LONGEST = 160  # characters of a description that search engines show
VIEWPORT = re.compile(r'\s*<meta name="viewport"[^>]*>')
TITLE = "{title}"
DEFAULT = "attention from one worked example to code you write and check yourself."


def describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Adds a description, the page's own `html_meta` or its first sentences; the front page is the site's address.

    TITLE in a description stands for what the course is called.
    """
    tags = VIEWPORT.sub("", context.get("metatags", ""))  # the theme says the same
    tags = tags.replace(TITLE, escape(course_title()))
    if 'name="description"' not in tags:
        tags += f'\n<meta name="description" content="{escape(_first_words(doctree))}" />'
    context["metatags"] = tags
    if pagename == app.config.root_doc and context.get("pageurl"):
        context["pageurl"] = app.config.html_baseurl


def _first_words(doctree: nodes.document | None) -> str:
    for paragraph in doctree.findall(nodes.paragraph) if doctree is not None else ():
        if isinstance(paragraph.parent, nodes.section) and not list(paragraph.findall(nodes.math)):
            text = re.sub(r"\s+", " ", paragraph.astext()).strip()
            if len(text) >= 40:
                return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0].rstrip(",;:") + "…"
    return f"{course_title()}: {DEFAULT}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
