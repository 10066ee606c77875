"""Accessibility, best practices and search engines: 100 of 100 on every page; performance is reported, not judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from .lighthouse import DECIDING, audits
from .pages import all_pages

SAMPLE = ["index", "guides/reader", "problem-sets/ps3"]
REST = [page for page in all_pages() if page not in SAMPLE]


def judge(site: Path, pages: list[str]) -> None:
    found = list(audits(site, pages))
    assert [(one["address"], one["error"]) for one in found if one.get("error")] == []
    short = {page: one["failed"] for page, one in zip(pages, found, strict=True) if min(one["scores"].values()) < 100}
    assert short == {}
    assert all(set(one["scores"]) == set(DECIDING) for one in found)


def test_lighthouse_has_nothing_to_object_to(site: Path) -> None:
    judge(site, SAMPLE)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_lighthouse_has_nothing_to_object_to_on_any_other_page(site: Path) -> None:
    judge(site, REST)


@pytest.mark.full
def test_lighthouse_sees_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><html><body><img src='x.svg'></body></html>", "utf-8")
    (found,) = audits(tmp_path, ["page"], ["accessibility"])
    assert found["scores"]["accessibility"] < 100
    assert any("image-alt" in one for one in found["failed"]) and any("html-has-lang" in one for one in found["failed"])
