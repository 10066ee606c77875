"""The exercises in a real browser: right, wrong and diagnosed, stopped, kept, handed in, offline, by keyboard alone."""

from __future__ import annotations

import zipfile

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.paths import ROOT
from tests.autograder.shared_courses import copy_of, released

from .answers import LOOP, NO_PYTHON, RIGHT, STUBBORN, WRONG
from .conftest import PAGE, Exercise

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]


def test_nothing_is_loaded_before_an_editor_is_used(browser, small):
    context = browser.new_context()
    tab, asked = context.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(small[1] + PAGE, wait_until="networkidle")
    mine = [url.rpartition("/in_page/")[2].partition("?")[0] for url in asked if "/in_page/" in url]
    assert sorted(mine) == ["exercises.css", "exercises.js"]
    tab.locator("textarea").first.focus()
    tab.wait_for_function("() => window.exercisesInPage")
    assert not any("pyodide" in url for url in asked)
    context.close()


def test_a_wrong_answer_is_diagnosed_and_a_right_one_passes(tab, exercise):
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    second = exercise("2.2")
    assert second.check(WRONG) == "failed"
    assert "the right ones transposed" in second.report.inner_text()
    assert second.report.locator("table").count() >= 2 and "1 of" not in second.status.inner_text()
    second.button("Hint").first.click()
    assert second.hints.inner_text().startswith("How to mend it:")
    second.button("Hint").first.click()
    assert second.hints.inner_text().startswith("Hint 1")
    link = second.report.get_by_role("link").first.get_attribute("href")
    assert "/chapters/02-worked-example.html#" in link and "github.io" not in link
    assert second.check(RIGHT) == "passed"
    assert second.status.inner_text() == "✓ Passed: all 5 checks."
    kept = tab.evaluate("Object.keys(localStorage).filter(key => key.startsWith('attention.solved.'))")
    assert kept == ["attention.solved.worked_example.dot_scores"]  # the page of progress counts it
    assert all(url.startswith((tab.url.partition("/chapters")[0], "blob:")) for url in asked)


def test_what_is_no_python_is_named_with_its_line(exercise):
    second = exercise("2.2")
    assert second.check(NO_PYTHON) == "error"
    told = second.report.inner_text()
    assert "SyntaxError" in told and "return queries @ @" in told and "Traceback" not in told
    line = told.partition("in line ")[2].partition(" ")[0]
    assert second.place.locator(f'.in-page-lines [data-number="{line}"]').count() == 1
    assert exercise("2.1").check() == "idle"
    assert "2.2 is no Python yet" in exercise("2.1").report.inner_text()


def test_a_loop_without_end_is_stopped_and_the_next_check_works(exercise):
    second = exercise("2.2")
    assert second.check(LOOP) == "error"
    assert "Stopped after 10 s, in line 4" in second.status.inner_text()
    assert second.check(RIGHT) == "passed"


def test_stop_ends_what_runs(exercise):
    second = exercise("2.2")
    second.text.fill(STUBBORN)
    second.place.locator(".in-page-check").click()
    second.button("Stop").click()
    assert second.wait() == "error" and second.status.inner_text() == "Stopped."
    assert second.check(STUBBORN) == "error" and "never end" in second.status.inner_text()
    assert second.check(RIGHT) == "passed"


def test_reset_can_be_undone(exercise):
    third = exercise("2.3")
    third.text.fill("def softmax(scores):\n    return 1")
    third.button("Reset").click()
    assert "NotImplementedError" in third.text.input_value()
    third.button("Undo reset").click()
    assert third.text.input_value() == "def softmax(scores):\n    return 1"


def test_what_is_taken_along_is_what_submit_takes(tab, exercise, tmp_path, tmp_path_factory):
    second = exercise("2.2")
    second.text.fill(RIGHT)
    with tab.expect_download() as download:
        second.button("Take it with me").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["attention/__init__.py", "attention/worked_example.py"]
        text = archive.read("attention/worked_example.py").decode()
    assert RIGHT in text and "exercise 2.1" in text and compile(text, "worked_example.py", "exec")
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path / "course")
    arguments = ["submit", "ps1", "--student", "ada", str(path), "--course", str(course.root)]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    kept = list(course.submitted("ada", "ps1").rglob("worked_example.py"))
    assert [one.read_text("utf-8") for one in kept] == [text]


def test_the_text_is_there_again_after_a_reload_and_offline(browser, small):
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(small[1] + PAGE)
    second = Exercise(tab, "2.2")
    assert second.check(WRONG) == "failed"
    tab.wait_for_function("() => navigator.serviceWorker.ready.then(() => true)")
    tab.reload(wait_until="networkidle")
    assert second.text.input_value() == WRONG
    context.set_offline(True)
    tab.reload()
    assert second.text.input_value() == WRONG
    assert second.check(RIGHT) == "passed"
    context.close()


def test_it_works_where_storage_is_forbidden(browser, small):
    context = browser.new_context()
    context.add_init_script("""
        for (const name of ["localStorage", "caches"])
            Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
    """)
    tab = context.new_page()
    tab.goto(small[1] + PAGE)
    second = Exercise(tab, "2.2")
    second.text.focus()
    tab.wait_for_function("() => window.exercisesInPage")
    second.text.press("End")
    tab.wait_for_timeout(300)
    second.text.press_sequentially(" ")
    assert "keeps no text" in second.status.inner_text()
    assert second.check(RIGHT) == "passed"
    context.close()


def test_by_keyboard_alone_without_a_trap(tab, exercise):
    second = exercise("2.2")
    second.text.fill("")
    second.text.focus()
    tab.wait_for_function("() => window.exercisesInPage")
    tab.keyboard.type("def dot_scores(queries, keys):\nreturn 3\n")
    assert second.text.input_value() == "def dot_scores(queries, keys):\n    return 3\n    "
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "in-page-check"
    tab.keyboard.press("Enter")
    assert second.wait() == "failed"
    assert tab.evaluate("document.activeElement.className") == "in-page-check"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_barrier(theme, tab, exercise):
    second = exercise("2.2")
    second.check(WRONG)
    second.button("Hint").first.click()
    exercise("2.4").check("def weighted_sum(weights, values):\n    return values @ @\n")
    exercise("2.2").check(RIGHT) if theme == "dark" else None
    tab.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    tab.wait_for_timeout(500)
    tab.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    inside = (
        "axe.run({include: [['.exercise-in-page']]}, {resultTypes: ['violations']}).then(result => result.violations)"
    )
    found = tab.evaluate(inside)
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_scrolls_the_page_sideways(width, tab, exercise):
    tab.set_viewport_size({"width": width, "height": 844})
    exercise("2.2").check(WRONG)
    place = exercise("2.2").place.bounding_box()
    assert place["x"] >= 0 and place["x"] + place["width"] <= width
