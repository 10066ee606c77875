"""A widget costs nothing until its reader is near, and then only files of the site."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

import figures
from autograder.build.serving import served
from autograder.course.paths import BOOK

from .pages import extension, write_page

WIDGETS = BOOK / "widgets"
FAR = '<div style="height: 5000px"></div>'
LARGEST, LARGEST_LOADER, LONGEST = 25, 2, 600  # KB after gzip, lines


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    write_page(folder, "living-example", view="hero", before=FAR)
    with served(folder) as address:
        yield address + "living-example-hero-below.html"


@pytest.fixture
def requests(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    tab, asked = context.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    yield tab, asked
    context.close()


def names(asked: list[str]) -> set[str]:
    return {url.rsplit("/", 1)[1].split("#")[0] for url in asked if "/widgets/" in url}


def test_nothing_is_fetched_before_the_reader_is_near(address: str, requests: tuple[Page, list[str]]) -> None:
    tab, asked = requests
    tab.goto(address, wait_until="networkidle")
    assert names(asked) == {"loader.js"}
    tab.mouse.wheel(0, 3700)  # still more than half a screen above it
    tab.wait_for_selector("living-example > .w-root")
    assert names(asked) == {"loader.js", *extension().files_of("living-example", "hero")}
    assert all(url.startswith(address.rsplit("/", 1)[0]) for url in asked)


def test_a_link_to_a_widget_fetches_it_and_shows_it(address: str, requests: tuple[Page, list[str]]) -> None:
    tab, _ = requests
    tab.goto(address + "#living-example:scale=0&row=2")
    tab.wait_for_selector("living-example > .w-root")
    assert tab.locator("[aria-checked=true]").inner_text().endswith("2")
    assert tab.locator("living-example").evaluate("one => one.getBoundingClientRect().top < innerHeight")


def test_a_file_that_does_not_come_leaves_the_table(address: str, requests: tuple[Page, list[str]]) -> None:
    tab, _ = requests
    tab.route("**/matrix.js", lambda route: route.abort())
    with tab.expect_console_message(lambda message: "matrix.js could not be loaded" in message.text):
        tab.goto(address + "#living-example:row=2")
    assert tab.locator("table.numbers").is_visible()
    tab.unroute("**/matrix.js")
    tab.locator("living-example").hover()
    tab.wait_for_selector("living-example > .w-root")


def test_files_are_small() -> None:
    scripts = sorted(WIDGETS.glob("*.js"))
    assert len(scripts) >= 10
    for path in [*scripts, *WIDGETS.glob("*.css")]:
        size = len(gzip.compress(path.read_bytes())) / 1024
        assert size <= (LARGEST_LOADER if path.name == "loader.js" else LARGEST), f"{path.name}: {size:.1f} KB"
        assert len(path.read_text("utf-8").splitlines()) <= LONGEST, path.name


def test_every_widget_is_documented_and_named_files_exist() -> None:
    for path in WIDGETS.glob("*-*.js"):
        for used in re.findall(r"^// uses: (.+)$", path.read_text("utf-8"), flags=re.MULTILINE):
            assert all((WIDGETS / one).is_file() for one in used.split()), f"{path.name} uses {used}"
    assert extension().files_of("living-example", "hero")[:2] == ["base.css", "base.js"]
    assert "living-example-full.js" not in extension().files_of("living-example", "hero")


def leading(sheet: str) -> list[str]:
    """The first part of each selector of a style sheet, up to its first blank."""
    text = re.sub(r"(?s)/\*.*?\*/", "", sheet)
    selectors = [one for rule in re.findall(r"([^{};]+)\{", text) for one in re.split(r",(?![^(]*\))", rule)]
    return [one.split()[0] for one in selectors if one.split()]


def test_no_style_reaches_the_code_of_a_page() -> None:
    of_code = {name for name in STANDARD_TYPES.values() if name}  # such as w for a blank, k for a keyword
    folders = ("widgets", "quick_questions", "in_page", "_static", "_theme/attention/static")
    sheets = [path for folder in folders for path in (BOOK / folder).glob("*.css")]
    assert len(sheets) > 10 and ".w-root" in leading((WIDGETS / "base.css").read_text("utf-8"))
    for path in sheets:
        first = set(leading(path.read_text("utf-8")))
        assert [one for one in first if of_code & set(re.findall(r"\.([\w-]+)", one))] == [], path.name


def test_code_beside_a_widget_keeps_its_lines(browser: Browser, tmp_path: Path) -> None:
    code = highlight("def dot(a, b):\n    return a @ b\n", PythonLexer(), HtmlFormatter())
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(write_page(tmp_path, "living-example", view="masks", before=code).as_uri())
    tab.wait_for_selector("living-example > .w-root")
    assert 'class="w"' in code and tab.locator("pre").inner_text().startswith("def dot(a, b):\n    return a")
    context.close()


def test_colours_are_those_of_the_figures() -> None:
    style = (BOOK / "_static" / "colours.css").read_text("utf-8").split('html[data-theme="dark"]')[0]
    tokens = dict(re.findall(r"--(\w+): (#\w+);", style))
    drawn = {name: getattr(figures, name.upper()) for name in ("query", "key", "value", "weight", "output")}
    assert {role: tokens[role] for role in drawn} == drawn


def test_the_fallback_has_a_row_for_each_token() -> None:
    module = extension().python_module("living-example")
    for view in module.ATTRIBUTES["view"]:
        assert module.fallback({"view": view}).count("<tr>") == 4
    assert Path(module.__file__).parent == WIDGETS
