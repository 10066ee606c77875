"""The gradebook on a PostgreSQL server: two graders at once, locks, a server that goes, nbgrader's own commands."""

import itertools
import os
import shutil
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from autograder import pipeline
from autograder.bench.synthetic import make_class, write
from autograder.course.paths import ROOT
from autograder.gradebook import sync
from autograder.gradebook.errors import NotEntered
from autograder.gradebook.nbgrader import gradebook
from autograder.gradebook.scores import scores
from autograder.gradebook.sync import GradebookSync
from autograder.intake import archive, store
from autograder.release import bundle

from .judged_class import CLASS, announce, enter, enter_where_another_does, judged_course, on_file
from .postgresql import Server
from .shared_courses import copy_of, released

LARGE_CLASS = 5
NUMBERS = itertools.count()
PROGRAM = Path(sys.executable).with_name("nbgrader")


@pytest.fixture(scope="module")
def server():
    found = Server()
    found.start()
    yield found
    found.remove()


def settle(course, url):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


def copied(course, place, url=None):
    """A copy of a course with another gradebook; without an address with none of its own settings, so SQLite's."""
    copy = copy_of(course, place)
    settings = copy.root / "nbgrader_config.py"
    lines = [line for line in settings.read_text().splitlines() if "db_url" not in line]
    settings.write_text("\n".join(lines) + "\n")
    if url:
        settle(copy, url)
    return copy


def shown(course):
    """What formgrader shows of a class, and every grade and comment, without the ids of rows."""
    with gradebook(course) as book:
        tables = book.student_dicts(), book.submission_dicts("ps1"), book.notebook_submission_dicts("ps1", "ps1")
        found = [sorted(str({n: v for n, v in row.items() if n != "id"}) for row in table) for table in tables]
        for one in book.assignment_submissions("ps1"):
            cells = [
                (g.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade)
                for n in one.notebooks
                for g in n.grades
            ]
            cells += [(c.name, c.auto_comment, c.manual_comment) for n in one.notebooks for c in n.comments]
            found.append(sorted(map(str, [*cells, one.student_id, one.timestamp, one.late_submission_penalty])))
    return sorted(map(str, found))


# Two graders at once.


@pytest.fixture(scope="module")
def handed_in(server, tmp_path_factory):
    """A course on the server: a class has handed in, nobody is judged."""
    folder = tmp_path_factory.mktemp("two")
    with released(tmp_path_factory, "ps1") as by_file:
        course = copied(by_file, folder / "course", server.make("two"))
    (course.root / "gradebook.db").unlink()
    bundle.release(course, "ps1")  # into the server's gradebook
    notebook = (course.release("ps1") / "ps1.ipynb").read_text(encoding="utf-8")
    for student in make_class("ps1", LARGE_CLASS, course.secret):
        write(student, "ps1", notebook, folder / student.name)
        store.store(course, student.name, "ps1", archive.read_folder(folder / student.name, "ps1"))
    return course


def grade_command(course):
    command = [sys.executable, "-m", "autograder", "grade", "ps1", "--course", course.root]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def graded(handed_in):
    """The course after two graders at once, and what they said."""
    graders = [grade_command(handed_in) for _ in range(2)]
    said = [one.communicate(timeout=600)[0] for one in graders]
    assert [one.returncode for one in graders] == [0, 0], "\n".join(said)
    return handed_in, said


def test_two_graders_at_once_enter_everybody_once(graded, server):
    course, said = graded
    assert all(f"{LARGE_CLASS}/{LARGE_CLASS} student" in one and "not entered" not in one for one in said)
    counted = {
        table: server.sql(f"SELECT count(*) FROM {table}", "two")[0][0]
        for table in ("student", "submitted_assignment", "submitted_notebook", "grade")
    }
    (cells,) = server.sql("SELECT count(*) FROM grade_cells", "two")[0]
    assert counted == {
        "student": LARGE_CLASS,
        "submitted_assignment": LARGE_CLASS,
        "submitted_notebook": LARGE_CLASS,
        "grade": LARGE_CLASS * cells,
    }
    assert not (course.root / "gradebook.db").exists()
    assert not list((course.root / "autograded").glob("*/.entering*")) and not list(
        course.root.glob("results/ps1/*.part")
    )
    assert len(list((course.root / "autograded").glob("*/ps1/ps1.ipynb"))) == LARGE_CLASS


def test_the_server_holds_what_sqlite_would(graded, tmp_path):
    course, _ = graded
    by_file = copied(course, tmp_path / "course")
    shutil.rmtree(by_file.root / "autograded")
    bundle.release(by_file, "ps1")
    lines = pipeline.grade(by_file, "ps1")
    assert (by_file.root / "gradebook.db").exists()
    assert len({line.points for line in lines}) > 2, "a class in which all are alike shows little"
    assert shown(course) == shown(by_file)
    assert scores(course, "ps1") == scores(by_file, "ps1")


def test_a_mark_given_by_hand_survives_a_regrade(graded, server, tmp_path):
    course = copied(graded[0], tmp_path / "course", server.make("marked", "two"))
    with gradebook(course) as book:
        notebook = book.find_submission_notebook("ps1", "ps1", "student0000")
        mine = next(one for one in notebook.grades if one.cell.cell_type == "markdown")
        mine.manual_score, mine.extra_credit, mine.needs_manual_grade = 1.5, 0.5, False
        notebook.comments[0].manual_comment = "Well put."
        book.db.commit()
    before = shown(course)
    assert all(line.again and line.points is not None for line in pipeline.grade(course, "ps1", regrade=True))
    assert shown(course) == before and "1.5" in str(before) and "Well put." in str(before)


def test_nbgraders_own_commands_work_on_the_server(graded):
    course, _ = graded
    before = shown(course)
    variables = os.environ | {"PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}  # nbgrader starts alembic
    for command in (["db", "upgrade"], ["autograde", "ps1", "--student=student0001", "--force"]):
        done = subprocess.run(
            [PROGRAM, *command], cwd=course.root, env=variables, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr[-2000:]
    assert shown(course) == before and not (course.root / "gradebook.db").exists()


# Trouble.


@pytest.fixture(scope="module")
def judged(server, tmp_path_factory):
    """A course on the server where a class is judged, and nothing is entered."""
    with judged_course(tmp_path_factory) as by_file:
        course = copied(by_file, tmp_path_factory.mktemp("judged") / "course", server.make("judged"))
    (course.root / "gradebook.db").unlink()
    bundle.release(course, "ps1")  # into the server's gradebook
    announce(course)
    return course


@pytest.fixture(scope="module")
def whole(judged, server, tmp_path_factory):
    """What the gradebook holds when everybody is entered."""
    course = copied(judged, tmp_path_factory.mktemp("whole") / "course", server.make("whole", "judged"))
    enter(course)
    return shown(course)


@pytest.fixture
def course(judged, server, tmp_path):
    return copied(judged, tmp_path / "course", server.make(f"case{next(NUMBERS)}", "judged"))


def database_of(course):
    return (course.root / "nbgrader_config.py").read_text().rpartition("@/")[2].partition("?")[0]


def run(course):
    return {line.student: line for line in pipeline.grade(course, "ps1")}


def assert_completed_by_the_next_run(course, whole):
    lines = run(course)
    assert all(line.points is not None for line in lines.values()) and lines.keys() == CLASS.keys()
    assert shown(course) == whole
    assert {path.parts[-3] for path in course.root.glob("autograded/*/ps1/ps1.ipynb")} == CLASS.keys()
    assert not list(course.root.glob("autograded/*/.*"))


@contextmanager
def locked(server, course):
    with closing(server.connection(database_of(course))) as other:
        other.cursor().execute("LOCK TABLE submitted_assignment IN EXCLUSIVE MODE")
        yield
        other.rollback()


@contextmanager
def down(server, _):
    server.stop()
    try:
        yield
    finally:
        server.start()


def test_two_graders_who_meet_a_new_student_at_once_enter_it_once(course, whole, monkeypatch):
    enter_where_another_does(course, monkeypatch, "ben")
    assert_completed_by_the_next_run(course, whole)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (locked, "another program holds the gradebook postgresql"),
        (down, "cannot be reached .*: mend that, and run grade again"),
    ],
    ids=["a lock", "a server that goes and comes back"],
)
def test_trouble_stops_only_those_who_meet_it(course, whole, server, monkeypatch, trouble, told):
    monkeypatch.setattr(sync, "LOCK_TIMEOUT", 0.3)
    verdicts = {student: on_file(course, student) for student in CLASS}
    with GradebookSync(course, "ps1") as book:
        book.enter(*verdicts["ada"])
        with trouble(server, course), pytest.raises(NotEntered, match=told):
            book.enter(*verdicts["ben"])
        assert {path.name for path in (course.root / "autograded").iterdir()} == {"ada"}
        book.enter(*verdicts["carla"])
    assert_completed_by_the_next_run(course, whole)


def test_nobody_is_told_of_a_connection_that_was_lost_while_others_were_judged(course, whole, server):
    verdicts = {student: on_file(course, student) for student in CLASS}
    with GradebookSync(course, "ps1") as book:
        for student in CLASS:
            book.enter(*verdicts[student])
            server.sql(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database_of(course)}'"
            )
    assert shown(course) == whole


def test_a_server_that_is_not_there_is_told_for_everybody_and_judging_is_kept(course, whole, server):
    kept = {path: path.read_bytes() for path in (course.root / "results").rglob("*.json")}
    with down(server, course):
        lines = run(course)
    assert lines.keys() == CLASS.keys() and {line.points for line in lines.values()} == {None}
    assert all(
        "cannot be reached" in line.remarks[-1] and str(server.folder) in line.remarks[-1] for line in lines.values()
    )
    assert {path: path.read_bytes() for path in kept} == kept and not (course.root / "autograded").exists()
    assert_completed_by_the_next_run(course, whole)


def test_a_password_is_not_told(course):
    settle(course, "postgresql+psycopg2://grader:s3cret-word@/none?host=/nowhere")
    (line,) = {line.remarks[-1] for line in run(course).values()}
    assert "grader:***@" in line and "s3cret" not in line


def test_a_damaged_file_that_is_not_in_use_stops_nobody(course, whole):
    (course.root / "gradebook.db").write_bytes(b"no database" * 1000)
    assert_completed_by_the_next_run(course, whole)
