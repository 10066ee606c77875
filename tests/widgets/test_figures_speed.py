"""Changes of a small figure are quick on a phone, taken as this machine slowed down four times.

Counted is what the page's main thread spends on script, style and layout; painting is left out, since a browser without
a GPU paints in software. What is dragged has to fit into a frame of 60 a second; a press has to be answered in 50 ms.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from .pages import write_page

FRAME, PRESS = 1000 / 60, 50.0  # milliseconds
CHANGES, SLOWER = 60, 4
COUNTED = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
#: Widget, and its view → the controls that change it; the change number `at` of them, `boxes`; milliseconds allowed.
CHANGE = {
    "attention-cost": ("[aria-label^='tokens n']", "boxes[at % 2].click()", PRESS),
    "attention-sentence": (".as-token", "document.querySelectorAll('.as-token')[at % 20].click()", PRESS),
    "head-split": ("[aria-label=Stage] button", "boxes[at % 4].click()", PRESS),
    "living-example full": ("[role=radio]", "boxes[at % 3].click()", FRAME),
    "living-example scores": (".w-slider input", "slide(boxes[0], [0.25, 1, 2, 4][at % 4])", FRAME),
    "online-softmax": (".w-bar:not(:has(.w-choice)) button", "boxes[at % 12 < 6 ? 1 : 0].click()", PRESS),
    "rotary-dial": (".w-slider input", "slide(boxes[at % 2], [3, 17, 40, 63][at % 4])", FRAME),
    "softmax-temperature": (".w-slider input", "slide(boxes[0], [-2, 0, 1, 3][at % 4])", FRAME),
}
RUN = """async ([selector, changes]) => {{
  const boxes = [...document.querySelectorAll(selector)]
  const slide = (box, value) => {{ box.value = value; box.dispatchEvent(new Event('input', {{bubbles: true}})) }}
  for (let at = 0; at < changes; at++) {{
    await new Promise(requestAnimationFrame)
    {change}
  }}
  await new Promise(requestAnimationFrame)
  return boxes.length
}}"""


@pytest.mark.full
@pytest.mark.parametrize("which", sorted(CHANGE))
def test_a_change_is_quick_on_a_phone(
    which: str, browser: Browser, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    name, _, view = which.partition(" ")
    page = write_page(tmp_path_factory.mktemp("speed"), name, **({"view": view} if view else {}))
    context = browser.new_context(viewport={"width": 390, "height": 844})
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector(f"{name} > .w-root")
    session = context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # of this thread alone, whatever else runs

    def busy() -> float:
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return 1000 * SLOWER * sum(metrics[name] for name in COUNTED)

    selector, change, limit = CHANGE[which]
    tab.evaluate(RUN.format(change=change), [selector, 12])  # what is compiled once
    before = busy()
    assert tab.evaluate(RUN.format(change=change), [selector, CHANGES]) > 0
    each = (busy() - before) / CHANGES
    context.close()
    with capsys.disabled():
        print(f" {which}: {each:.1f} ms a change", end="")
    assert each <= limit
