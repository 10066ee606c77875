"""A problem set out and back through nbgrader's own exchange."""

import json
import shutil

import pytest
from click.testing import CliRunner
from nbgrader.apps.api import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from autograder.__main__ import main
from autograder.course.paths import REFERENCE, ROOT
from autograder.nbgrader_plugin import configure

from .shared_courses import copy_of, released

COURSE_ID = "attention-by-hand"


def exchange_settings(place, student=None):
    """What everybody's nbgrader_config.py says; each student keeps a cache of their own."""
    c = Config()
    c.Exchange.root, c.Exchange.cache = str(place / "exchange"), str(place / f"cache-{student}")
    return c


def as_student(place, student, step, monkeypatch):
    """One step of a student's nbgrader, in the student's folder."""
    c = exchange_settings(place, student)
    c.CourseDirectory.course_id, c.CourseDirectory.assignment_id = COURSE_ID, "ps1"
    c.CourseDirectory.student_id = student
    folder = place / student
    folder.mkdir(exist_ok=True)
    c.CourseDirectory.root = c.Exchange.assignment_dir = str(folder)
    monkeypatch.chdir(folder)
    factory = ExchangeFactory(config=c)
    getattr(factory, step)(coursedir=CourseDirectory(config=c), authenticator=Authenticator(config=c), config=c).start()
    return folder


def feedback_of(place, student, monkeypatch):
    """The one page that a student fetches."""
    (page,) = (as_student(place, student, "FetchFeedback", monkeypatch) / "ps1" / "feedback").glob("*/ps1.html")
    return page.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # nbgrader leaves time stamps open
def test_submissions_come_and_each_learners_feedback_goes_through_the_exchange(tmp_path, tmp_path_factory, monkeypatch):
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path / "course")
    c = exchange_settings(tmp_path)
    configure(c, course.root)
    c.ExchangeCollect.check_owner = False  # one account plays everybody
    teacher = NbGraderAPI(CourseDirectory(config=c), Authenticator(config=c), config=c)
    assert teacher.release_assignment("ps1")["success"]

    for student in ("ada", "ben"):
        folder = as_student(tmp_path, student, "FetchAssignment", monkeypatch)
        assert (folder / "ps1" / "selfcheck").is_dir()
        if student == "ada":
            shutil.copy(REFERENCE / "worked_example.py", folder / "ps1" / "attention")
            (folder / "ps1" / "torch.py").write_text("raise SystemExit")
        as_student(tmp_path, student, "Submit", monkeypatch)

    assert teacher.collect("ps1")["success"]
    assert course.students("ps1") == ["ada", "ben"]
    monkeypatch.chdir(ROOT)
    by_zip = course.submitted("by-zip", "ps1")  # another student, whose files were copied here by hand
    shutil.copytree(course.release("ps1"), by_zip)
    done = CliRunner().invoke(main, ["grade", "ps1", "--course", str(course.root)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert "ada: torch.py is no part of the problem set: left out" in told
    record = json.loads(course.result_file("ada", "ps1").read_text(encoding="utf-8"))
    assert all(exercise["points"] == exercise["max_points"] for exercise in record["exercises"])

    assert teacher.generate_feedback("ps1")["success"]
    handed_back = teacher.release_feedback("ps1")
    assert handed_back["success"], handed_back
    pages = {student: feedback_of(tmp_path, student, monkeypatch) for student in ("ada", "ben")}
    assert "passes all 13 checks" in pages["ada"] and "passes all" not in pages["ben"]
    assert "not started" in pages["ben"] and "not started" not in pages["ada"]
