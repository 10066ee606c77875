"""Keeps every page to the site's own files: leaves out thebe, and fails the build where another host would be asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
#: Files of Sphinx and of extensions, or words of scripts within the page; layout.html has what stays of the settings.
UNUSED_SCRIPTS = (
    *("sphinx-thebe.js", "THEBE_JS_URL", "design-tabs.js", "togglebutton", "toggleHint", "toggleOpenOnPrint"),
    *("doctools.js", "sphinx_highlight.js", "documentation_options.js", "DOCUMENTATION_OPTIONS"),
)
SETTINGS_OF_THEBE = ("text/x-thebe-config", "<script>kernelName = ")
UNUSED_STYLES = ("thebe", "togglebutton")
OTHER_HOST = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\ssrc=["'](?:https?:)?//[^"']+"""
    r"""|<link\b(?=[^>]*\srel=["'](?:stylesheet|preload|preconnect|icon)["'])[^>]*\shref=["'](?:https?:)?//[^"']+"""
)


def drop_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leaves out what this book does not use: thebe, tabs, toggles, Sphinx's own search and its keys."""
    context["script_files"] = [script for script in context["script_files"] if not _unused(script)]
    context["css_files"] = [
        style for style in context["css_files"] if not any(name in _name(style) for name in UNUSED_STYLES)
    ]


def drop_settings(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Leaves out what thebe would read in the page."""
    for node in list(doctree.findall(nodes.raw)):
        if any(words in node.astext() for words in SETTINGS_OF_THEBE):
            node.parent.remove(node)


def _name(file: Any) -> str:
    return str(getattr(file, "filename", file) or "")


def _unused(script: Any) -> bool:
    body = str(getattr(script, "attributes", {}).get("body", ""))
    return any(name in _name(script) or name in body for name in UNUSED_SCRIPTS)


def find_other_hosts(app: Sphinx, exception: Exception | None) -> None:
    """Looks through the finished pages for anything that another host would serve."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in sorted(site.rglob("*.html")):
        for found in OTHER_HOST.findall(page.read_text("utf-8")):
            LOG.warning("%s loads from another host: %s", page.relative_to(site), found)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", drop_settings, priority=900)
    app.connect("html-page-context", drop_scripts, priority=900)
    app.connect("build-finished", find_other_hosts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
