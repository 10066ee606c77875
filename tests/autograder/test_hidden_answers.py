"""The answer key that a course keeps, so that grading need not compute it."""

import json
import pickle
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from autograder.answer_key import precomputed
from autograder.answer_key.checks import (
    DRAWS,
    ENOUGH_CALLS,
    hidden_checks,
    hidden_seeds,
    recorded_seed,
    seed_of,
    visible_checks,
)
from autograder.answer_key.keys import PUBLIC_POLICY, hidden_draws, live_answer_key
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.course.policy import GradingPolicy
from autograder.pipeline import grade
from autograder.release import bundle
from selfcheck.catalogue import exercises

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


def content(course):
    return json.loads(course.answers_file("ps1").read_text())


def test_a_release_writes_them_for_the_owner_alone(handed_in):
    path = handed_in.answers_file("ps1")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert not [one for folder in ("release", "source") for one in (handed_in.root / folder).rglob("answers*")]


def plain(keys):
    return [json.loads(json.dumps([key.calls, key.expected, dict(key.misconceptions), key.reveal])) for key in keys]


def test_it_is_what_the_reference_answers_and_names_misconceptions_by_shown_draws_alone(handed_in):
    read, live = precomputed.read(handed_in, "ps1"), live_answer_key("ps1", handed_in.policy)
    assert read.exercises == live.exercises == handed_in.policy.exercises("ps1")
    for exercise in read.exercises:
        assert plain(read.keys_of(exercise)) == plain(live.keys_of(exercise))
        assert {key.reveal for key in read.keys_of(exercise) if key.misconceptions} == {True}


def test_it_says_the_same_on_another_machine(handed_in):
    for there in (precomputed.read(handed_in, "ps1"), live_answer_key("ps1", handed_in.policy)):
        here = pickle.loads(pickle.dumps(there))
        assert here.digest == there.digest
        for exercise in there.exercises:
            assert plain(here.keys_of(exercise)) == plain(there.keys_of(exercise))


def test_it_is_of_one_policy_and_one_choice_of_exercises():
    policies = GradingPolicy(b"a course's secret"), GradingPolicy(b"another course's secret")
    first, other = (live_answer_key("ps1", policy) for policy in policies)
    part = live_answer_key("ps1", policies[0], first.exercises[:2])
    assert len({first.digest, other.digest, part.digest}) == 3 and part.exercises == first.exercises[:2]
    for exercise in part.exercises:
        assert plain(part.keys_of(exercise)) == plain(first.keys_of(exercise)) != plain(other.keys_of(exercise))


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
    assert precomputed.read(handed_in, "ps1") is None


def test_a_full_disk_costs_nobody_a_mark(handed_in, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    before = grade(handed_in, "ps1")[0].points
    monkeypatch.setattr(precomputed, "read", lambda *_: None)
    monkeypatch.setattr(precomputed, "write", full)
    assert [line.points for line in grade(handed_in, "ps1", regrade=True)] == [before]


@pytest.mark.parametrize("text", ["", "[]", '{"grader": 1', "{}", "null", "[" * 100_000], ids=range(6))
def test_a_damaged_file_is_found_out_anew_by_the_next_grade(handed_in, text):
    path = handed_in.answers_file("ps1")
    before = content(handed_in)
    path.write_text(text)
    assert [line.points for line in grade(handed_in, "ps1", regrade=True)] == [
        line.points for line in grade(handed_in, "ps1")
    ]
    assert content(handed_in) == before


def module_state():
    """What the modules of the grader hold that can grow."""
    parts = tuple(f"autograder.{name}" for name in ("answer_key", "course", "intake", "judge", "pipeline"))
    return {
        (name, variable): repr(value)
        for name, module in list(sys.modules.items())
        if name.startswith(parts)
        for variable, value in vars(module).items()
        if isinstance(value, dict | list | set) and not variable.startswith("__")
    }


def test_grading_leaves_nothing_behind_in_modules(handed_in, tmp_path):
    for course in (handed_in, Course.open(tmp_path / "course")):
        if course is not handed_in:
            bundle.release(course, "ps1")
            hand_in(course, "ada", "partly", None, HAND_IN_TIME)
        before = module_state()
        course.answers_file("ps1").unlink()
        assert [line.points is None for line in grade(course, "ps1", regrade=True)] == [False]
        after = module_state()
    assert after == before and before


def test_every_check_makes_enough_hidden_calls_and_no_more_draws_than_it_takes():
    numbers = set()
    for exercise in exercises():
        drawn = [check.name for check, _, _ in hidden_draws(exercise, PUBLIC_POLICY) if "peak" not in check.compares]
        for check in visible_checks(exercise) + hidden_checks(exercise):
            seeds = hidden_seeds(PUBLIC_POLICY.secret, check)
            calls, trains = len(check.calls(seeds[0])), any(step.get("lessons") for step in check.calls(seeds[0]))
            assert drawn.count(check.name) == len(seeds) == len(set(seeds))
            fewest = len(seeds) == DRAWS or len(seeds) * calls >= ENOUGH_CALLS > (len(seeds) - 1) * calls
            assert len(seeds) == 1 if trains else fewest
            numbers.add(len(seeds))
    assert numbers == {1, 2, DRAWS}


@pytest.mark.parametrize("secret", [b"1", b"2", b"3"])
def test_no_hidden_draw_repeats_another_or_the_one_shown_where_the_check_has_others(secret):
    """By chance the three hidden squares of the causal mask were as large as the one shown, in one course of 125."""
    for exercise in exercises():
        for check in visible_checks(exercise) + hidden_checks(exercise):
            seeds = [recorded_seed(check), *hidden_seeds(secret, check)]
            made = {json.dumps(check.calls(seed)) for seed in seeds}
            if len(made) < len(seeds):
                assert made >= {json.dumps(check.calls(seed)) for seed in range(20)}, check.name


def test_another_course_asks_other_inputs_in_every_exercise():
    """Checks whose inputs are fixed, or chosen among a few, may ask the same."""
    same, count = [], 0
    for exercise in exercises():
        checks = visible_checks(exercise) + hidden_checks(exercise)
        drawn = [[json.dumps(check.calls(seed_of(secret, check))) for check in checks] for secret in (b"1", b"2")]
        alike = [check.name for check, one, other in zip(checks, *drawn, strict=True) if one == other]
        assert len(alike) < len(checks) / 2, exercise.id
        same, count = same + alike, count + len(checks)
    assert len(same) < count / 5, same
