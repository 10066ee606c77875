"""The search finds what readers look for, costs nothing until it is opened, and is used with the keyboard alone."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docutils import nodes
from docutils.utils import new_document
from playwright.sync_api import Browser, BrowserContext, Page

from autograder.course.paths import BOOK, ROOT

from .conftest import PHONE
from .pages import all_pages
from .test_weight import kilobytes

sys.path.insert(0, str(BOOK / "_extensions"))
from search_passages import formula, passages  # noqa: E402

QUERIES = tomllib.loads((Path(__file__).parent / "search_queries.toml").read_text("utf-8"))
FIRST = 0.9  # of the queries find the page that is expected first
MOST = 200  # KB until the first result, the page itself aside
LOADED = {"minisearch.js", "language_data.js", "passages.js", "find.js"}
PAGE = "guides/reader"  # any page; this one is quickly loaded


@pytest.fixture(scope="module")
def searching(browser: Browser, address: str) -> Iterator[Page]:
    """The search page when everything is loaded."""
    tab = browser.new_page()
    tab.goto(f"{address}search.html?q=mask", wait_until="load")
    tab.wait_for_selector(".search-results a")
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def found(searching: Page) -> dict[str, list[dict]]:
    """For each query the pages that the search finds, the best first."""
    return {query: searching.evaluate("query => bookSearch.find(query)", query) for query in QUERIES}


def addresses(results: list[dict]) -> list[str]:
    return [result["address"].removesuffix(".html") for result in results]


def test_the_expected_pages_and_parts_exist(site: Path) -> None:
    assert len(QUERIES) >= 40
    for query, expected in QUERIES.items():
        assert expected["page"] in all_pages(), query
        text = (site / f"{expected['page']}.html").read_text("utf-8")
        assert "part" not in expected or f'id="{expected["part"]}"' in text, query


def test_the_expected_page_comes_first(found: dict[str, list[dict]]) -> None:
    wrong = {query: addresses(found[query])[:3] for query in QUERIES if not is_first(query, found[query])}
    assert len(wrong) <= (1 - FIRST) * len(QUERIES), wrong


def is_first(query: str, results: list[dict]) -> bool:
    return addresses(results)[:1] == [QUERIES[query]["page"]]


@pytest.mark.parametrize("query", QUERIES)
def test_the_expected_page_is_among_the_first_three(query: str, found: dict[str, list[dict]]) -> None:
    assert QUERIES[query]["page"] in addresses(found[query])[:3], addresses(found[query])


def test_a_result_leads_to_the_part_that_is_meant(found: dict[str, list[dict]]) -> None:
    wrong = {}
    for query, expected in QUERIES.items():
        best = [one["passages"][0]["href"] for one in found[query] if one["address"] == f"{expected['page']}.html"]
        if "part" in expected and best != [f"{expected['page']}.html#{expected['part']}"]:
            wrong[query] = best
    assert len(wrong) <= 2, wrong


def test_excerpts_are_prose(found: dict[str, list[dict]]) -> None:
    shown = [passage["excerpt"] for results in found.values() for one in results for passage in one["passages"]]
    texts = ["".join(piece for piece, _ in excerpt) for excerpt in shown]
    assert sum(len(text) > 60 for text in texts) > 0.8 * len(texts)
    for residue in ("torch.tensor(", "\\", "{ref}", "{doc}", "sec-", "Binder Colab", ".pdf", "Hide the code"):
        found_in = [text for text in texts if residue in text]
        assert not found_in, (residue, found_in[:3])


def test_names_that_any_object_has_are_words_like_others(searching: Page) -> None:
    for query in ("constructor", "__proto__", "toString", "", "the", "?!", "(", "zzzzzzzz"):
        assert isinstance(searching.evaluate("query => bookSearch.find(query)", query), list), query


@pytest.mark.parametrize(
    ("typed", "page"),
    [("paddi", "chapters/04-masks"), ("normalize", "chapters/07-encoder"), ("caches", "chapters/10-decoder")],
)
def test_beginnings_spellings_and_endings_of_words_are_found(typed: str, page: str, searching: Page) -> None:
    assert page in addresses(searching.evaluate("query => bookSearch.find(query)", typed))[:3]


def test_every_result_leads_somewhere(site: Path) -> None:
    given = json.loads((site / "_static" / "passages.js").read_text("utf-8").partition(" = ")[2].rstrip(";\n"))
    assert {address.removesuffix(".html") for address, _ in given["pages"]} == set(all_pages())
    anchors = {address: (site / address).read_text("utf-8") for address, _ in given["pages"]}
    for page, anchor, *_ in given["passages"]:
        address = given["pages"][page][0]
        assert not anchor or f'id="{anchor}"' in anchors[address], (address, anchor)


def test_nothing_is_loaded_before_the_search_is_opened_and_little_then(
    browser: Browser, address: str, site: Path
) -> None:
    context = browser.new_context(viewport=PHONE)
    tab, asked = context.new_page(), set()
    tab.on("request", lambda request: asked.add(Path(unquote(urlsplit(request.url).path)).name))
    tab.goto(f"{address}{PAGE}.html", wait_until="networkidle")
    assert not asked & LOADED
    before = set(asked)
    tab.locator(".search-open").click()
    tab.keyboard.type("padding")
    tab.wait_for_selector(".search-results a")
    context.close()
    assert {name for name in asked - before if name.endswith(".js")} == LOADED
    assert sum(kilobytes(site / "_static" / name) for name in LOADED) <= MOST


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_dialog_is_named_fits_and_has_no_barrier(width: int, scheme: str, browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(f"{address}{PAGE}.html", wait_until="load")
    tab.locator(".search-open").click()
    dialog = tab.get_by_role("dialog", name="Search")
    tab.keyboard.type("causal mask")
    tab.wait_for_selector(".search-results a")
    box = dialog.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert tab.locator(".search-results").evaluate("list => list.scrollWidth <= list.clientWidth")
    tab.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    found = tab.evaluate("axe.run('.search-dialog', {resultTypes: ['violations']}).then(result => result.violations)")
    context.close()
    assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found] == []


@pytest.mark.full
def test_the_search_is_opened_walked_and_left_with_the_keyboard(phone: BrowserContext, address: str) -> None:
    tab = phone.new_page()
    tab.goto(f"{address}{PAGE}.html", wait_until="load")
    opener = tab.get_by_role("button", name="Search")
    opener.focus()
    tab.keyboard.press("Control+k")
    dialog = tab.get_by_role("dialog", name="Search")
    dialog.wait_for()
    tab.keyboard.type("rope")
    tab.wait_for_selector(".search-results a")
    assert "pages" in tab.locator(".search-status").inner_text()
    for _ in range(60):  # Tab reaches everything in the dialog and nothing behind it
        tab.keyboard.press("Tab")
        inside = "document.activeElement === document.body || !!document.activeElement.closest('.search-dialog')"
        assert tab.evaluate(inside), tab.evaluate("document.activeElement.outerHTML")
    tab.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert opener.evaluate("button => button === document.activeElement")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("rope")
    tab.wait_for_function("document.querySelector('.search-status').textContent.includes('page')")
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.activeElement.closest('.search-results')")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/06-positions.html#rotary-positions")
    tab.close()


def test_the_search_works_from_a_file(site: Path, browser: Browser) -> None:
    tab = browser.new_page()
    tab.goto((site / f"{PAGE}.html").as_uri(), wait_until="load")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("perplexity")
    first, due = "document.querySelector('.search-results a')?.href", f"{site.as_uri()}/glossary.html#term-perplexity"
    tab.wait_for_function(f"due => {first} === due", arg=due)  # the first letters find something else
    tab.close()


def test_without_scripts_the_search_leads_to_every_page(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}{PAGE}.html")
    tab.get_by_role("link", name="Search").click()
    assert not tab.locator(".search-form").is_visible()
    links = tab.locator(".all-pages a").evaluate_all("links => links.map(link => link.href)")
    context.close()
    assert {f"{address}{page}.html" for page in all_pages() if page != "index"} <= set(links)


SAMPLE = nodes.section("", nodes.title("", "", nodes.Text("Scale"), nodes.math("", r"\sqrt{d}")), ids=["scale"])


def test_code_outputs_and_folds_are_no_prose() -> None:
    section = SAMPLE.deepcopy()
    section += nodes.paragraph("", "", nodes.Text("Divide by "), nodes.math("", r"\sqrt{d_k}"), nodes.Text("."))
    section += nodes.container("", nodes.literal_block("", "import torch"), classes=["cell_input"])
    section += nodes.container("", nodes.paragraph("", "tensor(1)"), classes=["cell_output"])
    section += nodes.math_block("", r"a = b")
    row = nodes.row("", nodes.entry("", nodes.paragraph("", "shape")), nodes.entry("", nodes.paragraph("", "name")))
    section += nodes.table("", nodes.tgroup("", nodes.tbody("", row)))
    document = new_document("a page")
    document += section
    (one,) = passages(document, "chapters/x")
    assert one.title == "Scale√d" and one.text == "Divide by √d_k." and one.more == "shape name"


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        (r"-\infty", "−∞"),
        (r"\frac{1}{\sqrt{d}}", "1/√d"),
        (r"\theta_i", "θ_i"),
        (r"\varepsilon", "ε"),
        (r"\text{softmax}(x)", "softmax(x)"),
    ],
)
def test_a_formula_becomes_plain_signs(source: str, plain: str) -> None:
    assert formula(source) == plain
