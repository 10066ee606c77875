"""What a course keeps of the answers to its hidden draws, so that grading need not find them out."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from autograder.answer_key import precomputed, reference
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.judge import judge
from autograder.judge.judge import keys_of
from autograder.pipeline import grade

from .judged_class import hand_in
from .shared_courses import copy_of, released

HAND_IN_TIME = datetime(2030, 1, 1, tzinfo=UTC)
GRADE = """
import sys
from autograder.course.folder import Course
from autograder.pipeline import grade

for line in grade(Course.open(sys.argv[1]), "ps1"):
    print(line.points, line.remarks)
print("torch" in sys.modules, "_reference_attention" in sys.modules)
"""


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path_factory.mktemp("answers") / "course")
    hand_in(course, "ada", "partly", None, HAND_IN_TIME)
    return course


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(reference, "KNOWN", {})
    judge._keys_of.cache_clear()


def content(course):
    return json.loads(course.answers_file("ps1").read_text())


def test_a_release_writes_them_for_the_owner_alone(handed_in):
    path = handed_in.answers_file("ps1")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert not [one for folder in ("release", "source") for one in (handed_in.root / folder).rglob("answers*")]


def test_they_are_what_reference_and_misconceptions_answer(handed_in, monkeypatch):
    terms = handed_in.terms.of("ps1")
    for exercise in terms.exercises("ps1"):
        assert precomputed.read(handed_in, "ps1")
        read = reference.hidden_keys(exercise, terms)
        monkeypatch.setattr(reference, "KNOWN", {})
        live = [key for key in keys_of(exercise, terms) if not key.reveal]
        as_json = [json.loads(json.dumps([key.calls, key.expected, dict(key.misconceptions)])) for key in live]
        assert [[key.calls, key.expected, dict(key.misconceptions)] for key in read] == as_json
        assert any(key.misconceptions for key in read)


def test_grading_needs_neither_reference_nor_torch(handed_in):
    handed_in.result_file("ada", "ps1").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", GRADE, str(handed_in.root)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    points, torch = done.stdout.splitlines()
    assert float(points.split()[0]) == grade(handed_in, "ps1")[0].points
    assert torch == "False False"


@pytest.mark.parametrize("name", ["grader", "terms"])
def test_those_of_another_grader_or_secret_are_not_believed(handed_in, name, monkeypatch):
    (handed_in.root / "others.json").write_text(json.dumps(content(handed_in) | {name: "another"}))
    monkeypatch.setattr(Course, "answers_file", lambda self, problem_set: self.root / "others.json")
    assert not precomputed.read(handed_in, "ps1")
    assert not reference.KNOWN


def test_a_full_disk_costs_nobody_a_mark(handed_in, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    before = grade(handed_in, "ps1")[0].points
    monkeypatch.setattr(precomputed, "read", lambda *_: False)
    monkeypatch.setattr(precomputed, "write", full)
    assert [line.points for line in grade(handed_in, "ps1", regrade=True)] == [before]


@pytest.mark.parametrize("text", ["", "[]", '{"grader": 1', "{}", "null"])
def test_a_damaged_file_is_found_out_anew_by_the_next_grade(handed_in, text):
    path = handed_in.answers_file("ps1")
    before = content(handed_in)
    path.write_text(text)
    assert [line.points for line in grade(handed_in, "ps1", regrade=True)] == [
        line.points for line in grade(handed_in, "ps1")
    ]
    assert content(handed_in) == before
