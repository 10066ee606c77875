"""The plugins and fixtures of all tests: the record of proofs, who runs what, a browser."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from autograder.prerequisites import CHROMIUM

from .records.whole import is_about_the_whole, proof_of_the_whole
from .scheduling import Groups

pytest_plugins = ["tests.records.plugin"]

WITH_COURSES, COURSE_SECONDS = ("attacks", "autograder"), 1800
PAGE_MILLISECONDS = 300_000  # for what a page does; on a busy machine the 30 seconds of Playwright are not enough
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


def pytest_collection_modifyitems(items):
    """Whichever test of a course comes first makes the course: two minutes, and many more on a busy machine."""
    for item in items:
        if item.path.parent.name in WITH_COURSES and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(COURSE_SECONDS))
        if is_about_the_whole(item.path) and not item.get_closest_marker("proof"):
            item.add_marker(proof_of_the_whole(item.path))


@pytest.fixture(scope="module")
def browser():
    """Chromium, for no longer than a module: while Playwright drives it, nothing else runs an event loop."""
    program = next(filter(None, map(shutil.which, CHROMIUM.names)))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ALONE)
        made = chromium.new_context

        def patient(**settings):
            context = made(**settings)
            context.set_default_timeout(PAGE_MILLISECONDS)
            return context

        chromium.new_context, chromium.new_page = patient, lambda **settings: patient(**settings).new_page()
        yield chromium
        chromium.close()
