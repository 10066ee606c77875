"""The public answer key is kept, so that judging outside a course needs no torch where it runs."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from autograder.answer_key import public
from autograder.answer_key.keys import PUBLIC_POLICY, live_answer_key
from autograder.course.paths import REFERENCE, ROOT
from selfcheck.catalogue import exercises, parts_of

[MASK], [SOFTMAX] = parts_of("masks.causal_mask"), parts_of("worked_example.softmax")
JUDGES = """
import sys
from autograder.__main__ import main

main(["judge", sys.argv[1], "--exercise", "masks.causal_mask", "--json", sys.argv[2]], standalone_mode=False)
assert "torch" not in sys.modules and "numpy" not in sys.modules
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    public.folder.cache_clear()
    yield tmp_path / "cache"
    public.folder.cache_clear()


@pytest.fixture
def computed(monkeypatch):
    """The ids of the exercises whose answers are computed from now on."""
    found = []

    def live(problem_set, policy, exercises):
        found.extend(exercise.id for exercise in exercises)
        return live_answer_key(problem_set, policy, exercises)

    monkeypatch.setattr(public, "live_answer_key", live)
    return found


def test_what_is_kept_is_what_the_reference_answers_and_is_not_computed_again(computed):
    live = live_answer_key("ps3", PUBLIC_POLICY, [MASK])
    for _ in range(2):
        assert public.answer_key("ps3", [MASK]).answers == live.answers
    assert computed == [MASK.id]
    assert not public.needs_torch([MASK, SOFTMAX]) and public.needs_torch(parts_of("masks.padding_mask"))


@pytest.mark.parametrize("text", ["", "{}", "[[]]", "[" * 10_000, "[1, 2]"])
def test_a_damaged_file_is_computed_anew(computed, text):
    live = public.answer_key("ps1", [SOFTMAX])
    [path] = public.folder().iterdir()
    path.write_text(text)
    assert public.answer_key("ps1", [SOFTMAX]).answers == live.answers
    assert computed == [SOFTMAX.id] * 2 and json.loads(path.read_text()) == live.answers[SOFTMAX.id]


@pytest.mark.parametrize("what", ["_version_of", "grader_version"])
def test_another_grader_or_another_torch_computes_its_own_and_few_are_kept(computed, monkeypatch, what):
    for number in range(public.MOST_FOLDERS + 2):
        monkeypatch.setattr(public, what, lambda *_, number=number: str(number))
        public.folder.cache_clear()
        public.answer_key("ps1", [SOFTMAX])
    assert computed == [SOFTMAX.id] * (public.MOST_FOLDERS + 2)
    assert len(list(public.folder().parent.iterdir())) == public.MOST_FOLDERS
    assert public.folder().is_dir()


def test_where_nothing_can_be_written_or_submissions_would_see_it_nothing_is_kept(computed, place, monkeypatch):
    place.write_text("no folder")
    assert public.answer_key("ps1", [SOFTMAX]).answers
    place.unlink()
    monkeypatch.setattr(public, "shown_by", lambda path: "/usr")
    assert public.answer_key("ps1", [SOFTMAX]).answers and not place.exists()
    assert computed == [SOFTMAX.id] * 2


@pytest.mark.parametrize("home", ["nowhere", "~"])
def test_where_no_cache_folder_is_known_nothing_is_kept_in_the_current_one(computed, tmp_path, monkeypatch, home):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", home))
    assert public.answer_key("ps1", [SOFTMAX]).answers and not os.listdir()
    assert computed == [SOFTMAX.id]


def test_an_exercise_of_two_parts_has_answers_for_each():
    assert len(exercises()) > len({exercise.id for exercise in exercises()})
    assert len(exercises()) == len(set(map(public._file, exercises())))


def test_judge_imports_no_torch_where_it_runs_and_still_tells_right_from_wrong(place, tmp_path):
    public.answer_key("ps3", [MASK])
    package = tmp_path / "package"
    shutil.copytree(REFERENCE, package / "attention", ignore=shutil.ignore_patterns("__pycache__"))
    wrong = "\ndef causal_mask(query_length, *_, **__):\n    return torch.ones(query_length, query_length).bool()\n"
    right = (package / "attention" / "masks.py").read_text()
    most = MASK.max_points
    for text, due in ((right, {most}), (right + wrong, {*range(most)})):
        (package / "attention" / "masks.py").write_text(text)
        command = [sys.executable, "-c", JUDGES, str(package), str(tmp_path / "out.json")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / "out.json").read_text())[str(package)]["exercises"][MASK.id]["points"] in due
