"""Results on file, in the form that version 0.5.0 gave them."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_key import precomputed
from autograder.course.folder import Course
from autograder.intake.submission import Submission
from autograder.judge import cache
from autograder.judge.result import Result

OF_0_5_0 = Path(__file__).parents[1] / "data" / "result_0_5_0.json"
TREE = json.loads(OF_0_5_0.read_text(encoding="utf-8"))


def test_a_result_of_version_0_5_0_is_read_and_written_as_it_was():
    result = cache.read_result(OF_0_5_0)
    assert (result.student, result.policy, result.grader) == (TREE["student"], TREE["terms"], TREE["grader"])
    assert [exercise.id for exercise in result.exercises] == [one["id"] for one in TREE["exercises"]]
    assert result.exercises[1].checks[0].message == TREE["exercises"][1]["checks"][0]["message"]
    assert result.points == sum(one["points"] for one in TREE["exercises"])
    assert json.dumps(result.as_json(), indent=1, ensure_ascii=False) == OF_0_5_0.read_text(encoding="utf-8")
    assert not result.fresh


@pytest.mark.parametrize("name", ["grader", "terms", "files", "graded", "seconds", "used", "secret"])
@pytest.mark.parametrize("instead", [None, ["odd"]])
def test_what_an_older_version_did_not_write_is_unknown(tmp_path, name, instead):
    path = tmp_path / "result.json"
    path.write_text(
        json.dumps({key: value for key, value in TREE.items() if key != name} | ({name: instead} if instead else {}))
    )
    result = cache.read_result(path)
    assert result is not None and not result.as_json()[name]
    assert result.exercises == Result.from_json(TREE).exercises


def test_a_named_pipe_is_no_result_and_no_answer_key_and_nobody_waits_for_it(tmp_path):
    course = Course.open(tmp_path / "course")
    for path in (course.result_file("ada", "ps1"), course.answers_file("ps1")):
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
    assert cache.read_result(course.result_file("ada", "ps1")) is None
    assert precomputed.read(course, "ps1") is None


@pytest.mark.parametrize("name", ["key", "student", "problem_set", "exercises", "troubles", "remarks"])
def test_a_result_without_what_every_version_wrote_is_none(tmp_path, name):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({key: value for key, value in TREE.items() if key != name}))
    assert cache.read_result(path) is None


@pytest.fixture
def filed(tmp_path):
    """A course with a result on file, the submission that it is about, and what there is to judge of it."""
    course = Course.open(tmp_path / "course")
    files = {"worked_example.py": b"x = 1\n"}
    submission = Submission(student="ada", problem_set="ps1", files=files, notebook="", remarks=("late",))
    task = cache.task_of(course, submission)
    judged = replace(Result.from_json(TREE), key=task.key, student="", secret="", remarks=(), troubles=("odd",))
    return course, submission, task, cache.put_on_file(course, submission, judged)


def test_a_result_on_file_bears_the_name_and_the_remarks_of_who_handed_in(filed):
    course, submission, task, result = filed
    assert (result.student, result.secret, result.remarks) == ("ada", course.fingerprint, ("late", "odd"))
    assert cache.result_on_file(course, submission, task) == result
    later = replace(submission, remarks=())
    assert cache.result_on_file(course, later, task).remarks == ("odd",)
    assert cache.read_result(course.result_file("ada", "ps1")).remarks == ("odd",)


def test_a_result_of_other_work_or_of_somebody_else_is_not_taken(filed):
    course, submission, _, result = filed
    assert cache.result_on_file(course, replace(submission, files={"worked_example.py": b"x = 2\n"})) is None
    path = course.result_file("ada", "ps1")
    for other in (replace(result, student="ben"), replace(result, grader_error=True)):
        path.write_text(json.dumps(other.as_json()))
        assert cache.result_on_file(course, submission) is None
