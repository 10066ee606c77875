"""Exercises and widgets in Firefox and in WebKit: right, wrong and diagnosed, stopped, kept, offline, by keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.build.serving import served
from autograder.prerequisites import FIREFOX, SCREEN, WEBKIT, missing
from tests.widgets.pages import write_page

from .answers import LOOP, NO_PYTHON, RIGHT, WRONG
from .conftest import PAGE
from .firefox import Firefox, firefox
from .places import small_site
from .webkit import WebKit, webkit

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]
Tab = Firefox | WebKit
NEEDED = {"firefox": (FIREFOX,), "webkit": (WEBKIT, SCREEN)}
PLACE = '.exercise-in-page[data-number="2.2"]'


@pytest.fixture(scope="module", params=sorted(NEEDED))
def tab(request: pytest.FixtureRequest) -> Iterator[Tab]:
    lacking = [program.package for program in missing(NEEDED[request.param])]
    if lacking:
        pytest.skip(f"no {request.param} here; on Debian: apt-get install {' '.join(lacking)}")
    program = next(filter(None, map(shutil.which, FIREFOX.names)), "")
    with firefox(program) if request.param == "firefox" else webkit() as tab:
        yield tab


def check(tab: Tab, text: str) -> str:
    """Types an answer to exercise 2.2 and presses Check; the state that it ends in."""
    tab.fill(f"{PLACE} textarea", text)
    tab.click(f"{PLACE} .in-page-check")
    state = f"document.querySelector('{PLACE}').dataset.state"
    tab.wait_for(f"{state} && !['loading', 'running'].includes({state})")
    return tab.evaluate(state)


def test_an_exercise_is_checked_diagnosed_stopped_kept_and_there_offline(tab: Tab, tmp_path: Path) -> None:
    site = small_site(tmp_path)
    with served(site) as address:
        tab.goto(address + PAGE)
        assert check(tab, WRONG) == "failed"
        assert "the right ones transposed" in tab.text(f"{PLACE} .in-page-report")
        assert check(tab, NO_PYTHON) == "error"
        assert "SyntaxError" in tab.text(f"{PLACE} .in-page-report")
        assert check(tab, LOOP) == "error"
        assert "Stopped after 10 s, in line 4" in tab.text(f"{PLACE} .in-page-status")
        assert check(tab, RIGHT) == "passed"
        assert tab.text(f"{PLACE} .in-page-status") == "✓ Passed: all 5 checks."
        tab.wait_for("navigator.serviceWorker.ready.then(() => true)")
        tab.reload()
        assert tab.evaluate(f"document.querySelector('{PLACE} textarea').value").rstrip() == RIGHT.rstrip()
    tab.reload()  # nobody serves it any more
    assert check(tab, WRONG) == "failed"
    assert check(tab, RIGHT) == "passed"


def test_a_number_of_the_living_example_is_changed_by_keyboard(tab: Tab, tmp_path: Path) -> None:
    tab.goto(write_page(tmp_path, "living-example", view="full").as_uri())
    tab.wait_for("document.querySelector('living-example > .w-root')")
    outputs = "[...document.querySelectorAll('[data-panel=y] [role=gridcell]')].map(one => one.textContent)"
    before = tab.evaluate(outputs)
    assert before[:3] == ["1.86", "6.32", "1.70"]
    tab.focus("[data-panel=wv] [role=gridcell]")
    tab.press("ArrowDown")
    tab.type("-2,5")
    tab.press("Enter")
    assert tab.evaluate("document.querySelector('living-example').state.m.wv[1][0]") == -2.5
    assert tab.evaluate(outputs) != before
    assert tab.text(".w-status").startswith("Outputs, row 1: ")
    tab.press("Enter")
    tab.type("many")
    tab.press("Enter")
    assert "is not a number between" in tab.text(".w-status")


def test_a_slider_of_a_figure_is_moved_by_keyboard(tab: Tab, tmp_path: Path) -> None:
    tab.goto(write_page(tmp_path, "rotary-dial").as_uri())
    tab.wait_for("document.querySelector('rotary-dial > .w-root')")
    tab.focus("rotary-dial input[type=range]")
    tab.press("ArrowRight")
    assert tab.text(".w-status").startswith("Query at ") and "score" in tab.text(".w-status")
