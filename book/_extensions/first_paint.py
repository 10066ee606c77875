"""Lets a finished page be drawn early: one style sheet, and scripts that wait for it."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

AFTER_PURGE = 600  # priority: lighter_site.py has the default, 500
STATIC, ALL = "_static", "site.css"
#: A page's link to a style sheet: how the page names _static, and the sheet's path in it.
LINK = re.compile(
    r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="(?P<root>[^":]*)_static/(?P<sheet>[^"?]+)[^"]*"[^>]*>\n?'
)
ADDRESS = re.compile(r"url\((?P<quote>[\"']?)(?!data:|#|/|\w+:)(?P<path>[^\"')]+)(?P=quote)\)")
IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"')]+)["']?\)?\s*;""")
COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)  # licences, which begin with /*!, stay
CHARSET = re.compile(r"@charset[^;]*;")


def defer_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Scripts of the head are fetched while the page is read, and run in their order once it is there."""
    for script in context["script_files"]:
        if getattr(script, "filename", None) and not {"async", "defer"} & set(script.attributes):
            script.attributes["defer"] = "defer"


def in_order(orders: Iterable[list[str]]) -> list[str]:
    """Every sheet once, each after those that precede it on the pages that have it."""
    found: list[str] = []
    for order in sorted(orders, key=len, reverse=True):
        place = 0
        for sheet in order:
            if sheet in found:
                place = found.index(sheet) + 1
            else:
                found.insert(place, sheet)
                place += 1
    return found


def joined(folder: Path, sheets: Iterable[str]) -> str:
    """The sheets as one that lies in folder, what they import in its place; their addresses lead to the same files."""

    def rules(sheet: str) -> str:
        def moved(address: re.Match[str]) -> str:
            return f'url("{beside(address["path"])}")'

        def beside(path: str) -> str:
            return posixpath.normpath(posixpath.join(posixpath.dirname(sheet), path))

        text = COMMENT.sub("", (folder / sheet).read_text("utf-8"))
        pieces = IMPORT.split(CHARSET.sub("", text))  # rules, the address of an import, rules, …
        return "\n".join(rules(beside(one)) if at % 2 else ADDRESS.sub(moved, one) for at, one in enumerate(pieces))

    return "\n".join(map(rules, sheets))


def with_one_style(page: str, version: str) -> str:
    """page: its HTML. Its first link leads to the sheet that holds all rules; the others are left out."""
    links = list(LINK.finditer(page))
    for number, link in reversed(list(enumerate(links))):
        own = f'  <link href="{link["root"]}{STATIC}/{ALL}?v={version}" rel="stylesheet" />\n'
        page = page[: link.start()] + (own if number == 0 else "") + page[link.end() :]
    return page


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    folder = site / STATIC
    files = sorted(set(site.rglob("*.html")) - set(folder.rglob("*.html")))
    pages = {path: path.read_text("utf-8") for path in files}
    sheets = in_order([link["sheet"] for link in LINK.finditer(page)] for page in pages.values())
    style = joined(folder, sheets)
    (folder / ALL).write_text(style, "utf-8")
    for sheet in sheets:
        (folder / sheet).unlink()
    version = hashlib.sha256(style.encode()).hexdigest()[:8]
    for path, page in pages.items():
        path.write_text(with_one_style(page, version), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", defer_scripts, priority=950)
    app.connect("build-finished", finish, priority=AFTER_PURGE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
