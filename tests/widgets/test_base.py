"""What every widget shares, by the example of book/widgets/README.md and in numbers as text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from autograder.course.paths import BOOK


def example() -> str:
    """The script of the minimal widget in the page for authors."""
    text = (BOOK / "widgets" / "README.md").read_text("utf-8")
    return textwrap.dedent(re.search(r"(?ms)^    // uses: base\.js\n.*?^    \}\)\(\);$", text)[0])


def test_the_example_for_authors_is_a_widget(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="hero")
    tab.add_script_tag(content=example())
    tab.evaluate("document.querySelector('main').innerHTML = '<two-numbers id=\"two\">2a = 2</two-numbers>'")
    slider = tab.get_by_role("slider", name="a")
    slider.focus()
    for _ in range(2):
        tab.keyboard.press("ArrowRight")
    assert tab.locator("two-numbers .w-root > p").first.inner_text() == "2a = 6"
    assert tab.locator("two-numbers").evaluate("widget => widget.link()").endswith("#two:a=3")
    tab.keyboard.press("Control+z")
    assert tab.locator("two-numbers .w-root > p").first.inner_text() == "2a = 4"
    tab.evaluate("location.hash = '#two:a=5'")
    tab.wait_for_function("document.querySelector('two-numbers p').textContent === '2a = 10'")
    tab.evaluate("location.hash = '#two:a=7'")  # out of range counts as absent
    tab.wait_for_function("document.querySelector('two-numbers p').textContent === '2a = 2'")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {
        "fmt(2)": "2",
        "fmt(-2.5)": "−2.50",
        "fmt(0.1 + 0.2 - 0.3)": "0.00",  # nearly zero is not zero
        "fmt(0)": "0",
        "fmt(-0)": "0",
        "fmt(-0.001)": "0.00",
        "fmt(1 / 3, 4)": "0.3333",
        "fmt(0.1 * 30)": "3",
        "fmt(-Infinity)": "−∞",
        "fmt(NaN)": "NaN",
        "fmt(123456)": "1.2e+5",
        "parse(' −2,5 ')": "-2.5",
        "parse('100')": "null",
        "parse('1e3')": "null",
        "parse('')": "null",
    }


def test_numbers_as_text(texts: dict[str, str], open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="hero")
    got = {one: tab.evaluate(f"String(Widgets.{one})") for one in texts}
    assert got == texts
