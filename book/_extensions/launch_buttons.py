"""Makes a page's launch and download buttons lead to its generated notebook, and drops them where there is none.

On a JupyterHub, nbgitpuller fetches it. Where the settings name no hub, `open-on-hub` asks for the reader's own.
"""

from __future__ import annotations

import os
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.build.notebooks import texts
from autograder.build.urls import binder_url, colab_url, hub_query, hub_url, notebook_name

ADDRESS = {"Colab": colab_url, "Binder": binder_url, "JupyterHub": hub_url}
HUB = {
    "type": "link",
    "text": "JupyterHub",
    "tooltip": "Launch on JupyterHub",
    "icon": "_static/images/logo_jupyterhub.svg",
}
ASKS, PLACE, EXAMPLE = "guides/learner", "sec-learner-hub", "ps1"  # the page with open-on-hub, its section, a notebook


class OpenOnHub(SphinxDirective):
    """```{open-on-hub}```: a form for the address of a hub, which opens the notebook that the page's address names."""

    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["open-on-hub"] = "yes"
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in hub_query(EXAMPLE).items()
        )
        text = (
            f'<form class="open-on-hub pst-js-only" data-notebook="{EXAMPLE}" method="get">{hidden}'
            '<label>Address of your hub <input type="url" required placeholder="https://hub.example.org"></label> '
            '<button type="submit">Open <span>problem set 1</span></button></form>'
        )
        return [nodes.raw("", text, format="html")]


def lead_to_notebook(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Rewrites what the theme put into `header_buttons` (it links a .md page to the .md, which Colab cannot open)."""
    if "open-on-hub" in (app.env.metadata.get(pagename) or {}):
        app.add_js_file("hub.js", loading_method="defer")
    notebook = notebook_name(pagename)
    groups = context.get("header_buttons", [])
    if notebook is None:
        groups[:] = [group for group in groups if group.get("label") != "launch-buttons"]
        for group in groups:
            kept = [button for button in group.get("buttons", []) if button.get("label") != "download-notebook-button"]
            if "buttons" in group:
                group["buttons"] = kept
        return
    asks = f"{app.builder.get_relative_uri(pagename, ASKS)}?notebook={notebook}#{PLACE}"
    for group in groups:
        if group.get("label") == "launch-buttons":
            buttons = group["buttons"]
            if not any(button["text"] == "JupyterHub" for button in buttons):
                buttons.append(dict(HUB))
            for button in buttons:
                button["url"] = ADDRESS[button["text"]](notebook) or asks
    if context.get("ipynb_source"):
        _offer_generated_notebook(app, notebook, context["ipynb_source"])


def _offer_generated_notebook(app: Sphinx, notebook: str, offered: str) -> None:
    """The notebook to download is the one with the set-up cell, which runs anywhere."""
    (Path(app.outdir) / "_sources" / offered).write_text(_generated()[f"{notebook}.ipynb"], "utf-8")


@cache
def _generated() -> dict[str, str]:
    return {path.name: text for path, text in texts(os.environ.get("SOLUTIONS") != "no").items()}


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("open-on-hub", OpenOnHub)
    app.connect("html-page-context", lead_to_notebook, priority=900)  # after the theme's own handlers
    return {"parallel_read_safe": True, "parallel_write_safe": True}
