"""The sample class, through a real nbgrader course."""

import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from autograder import pipeline
from autograder.__main__ import main
from autograder.answer_key import live
from autograder.answer_key.reference import hidden_checks, visible_checks
from autograder.authoring import samples
from autograder.cli import demo
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE, ROOT
from autograder.course.releases import written_questions
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores
from autograder.intake import archive, store
from autograder.release import bundle
from autograder.report import page as report_page
from autograder.report.summary import class_report
from autograder.version import grader_version
from selfcheck.catalogue import exercises, in_problem_set, modules_of, parts_of, problem_sets

from .class_records import in_a_terminal

TABLE = samples.table()
SETS = problem_sets()


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """The sample class released, handed in, graded and given feedback: the course, and the instructor's lines."""
    course = Course.open(tmp_path_factory.mktemp("class") / "course")
    lines = {}
    for problem_set in SETS:
        bundle.release(course, problem_set)
        for one in TABLE:
            if one.problem_set == problem_set:
                folder = tmp_path_factory.mktemp("submission")
                samples.write_submission(one, course, folder)
                store.store(course, one.student, problem_set, archive.read_folder(folder, problem_set))
        lines[problem_set] = {line.student: line for line in pipeline.grade(course, problem_set)}
        assert api(course).generate_feedback(problem_set, force=True)["success"]
    return course, lines


def record(course, one):
    return json.loads(course.result_file(one.student, one.problem_set).read_text(encoding="utf-8"))


def test_the_sample_class_is_a_class():
    assert len({(one.student, one.problem_set) for one in TABLE}) == len(TABLE) >= 15
    assert any(not one.student.isascii() for one in TABLE)


@pytest.mark.parametrize("problem_set", SETS)
def test_every_problem_set_has_right_answers_stubs_and_mistakes_that_have_a_name(problem_set):
    handed_in = [one for one in TABLE if one.problem_set == problem_set]
    assert sum(one.base == "reference" and not one.points for one in handed_in) >= 2
    assert any(one.base == "stubs" and not one.points for one in handed_in)
    assert any(one.misconceptions for one in handed_in)


@pytest.mark.parametrize("one", TABLE, ids=lambda one: f"{one.problem_set}-{one.student!a}")
def test_each_submission_gets_the_verdict_it_deserves(graded, one):
    course, lines = graded
    found = {exercise["id"]: exercise for exercise in record(course, one)["exercises"]}
    assert {name: exercise["points"] for name, exercise in found.items()} == samples.expected_points(one)
    for name, misconception in one.misconceptions.items():
        if name in found:
            named = {check["misconception"] for check in found[name]["checks"]} - {None}
            assert named == {misconception}, name
    line = lines[one.problem_set][one.student]
    assert line.points == sum(samples.expected_points(one).values())
    assert one.remark in " ".join(line.remarks), "the instructor reads why"
    if one.base == "reference" and not one.points and not one.remark:
        assert line.remarks == ()


@pytest.mark.parametrize("problem_set", SETS)
def test_the_gradebook_holds_the_same_points(graded, problem_set):
    course, lines = graded
    book = {score.student: score.points for score in scores(course, problem_set)}
    assert book == {student: line.points for student, line in lines[problem_set].items()}


def test_nbgraders_own_autograde_gives_the_same_scores(graded, tmp_path):
    course, lines = graded
    fresh = Course.open(tmp_path / "course")
    fresh.secret_file.write_text(course.secret_file.read_text())
    bundle.release(fresh, "ps2")
    chosen = ("dmitri", "lena", "omar")  # a mistake, a stray torch.py, a doubled grade cell
    for one in TABLE:
        if one.problem_set == "ps2" and one.student in chosen:  # a student's own files, with nobody to clean them
            folder = fresh.submitted(one.student, "ps2")
            folder.mkdir(parents=True)
            samples.write_submission(one, fresh, folder)
    command = [Path(sys.executable).with_name("nbgrader"), "autograde", "ps2"]
    done = subprocess.run(command, cwd=fresh.root, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if "] Copying" not in line)
    book = {score.student: score.points for score in scores(fresh, "ps2")}
    assert book == {student: lines["ps2"][student].points for student in chosen}


def test_grading_again_grades_nobody_again(graded):
    course, lines = graded
    again = pipeline.grade(course, "ps1")
    assert {line.student: line.points for line in again} == {name: line.points for name, line in lines["ps1"].items()}
    assert not any(line.again for line in again)


def test_a_hand_given_mark_outlives_a_regrade(graded):
    course, lines = graded
    student = next(one.student for one in TABLE if one.notebook == "questions answered" and one.problem_set == "ps1")
    with api(course).gradebook as book:
        notebook = book.find_submission_notebook("ps1", "ps1", student)
        grade = next(grade for grade in notebook.grades if grade.cell.cell_type == "markdown")
        assert grade.needs_manual_grade
        grade.manual_score = 2.0
        book.db.commit()
    again = {line.student: line for line in pipeline.grade(course, "ps1", regrade=True)}
    assert again[student].again
    assert [line for line in again.values() if line.points is None] == []
    total = next(score.points for score in scores(course, "ps1") if score.student == student)
    assert total == lines["ps1"][student].points + 2.0


def test_every_grade_records_how_it_was_reached(graded):
    course, _ = graded
    for one in TABLE:
        found = record(course, one)
        assert found["isolation"] == "bubblewrap" and found["grader"] == grader_version()
        assert found["secret"] == course.fingerprint and found["graded"] and found["seconds"] >= 0


def solution_lines():
    """Lines that stand in a solution region and nowhere in the stubs: what must never be handed out."""
    found = set()
    for path in REFERENCE.glob("*.py"):
        inside = False
        for line in path.read_text().splitlines():
            if "# solution:" in line:
                inside = "begin" in line
            elif inside and len(line.strip()) > 15 and "import" not in line:
                found.add(line.strip())
    given = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    return {line for line in found if line not in given}


def hidden_words(chosen):
    """The names of the hidden checks of some exercises, and what they are said to see."""
    return {word for exercise in chosen for check in hidden_checks(exercise) for word in (check.name, check.sees)}


def files_of(*folders):
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_bytes().decode("utf-8", "replace") for path in paths}


@pytest.mark.parametrize("problem_set", SETS)
def test_nothing_released_holds_a_solution_or_a_hidden_check(graded, problem_set):
    course, _ = graded
    lines, hidden = solution_lines(), hidden_words(exercises())
    assert len(lines) > 15
    found = files_of(course.release(problem_set), course.source(problem_set))
    assert len(found) > 20
    for path, text in found.items():
        assert not [line for line in lines if line in text], path
        assert not [word for word in hidden if word in text], path
        assert "autograder" not in text, path


@pytest.mark.parametrize("module", sorted({exercise.module for exercise in exercises()}))
def test_a_solution_that_leaks_would_be_noticed(module):
    lines = solution_lines()
    assert [line for line in lines if line in (REFERENCE / f"{module}.py").read_text()]
    assert hidden_words(exercise for exercise in exercises() if exercise.module == module)


@pytest.mark.parametrize("problem_set", SETS)
def test_no_feedback_holds_a_solution_a_hidden_check_or_a_hidden_value(graded, problem_set):
    course, _ = graded
    lines, hidden = solution_lines(), hidden_words(exercises())
    for one in TABLE:
        if one.problem_set != problem_set:
            continue
        folder = course.feedback(one.student, one.problem_set)
        assert (folder / f"{one.problem_set}.html").exists()
        for path, text in files_of(folder).items():
            text += html.unescape(re.sub(r"<[^>]+>", "", text))  # code is shown in colours, word by word
            assert not [word for word in hidden if word in text], path
            solved = {line for line in lines if line in text and line not in samples.own_text(one)}
            if one.base == "stubs":  # of the others the solution is what they handed in
                assert not solved, path
            elif path.suffix == ".html" and not one.points:
                assert solved, "a line of the solution would be noticed"


@pytest.mark.parametrize("problem_set", SETS)
def test_feedback_shows_the_verdicts_and_the_submitted_source(graded, problem_set):
    course, _ = graded
    one = next(one for one in TABLE if one.misconceptions and one.problem_set == problem_set)
    name, misconception = next(iter(one.misconceptions.items()))
    exercise = next(exercise for exercise in in_problem_set(one.problem_set) if exercise.id == name)
    page = (course.feedback(one.student, one.problem_set) / f"{one.problem_set}.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", page)
    assert exercise.message_of(misconception).message.strip()[:30] in text
    assert f"submitted: attention/{exercise.module}.py" in text


@pytest.mark.parametrize("problem_set", SETS[1:])
def test_a_later_problem_set_hands_earlier_answers_out_where_asked(problem_set):
    earlier, own = SETS[SETS.index(problem_set) - 1], modules_of(problem_set)
    plain, solved = bundle.bundle(problem_set), bundle.bundle(problem_set, [earlier])
    for module in {module for name in SETS for module in modules_of(name)}:
        path = f"attention/{module}.py"
        if module in modules_of(earlier) and module not in own:
            assert "NotImplementedError" in plain[path] and "NotImplementedError" not in solved[path]
        else:
            assert plain.get(path) == solved.get(path)
    with pytest.raises(ValueError, match=f"before {problem_set}"):
        bundle.bundle(problem_set, [problem_set])


@pytest.mark.parametrize("problem_set", SETS)
def test_a_bundle_holds_the_checks_of_its_own_and_earlier_problem_sets_only(problem_set):
    seen = SETS[: SETS.index(problem_set) + 1]
    modules = {module for name in seen for module in modules_of(name)}
    files = {Path(name): text for name, text in bundle.bundle(problem_set).items()}
    for folder, suffix in (("attention", ".py"), ("selfcheck/checks", ".py"), ("selfcheck/catalogue", ".toml")):
        found = {path.stem for path in files if path.parent == Path(folder) and path.suffix == suffix}
        assert {name for name in found if not name.startswith("_")} == modules
    for exercise in exercises():
        recorded = json.loads(files.get(Path(f"selfcheck/recorded/{exercise.module}.json"), "{}"))
        if exercise.problem_set in seen:
            assert set(exercise.points) <= set(recorded)
        else:
            assert not set(exercise.points) & set(recorded)


def test_a_bundle_holds_the_helpers_of_its_checks_and_no_others():
    found = {name: {Path(path).name for path in bundle.bundle(name) if "checks/_" in path} for name in SETS}
    here = {path.name for path in (ROOT / "src" / "selfcheck" / "checks").glob("_*.py")}
    assert found["ps3"] == {"__init__.py"}
    assert found["ps4"] == found["ps3"] | {"_multi_head.py"}
    assert "_encoder_inputs.py" not in found["ps5"] and "_encoder_inputs.py" in found["ps6"]
    assert "_efficient_inputs.py" not in found["ps7"] and "_efficient_inputs.py" in found["ps8"]
    assert found[SETS[-1]] == here


def test_a_bundle_holds_the_private_files_of_its_package_and_no_others():
    found = {name: {Path(path).name for path in bundle.bundle(name) if "attention/_" in path} for name in SETS}
    assert found["ps7"] == {"__init__.py", "_arguments.py"}
    assert found["ps8"] == found["ps9"] == found["ps7"] | {"_triton_attention.py"}


@pytest.mark.parametrize("problem_set", SETS)
def test_a_released_folder_checks_right_answers_on_its_own(graded, tmp_path, problem_set):
    course, _ = graded
    folder = shutil.copytree(course.release(problem_set), tmp_path / "unpacked")
    handed_out = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert handed_out == {*bundle.bundle(problem_set), f"{problem_set}.ipynb"}
    shutil.copytree(REFERENCE, folder / "attention", dirs_exist_ok=True)  # attention of ps2 imports masks of ps3
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder)}
    said = ""
    for module in modules_of(problem_set):
        command = [sys.executable, "-P", "-m", "selfcheck", module]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        said += done.stdout
    for exercise in in_problem_set(problem_set):
        assert re.search(rf"^{exercise.number} .*: passes every visible check", said, flags=re.MULTILINE)


def test_the_class_report_counts_misconceptions_and_names_who_needs_a_look(graded):
    course, _ = graded
    found = class_report(course, "ps1")
    expected = next(one for one in TABLE if one.problem_set == "ps1" and one.misconceptions)
    name, misconception = next(iter(expected.misconceptions.items()))
    summary = next(one for one in found.exercises if one.id == name)
    assert summary.misconceptions[misconception] >= 1
    assert any("no valid JSON" in " ".join(reasons) for reasons in found.looks.values())
    assert misconception in report_page.page(found) and misconception in in_a_terminal(found)


def command(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def test_export_writes_quoted_csv(graded, tmp_path):
    course, lines = graded
    assert command("export", "ps1", "--course", course.root, "--to", tmp_path / "x.csv").exit_code == 0
    rows = (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith('"student"') and len(rows) == len(lines["ps1"]) + 1


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


def test_the_table_of_the_sample_class_fits_a_terminal_of_80_columns():
    lines = {name: {"quinn": pipeline.Line("quinn", 77.5, 82, ("a long remark " * 9,), True)} for name in SETS}
    terminal = Console(width=80, file=io.StringIO())
    terminal.print(demo._summary(lines))
    shown = terminal.file.getvalue()
    assert shown.count("77.5") == len(SETS) and "…" not in shown
    assert len(demo._to_look_at(lines)) == len(SETS)


def test_mistakes_in_a_commands_use_are_one_line(tmp_path):
    for arguments in (["grade", "ps9"], ["export", "ps1"], ["report", "ps1"]):
        done = command(*arguments, "--course", tmp_path / "empty")
        assert done.exit_code == 1 and "Traceback" not in done.output and done.output.strip()


def test_a_submission_comes_in_as_a_zip_or_a_folder(graded, tmp_path):
    course, _ = graded
    one, inbox = TABLE[0], tmp_path / "in"
    samples.write_submission(one, course, inbox)
    other = Course.open(tmp_path / "other")
    done = command("submit", one.problem_set, "--student", "ada", inbox, "--course", other.root)
    assert done.exit_code == 1 and "run release" in " ".join(done.output.split())
    bundle.release(other, one.problem_set)
    done = command("submit", one.problem_set, "--student", "../evil", inbox, "--course", other.root)
    assert done.exit_code == 1 and "student id" in done.output
    assert command("submit", one.problem_set, "--student", "ada", inbox, "--course", other.root).exit_code == 0
    packed = shutil.make_archive(tmp_path / "packed", "zip", inbox)
    assert command("submit", one.problem_set, "--student", "zip", packed, "--course", other.root).exit_code == 0
    first, second = (store.take_in(other, name, one.problem_set).files for name in ("ada", "zip"))
    assert first == second and first


def test_judge_grades_as_grade_does(graded, tmp_path):
    course, _ = graded
    chosen = [one for one in TABLE if one.problem_set == "ps1" and one.student in ("ada", "carla")]
    folders = []
    for number, one in enumerate(chosen):
        samples.write_submission(one, course, tmp_path / str(number))
        folders.append(tmp_path / str(number))
        for module in (tmp_path / str(number) / "attention").glob("*.py"):
            if module.stem not in ("__init__", "worked_example", "scores"):
                module.unlink()  # what is judged as zero takes no minute
    (folders[1] / "attention" / "stray.so").touch()
    folders[0] = f"{folders[0]}/"  # a folder is called in the answer what it was called in the question
    done = command("judge", *folders, "--json", tmp_path / "out.json")
    assert done.exit_code == 0 and "stray.so is no part of the problem set" in done.output
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    for one, folder in zip(chosen, folders, strict=True):
        entries, expected = found[str(folder)]["exercises"], samples.expected_points(one)
        assert set(entries) == {exercise.id for exercise in exercises()}
        assert {name: entries[name]["points"] for name in expected} == expected
        for check in entries["worked_example.softmax"]["checks"]:
            assert set(check) == {"check", "verdict", "message", "misconception"}


def test_judge_judges_and_lists_only_what_is_named(tmp_path):
    (tmp_path / "attention").mkdir()
    shutil.copy(REFERENCE / "masks.py", tmp_path / "attention")
    target = tmp_path / "out.json"
    done = command("judge", tmp_path, "--exercise", "masks.causal_mask", "--json", target)
    assert done.exit_code == 0 and "masks.causal_mask" in done.output and "padding_mask" not in done.output
    entries = json.loads(target.read_text())[str(tmp_path)]["exercises"]
    assert list(entries) == ["masks.causal_mask"]
    assert entries["masks.causal_mask"]["points"] == entries["masks.causal_mask"]["max_points"] > 0
    for wrong in (("--exercise", "masks.causal"), ("--problem-set", "ps99")):
        done = command("judge", tmp_path, *wrong)
        assert done.exit_code == 1 and "there is no" in done.output and "Traceback" not in done.output


def test_an_exercise_that_is_judged_alone_is_skipped_for_what_it_builds_on_as_in_its_set(tmp_path):
    (tmp_path / "attention").mkdir()
    text = (REFERENCE / "worked_example.py").read_text() + "\n\ndef softmax(scores):\n    return scores\n"
    (tmp_path / "attention" / "worked_example.py").write_text(text)
    found = []
    for options in (("--exercise", "worked_example.self_attention"), ("--problem-set", "ps1")):
        assert command("judge", tmp_path, *options, "--json", tmp_path / "out.json").exit_code == 0
        found.append(json.loads((tmp_path / "out.json").read_text())[str(tmp_path)]["exercises"])
    assert list(found[0]) == ["worked_example.self_attention"]
    assert found[0]["worked_example.self_attention"] == found[1]["worked_example.self_attention"]
    assert "skipped" in {check["verdict"] for check in found[0]["worked_example.self_attention"]["checks"]}


def test_every_problem_set_has_a_question_to_grade_by_hand(graded):
    course, _ = graded
    for problem_set in SETS:
        notebook = json.loads((course.release(problem_set) / f"{problem_set}.ipynb").read_text())
        assert written_questions(notebook)
