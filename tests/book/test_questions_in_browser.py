"""Quick questions and the page of progress in a real browser, and as a page shows them where no script runs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from autograder.build.quick_questions import Question, find, in_chapter, named_parts
from autograder.course.paths import BOOK, ROOT

from .conftest import PHONE

MASKS = "chapters/04-masks"
SCRIPTS = BOOK / "quick_questions"
FORBIDDEN = (
    "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('forbidden', 'SecurityError') }})"
)
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
AXE = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that remembers nothing of other tests."""
    context = browser.new_context(viewport=PHONE)
    yield context
    context.close()


def asked(tab: Page, name: str) -> Locator:
    """A question, scrolled to and ready to be answered."""
    question = tab.locator(f"[data-question='{name}']")
    question.scroll_into_view_if_needed()
    tab.wait_for_selector(f"[data-question='{name}'][data-open]")
    return question


def check(question: Locator) -> str:
    """The sentence that the chosen answer gets."""
    question.get_by_role("button", name="Check", exact=True).click()
    return said(question)


def said(question: Locator) -> str:
    return " ".join(question.get_by_role("status").inner_text().split())


def words(text: str) -> str:
    """The beginning of a sentence as a page shows it, up to the first formula or mark-up."""
    return " ".join(text.replace("’", "'").split("$")[0].split("`")[0].split("*")[0].split('"')[0].split()[:8])


def sentence(question: Question, chosen: object) -> str:
    return words(next(one.says for one in question.options if one.chosen == chosen))


def test_scripts_are_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 6)) for path in SCRIPTS.iterdir()}
    assert sizes["start.js"] <= 1024 and sum(sizes.values()) <= 8 * 1024, sizes


@pytest.mark.parametrize("page", sorted(path.stem for path in (BOOK / "chapters").glob("*.md")))
def test_without_a_script_questions_stand_open_and_answers_folded(page: str, site: Path) -> None:
    soup = BeautifulSoup((site / f"chapters/{page}.html").read_text("utf-8"), "html.parser")
    shown = soup.select(".quick-question")
    assert {one["data-question"] for one in shown} == {one.id for one in in_chapter(page[3:])}
    for block in shown:
        question = find(block["data-question"])
        fold = block.select_one("details.qq-answers")
        assert not fold.has_attr("open") and not block.select("form, input, button")
        says = fold.select(".qq-says > li")
        assert len(says) == len(list(named_parts(question)))
        assert block.select_one(".qq-prompt").text.strip()
        assert len(block.select(".qq-choices > li")) == (
            0 if question.kind == "number" else len(question.lines or question.options)
        )
    scripts = [script["src"] for script in soup.select("script[src]")]
    assert any("start.js" in one for one in scripts) and not any("questions.js" in one for one in scripts)


def test_a_choice_gets_its_sentence_and_is_kept(reader: BrowserContext, address: str) -> None:
    tab = reader.new_page()
    loaded: list[str] = []
    tab.on("request", lambda request: loaded.append(request.url))
    tab.goto(f"{address}{MASKS}.html", wait_until="load")
    assert not any("questions.js" in url for url in loaded)
    question, source = asked(tab, "masks.two-new"), find("masks.two-new")
    assert any("questions.js" in url for url in loaded)
    assert "Choose one first" in check(question)
    colours: dict[bool, set[str]] = {True: set(), False: set()}
    for option in source.options:
        question.locator(f"input[value='{source.options.index(option)}']").check()
        answer = check(question)
        assert sentence(source, option.chosen) in answer
        assert answer.startswith("✓ Right" if option.right else "✗ Not yet")
        verdict = question.locator(".qq-verdict")
        colours[option.right].add(verdict.evaluate("verdict => getComputedStyle(verdict).color"))
    assert colours[True].isdisjoint(colours[False])  # the rules for both are still there in the finished site
    question.locator("input[value='1']").check()
    wrong = check(question)
    tab.reload(wait_until="load")
    question = asked(tab, "masks.two-new")
    assert said(question) == wrong and question.locator("input[value='1']").is_checked()
    kept = json.loads(tab.evaluate("localStorage.getItem('attention.answered.masks.two-new')"))
    assert kept == {"answer": "1", "right": False}


def test_a_number_is_right_within_its_tolerance_and_known_mistakes_are_named(
    reader: BrowserContext, address: str
) -> None:
    tab = reader.new_page()
    tab.goto(f"{address}{MASKS}.html", wait_until="load")
    question, source = asked(tab, "masks.added-floats"), find("masks.added-floats")
    number = question.get_by_label("Your number")
    assert "Type a number first" in check(question)
    for typed, verdict, text in (
        ("0.2689", "✓", sentence(source, 0.2689)),
        ("0.27", "✓", sentence(source, 0.2689)),
        ("0.28", "✗", words(source.otherwise)),
        ("-1e3", "✗", words(source.otherwise)),
        ("0.73", "✗", sentence(source, 0.7311)),
        ("0", "✗", sentence(source, 0)),
    ):
        number.fill(typed)
        number.press("Enter")
        assert said(question).startswith(verdict) and text in said(question), typed


def test_lines_are_ordered_by_the_keyboard(reader: BrowserContext, address: str) -> None:
    tab = reader.new_page()
    tab.goto(f"{address}chapters/05-multi-head.html", wait_until="load")
    question, source = asked(tab, "multi-head.merge-steps"), find("multi-head.merge-steps")
    assert check(question).startswith("✗ Not yet")
    for place in range(len(source.lines)):
        now = [int(item.get_attribute("data-line")) for item in question.locator(".qq-choices > li").all()]
        button = question.locator(f"[data-line='{place}'] button").first
        button.focus()
        for _ in range(now.index(place) - place):
            tab.keyboard.press("ArrowUp")
            assert button.evaluate("button => button === document.activeElement")
            assert f"of {len(source.lines)}" in said(question)
    answer = check(question)
    assert answer.startswith("✓ Right") and words(source.says) in answer
    tab.reload(wait_until="load")
    assert said(asked(tab, "multi-head.merge-steps")) == answer
    last = asked(tab, "multi-head.merge-steps").locator("[data-line='3'] button").first
    last.press("Enter")  # one up, by the button itself
    assert check(asked(tab, "multi-head.merge-steps")).startswith("✗ Not yet")


def test_progress_is_shown_saved_forgotten_and_loaded(reader: BrowserContext, address: str, tmp_path: Path) -> None:
    tab = reader.new_page()
    tab.goto(f"{address}{MASKS}.html", wait_until="load")
    question = asked(tab, "masks.window-two")
    question.locator("input[value='0']").check()
    assert check(question).startswith("✓")
    key = f"attention.read.{MASKS}"
    assert tab.evaluate(f"localStorage.getItem('{key}')") is None
    tab.locator(".bd-footer-content").scroll_into_view_if_needed()
    tab.wait_for_function(f"localStorage.getItem('{key}') !== null")
    tab.evaluate("localStorage.setItem('attention.solved.worked_example.softmax', '2026-11-22')")  # as exercises do
    tab.evaluate("localStorage.setItem('mode', 'dark')")
    tab.get_by_role("link", name="Your progress").last.click()
    row = tab.locator(f"tr[data-page='{MASKS}']")
    expect(row.locator("td").first).to_contain_text("20")  # the script has filled the table
    cells = row.locator("td").all_inner_texts()
    assert cells[1:] == ["1 of 8", "–"]  # exercises of this chapter are not checked in the page
    total = tab.locator(".progress-total").inner_text()
    assert "Chapters read: 1 of 11. Questions answered: 1 of" in total and "Exercises solved: 1 of 5." in total

    with tab.expect_download() as download:
        tab.get_by_role("button", name="Save to a file").click()
    saved = tmp_path / "progress.json"
    download.value.save_as(saved)
    assert len(json.loads(saved.read_text("utf-8"))["entries"]) == 3

    tab.get_by_role("button", name="Forget everything").click()
    tab.get_by_role("button", name="Keep it").click()
    assert row.locator("td").all_inner_texts() == cells
    tab.get_by_role("button", name="Forget everything").click()
    tab.get_by_role("button", name="Yes, forget").click()
    assert row.locator("td").all_inner_texts() == ["–", "0 of 8", "–"]
    assert tab.evaluate("localStorage.getItem('mode')") == "dark"

    for content, message in (
        ("{", "This is no JSON"),
        ('{"format": "other"}', "another kind"),
        (saved.read_text("utf-8").replace("2026-11-22", "yesterday"), "Loaded: 2 entries. 1 were not understood"),
        (saved.read_text("utf-8"), "Loaded: 3 entries."),
    ):
        tab.get_by_label("Load from a file").set_input_files(
            {"name": "x.json", "mimeType": "application/json", "buffer": content.encode()}
        )
        tab.wait_for_function(
            "text => document.querySelector('.progress-said').textContent.includes(text)", arg=message
        )
    assert row.locator("td").all_inner_texts() == cells


@pytest.mark.parametrize(("storage", "on_progress"), [(FORBIDDEN, "lets the page keep nothing"), (FULL, "0 of 11")])
def test_a_browser_that_keeps_nothing_asks_all_the_same(
    storage: str, on_progress: str, reader: BrowserContext, address: str
) -> None:
    tab = reader.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda fault: faults.append(f"{fault.message} {fault.stack}"))
    tab.add_init_script(storage)
    tab.goto(f"{address}{MASKS}.html", wait_until="load")
    question = asked(tab, "masks.window-two")
    question.locator("input[value='0']").check()
    answer = check(question)
    assert answer.startswith("✓ Right") and "keeps nothing" in answer
    tab.goto(f"{address}progress.html", wait_until="load")
    assert on_progress in tab.locator(".progress-total").inner_text()
    assert [fault for fault in faults if "quick-questions" in fault] == []


@pytest.mark.parametrize("theme", [pytest.param("light", marks=pytest.mark.full), "dark"])
def test_axe_finds_no_barrier_in_answered_questions_and_in_progress(theme: str, browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme)
    tab = context.new_page()
    tab.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')")
    tab.goto(f"{address}chapters/10-decoder.html", wait_until="load")  # it has questions of every kind
    for name, value in (("decoder.memory-mask", "0"), ("decoder.loss-line", "1")):
        question = asked(tab, name)
        question.locator(f"input[value='{value}']").check()
        check(question)
    check(asked(tab, "decoder.layer-order"))
    asked(tab, "decoder.nucleus").locator("summary").click()
    found = barriers(tab, ".quick-question")
    tab.goto(f"{address}progress.html", wait_until="load")
    tab.get_by_role("button", name="Forget everything").click()
    found += barriers(tab, "article")
    context.close()
    assert found == []


def barriers(tab: Page, part: str) -> list[str]:
    tab.evaluate(AXE)
    run = "part => axe.run(part, {resultTypes: ['violations']}).then(result => result.violations)"
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in tab.evaluate(run, part)]
