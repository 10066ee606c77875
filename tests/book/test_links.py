"""Buttons and links that leave the book lead to what the repository holds."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder.build.notebooks import texts
from autograder.build.urls import colab_url, notebook_name
from autograder.course.paths import BOOK

from .pages import all_pages, notebook_pages

COLAB = re.compile(r"https://colab\.research\.google\.com/\S*?/blob/[^/]+/(\S+\.ipynb)")


TEXTS = texts()


@cache
def _links(site: Path, page: str) -> list[str]:
    soup = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser")
    return [link["href"] for link in soup.find_all("a", href=True)]


@cache
def _anchors(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text("utf-8")))


@pytest.mark.parametrize("page", all_pages())
def test_colab_links_open_generated_notebooks(page: str, site: Path) -> None:
    generated = {f"book/notebooks/{path.name}" for path in TEXTS}
    linked = [link for link in _links(site, page) if link.startswith("https://colab")]
    for link in linked:
        assert COLAB.fullmatch(link)[1] in generated
    if page in notebook_pages():
        assert colab_url(notebook_name(page)) in linked


@pytest.mark.parametrize("page", [page for page in all_pages() if page not in notebook_pages()])
def test_pages_without_a_notebook_offer_none(page: str, site: Path) -> None:
    soup = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser")
    assert not soup.select(".dropdown-launch-buttons")
    assert not [link for link in _links(site, page) if link.endswith(".ipynb") and "_sources" in link]


@pytest.mark.parametrize("page", notebook_pages())
def test_the_notebook_to_download_is_the_generated_one(page: str, site: Path) -> None:
    offered = (site / "_sources" / f"{page}.ipynb").read_text("utf-8")
    assert offered == TEXTS[BOOK / "notebooks" / f"{notebook_name(page)}.ipynb"]


@pytest.mark.parametrize("page", all_pages())
def test_links_inside_the_book_lead_somewhere(page: str, site: Path) -> None:
    for link in _links(site, page):
        if re.match(r"[a-z]+:|//", link):
            continue
        path, _, anchor = link.partition("#")
        target = ((site / page).parent / path).resolve() if path else site / f"{page}.html"
        assert target.is_file(), f"{page} links to {link}"
        if anchor and target.suffix == ".html":
            assert anchor in _anchors(target), f"{page} links to {link}"
