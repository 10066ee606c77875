"""Pictures of every widget for looking at, light and dark, at 390 and 1280: `python -m tests.widgets.snapshots FOLDER`.

FOLDER/index.html shows them side by side. They are compared with nothing: fonts differ between machines, and what is
wrong with a picture is for somebody to see. A view whose steps show different matrices is pictured at each step.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from autograder.course.paths import BOOK, SOLUTIONS
from autograder.prerequisites import CHROMIUM

from .pages import extension, write_page

WIDTHS, THEMES = (390, 1280), ("light", "dark")
STAGED = "name => Boolean(document.querySelector(name).view?.staged)"


def every_widget() -> Iterator[tuple[str, dict[str, str]]]:
    """The name of each widget in book/widgets, with its attributes: one pair for each of its views."""
    for path in sorted((BOOK / "widgets").glob("*.py")):
        name = path.stem.replace("_", "-")
        views = extension().python_module(name).ATTRIBUTES.get("view", ())
        yield from ((name, {"view": view}) for view in views) if views else ((name, {}),)


def states(tab: Page, name: str) -> Iterator[str]:
    """What is to be pictured of an open widget, one state after the other: "" or the number of a step."""
    tab.wait_for_selector(f"{name} > .w-root")
    if not tab.evaluate(STAGED, name):
        yield ""
        return
    for number in range(1, 1 + tab.locator(".le-steps [aria-label*=': ']").count()):
        tab.locator(f".le-steps [aria-label^='Step {number}:']").click()
        yield f"-{number}"


def pictures(browser: Browser, folder: Path, widgets: Sequence[tuple[str, dict[str, str]]]) -> list[str]:
    """Writes the pictures, FOLDER/NAME-VIEW-STEP-WIDTH-THEME.png, and returns their names up to the width."""
    pages, found = folder / "pages", []
    for name, attributes in widgets:
        page = write_page(pages, name, **attributes)
        for width in WIDTHS:
            for theme in THEMES:
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
                )
                tab = context.new_page()
                tab.goto(page.as_uri())
                for state in states(tab, name):
                    height = tab.evaluate("document.body.offsetHeight")
                    tab.set_viewport_size({"width": width, "height": height})  # what is sticky covers nothing
                    tab.screenshot(path=folder / f"{page.stem}{state}-{width}-{theme}.png", full_page=True)
                    found.append(f"{page.stem}{state}")
                context.close()
    return list(dict.fromkeys(found))


def index(names: Sequence[str]) -> str:
    """A page with the four pictures of each name in a row."""
    kinds = [f"{width}-{theme}" for width in WIDTHS for theme in THEMES]
    rows = "".join(
        f"<h2>{name}</h2><div>{''.join(f'<img loading=lazy alt={name} src={name}-{kind}.png>' for kind in kinds)}</div>"
        for name in names
    )
    style = "div {display: flex; gap: 8px; align-items: start; overflow-x: auto} img {border: 1px solid gray}"
    return f"<!doctype html><meta charset=utf-8><title>Widgets</title><style>{style}</style>{rows}"


def main(folder: Path) -> None:
    sys.path[:0] = [str(SOLUTIONS), str(BOOK)]  # the tables are computed by the reference, not by the stubs
    folder.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, CHROMIUM.names)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        names = pictures(browser, folder, list(every_widget()))
        browser.close()
    (folder / "index.html").write_text(index(names), "utf-8")
    print(f"{len(names) * len(WIDTHS) * len(THEMES)} pictures, side by side in {folder / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
