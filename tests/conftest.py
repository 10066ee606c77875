"""Shares the tests out among the workers, file by file, the proofs of the exercises module by module; and a browser."""

import re
import shutil

import pytest
from playwright.sync_api import sync_playwright
from xdist.scheduler import LoadScopeScheduling

from autograder.prerequisites import CHROMIUM

ALONE = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Groups(LoadScopeScheduling):
    """What belongs together runs in one worker, where it shares what is costly to make."""

    def _split_scope(self, nodeid):
        path, _, test = nodeid.partition("::")
        module = re.search(r"([a-z_]+)\.[A-Za-z]\w*\]$", test)
        return module[1] if module and path.endswith("test_proofs.py") else path


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
