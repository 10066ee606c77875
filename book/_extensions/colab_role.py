"""The `colab` role: a link that opens one of the generated notebooks on Colab."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole

from autograder.build.urls import colab_url


class ColabRole(ReferenceRole):
    """{colab}`Open chapter 2 <02-worked-example>`; without a title the notebook's name is the text."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [nodes.reference("", self.title, refuri=colab_url(self.target), internal=False)], []


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("colab", ColabRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
