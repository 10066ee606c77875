"""nbgrader goes on where its hook fails: what could not be cleaned is not graded, and the others are."""

import pytest
from nbformat.v4 import new_notebook

from autograder import nbgrader_plugin
from autograder.course.folder import Course
from autograder.intake import store
from autograder.nbgrader_plugin import TrustedResults


def test_a_submission_that_could_not_be_cleaned_is_refused_and_the_next_one_is_not(tmp_path, monkeypatch):
    course = Course.open(tmp_path)
    for student in ("ada", "zoe"):
        course.submitted(student, "ps1").mkdir(parents=True)
    cleaned = []

    def take_in(course, student, problem_set, _):
        if student == "ada":
            raise OSError("disk full")
        cleaned.append(student)

    monkeypatch.setattr(store, "take_in", take_in)
    nbgrader_plugin.take_in(tmp_path, "ps1", "*", [])
    assert cleaned == ["zoe"]
    step = TrustedResults()
    step.config.CourseDirectory.root = str(tmp_path)
    resources = {"nbgrader": {"student": "ada", "assignment": "ps1"}}
    with pytest.raises(RuntimeError, match="could not be taken in"):
        step.preprocess(new_notebook(), resources)

    monkeypatch.setattr(store, "take_in", lambda *_: cleaned.append("ada"))
    nbgrader_plugin.take_in(tmp_path, "ps1", "ada", [])
    assert ("ps1", "ada") not in nbgrader_plugin._refused
