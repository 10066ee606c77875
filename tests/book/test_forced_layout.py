"""While a page opens, no script makes the browser lay it out before it would: on long pages that costs the most."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from .conftest import PHONE

CATEGORIES = "devtools.timeline,disabled-by-default-devtools.timeline"
SCRIPT, LAYOUT = ("FunctionCall", "EvaluateScript"), ("Layout", "UpdateLayoutTree")
#: A script that a page might have: a size read after each change.
THRASHES = """addEventListener('load', () => document.querySelectorAll('p').forEach(one => {
    one.style.paddingTop = '1px'; one.dataset.height = one.offsetHeight }))"""


def forced(browser: Browser, address: str, script: str = "") -> list[str]:
    """The scripts within whose run the browser computed styles or a layout, while the page at address opened."""
    context = browser.new_context(viewport=PHONE)
    tab = context.new_page()
    if script:
        tab.add_init_script(script)
    session = browser.new_browser_cdp_session()
    events: list[dict[str, Any]] = []
    ended: list[bool] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    session.send("Tracing.start", {"categories": CATEGORIES, "transferMode": "ReportEvents"})
    tab.goto(address, wait_until="load")
    tab.wait_for_timeout(1000)
    session.send("Tracing.end")
    while not ended:
        tab.wait_for_timeout(50)
    context.close()
    whole = [one for one in events if one.get("ph") == "X" and "dur" in one]
    runs = [one for one in whole if one["name"] in SCRIPT]
    found = []
    for one in (one for one in whole if one["name"] in LAYOUT):
        for run in runs:
            same = (run["pid"], run["tid"]) == (one["pid"], one["tid"])
            if same and run["ts"] <= one["ts"] and one["ts"] + one["dur"] <= run["ts"] + run["dur"]:
                data = run["args"].get("data", {})
                found.append(f"{data.get('url', '').rpartition('/')[2]} {data.get('functionName', '')}".strip())
                break
    assert len(runs) > 5
    return found


@pytest.mark.parametrize(
    "page", ["index", "chapters/07-encoder", pytest.param("problem-sets/ps1", marks=pytest.mark.full)]
)
def test_no_script_forces_a_layout(page: str, browser: Browser, address: str) -> None:
    assert forced(browser, f"{address}{page}.html") == []


def test_a_script_that_does_is_found(browser: Browser, address: str) -> None:
    assert len(forced(browser, f"{address}guides/reader.html", THRASHES)) > 10
