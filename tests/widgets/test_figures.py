"""The small figures in a browser: keyboard, screen reader, narrow screens, size, and what stands in for them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page

from autograder.course.paths import BOOK, ROOT

from .pages import extension

FIGURES = (
    "attention-cost",
    "attention-sentence",
    "head-split",
    "online-softmax",
    "rotary-dial",
    "softmax-temperature",
)
LIMIT = 25 * 1024  # bytes of gzip
SMALL = """() => [...document.querySelectorAll('.w-frame :is(button, [role=gridcell], input:not([type=range]))')]
  .filter(one => one.checkVisibility()).map(one => [one.textContent || one.value, one.getBoundingClientRect()])
  .filter(([, box]) => Math.min(box.width, box.height) < 24).map(([text]) => text)"""
Opener = Callable[..., Page]


def status(tab: Page) -> str:
    return tab.locator(".w-status").inner_text()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_s_files_are_small(name: str) -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in (BOOK / "widgets").glob(f"{name}*")}
    assert len(sizes) >= 2
    assert sum(sizes.values()) <= LIMIT, sizes


@pytest.mark.parametrize("name", FIGURES)
def test_without_javascript_a_table_of_numbers_is_there(name: str) -> None:
    module = extension().python_module(name)
    assert module is not None
    table = BeautifulSoup(module.fallback({}), "html.parser").table
    assert table is not None and table.caption is not None
    assert len(table.find_all("tr")) >= 4
    assert len(re.findall(r"\d", table.get_text())) >= 20


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_scrolls_sideways_and_targets_are_large(name: str, open_widget: Opener) -> None:
    for width in (320, 390):
        tab = open_widget(name, width=width)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate(SMALL) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", FIGURES)
def test_axe_finds_no_barrier_in_a_figure(name: str, dark: bool, open_widget: Opener) -> None:
    tab = open_widget(name, width=390 if dark else 1280, dark=dark)
    tab.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    found = tab.evaluate("axe.run('.w-frame', {resultTypes: ['violations']}).then(result => result.violations)")
    assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found] == []


@pytest.mark.parametrize("name", FIGURES)
def test_every_control_is_reached_by_tab_and_the_focus_is_seen(name: str, open_widget: Opener) -> None:
    tab = open_widget(name)
    wanted = tab.evaluate(
        "() => [...document.querySelectorAll('.w-frame :is(button, input, [tabindex])')]"
        ".filter(one => one.tabIndex >= 0 && !one.disabled && one.checkVisibility()).length"
    )
    reached = 0
    for _ in range(wanted + 1):
        tab.keyboard.press("Tab")
        inside, outlined = tab.evaluate(
            "() => { const one = document.activeElement; return [Boolean(one.closest('.w-frame')),"
            " parseFloat(getComputedStyle(one).outlineWidth) >= 2] }"
        )
        reached += inside
        assert outlined or not inside
    assert reached == wanted > 3


def test_the_wrong_split_puts_two_rows_of_a_token_into_one_head(open_widget: Opener) -> None:
    tab = open_widget("head-split")
    counts = tab.locator(".w-table tbody td")
    assert counts.all_inner_texts() == ["1 ✓"] * 6
    tab.get_by_role("radiogroup", name="Split").get_by_role("radio", checked=True).focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.textContent") == "reshape alone"
    assert counts.all_inner_texts()[:2] == ["2 ✗", "0 ✗"]
    assert "token" in status(tab).lower()
    tab.keyboard.press("Control+z")
    assert counts.all_inner_texts() == ["1 ✓"] * 6


def test_arrows_walk_over_the_tiles_as_they_lie(open_widget: Opener) -> None:
    tab = open_widget("head-split", address="#head-split:stage=3&entry=0")
    tab.locator(".hs-tile[tabindex='0']").focus()
    tab.keyboard.press("ArrowDown")  # in head 1 the row below is token 2
    label = tab.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "Token 2, feature 1: 2. head 1, row 2, column 1; number 4 in memory"


def test_a_typed_score_changes_weights_and_is_announced(open_widget: Opener) -> None:
    tab = open_widget("softmax-temperature")
    weights = tab.locator(".w-shares").first.locator("[role=gridcell]")
    assert weights.all_inner_texts()[0] == "0.92"
    tab.get_by_role("grid", name="Scores divided by the root of d").get_by_role("gridcell").first.focus()
    tab.keyboard.type("-2")
    tab.keyboard.press("Enter")
    assert weights.all_inner_texts()[0] == "0.00"
    assert status(tab).startswith("Width 64. Not divided: largest weight")
    tab.get_by_role("radio", name="1024").click()
    assert "Width 1024" in status(tab)


def test_moving_both_positions_keeps_the_score(open_widget: Opener) -> None:
    tab = open_widget("rotary-dial")
    assert status(tab) == ""
    tab.get_by_role("button", name="Both ▶").click()
    assert status(tab) == "Query at 2, key at 1: score −1.7029."
    tab.get_by_role("button", name="Swap m, n").click()
    assert status(tab) == "Query at 1, key at 2: score 1.7029."
    tab.get_by_role("slider", name="Key at n").focus()
    tab.keyboard.press("ArrowLeft")
    assert status(tab) == "Query at 1, key at 1: score 0."


def test_the_walk_ends_at_the_full_softmax_and_a_forgotten_factor_shows(open_widget: Opener) -> None:
    tab = open_widget("online-softmax")
    tab.get_by_role("button", name="To the end").click()
    assert tab.locator(".os-bar, .w-bar .w-label").last.inner_text() == "tile 6 of 6; 3 of 9 skipped"
    assert "equal in all digits shown" in tab.locator(".w-note").inner_text()
    tab.get_by_role("radio", name="only ℓ").click()
    assert "a was not rescaled" in tab.locator(".w-note").inner_text()


def test_costs_follow_the_sizes_and_impossible_ones_are_refused(open_widget: Opener) -> None:
    tab = open_widget("attention-cost")
    results = tab.locator(".ac-result")
    assert results.nth(5).inner_text() == "2 GiB"  # LLaMA 7B's cache of 4096 tokens, 512 KiB each
    tab.get_by_role("button", name="tokens n: double").click()
    assert results.nth(5).inner_text() == "4 GiB"
    tab.get_by_label("key heads G", exact=True).fill("5")
    tab.keyboard.press("Enter")
    assert "G must divide 32" in status(tab)
    assert tab.get_by_label("key heads G", exact=True).input_value() == "32"


def test_without_the_head_that_finds_namesakes_the_answer_turns(open_widget: Opener) -> None:
    tab = open_widget("attention-sentence")
    tab.get_by_role("radio", name="layer 1, head 2").click()
    assert "the answer turns from parameter to outside" in tab.locator(".w-note").inner_text()
    tab.get_by_role("radio", name="strikes out").click()
    tab.locator(".as-token").nth(3).click()
    assert tab.locator(".w-table thead th").count() == 3


@pytest.mark.parametrize("name", FIGURES)
def test_a_link_shows_the_same_and_nonsense_in_it_is_ignored(name: str, open_widget: Opener) -> None:
    tab = open_widget(name)
    at_first = tab.locator(".w-frame").inner_text()
    given = tab.evaluate(f"document.querySelector('{name}').link().split('#')[1]")
    assert open_widget(name, address=f"#{given}").locator(".w-frame").inner_text() == at_first
    wild = re.sub(r"=[^&]*", "=-9e99", given)
    assert open_widget(name, address=f"#{wild}").locator(".w-frame").inner_text() == at_first
