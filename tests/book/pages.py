"""The pages of the book, as its table of contents names them and as the site holds them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from autograder.build.notebooks import NOTEBOOKS
from autograder.build.urls import notebook_name
from autograder.course.paths import BOOK


def all_pages() -> list[str]:
    """Every page's name, the landing page first."""
    contents = yaml.safe_load((BOOK / "_toc.yml").read_text("utf-8"))
    chapters = [chapter for part in contents["parts"] for chapter in part["chapters"]]
    listed = [page["file"] for chapter in chapters for page in (chapter, *chapter.get("sections", []))]
    return [contents["root"], *listed]


def notebook_pages() -> list[str]:
    """The pages that become notebooks."""
    return [page for page in all_pages() if notebook_name(page)]


def notebook_texts() -> dict[Path, str]:
    """The committed notebooks of these pages, path and text; that `build` makes the same is a test of its own."""
    paths = [NOTEBOOKS / f"{page.rpartition('/')[2]}.ipynb" for page in notebook_pages()]
    return {path: path.read_text("utf-8") for path in paths}


@lru_cache(maxsize=3)
def parsed(site: Path, page: str) -> BeautifulSoup:
    """A page of the site; some are large, so that only the last few are kept."""
    return BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser")
