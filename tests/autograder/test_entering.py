"""Verdicts reach the gradebook as `nbgrader autograde` would bring them, and whatever goes wrong is made good."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from autograder import pipeline
from autograder.gradebook import sync
from autograder.gradebook.errors import GradebookDamaged, NotEntered
from autograder.gradebook.nbgrader import api
from autograder.gradebook.sync import GradebookSync
from autograder.intake import store
from autograder.judge import cache

from .judged_class import (
    CLASS,
    DUE,
    assert_the_same,
    copy_of,
    dump,
    enter,
    enter_where_another_does,
    hand_in,
    judged_course,
    on_file,
    tree,
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A course where a class has handed in and is judged, and nothing is entered."""
    with judged_course(tmp_path_factory) as course:
        yield course


@pytest.fixture
def course(judged, tmp_path):
    return copy_of(judged, tmp_path / "course")


NBGRADERS_OWN_STEPS = """
from autograder.nbgrader_plugin import TrustedResults
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, LimitOutput, SaveAutoGrades

c.Autograde.autograde_preprocessors = [
    TrustedResults, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata
]
"""


def with_nbgraders_own_steps(course):
    """nbgrader writes all rows itself, one by one, as on a stock installation; only the results are the grader's."""
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(NBGRADERS_OWN_STEPS)
    return course


def by_nbgrader(course):
    for student in CLASS:
        done = api(course).autograde("ps1", student, force=True, create=True)
        assert done["success"], done


def mark_by_hand(course):
    """What happens between two gradings: marks, comments, credits, extensions."""
    with api(course).gradebook as book:
        for student in ("carla", "dora"):
            notebook = book.find_submission_notebook("ps1", "ps1", student)
            for grade in notebook.grades:
                if grade.cell.cell_type == "markdown":
                    grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.5, False
            for comment in notebook.comments:
                comment.manual_comment = "Well put."
            notebook.flagged = True
            book.db.commit()
        book.find_submission_notebook("ps1", "ps1", "ada").grades[0].manual_score = 0.0
        book.db.commit()
        book.grant_extension("ps1", "dora", hours=1)
        book.grant_extension("ps1", "carla", days=3)


def look_again(course):
    """nbgrader asks for a look at every mark when it grades again; ours where what was marked is another now."""
    with api(course).gradebook as book:
        marked = [
            grade
            for student in ("ada", "carla", "dora")
            for grade in book.find_submission_notebook("ps1", "ps1", student).grades
            if grade.manual_score is not None
        ]
        assert len(marked) > 4 and all(grade.needs_manual_grade for grade in marked)
        for grade in marked:
            grade.needs_manual_grade = False
        book.db.commit()


def test_gradebook_and_notebooks_are_those_of_nbgraders_own_autograde(judged, tmp_path):
    stock, ours = with_nbgraders_own_steps(copy_of(judged, tmp_path / "stock")), copy_of(judged, tmp_path / "ours")
    command = copy_of(judged, tmp_path / "command")  # `nbgrader autograde`, with the grader's steps
    by_nbgrader(stock)
    by_nbgrader(command)
    enter(ours)
    assert_the_same(stock, ours, heads=False)
    assert_the_same(ours, command)
    rows = dump(ours)
    assert len(rows["submitted_notebook"]) == len(CLASS) and sum("No response." in row for row in rows["comment"]) > 0
    late = [row for row in rows["submitted_notebook"] if "('late_submission_penalty', None)" not in row]
    assert len(late) == 3, "three are late, and have their penalty"

    for one in (stock, ours, command):
        mark_by_hand(one)
    hand_in(stock, "ben", "right", None, DUE + timedelta(hours=5))
    hand_in(stock, "ada", "right", "Now I know.", DUE - timedelta(minutes=5))
    cache.result_of(stock, store.take_in(stock, "ben", "ps1"))
    for folder in ("submitted", "intake", "results"):
        for other in (ours, command):
            shutil.rmtree(other.root / folder)
            shutil.copytree(stock.root / folder, other.root / folder)
    by_nbgrader(stock)
    by_nbgrader(command)
    for one in (stock, command):
        look_again(one)
    enter(ours)
    assert_the_same(stock, ours, heads=False)
    assert_the_same(ours, command)
    assert dump(ours) != rows and sum("Well put." in row for row in dump(ours)["comment"]) >= 2


def run(course):
    return {line.student: line for line in pipeline.grade(course, "ps1")}


@pytest.fixture(scope="module")
def whole(judged, tmp_path_factory):
    """The course with everybody entered at once."""
    course = copy_of(judged, tmp_path_factory.mktemp("whole") / "course")
    enter(course)
    return course


def assert_complete(course, whole):
    """The next run enters everybody, and leaves nothing beside what belongs there."""
    lines = run(course)
    assert all(line.points is not None for line in lines.values()) and lines.keys() == CLASS.keys()
    assert_the_same(whole, course)


@contextmanager
def locked(course):
    with closing(sqlite3.connect(course.root / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.rollback()


def test_whoever_meets_a_locked_gradebook_is_told_so_and_entered_by_the_next_run(course, whole, monkeypatch):
    monkeypatch.setattr(sync, "LOCK_TIMEOUT", 0.3)
    before = dump(course)
    with locked(course):
        lines = run(course)
    assert {line.points for line in lines.values()} == {None}
    assert all("another program holds the gradebook" in line.remarks[-1] for line in lines.values())
    assert dump(course) == before and not tree(course)
    assert_complete(course, whole)


def test_a_lock_in_the_middle_stops_only_those_who_meet_it(course, whole, monkeypatch):
    monkeypatch.setattr(sync, "LOCK_TIMEOUT", 0.3)
    verdicts = {student: on_file(course, student) for student in CLASS}
    with GradebookSync(course, "ps1") as book:
        book.enter(*verdicts["ada"])
        with locked(course), pytest.raises(NotEntered, match="another program"):
            book.enter(*verdicts["ben"])
        assert {path.name for path in (course.root / "autograded").iterdir()} == {"ada"}
        book.enter(*verdicts["carla"])
    assert_complete(course, whole)


def test_a_later_verdict_that_met_a_locked_gradebook_is_entered_by_the_next_run(course, monkeypatch):
    monkeypatch.setattr(sync, "LOCK_TIMEOUT", 0.3)
    run(course)
    path = course.result_file("ada", "ps1")
    record = json.loads(path.read_text())
    record["exercises"][0]["points"] -= 1
    path.write_text(json.dumps(record))
    before = tree(course)
    with locked(course):
        assert run(course)["ada"].points is None
    assert tree(course) == before
    points = run(course)["ada"].points
    with api(course).gradebook as book:
        found = book.find_submission_notebook("ps1", "ps1", "ada")
        assert (
            sum(grade.auto_score for grade in found.grades) == points == sum(e["points"] for e in record["exercises"])
        )


def test_what_an_older_copy_of_the_gradebook_lacks_is_entered_again(course, whole, tmp_path):
    enter(course, ["ada"])
    shutil.copy(course.root / "gradebook.db", tmp_path / "copy.db")
    run(course)
    shutil.copy(tmp_path / "copy.db", course.root / "gradebook.db")
    assert_complete(course, whole)


@contextmanager
def small_disk(folder, size):
    """A full disk below `folder`: a small one where it can be mounted, else a bound on every file."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_no_half_folder_and_the_next_run_completes_it(course, whole):
    pages = [
        -(-path.stat().st_size // 4096) for path in (whole.root / "autograded" / "ada").rglob("*") if path.is_file()
    ]
    size = 4096 * (sum(pages) + 4)  # the first of them fits, and little else
    with GradebookSync(course, "ps1") as book, small_disk(course.root / "autograded", size):
        refused = {}
        for student in CLASS:
            try:
                book.enter(*on_file(course, student))
            except NotEntered as error:
                refused[student] = str(error)
        assert refused and all("the disk is full" in text for text in refused.values())
        left = {path.name for path in (course.root / "autograded").iterdir()}
        assert left == CLASS.keys() - refused.keys()
        rows = dump(course)["submitted_assignment"]
        assert len(rows) == len(left)
    assert_complete(course, whole)


def test_a_gradebook_that_cannot_grow_keeps_no_half_rows(course, whole):
    refused, verdicts = set(), {student: on_file(course, student) for student in CLASS}
    with closing(sqlite3.connect(course.root / "gradebook.db", isolation_level=None)) as db:
        db.execute("PRAGMA page_size = 512")  # small pages, each of them soon full
        db.execute("VACUUM")
    with GradebookSync(course, "ps1") as book:
        book._opened()._session.connection().exec_driver_sql("PRAGMA max_page_count = 1")  # no page more than there are
        for student in CLASS:
            try:
                book.enter(*verdicts[student])
            except NotEntered as error:
                assert "the disk is full" in str(error)
                refused.add(student)
    assert refused and set(tree(course)) & refused == set()
    assert len(dump(course)["submitted_assignment"]) == len(CLASS) - len(refused)
    assert_complete(course, whole)


@pytest.mark.parametrize("place", [0, 8192], ids=["no database", "a broken page"])
def test_a_damaged_gradebook_is_named_before_anything_is_judged(course, whole, monkeypatch, place):
    path = course.root / "gradebook.db"
    sound = path.read_bytes()
    path.write_bytes(sound[:place] + b"not what was here" * 250 + sound[place + 17 * 250 :])
    kept = {one: one.read_bytes() for one in (course.root / "results").rglob("*.json")}
    monkeypatch.setattr(pipeline, "judged", lambda *_: pytest.fail("judged"))
    with pytest.raises(GradebookDamaged, match="put a copy of it in its place") as told:
        run(course)
    assert str(path) in str(told.value) and str(course.root / "results") in str(told.value)
    assert {one: one.read_bytes() for one in (course.root / "results").rglob("*.json")} == kept
    monkeypatch.undo()
    path.write_bytes(sound)
    assert_complete(course, whole)


def test_a_place_that_cannot_be_written_is_one_students_trouble(course, whole):
    (course.root / "autograded").mkdir()
    (course.root / "autograded" / "ben").write_text("a file where a folder belongs")
    lines = run(course)
    assert [line.student for line in lines.values() if line.points is None] == ["ben"]
    assert str(course.root / "autograded" / "ben") in lines["ben"].remarks[-1]
    (course.root / "autograded" / "ben").unlink()
    assert_complete(course, whole)


def test_what_was_handed_in_after_judging_is_not_entered_with_the_earlier_verdict(course):
    before = on_file(course, "ada")
    hand_in(course, "ada", "stubs", None, DUE)
    with GradebookSync(course, "ps1") as book, pytest.raises(NotEntered, match="handed in meanwhile"):
        book.enter(*before)
    assert not tree(course)


def test_two_graders_who_meet_a_new_student_at_once_enter_it_once(course, whole, monkeypatch):
    enter_where_another_does(course, monkeypatch, "ben")
    assert len(dump(course)["submitted_assignment"]) == 1
    assert_complete(course, whole)


def test_files_of_the_release_are_written_once_and_go_with_the_last_who_has_them(course):
    enter(course, ["ada", "ben"])
    shared, other = (course.root / "autograded" / name / "ps1" / "selfcheck" / "plan.py" for name in ("ada", "ben"))
    released = course.source("ps1") / "selfcheck" / "plan.py"
    assert shared.samefile(other) and not shared.samefile(released) and shared.read_bytes() == released.read_bytes()
    shutil.rmtree(course.root / "autograded" / "ada")
    assert other.read_bytes() == released.read_bytes()


def test_what_two_handed_in_alike_is_written_once_and_nothing_else(course):
    names = ["ada", "dora", "carla"]
    enter(course, names)
    ada, dora, carla = (course.root / f"autograded/{name}/ps1/attention/worked_example.py" for name in names)
    assert ada.samefile(dora) and not (ada.parents[1] / "ps1.ipynb").samefile(dora.parents[1] / "ps1.ipynb")
    assert carla.read_bytes() == on_file(course, "carla")[0].files["worked_example.py"]


def test_what_somebody_killed_left_behind_is_removed(course):
    places = [course.root / "autograded" / "ada" / f".entering-ps1-{name}" for name in ("old", "new")]
    for path in places:
        path.mkdir(parents=True)
    os.utime(places[0], (0, 0))
    with GradebookSync(course, "ps1"):
        assert [path.exists() for path in places] == [False, True]


FURTHER_STEPS = """
from nbconvert.preprocessors import Preprocessor


class Stamped(Preprocessor):
    enabled = True

    def preprocess(self, nb, resources):
        nb.metadata["stamped"] = resources["nbgrader"]["student"]
        return nb, resources


def called(assignment, student, notebooks):
    lines = [assignment, student, *(str(Path(name).relative_to(Path(__file__).parent)) for name in notebooks)]
    Path(__file__).with_name("called").write_text("\\n".join([*lines, Path.cwd().name]))


c.Autograde.sanitize_preprocessors = [*c.Autograde.sanitize_preprocessors, Stamped]
c.Autograde.autograde_preprocessors.insert(1, "nbgrader.preprocessors.IgnorePattern")
c.OverwriteCells.add_missing_cells = True
c.Autograde.post_convert_hook = called
"""


def test_a_course_that_asks_for_further_steps_gets_them_as_nbgrader_takes_them(course, tmp_path):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("from nbgrader.converters import Autograde\n")
        file.write("c.Autograde.sanitize_preprocessors = Autograde.sanitize_preprocessors.default_args[0]\n")
        file.write(FURTHER_STEPS)
    stock = with_nbgraders_own_steps(copy_of(course, tmp_path / "stock" / "course"))
    with (stock.root / "nbgrader_config.py").open("a") as file:
        file.write('c.Autograde.autograde_preprocessors.insert(1, "nbgrader.preprocessors.IgnorePattern")\n')
    assert api(stock).autograde("ps1", "ada", force=True, create=True)["success"]
    enter(course, ["ada"])
    assert_the_same(stock, course, heads=False)
    lines = (course.root / "called").read_text()
    assert lines.splitlines() == ["ps1", "ada", "submitted/ada/ps1/ps1.ipynb", "course"]
    assert (stock.root / "called").read_text() == lines
    assert '"stamped": "ada"' in tree(course)["ada/ps1/ps1.ipynb"][0].decode()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            "from nbgrader.preprocessors import Execute\nc.Autograde.autograde_preprocessors = [Execute]\n",
            "nbgrader_config.py takes the grader's step out",  # what was handed in would run outside the sandbox
        ),
        ("1 / 0\n", "nbgrader_config.py stops: ZeroDivisionError"),
    ],
)
def test_settings_by_which_nothing_can_be_entered_are_named(course, settings, told):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(settings)
    lines = run(course)
    assert lines.keys() == CLASS.keys() and all(told in line.remarks[-1] for line in lines.values())


def test_a_problem_set_that_nobody_released_is_told(course):
    with (
        GradebookSync(course, "ps2") as book,
        pytest.raises(NotEntered, match="^ps2 is not in the gradebook: release it"),
    ):
        book.enter(*on_file(course, "ada"))
