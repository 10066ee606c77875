"""The site is found and cited: cards, sitemap, feed, the page for a wrong address, BibTeX."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
import yaml
from bs4 import BeautifulSoup

from autograder.build.urls import site_url
from autograder.course.paths import BOOK, ROOT

from .pages import all_pages

sys.path.insert(0, str(BOOK / "_extensions"))
from found_and_cited import ATOM, feed  # noqa: E402

CHANGES = (
    "# Changelog\n\n## Unreleased\n\nNot yet.\n\n## 2.0.0 (2026-02-01)\n\nTwo <b>.\n\n## 1.0.0 (2026-01-01)\n\nOne.\n"
)


def test_the_feed_has_each_release_and_nothing_unreleased() -> None:
    found = Xml.fromstring(Xml.tostring(feed(CHANGES, "https://e.org/")))
    entries = found.findall(f"{{{ATOM}}}entry")
    assert [entry.findtext(f"{{{ATOM}}}title") for entry in entries] == ["Version 2.0.0", "Version 1.0.0"]
    assert [entry.findtext(f"{{{ATOM}}}summary") for entry in entries] == ["Two <b>.", "One."]
    assert found.findtext(f"{{{ATOM}}}updated") == "2026-02-01T00:00:00Z"


def test_the_site_brings_its_feed_and_a_sitemap_of_every_page(site: Path) -> None:
    assert Xml.parse(site / "changes.xml").getroot().tag == f"{{{ATOM}}}feed"
    listed = {place.text for place in Xml.parse(site / "sitemap.xml").getroot().iter() if place.tag.endswith("loc")}
    assert {f"{site_url()}{page}.html" for page in all_pages()} <= listed


@pytest.mark.parametrize("page", ["index", "chapters/04-masks", "problem-sets/ps3"])
def test_a_shared_link_shows_a_card(page: str, site: Path) -> None:
    soup = BeautifulSoup((site / f"{page}.html").read_text("utf-8").partition("</head>")[0], "html.parser")
    card = {tag["property"]: tag["content"] for tag in soup.select('meta[property^="og:"]')}
    assert card["og:site_name"] == "Attention by Hand"
    assert card["og:url"].startswith(site_url()) and len(card["og:description"]) > 40
    assert (site / card["og:image"].removeprefix(site_url())).stat().st_size > 5000


def test_a_wrong_address_finds_a_page_whose_files_load_from_anywhere(site: Path) -> None:
    text = (site / "404.html").read_text("utf-8")
    files = re.findall(r'<(?:link|script)[^>]*\s(?:href|src)="([^"]+\.(?:css|js)[^"]*)"', text)
    base = "/" + site_url().split("/", 3)[3]
    assert len(files) > 5 and all(file.startswith(base) for file in files), files
    links = re.findall(r'href="([^"]+)"', text.partition("Page not found</h1>")[2].partition("</p>")[0])
    assert links == [f"{base}search.html", f"{base}index.html"]


def test_the_bibtex_entry_agrees_with_the_citation_file() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    entry = " ".join((BOOK / "references.md").read_text("utf-8").partition("```bibtex")[2].split())
    for said in (citation["title"], citation["version"], str(citation["date-released"].year), citation["url"]):
        assert f"{{{said}}}" in entry, said
