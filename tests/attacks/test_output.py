"""What a learner wrote does nothing to whoever reads the results: on a terminal, on a page, in a table."""

import csv
import json
import re
import shutil
import subprocess
import sys
import time
import unicodedata
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.answer_key.keys import live_answer_key
from autograder.cli.judge import as_json, chosen_exercises, judge_folders
from autograder.cores import cores
from autograder.course.paths import BOOK, REFERENCE
from autograder.course.policy import GradingPolicy
from autograder.course.printable import printable
from autograder.course.releases import written_questions
from autograder.gradebook.nbgrader import gradebook
from autograder.gradebook.spreadsheet import FORMULA_STARTS, harmless
from autograder.judge.judge import judge_problem_set
from autograder.sandbox.bubblewrap import Sandbox, open_sandbox
from autograder.sandbox.self_test import OPTIONAL
from selfcheck.show import exercise_text

from ..autograder.shared_courses import copy_of, released
from ..formgrader import formgrader_on
from .bank import code_attacks, full_marks, write
from .output import ADDRESS, ANSWERS, FORMULAS, SLOW

ATTACKS = [one for one in code_attacks() if one.name.startswith("output-")]
TELLING = [one for one in ATTACKS if "inputs" in one.name]
COURSES = (GradingPolicy(b"one"), GradingPolicy(b"another"))
RIGHT = {f"attention/{path.name}": path.read_bytes() for path in REFERENCE.glob("*.py")}
WARNS = b"""
import logging
import sys
import warnings

_softmax = softmax


def softmax(scores, axis=-1):
    warnings.warn("this is slow")
    print("for me", file=sys.stderr)
    print("for you")
    logging.getLogger().error("a line of a log")
    return _softmax(scores, axis)
"""
#: As they come through nbgrader's exchange, or copied: a folder may be called anything.
IDS = ("=1+1", "<img src=x onerror=window.owned=1>", "\x1b[2J\u202eada", "bob\n1/9 zoe: 0 of 82")


def answered(released, text):
    """The released notebook with a text for every written answer."""
    notebook = json.loads(released)
    for cell in written_questions(notebook):
        cell["source"] = text
    return json.dumps(notebook).encode()


def submissions(released):
    """Everybody of this class, with the files that they hand in."""
    found = {one.name: one.files for one in ATTACKS if one not in TELLING}
    last = [text for name, text in ANSWERS.items() if "end" in name]
    most = [text for text in ANSWERS.values() if text not in last]
    answers = {"answers": "\n\n".join([*most, *last]), **{f"ends{number}": text for number, text in enumerate(last)}}
    answers |= {f"slow-{name}": SLOW[name] for name in ("brackets", "formulas")}
    found |= {name: RIGHT | {"ps1.ipynb": answered(released, text)} for name, text in answers.items()}
    padded = RIGHT["attention/worked_example.py"] + b"# a long day\n" * 2**20
    found["long"] = RIGHT | {
        f"attention/{name}.py": padded[: 2**20 - 9] for name in ("more", "too_much", "worked_example")
    }
    found["warns"] = RIGHT | {"attention/worked_example.py": RIGHT["attention/worked_example.py"] + WARNS}
    return found | {"zoe": RIGHT}


def command(*arguments):
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """A course after this class has handed in, and what each command said; all by the commands themselves."""
    folder = tmp_path_factory.mktemp("read")
    said, seconds = {}, {}
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, folder / "course")
    given = ("--course", course.root)
    for student, files in submissions((course.release("ps1") / "ps1.ipynb").read_text(encoding="utf-8")).items():
        write(folder / student, files)
        done = command("submit", "ps1", "--student", student, folder / student, *given)
        assert done.exit_code == 0, done.output
    for student in IDS:
        shutil.copytree(folder / "output-formula", course.submitted(student, "ps1"))
    for name in ("grade", "feedback", "report"):
        started = time.process_time()
        said[name] = command(name, "ps1", *given).output
        seconds[name] = time.process_time() - started
    assert not re.search(r"(?m)^\d+/\d+ [a-z]\S*: not graded$", said["grade"]), said["grade"]
    said["export"] = command("export", "ps1", *given, "--to", folder / "ours.csv").output
    return course, said, seconds


def test_a_terminal_shows_text_and_obeys_nothing(read):
    _, said, _ = read
    for output in said.values():
        assert output and not [one for one in output if one != "\n" and not one.isprintable()]
    assert "\\x1b[2J" in said["grade"] and "\\u202e" in said["grade"]


def test_nobody_forges_a_line(read):
    course, said, _ = read
    students = course.students("ps1")
    found = re.findall(r"(?m)^\d+/\d+ (.+?): (?:not graded|[\d.]+ of [\d.]+)$", said["grade"])
    shown_names = {student.encode("unicode_escape").decode() for student in students}
    assert len(found) == len(students) and {name.encode("unicode_escape").decode() for name in found} <= {
        *shown_names,
        *(name.replace("\\", "\\\\") for name in shown_names),
    }
    looked_at = said["grade"].partition("To look at:\n")[2]
    for line in looked_at.splitlines()[:-1]:
        assert line.startswith("  "), line


@pytest.mark.parametrize("one", [one for one in ATTACKS if one not in TELLING], ids=lambda one: one.name)
def test_an_attack_on_its_reader_earns_what_it_deserves(read, one):
    course, _, _ = read
    path = course.result_file(one.name, "ps1")
    found = json.loads(path.read_text(encoding="utf-8"))
    assert {exercise["id"]: exercise["points"] for exercise in found["exercises"]} == one.deserves
    assert path.stat().st_size < 100_000
    assert one.log in "; ".join(found["remarks"])
    texts = [exercise["text"] for exercise in found["exercises"]] + found["remarks"]
    assert not [text for text in texts for character in text if character != "\n" and not character.isprintable()]


@pytest.fixture(scope="module")
def judged():
    """The verdicts on those who tell of hidden inputs, in two courses, by name."""
    answer_keys = [live_answer_key("ps1", policy) for policy in COURSES]

    def verdicts(one):
        package = {Path(name).name: data for name, data in one.files.items()}
        return [judge_problem_set(package, answer_key, open_sandbox()) for answer_key in answer_keys]

    with ThreadPoolExecutor(cores()) as pool:
        return dict(zip([one.name for one in TELLING], pool.map(verdicts, TELLING), strict=True))


@pytest.mark.parametrize("one", TELLING, ids=lambda one: one.name)
def test_what_a_learner_reads_does_not_depend_on_hidden_inputs(judged, one):
    first, second = ([exercise_text(result) for result in results] for results in judged[one.name])
    assert first == second
    for results in judged[one.name]:
        assert {result.exercise.id: result.points for result in results} == one.deserves


def test_answers_that_no_file_can_hold_are_written_by_judge_too(tmp_path):
    one = next(one for one in ATTACKS if one.name == "output-surrogates")
    package = {Path(name).name: data for name, data in one.files.items()}
    found = as_json(judge_folders({"it": package}, chosen_exercises([], ["ps1"]), "bubblewrap")["it"])
    (tmp_path / "out.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    assert "\\\\udc80" in (tmp_path / "out.json").read_text(encoding="utf-8")


def test_a_right_answer_that_warns_has_full_marks_by_both_ways(read):
    course, said, _ = read
    full = sum(full_marks("ps1").values())
    assert re.search(rf"(?m)^\d+/\d+ warns: {full} of {full}$", said["grade"])
    arguments = ["autograde", "ps1", "--student=warns", "--force"]
    done = subprocess.run(
        [Path(sys.executable).with_name("nbgrader"), *arguments], cwd=course.root, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    command("export", "ps1", "--course", course.root, "--to", course.root / "again.csv")
    rows = list(csv.DictReader((course.root / "again.csv").read_text(encoding="utf-8").splitlines()))
    assert [float(row["points"]) for row in rows if row["student"] == "warns"] == [full]


def test_the_level_of_isolation_stands_with_every_grade_and_wherever_grades_are_shown(read):
    course, said, _ = read
    level = open_sandbox().description
    assert f"isolation: {level}" in said["grade"] and f"isolation {level}" in said["report"]
    assert json.loads(course.result_file("zoe", "ps1").read_text(encoding="utf-8"))["isolation"] == level
    assert f"<dt>isolation</dt><dd>{level}</dd>" in (course.root / "reports" / "ps1.html").read_text(encoding="utf-8")
    assert f"Isolation: {level};" in (course.feedback("zoe", "ps1") / "ps1.html").read_text(encoding="utf-8")
    sandbox = Sandbox("bubblewrap", OPTIONAL)
    assert f"`{sandbox.description}`" in (BOOK / "guides" / "security.md").read_text("utf-8")


def test_a_page_says_on_which_day_it_was_judged_and_no_hour(read):
    course, _, _ = read
    page = (course.feedback("zoe", "ps1") / "ps1.html").read_text(encoding="utf-8")
    assert re.search(r"<p>Judged \d{1,2} [A-Z][a-z]+ \d{4}\. Isolation: ", page)


# Tables.


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_no_cell_is_a_formula_however_it_is_dressed(text):
    assert harmless(text).startswith("'") and printable(harmless(text), keep="") == harmless(text)


@pytest.mark.parametrize("text", [";=1", "a;=1", 'a"; "=1', "a;;+1;@x", "a;\uff1d1", ";\ufe62\uff0b1", "a;\u200b=1"])
def test_no_cell_is_a_formula_where_semicolons_part_cells(text):
    cells = [unicodedata.normalize("NFKC", cell).strip(' "') for cell in harmless(text).split(";")]
    assert not any(cell.startswith(tuple(FORMULA_STARTS)) for cell in cells)


@pytest.mark.parametrize("text", ["ada", "2026-01-02", "1.5", "x=1", "a; b=1", "søren", "李雷", "o'neill"])
def test_an_ordinary_cell_stays_as_it_is(text):
    assert harmless(text) == text


def test_no_export_of_a_course_holds_a_formula(read):
    course, _, _ = read
    with gradebook(course) as book:  # as they may come from another system
        book.update_or_create_student("zoe", last_name="=1+1", first_name="@x", email="\t-1")
    program = Path(sys.executable).with_name("nbgrader")
    subprocess.run(
        [program, "export", "--to", "theirs.csv"], cwd=course.root, check=True, capture_output=True, timeout=600
    )
    assert "'=1+1" in (course.root / "theirs.csv").read_text(encoding="utf-8")
    for path in (course.root.parent / "ours.csv", course.root / "theirs.csv"):
        text = path.read_text(encoding="utf-8")
        rows = list(csv.reader(text.splitlines()))
        assert len(rows) > len(ATTACKS) - len(TELLING) and {len(row) for row in rows} == {len(rows[0])}
        cells = [cell for row in rows for cell in row]
        assert "zoe" in cells
        assert not [cell for cell in cells if cell[:1] in set("=+-@|\t\r") or not cell.isprintable()]


# Pages.


def test_nobody_keeps_the_class_waiting_for_its_pages(read):
    course, said, seconds = read
    pages = {path.parts[-3]: path for path in (course.root / "feedback").glob("*/ps1/ps1.html")}
    graded = [student for student in course.students("ps1") if (course.root / "autograded" / student / "ps1").is_dir()]
    assert len(graded) >= len(ATTACKS) - len(TELLING) and set(pages) == set(graded)
    assert max(path.stat().st_size for path in pages.values()) < 6 * 2**20
    assert seconds["feedback"] < 5 * len(graded)
    assert "too_much.py is too large" in said["grade"] or "worked_example.py is too large" in said["grade"]


#: Where the page's own scripts stand, and what lies on top at the middle of its first heading.
LOOK = """() => {
    const heading = document.querySelector('h4, h2'), box = heading.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const shown = '.text_cell_render *, .output_area *, .input_area *, main *';
    const handlers = [...document.querySelectorAll(shown)]
        .filter(one => [...one.attributes].some(a => a.name.startsWith('on') || /javascript:/i.test(a.value)));
    const foreign = [...document.querySelectorAll('#notebook script, #notebook style, iframe, object, embed, base,'
        + ' form, #notebook link, #notebook svg, #notebook math, plaintext, meta[http-equiv=refresh],'
        + ' main script, main style, main link, main svg, main input:not(.tabbable),'
        + ' body > :not(main, script, style, nav, div)')];
    return {owned: window.owned, covered: !(heading.contains(top) || top.contains(heading)),
            seen: heading.checkVisibility(), bad: [...handlers, ...foreign].map(one => one.outerHTML.slice(0, 200))};
}"""


def look_at(browser, address, own):
    """What a page did when it was opened: asked for, said, and shows; requests for `own` go through, others end."""
    asked, dialogs = [], []
    page = browser.new_page()

    def route(request):
        if request.request.url.startswith(own):
            return request.continue_()
        asked.append(request.request.url)
        return request.abort()

    page.route("**/*", route)
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(address, wait_until="load")
    page.wait_for_timeout(100)
    found = page.evaluate(LOOK) | {"asked": asked, "dialogs": dialogs, "address": page.url}
    page.close()
    return found


def is_quiet(found, cdn=()):
    """cdn: what a page may ask for beside itself"""
    assert not found["owned"] and not found["dialogs"] and not found["bad"], found
    assert found["seen"] and not found["covered"], found
    assert not [one for one in found["asked"] if "evil" in one or not one.startswith(cdn)], found


DANGEROUS = ("answers", "ends0", "ends1", "ends2", "output-script_in_an_error", "output-script_in_the_source")
DANGEROUS += ("output-type_of_an_answer", "output-terminal_escapes")


def test_a_browser_finds_nothing_that_acts_in_feedback(read, browser):
    course, _, _ = read
    for student in (*DANGEROUS, *(one for one in IDS if (course.root / "feedback" / one).is_dir())):
        path = course.feedback(student, "ps1") / "ps1.html"
        found = look_at(browser, path.as_uri(), path.as_uri())
        is_quiet(found)
        assert found["address"] == path.as_uri()
    report = (course.root / "reports" / "ps1.html").as_uri()
    page = browser.new_page()
    page.goto(report)
    assert not page.evaluate("window.owned") and page.locator("script, img, iframe").count() == 0
    page.close()


def test_the_browser_would_notice_a_script(read, browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f"<h4>Score</h4><div class=text_cell_render>{ANSWERS['event handlers']}</div><img src={ADDRESS}/p>")
    found = look_at(browser, page.as_uri(), page.as_uri())
    assert found["owned"] == 1 and found["bad"] and f"{ADDRESS}/p" in found["asked"]


@pytest.fixture(scope="module")
def formgrader(read, tmp_path_factory):
    """The address of nbgrader's formgrader on the course."""
    course, _, _ = read
    with formgrader_on(course.root, tmp_path_factory.mktemp("home")) as address:
        yield address


def test_a_browser_finds_nothing_that_acts_in_formgrader(formgrader, browser):
    with urllib.request.urlopen(f"{formgrader}/api/submitted_notebooks/ps1/ps1", timeout=300) as answer:
        ids = {one["student"]: one["id"] for one in json.load(answer)}
    for student in ("answers", "ends2", "output-script_in_an_error", "output-script_in_the_source"):
        address = f"{formgrader}/submissions/{ids[student]}/"
        found = look_at(browser, address, formgrader.rpartition("/")[0])
        is_quiet(found, "https://cdnjs.")
        assert found["address"] == address
