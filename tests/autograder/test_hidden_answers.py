"""What a course keeps of the answers to its hidden draws, so that grading need not find them out."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from autograder.answer_key import keys, precomputed, reference
from autograder.answer_key.keys import keys_of
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.pipeline import grade
from autograder.release import bundle
from tests.autograder.judged_class import hand_in

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
def released(tmp_path_factory):
    course = Course.open(tmp_path_factory.mktemp("answers") / "course")
    bundle.release(course, "ps1")
    hand_in(course, "ada", "partly", None, HAND_IN_TIME)
    return course


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(reference, "KNOWN", {})
    keys._keys_of.cache_clear()


def content(course):
    return json.loads(course.answers_file("ps1").read_text())


def test_a_release_writes_them_for_the_owner_alone(released):
    path = released.answers_file("ps1")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert not [one for folder in ("release", "source") for one in (released.root / folder).rglob("answers*")]


def test_they_are_what_reference_and_misconceptions_answer(released, monkeypatch):
    policy = released.policy.of("ps1")
    for exercise in policy.exercises("ps1"):
        assert precomputed.read(released, "ps1")
        read = reference.hidden_keys(exercise, policy)
        monkeypatch.setattr(reference, "KNOWN", {})
        live = [key for key in keys_of(exercise, policy) if not key.reveal]
        as_json = [json.loads(json.dumps([key.calls, key.expected, dict(key.misconceptions)])) for key in live]
        assert [[key.calls, key.expected, dict(key.misconceptions)] for key in read] == as_json
        assert any(key.misconceptions for key in read)


def test_grading_needs_neither_reference_nor_torch(released):
    done = subprocess.run(
        [sys.executable, "-c", GRADE, str(released.root)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    points, torch = done.stdout.splitlines()
    assert float(points.split()[0]) == grade(released, "ps1")[0].points
    assert torch == "False False"


@pytest.mark.parametrize("name", ["grader", "terms"])
def test_those_of_another_grader_or_secret_are_not_believed(released, name, monkeypatch):
    (released.root / "others.json").write_text(json.dumps(content(released) | {name: "another"}))
    monkeypatch.setattr(Course, "answers_file", lambda self, problem_set: self.root / "others.json")
    assert not precomputed.read(released, "ps1")
    assert not reference.KNOWN


def test_a_full_disk_costs_nobody_a_mark(released, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    before = grade(released, "ps1")[0].points
    monkeypatch.setattr(precomputed, "read", lambda *_: False)
    monkeypatch.setattr(precomputed, "write", full)
    assert [line.points for line in grade(released, "ps1", regrade=True)] == [before]


@pytest.mark.parametrize("text", ["", "[]", '{"grader": 1', "{}", "null"])
def test_a_damaged_file_is_found_out_anew_by_the_next_grade(released, text):
    path = released.answers_file("ps1")
    before = content(released)
    path.write_text(text)
    assert [line.points for line in grade(released, "ps1", regrade=True)] == [
        line.points for line in grade(released, "ps1")
    ]
    assert content(released) == before
