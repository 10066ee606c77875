"""A learner's morning in a real JupyterLab, in Chromium: the first cell, check, hint, what fails, edit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .jupyterlab import START, Notebook, course_for_learners, jupyterlab_on

STUB = 'raise NotImplementedError("exercise 2.1'
WRONG = "    return inputs, inputs, inputs  # "
MINUTES = 1000 * START


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return course_for_learners(tmp_path_factory.mktemp("lab") / "course", "ps1")


@pytest.fixture(scope="module")
def notebook(course: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """ps1's notebook, its first cell run."""
    with jupyterlab_on(course, tmp_path_factory.mktemp("home")) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        opened = Notebook(page, address, "ps1")
        expect(opened.run("Set-up")).to_contain_text(f"The course is in {course}", timeout=MINUTES)
        yield opened
        page.close()


def answer(course: Path, line: str) -> None:
    path = course / "src" / "attention" / "worked_example.py"
    text = path.read_text("utf-8")
    assert f"    {STUB}" in text
    path.write_text(text.replace(f"    {STUB}", f"{line}{STUB}", 1), "utf-8")


def test_the_first_cell_finds_the_course_and_a_check_answers(notebook: Notebook) -> None:
    expect(notebook.run('check("worked_example.project")')).to_contain_text("2.1 Queries, keys and values")


@pytest.mark.full
def test_progress_edit_check_hint_and_failing(notebook: Notebook, course: Path) -> None:
    page = notebook.page
    assert notebook.run('progress("ps1")').get_by_role("img", name="ps1: 0 of 5 pass").count() == 1

    notebook.run('edit("2.5")').get_by_role("button", name="attention/worked_example.py").click()
    opened = page.locator(".jp-FileEditor .cm-line", has_text="def self_attention(")
    expect(opened).to_be_in_viewport(timeout=MINUTES)  # far below the beginning of the file
    expect(page.locator(".jp-Notebook")).to_be_visible()  # beside it, and not over it

    answer(course, WRONG)
    shown = notebook.run('edit("2.1")')
    shown.get_by_role("button", name="Check").click()
    expect(shown).to_contain_text("✗", timeout=MINUTES)
    shown.get_by_role("button", name="Hint").click()
    expect(shown).to_contain_text("hint 1 of 3", timeout=MINUTES)
    shown.get_by_role("button", name="Show failing").click()
    expect(shown).to_contain_text("from attention.worked_example import project", timeout=MINUTES)
    expect(notebook.run('check("worked_example.project")')).to_contain_text("✗")
