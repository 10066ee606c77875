"""Makes a page's launch and download buttons lead to its generated notebook, and drops them where there is none."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.build.notebooks import texts
from autograder.build.urls import binder_url, colab_url, notebook_name

ADDRESS = {"Colab": colab_url, "Binder": binder_url}


def lead_to_notebook(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Rewrites what the theme put into `header_buttons` (it links a .md page to the .md, which Colab cannot open)."""
    notebook = notebook_name(pagename)
    groups = context.get("header_buttons", [])
    if notebook is None:
        groups[:] = [group for group in groups if group.get("label") != "launch-buttons"]
        for group in groups:
            kept = [button for button in group.get("buttons", []) if button.get("label") != "download-notebook-button"]
            if "buttons" in group:
                group["buttons"] = kept
        return
    for group in groups:
        if group.get("label") == "launch-buttons":
            for button in group["buttons"]:
                button["url"] = ADDRESS[button["text"]](notebook)
    if context.get("ipynb_source"):
        _offer_generated_notebook(app, notebook, context["ipynb_source"])


def _offer_generated_notebook(app: Sphinx, notebook: str, offered: str) -> None:
    """The notebook to download is the one with the set-up cell, which runs anywhere."""
    (Path(app.outdir) / "_sources" / offered).write_text(_generated()[f"{notebook}.ipynb"], "utf-8")


@cache
def _generated() -> dict[str, str]:
    return {path.name: text for path, text in texts(os.environ.get("SOLUTIONS") != "no").items()}


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", lead_to_notebook, priority=900)  # after the theme's own handlers
    return {"parallel_read_safe": True, "parallel_write_safe": True}
