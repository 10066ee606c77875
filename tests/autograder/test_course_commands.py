"""What an instructor types on a course, and what comes of it."""

import io
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from rich.console import Console

from autograder import pipeline
from autograder.__main__ import main
from autograder.answer_key import live, public
from autograder.answer_key.checks import visible_checks
from autograder.authoring import samples
from autograder.cli import demonstration
from autograder.cli.judge import chosen_exercises
from autograder.course.folder import Course
from autograder.intake import store
from selfcheck.catalogue import exercises, in_problem_set, parts_of

from .sample_class_course import SETS, TABLE
from .shared_courses import copy_of, released


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The first problem set is released."""
    with released(tmp_path_factory, "ps1") as course:
        yield course


def command(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def test_no_line_is_lost_while_an_answer_is_computed_beside_it(capsys, monkeypatch):
    entered, printed = threading.Event(), threading.Event()

    def slow(x):
        entered.set()
        assert printed.wait(60)
        return x

    monkeypatch.setattr(live, "reference", lambda exercise: slow)
    check = visible_checks(parts_of("worked_example.softmax")[0])[0]
    with ThreadPoolExecutor(1) as pool:
        key = pool.submit(live.live_key, check, 1)
        assert entered.wait(60)
        print("3/7 ada: 5 of 9")
        printed.set()
        assert "value" in key.result().expected[0]
    assert capsys.readouterr().out == "3/7 ada: 5 of 9\n"


def test_the_sample_class_does_not_enter_a_course_of_somebody(course):
    done = command("demo", "--course", course.root)
    assert done.exit_code == 1 and "holds a course that demo has not made" in " ".join(done.output.split())
    assert not (course.root / "submitted").exists()


def test_the_table_of_the_sample_class_fits_a_terminal_of_80_columns():
    lines = {name: {"quinn": pipeline.Line("quinn", 77.5, 82, ("a long remark " * 9,), True)} for name in SETS}
    terminal = Console(width=80, file=io.StringIO())
    terminal.print(demonstration.summary(lines))
    shown = terminal.file.getvalue()
    assert shown.count("77.5") == len(SETS) and "…" not in shown
    assert len(demonstration.to_look_at(lines)) == len(SETS)


def test_mistakes_in_a_commands_use_are_one_line(tmp_path):
    for arguments in (["grade", "ps9"], ["export", "ps1"], ["report", "ps1"]):
        done = command(*arguments, "--course", tmp_path / "empty")
        assert done.exit_code == 1 and "Traceback" not in done.output and done.output.strip()


def test_a_submission_comes_in_as_a_zip_or_a_folder(course, tmp_path):
    one, inbox = TABLE[0], tmp_path / "in"
    samples.write_submission(one, course, inbox)
    other = Course.open(tmp_path / "other")
    done = command("submit", one.problem_set, "--student", "ada", inbox, "--course", other.root)
    assert done.exit_code == 1 and "run release" in " ".join(done.output.split())
    shutil.rmtree(other.root)
    other = copy_of(course, other.root)
    done = command("submit", one.problem_set, "--student", "../evil", inbox, "--course", other.root)
    assert done.exit_code == 1 and "student id" in done.output
    assert command("submit", one.problem_set, "--student", "ada", inbox, "--course", other.root).exit_code == 0
    packed = shutil.make_archive(tmp_path / "packed", "zip", inbox)
    assert command("submit", one.problem_set, "--student", "zip", packed, "--course", other.root).exit_code == 0
    first, second = (store.take_in(other, name, one.problem_set).files for name in ("ada", "zip"))
    assert first == second and first


def test_judge_without_a_name_judges_every_exercise():
    assert [one for wanted in chosen_exercises([], []).values() for one in wanted] == list(exercises())


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """The public answers are kept in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    public.folder.cache_clear()
    yield
    public.folder.cache_clear()


@pytest.mark.usefixtures("own_cache")
def test_judge_grades_as_grade_does(course, tmp_path):
    chosen = [one for one in TABLE if one.problem_set == "ps1" and one.student in ("ada", "carla")]
    folders = []
    for number, one in enumerate(chosen):
        samples.write_submission(one, course, tmp_path / str(number))
        folders.append(tmp_path / str(number))
    (folders[1] / "attention" / "stray.so").touch()
    folders[0] = f"{folders[0]}/"  # a folder is called in the answer what it was called in the question
    sets = ("ps1", "ps2")
    named = [word for name in sets for word in ("--problem-set", name)]
    done = command("judge", *folders, *named, "--json", tmp_path / "out.json")
    assert done.exit_code == 0 and "stray.so is no part of the problem set" in done.output
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    for one, folder in zip(chosen, folders, strict=True):
        entries, expected = found[str(folder)]["exercises"], samples.expected_points(one)
        assert set(entries) == {exercise.id for name in sets for exercise in in_problem_set(name)}
        assert {name: entries[name]["points"] for name in expected} == expected
        for check in entries["worked_example.softmax"]["checks"]:
            assert set(check) == {"check", "verdict", "message", "misconception"}
