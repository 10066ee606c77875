"""Forwards from each address that a page, or a part of one, had before it moved."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from posixpath import relpath
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from autograder.build.urls import site_url

LOG = logging.getLogger(__name__)
#: The script keeps the part of the page that was asked for; without scripts the page alone is found.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{canonical}">
<script>location.replace(({parts}[location.hash] || {target}) + location.hash)</script>
<meta http-equiv="refresh" content="0; url={link}">
</head>
<body><p>This page has moved: <a href="{link}">{title}</a>.</p></body>
</html>
"""


def write_forwards(app: Sphinx, exception: Exception | None) -> None:
    """Writes what `moved_pages` says: old page, or old page#part, and the page where it is now."""
    if exception is not None or app.builder.format != "html":
        return
    moved: dict[str, str] = app.config.moved_pages
    for old, now in moved.items():
        if old in app.env.found_docs or now not in app.env.found_docs:
            LOG.warning(
                "moved_pages: %s is to forward to %s: expected a page that is gone, and one that is there", old, now
            )
    for old, now in moved.items():
        if "#" not in old and now in app.env.found_docs:
            write_forward(app, old, now, _parts_of(app, old))


def forward_parts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Has a page that stayed forward whoever asks for a part of it that moved to another page."""
    parts = {f"#{old.partition('#')[2]}": _link(app, page, now) for old, now in _parts_of(app, page).items()}
    if parts:
        known = f"const page = {json.dumps(parts)}[location.hash]"
        script = f"<script>{{ {known}; if (page) location.replace(page + location.hash) }}</script>"
        context["metatags"] = context.get("metatags", "") + script


def _parts_of(app: Sphinx, page: str) -> dict[str, str]:
    return {old: now for old, now in app.config.moved_pages.items() if old.startswith(f"{page}#")}


def write_forward(app: Sphinx, old: str, now: str, parts: dict[str, str]) -> None:
    """Writes one page; parts: those of its parts that are elsewhere, as old page#part and page."""
    target = _link(app, old, now)
    elsewhere = {f"#{part.partition('#')[2]}": _link(app, old, to) for part, to in parts.items()}
    file = Path(app.outdir) / app.builder.get_target_uri(old)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        PAGE.format(
            title=escape(app.env.titles[now].astext()),
            canonical=escape(f"{site_url()}{app.builder.get_target_uri(now)}"),
            parts=json.dumps(elsewhere),
            target=json.dumps(target),
            link=escape(target),
        ),
        "utf-8",
    )


def _link(app: Sphinx, old: str, now: str) -> str:
    return relpath(app.builder.get_target_uri(now), Path(app.builder.get_target_uri(old)).parent.as_posix())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("moved_pages", {}, "html")
    app.connect("html-page-context", forward_parts)
    app.connect("build-finished", write_forwards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
