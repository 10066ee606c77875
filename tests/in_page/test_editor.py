"""An editor wraps long lines, grows with its text, and numbers its lines where they begin."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from .conftest import PAGE, Exercise

LONG = "value = " + " + ".join(f"number_{at}" for at in range(30))
#: Of the text and of its lines: width and height within and without; where each numbered line begins.
SIZES = """([text, lines]) => ({
    text: [text.scrollWidth, text.clientWidth, text.scrollHeight, text.clientHeight],
    lines: [lines.scrollWidth, lines.clientWidth, lines.scrollHeight, lines.clientHeight],
    tops: [...lines.children].map(line => line.getBoundingClientRect().top),
})"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("text", [f"a = 1\n\n{LONG}\nb = 2\n", "a = 1", LONG, None])
def test_no_line_is_cut_off_and_each_number_stands_by_its_line(text, width, browser: Browser, small):
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(small[1] + PAGE)
    second = Exercise(tab, "2.2")
    if text is not None:
        second.text.fill(text)
    lines = second.place.locator(".in-page-lines")
    sizes = tab.evaluate(SIZES, [second.text.element_handle(), lines.element_handle()])
    tab.close()
    for wide, room, high, tall in (sizes["text"], sizes["lines"]):
        assert wide <= room and high <= tall
    assert sizes["text"][1:3] == sizes["lines"][1:3] or text == "a = 1"  # as wide, and what is in it as high
    steps = [after - before for before, after in zip(sizes["tops"], sizes["tops"][1:], strict=False)]
    if text is not None and "\n" in text:
        assert len(steps) == 4 and steps[2] > 2.5 * steps[0] and steps[0] == pytest.approx(steps[1], abs=0.5)
