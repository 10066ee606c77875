"""A term as it goes, with a clock that the test sets: every place tells the same final score, after each step."""

import csv
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.gradebook.audit_log import read_log
from autograder.gradebook.late_penalty import HEAD
from autograder.gradebook.nbgrader import api

from .judged_class import modules
from .shared_courses import copy_of, released

START = datetime(2030, 1, 1, 8, tzinfo=UTC)
DUE = datetime(2030, 1, 8, 12, tzinfo=UTC)
ROSTER = """id,last_name,first_name,email,section,lms_id
ada,King,Ada,ada@example.org,A,101
ben,Berg,Ben,ben@example.org,B,102
zoë,Müller,Zoë,zoe@example.org,A,103
idle,Late,Never,idle@example.org,B,104
"""
LATE = 'percent_per_day = 10, grace = "15min", cap = 50'


class Term:
    """A course, the time, and what an instructor types."""

    def __init__(self, course, folder: Path):
        self.course, self.folder, self.now = course, folder, START

    def run(self, command, *options, code=0):
        place = () if command == "extend" else ("ps1",)
        words = [command, *place, *map(str, options), "--course", str(self.course.root)]
        done = CliRunner().invoke(main, words, obj=lambda: self.now, catch_exceptions=False)
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    def settings(self, policy, due=DUE):
        lines = [f"late_policy = {policy}", "[deadlines]", f"ps1 = {due.isoformat()}"]
        (self.course.root / "course.toml").write_text("\n".join(lines))

    def hand_in(self, student, kind, when, *options, said=""):
        """Submit a folder at a time."""
        self.now, folder = when, self.folder / f"{student}-{kind}"
        (folder / "attention").mkdir(parents=True, exist_ok=True)
        for name, data in modules(kind).items():
            (folder / "attention" / name).write_bytes(data + said.encode())
        (folder / "ps1.ipynb").write_text((self.course.release("ps1") / "ps1.ipynb").read_text())
        return self.run("submit", "--student", student, *options, folder)

    def mark(self, student, points):
        """Give points by hand for the first written question, as formgrader does."""
        with api(self.course).gradebook as book:
            grades = book.find_submission("ps1", student).notebooks[0].grades
            question = next(one for one in grades if one.cell.cell_type == "markdown")
            question.manual_score, question.needs_manual_grade = points, False
            book.db.commit()

    def finals(self, pages=False):
        """What each place says that counts, which must be the same everywhere: by student.

        pages: whether feedback is written, which takes nbgrader a second for each
        """
        if pages:
            self.run("feedback")
        self.run("export")
        self.run("export", "--format", "canvas", "--ungraded")
        report = self.run("report")
        with (self.course.root / "ps1.csv").open(newline="") as file:
            table = {row["student"]: row for row in csv.DictReader(file)}
        with (self.course.root / "ps1-canvas.csv").open(newline="") as file:
            canvas = {row["SIS Login ID"]: float(row["ps1"]) for row in list(csv.DictReader(file))[1:]}
        found = {name: float(row["final"]) for name, row in table.items() if row["handed_in"] == "yes"}
        assert canvas == found
        listed = api(self.course).get_submissions("ps1")  # what formgrader's page of submissions gets
        assert {one["student"]: one["score"] for one in listed} == pytest.approx(found)
        page = (self.course.root / "reports" / "ps1.html").read_text()
        for student, final in found.items():
            assert re.search(rf">{student}</bdi><span.*?</th>.*?<td class=\"number\">{final:g}</td>", page)
            if pages:
                feedback = (self.course.feedback(student, "ps1") / "ps1.html").read_text()
                shown = re.search(r'class="score"><strong>([\d.]+)</strong>', feedback)
                assert float(shown[1]) == pytest.approx(final), student
            logged = read_log(self.course)[1].standings[student, "ps1"]
            points = sum(logged.exercises.values()) + sum(logged.by_hand.values())
            assert points - logged.late.get("penalty", 0) == pytest.approx(final), student
            assert logged.last["final"] == pytest.approx(final)
            told = f"; {final:g} count" in self.run("log", "--student", student)
            assert told == (final != logged.last["points"][1]), student
            late = float(table[student]["seconds_late"])
            notebook = (self.course.root / "autograded" / student / "ps1" / "ps1.ipynb").read_text()
            assert ("late: " in head_of(notebook)) == (late > 0)
        absent = [name for name in ("ben", "idle", "zoë") if name not in found]
        assert f"Handed in nothing: {', '.join(absent)}" in report and "Not up to date" not in report
        assert not [text for row in table.values() for text in row.values() if re.search(r"\d\.\d{7}", text)]
        return found


def head_of(text):
    """The cell with the deadline in a notebook, which formgrader and feedback show."""
    (head,) = ["".join(c["source"]) for c in json.loads(text)["cells"] if "".join(c["source"]).startswith(HEAD)]
    return head


@pytest.fixture
def term(tmp_path_factory, tmp_path):
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path / "course")
    (course.root / "students.csv").write_text(ROSTER)
    return Term(course, tmp_path / "in")


def test_every_place_tells_the_same_final_score_all_through_a_term(term):
    term.settings('"none"')
    term.run("release")
    term.hand_in("ada", "right", DUE - timedelta(days=1))
    term.hand_in("ben", "partly", DUE + timedelta(hours=2))
    term.hand_in("zoe\u0308", "right", DUE + timedelta(minutes=10))  # as macOS writes it
    said = term.run("grade")
    assert "2 of 3 late, nothing taken off, by the late policy" in said and "ben 2 h late" in said
    before = term.finals()
    assert before.keys() == {"ada", "ben", "zoë"} and before["ada"] == before["zoë"] == 42 > before["ben"] > 0

    term.settings(f"{{ {LATE} }}")  # another policy, and nothing is handed in or judged again
    refused = term.run("export", code=1)
    assert "late penalty of ben is not what" in refused and "autograder grade ps1" in refused
    assert "autograder grade ps1" in term.run("feedback", code=1)
    stale = "late penalty of one learner is not what policy, deadline, extension and marks give now: run grade"
    assert f"Not up to date: the {stale}" in term.run("report")
    assert stale in (term.course.root / "reports" / "ps1.html").read_text()
    said = term.run("grade")
    assert f"ben 2 h late: -{before['ben'] * 0.1:g}, {before['ben'] * 0.9:g} count" in said
    assert term.finals() == before | {"ben": pytest.approx(before["ben"] * 0.9)}, "zoë came within the grace"

    term.mark("ben", 3.0)  # a mark by hand is taken part of too
    assert "late penalty of ben" in term.run("export", code=1)
    term.run("grade")
    with_mark = before["ben"] + 3
    assert term.finals(pages=True)["ben"] == pytest.approx(with_mark * 0.9)

    term.run("extend", "ben", "ps1", "3h")
    assert "late penalty of ben" in term.run("export", code=1)
    term.run("grade")
    assert term.finals()["ben"] == with_mark
    term.run("extend", "ben", "ps1", "none")
    term.run("grade")
    assert term.finals()["ben"] == pytest.approx(with_mark * 0.9)

    earlier = DUE - timedelta(days=2)  # the deadline moves, which everybody reads on the page
    term.settings('"zero"', earlier)
    assert "the deadline of ps1 has changed" in term.run("export", code=1)
    assert "Not up to date: the deadline has changed" in term.run("report")
    term.run("release")
    said = term.run("grade")
    assert "3 of 3 late" in said
    assert term.finals(pages=True) == {"ada": 0, "ben": 0, "zoë": 0}
    page = (term.course.feedback("ada", "ps1") / "ps1.html").read_text()
    assert "6 January 2030, 12:00 (UTC)" in page and "8 January" not in page


def test_a_late_resubmission_leaves_the_earlier_time_and_the_earlier_work_can_be_put_back(term):
    term.settings('"zero"')
    term.run("release")
    term.hand_in("ada", "partly", DUE - timedelta(days=1))
    term.run("grade")
    in_time = term.finals()["ada"]
    said = term.hand_in("ada", "right", DUE + timedelta(days=1))
    assert "1 d late; it replaces what came in time, at 2030-01-07 12:00:00 UTC" in said
    assert "1 of 1 late" in term.run("grade") and term.finals()["ada"] == 0
    said = term.hand_in("ada", "partly", DUE + timedelta(days=2))
    assert "its time stays 2030-01-07 12:00:00 UTC" in said
    term.run("grade")
    assert term.finals()["ada"] == in_time > 0


def test_work_taken_in_after_the_deadline_came_when_it_is_said_to_have_come(term):
    term.settings('"zero"')
    term.run("release")
    term.hand_in("ada", "right", DUE + timedelta(days=3), "--time", "2030-01-08T12:59+01:00")
    roster = term.course.root / "students.csv"
    roster.write_text(f"{ROSTER}a b,,,,,\n")
    said = term.run("grade", code=1)
    assert "row 6: a student id is letters" in said and "not graded" not in said, "nobody is judged first"
    roster.write_text(ROSTER)
    term.run("grade")
    assert term.finals()["ada"] == 42
    assert next(csv.DictReader(io.StringIO((term.course.root / "ps1.csv").read_text())))["section"] == "A"


def test_those_in_time_by_their_own_archive_alone_are_told_together(term):
    term.settings('"zero"')
    term.run("release")
    for student in ("ada", "ben"):
        folder = term.folder / student
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / "ps1.zip", "w") as file:
            for name, data in modules("right").items():
                file.writestr(zipfile.ZipInfo(f"attention/{name}", (2030, 1, 7, 12, 0, 0)), data)
        term.now = DUE + timedelta(days=1)
        term.run("submit", "--student", student, folder / "ps1.zip")
    term.hand_in("zoë", "right", DUE - timedelta(hours=1))
    said = term.run("grade")
    assert (
        "To look at: 2 of 3 in time by the newest file in the archive alone, which whoever packs it can choose, and "
        "taken in after the deadline; `submit --time` says when it came: ada, ben" in said
    )
    term.run("submit", "--student", "ada", "--time", "2030-01-08T11:00Z", term.folder / "ada" / "ps1.zip")
    assert "1 of 3 in time by the newest file" in term.run("grade")
