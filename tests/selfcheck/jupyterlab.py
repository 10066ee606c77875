"""A JupyterLab on a copy of what learners work with, and a notebook in it that a browser runs."""

from __future__ import annotations

import json
import re
import shutil
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from autograder.course.paths import ROOT

from ..jupyter_servers import START, server_on

PRESSED = 5  # seconds until keys are pressed again
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # every cell is on the page, and not those in view alone
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


def course_for_learners(folder: Path, *notebooks: str) -> Path:
    """A folder with stubs, selfcheck and some notebooks, where a copy of the repository has them."""
    for name in ("src/attention", "src/selfcheck"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "book" / "notebooks").mkdir(parents=True)
    for name in notebooks:
        shutil.copy(ROOT / "book" / "notebooks" / f"{name}.ipynb", folder / "book" / "notebooks")
    return folder


@contextmanager
def jupyterlab_on(root: Path, home: Path) -> Iterator[str]:
    """The address of JupyterLab on a folder; home: an empty folder for Jupyter's own files."""
    for name, settings in SETTINGS.items():
        path = home / ".jupyter" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), "utf-8")
    with server_on("jupyterlab", root, home, ready="api/status") as address:
        yield address


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page: Page, address: str, name: str) -> None:
        self.page, self._address = page, address
        page.set_default_timeout(1000 * START)
        page.goto(f"{address}/lab/tree/book/notebooks/{name}.ipynb")
        self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for()
        self._wait_for_session()

    def cell(self, text: str) -> Locator:
        """The first code cell that holds a text."""
        return self.page.locator(".jp-CodeCell", has=self.page.locator(".cm-content", has_text=text)).first

    def run(self, text: str) -> Locator:
        """Run that cell; its output, once it has ended."""
        cell = self.cell(text)
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(START // PRESSED):  # the first may come before the notebook has its kernel
            if (choose := self.page.locator(".jp-Dialog .jp-mod-accept")).is_visible():
                choose.click()  # of the kernel, which is asked for where none has come yet
            cell.locator(".cm-line").first.click()
            self.page.keyboard.press("Control+Enter")
            with suppress(AssertionError):
                expect(prompt).not_to_have_text(before, timeout=1000 * PRESSED)
                break
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=1000 * START)
        return cell.locator(".jp-OutputArea").first

    def _wait_for_session(self) -> None:
        """Until the server has a kernel that a notebook is connected to: the page says "idle" before."""
        for _ in range(4 * START):
            with urllib.request.urlopen(f"{self._address}/api/sessions", timeout=START) as answer:
                kernels = [session["kernel"] for session in json.load(answer)]
            if any(kernel["execution_state"] == "idle" and kernel["connections"] for kernel in kernels):
                return
            time.sleep(0.25)
