"""What a page waits for before it is drawn: one style sheet, no script, and its first figure is asked for at once."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bs4 import BeautifulSoup

from autograder.course.paths import BOOK

from .pages import all_pages, parsed

sys.path.insert(0, str(BOOK / "_extensions"))
from first_paint import in_order, joined, with_one_style  # noqa: E402
from formula_fonts import characters_by_font  # noqa: E402


def test_a_page_waits_for_one_style_sheet_and_no_script(site: Path) -> None:
    for page in ("index", "chapters/07-encoder", "problem-sets/ps1", "search"):
        text = (site / f"{page}.html").read_text("utf-8")
        head = BeautifulSoup(text.partition("</head>")[0], "html.parser")
        (sheet,) = head.select('link[rel="stylesheet"]')
        assert ((site / f"{page}.html").parent / sheet["href"].partition("?")[0]).resolve().is_file(), page
        assert [script["src"] for script in head.select("script[src]:not([defer], [async])")] == [], page


def test_addresses_in_the_one_style_sheet_lead_to_files(site: Path) -> None:
    style = (site / "_static" / "site.css").read_text("utf-8")
    found = re.findall(r"url\([\"']?([^\"')]+)", style)
    assert len(found) > 5 and "@import" not in style
    assert [one for one in found if ":" not in one and not (site / "_static" / one).is_file()] == []


def test_what_the_course_sets_for_other_sheets_comes_last(site: Path) -> None:
    own = re.findall(r"(--(?:pst|mystnb)-[\w-]+): ([^;]+);", (BOOK / "_static" / "attention.css").read_text("utf-8"))
    style = (site / "_static" / "site.css").read_text("utf-8")
    last = {name: re.findall(rf"{name}:\s*([^;}}]+)", style)[-1:] for name, _ in own}
    assert len(own) > 20 and last == {name: [value] for name, value in own}


def test_the_figure_above_the_first_section_does_not_wait(site: Path) -> None:
    images = parsed(site, "chapters/07-encoder").select("article figure img.for-light")
    assert "loading" not in images[0].attrs and images[0]["fetchpriority"] == "high"
    assert all(image["loading"] == "lazy" for image in images[1:])


def test_no_page_carries_the_source_of_its_formulas(site: Path) -> None:
    for page in all_pages()[:5]:
        assert "application/x-tex" not in (site / f"{page}.html").read_text("utf-8"), page


def test_sheets_keep_their_order() -> None:
    assert in_order([["a", "c"], ["a", "b", "c"], ["a", "c", "d"]]) == ["a", "b", "c", "d"]


def test_imports_and_addresses_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "below.css").write_text('@charset "UTF-8"; b { color: red }', "utf-8")
    (tmp_path / "in" / "top.css").write_text(
        '/* @import "x" */ @import "../below.css"; a { c: url(f/g.woff2) }', "utf-8"
    )
    style = joined(tmp_path, ["in/top.css"])
    assert style.index("b {") < style.index("a {") and 'url("in/f/g.woff2")' in style
    assert "@" not in style


def test_links_become_one_and_other_links_stay() -> None:
    page = '<link href="../_static/a.css?v=1" rel="stylesheet" />\n<link rel="icon" href="../_static/i.svg"/>\n'
    page += '<link rel="stylesheet" type="text/css" href="../_static/b/c.css" />\n'
    made = with_one_style(page, "9")
    assert re.findall('href="([^"]*)"', made) == ["../_static/site.css?v=9", "../_static/i.svg"]


def test_characters_are_counted_for_the_font_that_draws_them() -> None:
    page = '<p>z</p><span class="katex-html"><span class="mord mathnormal">x</span><span class="mord">2&lt;'
    page += '<span class="mord mathbf">v</span></span></span> q'
    found = characters_by_font(page)
    assert found == {
        "": set("x2<v"),
        "KaTeX_Math-Italic": {"x"},
        "KaTeX_Main-Regular": set("2<"),
        "KaTeX_Main-Bold": {"v"},
    }
