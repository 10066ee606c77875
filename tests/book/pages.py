"""The pages of the book, as its table of contents names them."""

from __future__ import annotations

import yaml

from autograder.build.urls import notebook_name
from autograder.course.paths import BOOK


def all_pages() -> list[str]:
    """Every page's name, the landing page first."""
    contents = yaml.safe_load((BOOK / "_toc.yml").read_text("utf-8"))
    listed = [chapter["file"] for part in contents["parts"] for chapter in part["chapters"]]
    return [contents["root"], *listed]


def notebook_pages() -> list[str]:
    """The pages that become notebooks."""
    return [page for page in all_pages() if notebook_name(page)]
