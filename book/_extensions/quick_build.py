"""Spares Sphinx work: pybtex's plugins are looked for once, not for every citation, and pages are read side by side."""

from __future__ import annotations

from functools import cache
from typing import Any

from pybtex import plugin
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

#: One works on all pages together once they are read, the other for LaTeX alone; neither says that workers may read.
SAFE = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def allow_workers(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Lets Sphinx read pages in several processes."""
    for name in SAFE:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


def setup(app: Sphinx) -> dict[str, Any]:
    plugin._load_entry_point = cache(plugin._load_entry_point)
    app.connect("env-before-read-docs", allow_workers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
