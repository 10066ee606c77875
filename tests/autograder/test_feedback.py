"""A learner's page of feedback: what it says, to whom, and that it is written again only where it would differ."""

import dataclasses
import json
import os
import re
import shutil
import signal
import time

import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.paths import REFERENCE, ROOT
from autograder.course.printable import printable
from autograder.gradebook.feedback import formulas as typesetting
from autograder.gradebook.feedback import writing
from autograder.gradebook.feedback.facts import Gathering
from autograder.gradebook.feedback.formulas import Formulas
from autograder.gradebook.feedback.markdown import rendered
from autograder.gradebook.feedback.page import page
from autograder.gradebook.feedback.source import Module
from autograder.gradebook.feedback.writing import write_pages
from autograder.gradebook.marks import marked_set
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores

from .judged_class import CLASS, enter, judged_course, on_file
from .shared_courses import copy_of

ANSWER = "An answer\n\nin two parts, with $x^2$ and an é."


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class with its marks: ada right, ben blank, carla partly right and late, dora late, émile very late."""
    with judged_course(tmp_path_factory) as judged:
        made = copy_of(judged, tmp_path_factory.mktemp("feedback") / "course")
    enter(made)
    with api(made).gradebook as book:
        grades = book.find_submission("ps1", "carla").notebooks[0].grades
        question, code = (next(one for one in grades if one.cell.cell_type == kind) for kind in ("markdown", "code"))
        question.manual_score, question.needs_manual_grade, code.manual_score = 2.5, False, 1.0
        comment = next(one for one in question.notebook.comments if one.name == question.name)
        comment.manual_comment = "Show $e^{2}$, <script>alert(1)</script> please."
        book.db.commit()
    enter(made)  # the penalty follows the marks
    return made


@pytest.fixture(scope="module")
def pages(course):
    """Everybody's page, parsed."""
    assert [one.trouble for one in write_pages(course, "ps1", list(CLASS))] == [""] * len(CLASS)
    return {
        student: BeautifulSoup((course.feedback(student, "ps1") / "ps1.html").read_text("utf-8"), "html.parser")
        for student in CLASS
    }


def text_of(soup):
    return " ".join(soup.get_text(" ", strip=True).split())


def verdicts(soup):
    """What the list at the top says: name, verdict, points."""
    return [[text_of(cell) for cell in row.select("a, .told, .number")] for row in soup.select(".verdicts li")]


def test_the_score_of_everybody_is_the_gradebooks(course, pages):
    for score in scores(course, "ps1"):
        shown = float(pages[score.student].select_one(".score strong").get_text())
        assert shown == pytest.approx(score.final, abs=0.005)
        assert text_of(pages[score.student].select_one("tfoot td")) == f"{shown:g} of {score.max_points:g}"


def test_verdicts_come_first_and_are_named_by_exercise(pages):
    rows = verdicts(pages["ada"])
    assert rows[0] == ["Exercise 2.1 project", "passes all 7 checks", "7 of 7"]
    assert [row[0] for row in rows[-2:]] == ["Question 1", "Question 2"]
    headings = [text_of(one) for one in pages["ada"].select("h2")]
    assert headings[0] == "Verdicts" and headings[1] == "Exercise 2.1 project"
    for link in pages["ada"].select(".verdicts a"):
        assert pages["ada"].find(id=link["href"].removeprefix("#"))


def test_what_is_wrong_has_its_cause_once_and_the_code_beside_it(pages):
    section = pages["carla"].find(id="exercise-2.1").parent
    causes = [text_of(one) for one in section.select(".cause")]
    assert causes and len(causes) == len(set(causes)) and all(one[0].isupper() for one in causes)
    code = section.select_one("details[open] .code")
    assert "def project(*arguments):" in code.get_text() and "return 1" in code.get_text()
    numbers = [int(line["data-number"]) for line in code.select(".line")]
    assert numbers == list(range(numbers[0], numbers[-1] + 1)) and numbers[0] > 100, "those of the file"


def test_what_was_not_started_says_so_and_shows_no_solution(pages):
    assert {row[1] for row in verdicts(pages["ben"])[:5]} == {"not started"}
    assert "is as it was handed out" in text_of(pages["ben"])


def test_points_that_were_set_by_hand_say_so(pages):
    section = pages["carla"].find(id="exercise-2.1").parent
    assert "1 of 7 points" in text_of(section) and "These points were set by hand; the checks gave" in text_of(section)
    assert "set by hand" not in text_of(pages["ada"])


def test_lateness_and_what_it_costs_are_told(course, pages):
    late = {score.student: score for score in scores(course, "ps1") if score.seconds_late}
    assert set(late) == {"carla", "dora", "émile"}
    for student, soup in pages.items():
        words = text_of(soup.header)
        assert ("late" in words) == (student in late) and ("in time" in words) == (student not in late)
        assert "deadline 1 January 2030, 12:00 (UTC)" in words
    assert "Handed in 1 d 6 h late" in text_of(pages["carla"].header)
    taken = late["carla"].late_penalty
    assert f"−{round(taken, 2):g}" in text_of(pages["carla"].select_one(".sum"))


def test_a_written_question_has_its_mark_its_comment_and_its_formulas(pages):
    section = pages["carla"].find(id="question-1").parent
    assert "2.5 of 4 points" in text_of(section)
    assert "Show" in text_of(section.select_one(".comment")) and "please." in text_of(section.select_one(".comment"))
    assert not section.find_all("script")
    answer = section.find("h3", string="Your answer").find_next_sibling("div")
    assert "in two parts" in text_of(answer) and answer.math.msup
    assert section.details.summary.get_text() == "The question" and section.details.find("math")
    assert "not marked yet" in text_of(pages["dora"].select_one(".score").find_next("p"))
    assert "so far" in text_of(pages["dora"].select_one(".score"))
    unanswered = pages["ada"].find(id="question-1").parent
    assert "You wrote no answer: no points." in text_of(unanswered)


def test_a_mark_that_waits_for_another_look_counts_and_says_so(course, tmp_path):
    copy = copy_of(course, tmp_path / "course")
    with api(copy).gradebook as book:
        grades = book.find_submission("ps1", "carla").notebooks[0].grades
        next(one for one in grades if one.manual_score == 2.5).needs_manual_grade = True
        book.db.commit()
    write_pages(copy, "ps1", ["carla"])
    soup = BeautifulSoup((copy.feedback("carla", "ps1") / "ps1.html").read_text("utf-8"), "html.parser")
    assert ["Question 1", "will be looked at again", "2.5 of 4"] in verdicts(soup)
    assert "2.5 of 4 points ; a person will look at the answer again" in text_of(soup)
    assert "1 written question is not marked yet" in text_of(soup)


def test_nobody_reads_of_anybody_else(course, pages):
    for student, soup in pages.items():
        others = [name for name in CLASS if name != student]
        assert not [name for name in others if re.search(rf"\b{name}\b", text_of(soup))]
    assert pages["ada"].select_one(".who").get_text() == "Ada L. (ada)"


def test_a_page_asks_nobody_runs_nothing_and_has_an_outline(pages):
    for soup in pages.values():
        assert not soup.find_all(["script", "link", "img", "iframe", "object", "embed", "form", "input"])
        assert "url(" not in soup.style.get_text() and "@import" not in soup.style.get_text()
        assert soup.html["lang"] == "en" and len(soup.find_all("h1")) == 1
        identities = [one["id"] for one in soup.select("[id]")]
        assert len(identities) == len(set(identities))


def test_only_what_changed_is_written(course, pages, tmp_path):
    own = copy_of(course, tmp_path / "course")
    everybody = list(CLASS)

    def times():
        return {path: path.stat().st_mtime_ns for path in (own.root / "feedback").rglob("*")}

    before = times()
    assert not any(one.is_new for one in write_pages(own, "ps1", everybody)) and times() == before
    with api(own).gradebook as book:
        book.find_submission("ps1", "dora").notebooks[0].comments[0].manual_comment = "Seen."
        book.db.commit()
    assert [one.student for one in write_pages(own, "ps1", everybody) if one.is_new] == ["dora"]
    broken = own.feedback("ada", "ps1") / "ps1.html"
    broken.write_bytes(broken.read_bytes()[:-100])  # as a disk that was full leaves it
    assert [one.student for one in write_pages(own, "ps1", everybody) if one.is_new] == ["ada"]
    assert {path.name for path in own.feedback("ada", "ps1").iterdir()} >= {"ps1.html", "submission_secret.txt"}


def test_who_has_no_grade_that_holds_has_no_new_page_and_the_others_have(course, pages, tmp_path):
    own = copy_of(course, tmp_path / "course")
    path = own.result_file("ben", "ps1")
    record = json.loads(path.read_text())
    record["exercises"][0]["points"] = 1
    path.write_text(json.dumps(record))  # judged again, and not entered yet
    own.result_file("dora", "ps1").unlink()
    (own.feedback("ada", "ps1") / "ps1.html").unlink()
    done = CliRunner().invoke(main, ["feedback", "ps1", "--course", str(own.root)])
    said = " ".join(done.output.split())
    assert (
        done.exit_code == 1 and "no page for ben: the verdicts on file are not in the gradebook yet: run grade" in said
    )
    assert "no page for dora: there is no grade: run grade ps1" in said and "1 page written, 2 as before" in said
    assert (own.feedback("ada", "ps1") / "ps1.html").exists() and (own.feedback("ben", "ps1") / "ps1.html").exists()


def test_nbgraders_own_command_writes_the_same_page(course, pages, tmp_path):
    own = copy_of(course, tmp_path / "course")
    before = (own.feedback("carla", "ps1") / "ps1.html").read_bytes()
    assert api(own).generate_feedback("ps1", "carla", force=True)["success"]
    assert (own.feedback("carla", "ps1") / "ps1.html").read_bytes() == before
    assert not any(one.is_new for one in write_pages(own, "ps1", ["carla"]))


def test_without_katex_formulas_stay_as_they_were_written(course, monkeypatch):
    monkeypatch.setattr(typesetting, "version", lambda: "")
    with Formulas() as formulas:
        assert "<code>x^2</code>" in rendered(ANSWER, formulas)


HOSTILE = [r"\href{javascript:alert(1)}{x}", r"\htmlClass{modal}{x}", r"\includegraphics{http://evil.example/p.png}"]


def test_formulas_of_strangers_act_on_nothing_and_keep_nobody_waiting(monkeypatch):
    with Formulas() as formulas:
        for tex in HOSTILE:
            html = BeautifulSoup(str(formulas.html(tex, False) or ""), "html.parser")
            assert not html.select("[href], [class*=modal], img, [src]"), tex
        assert formulas.html(r"\def\a{\a\a}\a", False) is None and formulas.html("x" * 5_000, False) is None
        assert "&lt;script" in str(formulas.html("<script>", False))
        monkeypatch.setattr(typesetting, "WALL_SECONDS", 0.1)
        formulas._program.send_signal(signal.SIGSTOP)
        assert formulas.html("y", False) is None, "it took too long"
        monkeypatch.setattr(typesetting, "WALL_SECONDS", 60.0)
        for number in range(9):
            formulas.begin_text()
            assert "<math" in str(formulas.html(f"z_{number}", False)), "another program goes on with other texts"
            formulas._program.kill()
            assert formulas.html(f"w_{number}", False) is None
            assert formulas.html(f"z_{number}", False) is None, "the rest of that text stays as it was written"


@pytest.mark.parametrize("sign", ["D800", "202E", "1B", "0", "FEFF"])
def test_a_formula_has_no_sign_that_prints_nothing_or_that_no_file_can_hold(sign):
    hostile, honest = (
        rf'$\char"{sign}$ and $\text{{\char"{sign} }}$',
        "$\\max \\lim_{x} \\text{\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645} \\; y$",
    )
    with Formulas() as formulas:
        made = rendered(f"{hostile} and {honest}", formulas)
    assert made.encode() and made.count("<math") == 1
    assert printable(made, typesetting.KEPT_SIGNS) == made


def test_a_page_that_fails_stops_nobody_elses(course, pages, tmp_path, monkeypatch):
    own = copy_of(course, tmp_path / "course")

    def page_of(facts, formulas):
        return "\ud800" if facts.student == "ada" else page(facts, formulas) + "<!-- new -->"

    monkeypatch.setattr(writing, "page", page_of)
    monkeypatch.setattr(writing, "_is_current", lambda *_: False)
    ada, ben = write_pages(own, "ps1", ["ada", "ben"])
    assert "UnicodeEncodeError" in ada.trouble and ben.is_new


MACROS = r"$\def\a{%s}%s%s %d$"  # makes a text a thousand times as long


@pytest.mark.parametrize("end", ["", r"\nothing"], ids=["set", "refused at its end"])
def test_formulas_that_grow_cost_their_own_text_so_much_and_the_next_nothing(monkeypatch, end):
    monkeypatch.setattr(typesetting, "SECONDS", 1.0)
    text = " ".join(["$q$", *(MACROS % ("x" * 900, r"\a" * 190, end, number) for number in range(12))])
    with Formulas() as formulas:
        began = time.monotonic()
        rendered("$y$", formulas)
        used = typesetting._seconds_of(formulas._program.pid)
        made = rendered(text, formulas)
        of_it = typesetting._seconds_of(formulas._program.pid) - used if formulas._program else 0.0
        assert len(made) < 2 * typesetting.MOST_MADE and of_it < 2.5 and time.monotonic() - began < 60
        assert "<math" in made and "<code>" in made
        assert "<code>" not in rendered("$q$ and $y$ and $z$", formulas)


def own_node(monkeypatch, folder, script):
    """Have a script in the place of Node.js."""
    (folder / "node").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


STARTS_SLOWLY = "sleep 2; exec {node} $@"
ANSWERS_SLOWLY = """{node} $@ | while read -r line; do sleep 2; printf '%s\\n' "$line"; done"""


@pytest.mark.parametrize("script", [STARTS_SLOWLY, ANSWERS_SLOWLY])
def test_a_machine_that_is_slow_costs_no_formula(monkeypatch, tmp_path, script):
    own_node(monkeypatch, tmp_path, script.format(node=shutil.which("node")))
    monkeypatch.setattr(typesetting, "SECONDS", 1.5)
    with Formulas() as formulas:
        assert "<math" in str(formulas.html("x", False))


def test_a_formula_without_an_end_is_stopped_by_what_it_computes(monkeypatch, tmp_path):
    own_node(monkeypatch, tmp_path, "echo true; while :; do :; done")
    monkeypatch.setattr(typesetting, "SECONDS", 0.3)
    with Formulas() as formulas:
        assert formulas.html("x", False) is None and formulas._program is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(\n    a,\n):\n    '''x\ny\n'''\n    return a\n\n\n# end\nb = 1", range(1, 8)),
        ("def f(): pass\n\n@wraps\nclass f:\n    x = 1\n", range(3, 6)),
        ("'''\ndef f():\n'''\n", range(0)),
        ("def g(): pass", range(0)),
        ("def f(:\n  1", range(1, 3)),
    ],
)
def test_a_definition_is_found_whatever_is_written_around_it(text, expected):
    assert Module(text).definition("f") == expected


PIECES = {
    "def softmax(x):": '<b class="k">def</b> <b class="f">softmax</b>(x):',
    "@cache  # once": '<b class="f">@cache</b>  <b class="c"># once</b>',
    "a @ b + 1e-3": 'a @ b + <b class="n">1e-3</b>',
    r"return rb'\'<#' + x1": r"""<b class="k">return</b> <b class="s">rb'\'&lt;#'</b> + x1""",
}


@pytest.mark.parametrize("line", PIECES)
def test_code_is_coloured(line):
    assert [one.html for one in Module(line).lines([1])] == [PIECES[line]]


ODD = ("'''a\n\n#", '"\\', "\t@\n" * 9, '"""' * 3)


@pytest.mark.parametrize("text", [*(path.read_text("utf-8") for path in sorted(REFERENCE.glob("*.py"))), *ODD])
def test_the_text_of_coloured_code_is_the_code(text):
    lines = Module(text).lines(range(1, text.count("\n") + 2))
    assert "\n".join(BeautifulSoup(f"<pre>{one.html}</pre>", "html.parser").get_text() for one in lines) == text


def test_what_a_learner_wrote_is_printable_and_escaped_everywhere(course):
    gathering = Gathering(course, "ps1", marked_set(course, "ps1"))
    evil = "\x1b[2J\u202e<b onclick=x>"
    facts = gathering.of("carla")
    facts = dataclasses.replace(
        facts, name=evil, modules={"worked_example": printable(evil)}, remarks=(evil,), isolation=evil
    )
    with Formulas() as formulas:
        soup = BeautifulSoup(page(facts, formulas), "html.parser")
    assert not soup.select("[onclick]") and all(one == "\n" or one.isprintable() for one in soup.main.get_text())
    assert on_file(course, "carla")[1].points


OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OPEN = "document.querySelectorAll('details').forEach(one => one.open = true)"
AXE = "axe.run(document, {resultTypes: ['violations']}).then(result => result.violations.map(one => one.id))"


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_page_fits_has_no_barrier_and_asks_nobody(course, pages, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab, asked = context.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    address = (course.feedback("carla", "ps1") / "ps1.html").as_uri()
    tab.goto(address, wait_until="load")
    closed = tab.evaluate(OVERFLOW)
    shown = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.evaluate(OPEN)
    tab.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    barriers, opened = tab.evaluate(AXE), tab.evaluate(OVERFLOW)
    context.close()
    assert (asked, closed, opened, barriers) == ([address], 0, 0, [])
    assert (shown == "rgb(255, 255, 255)") == (scheme == "light")


def test_on_paper_what_is_folded_is_there_and_the_whole_files_are_not(course, pages, browser):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((course.feedback("carla", "ps1") / "ps1.html").as_uri(), wait_until="load")
    tab.emulate_media(media="print")
    folded = tab.locator("details:not([open]):not(.file) :is(.code, .text)")
    heights = [folded.nth(place).bounding_box()["height"] for place in range(folded.count())]
    files = tab.locator("details.file").first.is_visible()
    context.close()
    assert len(heights) > 3 and min(heights) > 10 and not files
