"""Mends what the theme leaves out of its pages: colours without JavaScript, a name for the side column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

COLUMN = '<div id="pst-primary-sidebar"'
LOG = logging.getLogger(__name__)
SYSTEM = '(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'
#: What the theme writes, and what a page should say instead.
MENDS = {
    # Without JavaScript the page is light; with it, what the reader chose or else what the system prefers.
    '<html lang="en" data-content_root=': '<html lang="en" data-theme="light" data-content_root=',
    'localStorage.getItem("mode") || ""': 'localStorage.getItem("mode") || "auto"',
    'localStorage.getItem("theme") || ""': f'localStorage.getItem("theme") || {SYSTEM}',
    '<body data-default-mode="">': '<body data-default-mode="auto">',
    '<summary><span class="toctree-toggle"': '<summary aria-label="Its pages"><span class="toctree-toggle"',
    f"{COLUMN} class=": f'{COLUMN} role="complementary" aria-label="The book" class=',
}


def mend_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in sorted(site.rglob("*.html")):
        text = page.read_text("utf-8")
        for written, wanted in MENDS.items():
            if page == site / "index.html" and written not in text:
                LOG.warning("the theme no longer writes %s; adapt book/_extensions/theme_mends.py", written)
            text = text.replace(written, wanted)
        page.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
