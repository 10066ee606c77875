"""Takes comments and spaces out of the finished site's scripts and styles, with esbuild."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from autograder.course.paths import ROOT

ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"
AFTER_JOINING = 700  # priority: first_paint.py has 600
#: What a page loads by itself. The folder in_page is named by its digest, and the search's index is data.
PATTERNS = ("*.css", "*.js", "scripts/*.js", "widgets/*.css", "widgets/*.js", "quick-questions/*.js", "in_page/*.css")
DATA = {"passages.js"}


def shrink(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static"
    files = sorted({path for pattern in PATTERNS for path in folder.glob(pattern)} - {folder / name for name in DATA})
    options = ("--minify", "--charset=utf8", "--log-level=warning", "--allow-overwrite")
    places = (f"--outbase={folder}", f"--outdir={folder}")
    subprocess.run([str(ESBUILD), *map(str, files), *options, *places], check=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", shrink, priority=AFTER_JOINING)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
