"""The plugins and fixtures of all tests: the record of proofs, who runs what, a browser."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from autograder.prerequisites import CHROMIUM

from .scheduling import Groups

pytest_plugins = ["tests.records.plugin"]

ALONE = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)


@pytest.fixture(scope="module")
def browser():
    """Chromium, for no longer than a module: while Playwright drives it, nothing else runs an event loop."""
    program = next(filter(None, map(shutil.which, CHROMIUM.names)))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ALONE)
        yield chromium
        chromium.close()
