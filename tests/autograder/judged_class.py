"""A class that has handed in a problem set and is judged, and what a course then holds of it."""

import json
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

from autograder.build import stubs
from autograder.course.paths import REFERENCE
from autograder.course.releases import written_questions
from autograder.gradebook import rows
from autograder.gradebook.late_penalty import text_with_head
from autograder.gradebook.nbgrader import api
from autograder.gradebook.sync import GradebookSync
from autograder.intake import archive, store
from autograder.judge import cache

from .shared_courses import copy_of, released, shared

DUE = datetime(2030, 1, 1, 12)
#: Who hands in: the modules, the written answer (None: as released), hours after the due date.
CLASS = {
    "ada": ("right", None, -1),
    "ben": ("stubs", "I left the code to others.", -2),
    "carla": ("partly", "An answer\n\nin two parts, with $x^2$ and an é.", 30),
    "dora": ("right", "Too late.", 2),
    "émile": ("partly", None, 50),
}
LATE_POLICY = """
from nbgrader.plugins import LateSubmissionPlugin


class HalfAPointAnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 7200  # more than the score for some: nbgrader bounds it


c.AssignLatePenalties.plugin_class = HalfAPointAnHour
"""


def modules(kind):
    """The package that somebody hands in."""
    if kind == "stubs":
        return {name: text.encode() for name, text in stubs.all_stubs().items() if name == "worked_example.py"}
    text = (REFERENCE / "worked_example.py").read_text()
    if kind == "partly":
        text += "\n\ndef project(*arguments):\n    return 1\n"
    return {"worked_example.py": text.encode()}


def hand_in(course, student, kind, answer, when):
    notebook = json.loads((course.release("ps1") / "ps1.ipynb").read_text())
    if answer is not None:
        for cell in written_questions(notebook):
            cell["source"] = answer
    received = archive.Received(modules(kind), json.dumps(notebook).encode(), (), ticket="7e" * 64)
    store.store(course, student, "ps1", received, when.replace(tzinfo=UTC))


@contextmanager
def judged_course(factory):
    """The shared course where the class has handed in and is judged, and nothing is entered."""

    def make(place):
        with released(factory, "ps1") as course:
            _judge(copy_of(course, place))

    with shared(factory, "judged-ps1", make) as course:
        yield course


def _judge(course):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(LATE_POLICY)
    announce(course)
    known = {}
    for student, (kind, answer, late) in CLASS.items():
        hand_in(course, student, kind, answer, DUE + timedelta(hours=late))
        if kind not in known:
            cache.result_of(course, store.take_in(course, student, "ps1"))
            known[kind] = json.loads(course.result_file(student, "ps1").read_text())
        course.result_file(student, "ps1").write_text(json.dumps(known[kind] | {"student": student}))
    points = {kind: sum(one["points"] for one in record["exercises"]) for kind, record in known.items()}
    assert points["stubs"] == 0 < points["partly"] < points["right"]


def announce(course):
    """What the gradebook knows before anybody is graded: the deadline, and one of the class by name."""
    with api(course).gradebook as book:
        book.update_or_create_assignment("ps1", duedate=DUE)
        book.add_student("ada", first_name="Ada", last_name="L.")  # the others are unknown to the gradebook


def enter(course, students=CLASS):
    with GradebookSync(course, "ps1") as book:
        for student in students:
            book.enter(*on_file(course, student))


def on_file(course, student):
    """What a student handed in, and the result of it on file."""
    submission = store.take_in(course, student, "ps1")
    return submission, cache.result_on_file(course, submission)


def enter_where_another_does(course, monkeypatch, student):
    """Enter a new student whom another grader enters between the reading and the writing."""
    read, met = rows.read, []

    def read_then_wait(*arguments):
        found = read(*arguments)
        if not met:
            met.append(True)
            enter(course, [student])
        return found

    monkeypatch.setattr(rows, "read", read_then_wait)
    enter(course, [student])
    assert met


def _without_heads(found):
    return {
        name: (text_with_head(one[0].decode(), "").encode(), one[1]) if name.endswith(".ipynb") else one
        for name, one in found.items()
    }


def dump(course):
    """Every row of every table, with names in place of the ids that are drawn for a submission."""
    with closing(sqlite3.connect(course.root / "gradebook.db")) as db:
        names = {
            id: f"submission of {one}" for id, one in db.execute("SELECT id, student_id FROM submitted_assignment")
        }
        for id, submission in list(db.execute("SELECT id, assignment_id FROM submitted_notebook")):
            names[id] = f"notebook of {names[submission]}"
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for table in tables:
            cursor = db.execute(f"SELECT * FROM {table}")
            columns = [column for column, *_ in cursor.description]
            own = "id" if table in ("grade", "comment") else ""
            found[table] = sorted(
                str(
                    [
                        (column, names.get(value, value))
                        for column, value in zip(columns, row, strict=True)
                        if column != own
                    ]
                )
                for row in cursor
            )
    return found


def tree(course):
    """Every autograded file, with its content and what may be done to it."""
    folder = course.root / "autograded"
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode) if path.is_file() else None
        for path in folder.rglob("*")
    }


def assert_the_same(one, other, heads=True):
    """heads: whether the notebooks begin with the same words on deadline and lateness, which nbgrader itself lacks"""
    trees = [tree(course) if heads else _without_heads(tree(course)) for course in (one, other)]
    assert trees[0].keys() == trees[1].keys()
    for name, (content, mode) in ((name, found) for name, found in trees[0].items() if found):
        assert (content, mode) == trees[1][name], name
    assert dump(one) == dump(other)
