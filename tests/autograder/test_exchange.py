"""A problem set out and back through nbgrader's own exchange."""

import json
import shutil
import subprocess
import sys

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from autograder import releasing
from autograder.course import Course
from autograder.nbgrader_plugin import configure
from autograder.places import REFERENCE, ROOT

COURSE_ID = "attention-by-hand"


def exchange_settings(place):
    c = Config()
    c.Exchange.root, c.Exchange.cache = str(place / "exchange"), str(place / "cache")
    return c


def as_student(place, step, monkeypatch):
    """One step of a student's nbgrader, in the student's folder."""
    c = exchange_settings(place)
    c.CourseDirectory.course_id, c.CourseDirectory.assignment_id = COURSE_ID, "ps1"
    folder = place / "student"
    folder.mkdir(exist_ok=True)
    c.CourseDirectory.root = c.Exchange.assignment_dir = str(folder)
    monkeypatch.chdir(folder)
    factory = ExchangeFactory(config=c)
    getattr(factory, step)(coursedir=CourseDirectory(config=c), authenticator=Authenticator(config=c), config=c).start()
    return folder


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # nbgrader leaves time stamps open
def test_a_submission_comes_and_its_feedback_goes_through_the_exchange(tmp_path, monkeypatch):
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    course = Course.open(tmp_path / "course")
    releasing.release(course, "ps1")
    c = exchange_settings(tmp_path)
    configure(c, course.root)
    teacher = NbGraderAPI(CourseDirectory(config=c), Authenticator(config=c), config=c)
    assert teacher.release_assignment("ps1")["success"]

    folder = as_student(tmp_path, "FetchAssignment", monkeypatch)
    shutil.copy(REFERENCE / "worked_example.py", folder / "ps1" / "attention")
    (folder / "ps1" / "torch.py").write_text("raise SystemExit")
    as_student(tmp_path, "Submit", monkeypatch)

    assert teacher.collect("ps1")["success"]
    (student,) = course.students("ps1")
    monkeypatch.chdir(ROOT)
    by_zip = course.submitted("by-zip", "ps1")  # another student, whose files were copied here by hand
    shutil.copytree(course.release("ps1"), by_zip)
    command = [sys.executable, "-m", "autograder", "grade", "ps1", "--course", str(course.root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    told = " ".join(done.stdout.split())
    assert f"{student}: torch.py is no part of the problem set: left out" in told
    record = json.loads(course.result_file(student, "ps1").read_text(encoding="utf-8"))
    assert all(exercise["points"] == exercise["max_points"] for exercise in record["exercises"])

    assert teacher.generate_feedback("ps1")["success"]
    released = teacher.release_feedback("ps1")
    assert released["success"], released
    as_student(tmp_path, "FetchFeedback", monkeypatch)
    (page,) = (folder / "ps1" / "feedback").glob("*/ps1.html")
    assert "passes every check" in page.read_text(encoding="utf-8")
