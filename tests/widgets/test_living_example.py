"""The living example as its readers use it: keyboard, touch, undo, links, masks, small screens, barriers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from autograder.course.paths import ROOT

from .living_states import BY_VIEW, EXAMPLE, expected, random_state
from .pages import write_page

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
NAMES = {"x": "inputs", "wq": "w_query", "wk": "w_key", "wv": "w_value"}
TOKENS = ("weight", "output")
FIRST_CELL = "[data-panel={}] [role=gridcell]"
STATE = "widget => [widget.state, widget.look]"
#: The numbers that are wider than their cells, in every step of a state.
TOO_WIDE = """(widget, state) => {
    const wide = cell => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return range.getBoundingClientRect().width > cell.getBoundingClientRect().width
    }
    widget.state = state
    return widget.view.steps.flatMap((_, step) => {
        widget.go(step)
        const cells = [...widget.querySelectorAll('.w-cell')].filter(cell => cell.checkVisibility())
        return cells.filter(wide).map(cell => cell.textContent)
    })
}"""


def shown(tab: Page, panel: str) -> list[str]:
    """The texts of a matrix, cell by cell."""
    return tab.locator(f"[data-panel={panel}] [role=gridcell]").all_inner_texts()


def test_it_starts_with_the_running_example(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="full", unscaled="")
    state = tab.eval_on_selector("living-example", "widget => widget.state")
    assert {name: state["m"][panel] for panel, name in NAMES.items()} == {
        name: EXAMPLE[name] for name in NAMES.values()
    }
    assert shown(tab, "s") == ["2", "4", "4", "4", "16", "12", "4", "12", "10"]
    assert shown(tab, "a")[:3] == ["0.06", "0.47", "0.47"]  # as chapter 2 has them
    tab.get_by_role("button", name="Scale by √3").click()
    assert shown(tab, "y")[:3] == ["1.86", "6.32", "1.70"]
    heads = open_widget("living-example", view="heads")
    state = heads.eval_on_selector("living-example", "widget => widget.state.m")
    for letter, part in zip("qkv", ("query", "key", "value"), strict=True):
        wide = [a + b for a, b in zip(EXAMPLE[f"w_{part}"], EXAMPLE[f"w_{part}2"], strict=True)]
        assert state[f"w{letter}"] == wide
    assert state["wo"] == EXAMPLE["w_output"]
    layer = open_widget("living-example", view="layer")
    state = layer.eval_on_selector("living-example", "widget => widget.state.m")
    for panel, name in {"w1": "w_ff1", "w2": "w_ff2", "b1": "b_ff1", "b2": "b_ff2"}.items():
        assert state[panel] == (EXAMPLE[name] if panel.startswith("w") else [EXAMPLE[name]])


def test_outputs_have_a_colour_of_their_own(open_widget: Callable[..., Page]) -> None:
    """Matrix, head of a row and number in the sum; weights keep theirs."""
    tab = open_widget("living-example", view="full")
    tab.locator("[aria-label^='Step 6:']").click()
    colour = "element => getComputedStyle(element).color"
    root = tab.locator("html")
    token = {name: root.evaluate(f"html => getComputedStyle(html).getPropertyValue('--{name}')") for name in TOKENS}
    drawn = {name: "rgb({}, {}, {})".format(*bytes.fromhex(value[1:])) for name, value in token.items()}
    assert tab.locator("[data-panel=y] .w-title").evaluate(colour) == drawn["output"]
    assert tab.locator("[data-panel=y] .w-head .y").first.evaluate(colour) == drawn["output"]
    assert tab.locator(".le-sum").first.locator("b").last.evaluate(colour) == drawn["output"]
    assert tab.locator(".le-sum").first.locator("b").first.evaluate(colour) == drawn["weight"]
    assert tab.locator("[data-panel=a] .w-title").evaluate(colour) == drawn["weight"]


def test_a_number_is_changed_undone_and_reset_by_keyboard_alone(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="full")
    before = shown(tab, "y")
    for _ in range(40):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.closest('[data-panel=wv]') !== null"):
            break
    keys = tab.keyboard
    keys.press("ArrowDown")  # row 2, column 1, where a 0 stands
    keys.type("-2,5")
    keys.press("ArrowUp")
    keys.press("Enter")
    assert tab.evaluate("document.activeElement.textContent") == "−1.50"
    assert tab.eval_on_selector("living-example", "widget => widget.state.m.wv[1][0]") == -1.5
    assert shown(tab, "y") != before
    assert tab.locator(".w-status").inner_text().startswith("Outputs, row 1: ")
    keys.press("Control+z")
    assert shown(tab, "y") == before and tab.locator(".w-status").inner_text() == "Undone."
    keys.press("Enter")
    keys.type("many")
    keys.press("Enter")
    assert "is not a number between" in tab.locator(".w-status").inner_text() and shown(tab, "y") == before
    keys.type("7")
    keys.press("Escape")
    assert shown(tab, "y") == before
    keys.type("7")
    keys.press("Enter")
    assert shown(tab, "y") != before
    tab.get_by_role("button", name="Reset").press("Enter")
    assert shown(tab, "y") == before


def test_the_sum_of_a_cell_is_written_out(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="full")
    tab.get_by_role("radio").nth(1).click()
    tab.get_by_role("button", name="Step 2: Scores").click()
    lines = tab.locator(".le-sum").all_inner_texts()
    assert [line.split(" = ", 1)[1] for line in lines] == [
        "2·0 + 2·1 + 2·1 = 4",
        "2·4 + 2·4 + 2·0 = 16",
        "2·2 + 2·3 + 2·1 = 12",
    ]
    tab.locator(FIRST_CELL.format("q")).first.focus()
    assert tab.locator(".le-sum.on").inner_text().endswith("1·1 + 0·1 + 1·0 + 0·0 = 1")
    assert tab.locator("[data-panel=x] .lit").count() == 4 and tab.locator("[data-panel=wq] .lit").count() == 4


@pytest.mark.parametrize("view", BY_VIEW)
def test_a_link_shows_what_its_maker_saw(view: str, open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view=view)
    look = "(widget, [state, row]) => { widget.state = state; widget.choose(row); return [widget.link(), widget.look] }"
    state = random_state(random.Random(view), view)
    if view == "decode":
        state["o"]["written"] = 2
    widget = tab.locator("living-example")
    link, look_before = widget.evaluate(look, [state, 1])
    texts = {
        panel: shown(tab, panel) for panel in expected(view, state) if tab.locator(f"[data-panel={panel}]").count()
    }
    assert len(texts) >= 2
    other = open_widget("living-example", view=view, address="#" + link.split("#")[1])
    got, look_after = other.locator("living-example").evaluate(STATE)
    assert (got, look_after) == (state, look_before)
    assert {panel: shown(other, panel) for panel in texts} == texts


def test_share_writes_the_address_and_bad_addresses_are_ignored(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="masks")
    tab.get_by_role("button", name="Window").click()
    tab.get_by_role("button", name="Share").click()
    tab.wait_for_function("document.querySelector('.w-status').textContent.startsWith('The link')")
    assert "mask=100110011" in tab.evaluate("location.hash")
    bad = open_widget(
        "living-example", view="masks", address="#living-example:mask=12&x=1,a&row=9&at=nothing&after=7&%"
    )
    state, look = bad.locator("living-example").evaluate(STATE)
    assert state["m"]["mask"] == [[1, 0, 0], [1, 1, 0], [1, 1, 1]] and state["o"] == {"after": False}
    assert state["m"]["x"] == EXAMPLE["inputs"] and look["row"] == 0
    between = open_widget("living-example", view="decode", address="#living-example:written=2.5")
    assert between.locator("living-example").evaluate(STATE)[0]["o"] == {"written": 1}
    assert shown(between, "y")[0] != ""


@pytest.mark.parametrize("view", ["heads", "layer"])
def test_a_step_shows_its_matrices_at_once(view: str, open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view=view)
    wanted = tab.evaluate("view => Widgets.views[view].steps.map(step => step.shows)", view)
    for number, panels in enumerate(wanted, start=1):
        tab.get_by_role("button", name=f"Step {number}:").click()
        seen = [one.get_attribute("data-panel") for one in tab.locator("[data-panel]").all() if one.is_visible()]
        assert sorted(seen) == sorted(panels), number


@pytest.mark.parametrize("view", BY_VIEW)
def test_a_number_stays_within_its_cell(view: str, open_widget: Callable[..., Page]) -> None:
    tab, rng = open_widget("living-example", view=view), random.Random(view)
    states = [random_state(rng, view) for _ in range(2)]
    for width in (320, 1280):
        tab.set_viewport_size({"width": width, "height": 900})
        for state in states:
            assert tab.locator("living-example").evaluate(TOO_WIDE, state) == [], width


def test_a_fully_masked_row_and_a_leak_are_shown_as_such(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="masks")
    tab.get_by_role("button", name="Causal, padding left").click()
    assert shown(tab, "a")[:3] == ["0", "0", "0"] and shown(tab, "y")[:3] == ["0", "0", "0"]
    assert tab.locator("[data-panel=a] .off").count() == 6
    assert "may look at nothing" in tab.locator(".w-note").inner_text()
    tab.get_by_role("button", name="Causal", exact=True).click()
    tab.get_by_role("button", name="weights, after it").click()
    assert shown(tab, "total") == ["0.14", "0.91", "1"]  # as chapter 4 has them
    assert tab.locator("[data-panel=total] .different").count() == 2
    assert "a leak" in tab.locator(".w-note").inner_text()
    tab.get_by_role("button", name="scores, before the softmax").click()
    cell = tab.locator(FIRST_CELL.format("m")).nth(1)
    cell.focus()
    tab.keyboard.press("Space")
    assert cell.get_attribute("aria-label").startswith("visible")
    assert "a leak" in tab.locator(".w-note").inner_text()


def test_a_stroke_paints_what_it_touches(open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view="masks")
    cells = [tab.locator(FIRST_CELL.format("m")).nth(n).bounding_box() for n in (3, 4, 5)]
    centres = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in cells]
    tab.mouse.move(*centres[0])
    tab.mouse.down()
    for centre in centres[1:]:
        tab.mouse.move(*centre)
    tab.mouse.up()
    assert tab.eval_on_selector("living-example", "widget => widget.state.m.mask[1]") == [0, 0, 0]


def test_a_finger_has_buttons_for_minus_and_sign(browser: Browser, widget_folder: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab = context.new_page()
    tab.goto(write_page(widget_folder, "living-example", view="hero").as_uri())
    cell = tab.locator(FIRST_CELL.format("x")).first
    cell.tap()
    for name, number in (("one more", 2), ("change the sign", -2), ("one less", -3)):
        button = tab.get_by_role("button", name=name)
        assert min(button.bounding_box()[side] for side in ("width", "height")) >= 44
        button.tap()
        assert tab.locator(".w-input").input_value() == str(number)
    tab.keyboard.press("Enter")
    assert cell.inner_text() == "−3"
    context.close()


@pytest.mark.parametrize("view", BY_VIEW)
def test_it_fits_a_phone_and_has_no_barrier(view: str, open_widget: Callable[..., Page]) -> None:
    tab = open_widget("living-example", view=view, width=320)
    tab.evaluate(AXE.read_text("utf-8"))
    steps = tab.locator(".le-steps button").count() - 2
    for step in range(max(1, steps)):
        tab.locator("living-example").evaluate("(widget, step) => widget.go(step)", step)
        for width in (320, 390):
            tab.set_viewport_size({"width": width, "height": 800})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, f"step {step + 1} at {width} px"
        small = tab.evaluate(
            "[...document.querySelectorAll('.w-root button')]"
            ".filter(one => one.checkVisibility() && one.offsetHeight < 44).map(one => one.textContent)"
        )
        assert small == [], f"lower than 44 px: {small}"
    for theme in ("light", "dark"):
        tab.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
        assert found == [], json.dumps([(one["id"], one["nodes"][0]["html"][:200]) for one in found])


def test_motion_print_and_pages_without_scripts(
    open_widget: Callable[..., Page], browser: Browser, widget_folder: Any
) -> None:
    tab = open_widget("living-example", view="hero")
    tab.get_by_role("button", name="Causal mask").click()
    assert tab.evaluate("document.getAnimations().length") == 0  # the reader wants no motion
    tab.emulate_media(media="print")
    assert not tab.get_by_role("button", name="Reset").is_visible() and tab.locator("[data-panel=a]").is_visible()
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(write_page(widget_folder, "living-example", view="heads").as_uri())
    assert "4.20 9.40 4.79 4.28" in still.locator("table").inner_text()
    context.close()
