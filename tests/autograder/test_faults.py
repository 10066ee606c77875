"""Whatever write fails, a command says what happened, loses nothing, and comes to the same end when run again."""

import json
import re
import shutil
import zipfile
from dataclasses import dataclass, field

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.faults import error_in_text, machine_fault
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE
from autograder.intake import store

from .faults import CODES, FULL, ONCE, ONWARD, failing
from .judged_class import CLASS, dump, judged_course
from .shared_courses import copy_of, released

KEPT = ("ada", "carla")  # of the class
TIME = "2026-01-02T12:00:00+00:00"
#: What differs between two runs that do the same: locks, times and ids that are drawn.
PASSING = re.compile(
    r"(^|/)(\.turn|\.releasing|gradebook\.db.*|log\.jsonl|submission_secret\.txt)$|^arrivals/|^answers/"
)
DRAWN = re.compile(r'"digest": "[0-9a-f]{64}"|"id": "[0-9a-f-]{8,36}"|\d{8}T\d{12}Z|[0-9a-f]{128}')
REASONS = ("the disk is full", "the disk is read-only", "the disk does not answer")


@dataclass(frozen=True)
class Command:
    """A command of an instructor's. made_on: the course that it is called in"""

    words: tuple[str, ...]
    made_on: str
    options: dict = field(default_factory=dict)


COMMANDS = {
    "submit": Command(("submit", "ps1", "--student", "zoe", "--time", TIME, "{zip}"), "released"),
    "submit again": Command(("submit", "ps1", "--student", "ada", "--time", TIME, "{zip}"), "judged"),
    "grade": Command(("grade", "ps1", "--isolation", "none"), "judged"),
    "feedback": Command(("feedback", "ps1"), "graded"),
    "report": Command(("report", "ps1"), "graded"),
    "export": Command(("export", "ps1"), "graded"),
    "release": Command(("release", "ps1"), "released"),
}


def run(course, words):
    done = CliRunner().invoke(main, [*words, "--course", str(course.root)])
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture(scope="module")
def courses(tmp_path_factory):
    """Courses to copy, by how far they have come."""
    place = tmp_path_factory.mktemp("faults")
    with released(tmp_path_factory, "ps1") as bare, judged_course(tmp_path_factory) as judged:
        few = copy_of(judged, place / "judged")
        for student in CLASS.keys() - set(KEPT):
            shutil.rmtree(few.root / "submitted" / student)
            few.intake_file(student, "ps1").unlink()
            few.result_file(student, "ps1").unlink()
        graded = copy_of(few, place / "graded")
        assert run(graded, COMMANDS["grade"].words)[0] == 0
        for words in (("report", "ps1"), ("export", "ps1")):  # feedback writes what is not there yet, and nothing else
            status, said = run(graded, words)
            assert status == 0, said
        yield {"released": bare, "judged": few, "graded": graded}


@pytest.fixture(scope="module")
def packed(tmp_path_factory, courses):
    path = tmp_path_factory.mktemp("handed") / "ps1.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.write(REFERENCE / "worked_example.py", "attention/worked_example.py")
        file.write(courses["released"].release("ps1") / "ps1.ipynb", "ps1.ipynb")
    return path


def state(course):
    """What a course holds, but for what passes or is drawn anew in every run."""
    found = {}
    for path in sorted(course.root.rglob("*")):
        name = path.relative_to(course.root).as_posix()
        if path.is_file() and not PASSING.search(name):
            text = path.read_bytes().decode("utf-8", "replace").replace(str(course.root), "")
            found[DRAWN.sub("…", name)] = DRAWN.sub("…", text)
    logged = (course.root / "log.jsonl").read_text().splitlines() if (course.root / "log.jsonl").exists() else []
    found["log"] = sorted((json.loads(line)["student"], json.loads(line)["points"][1]) for line in logged)
    return found | ({"gradebook": dump(course)} if (course.root / "gradebook.db").exists() else {})


def tried(courses, packed, place, name, fails, how, code):
    """A course after a command whose n-th change failed: whether one did, what was said, the course."""
    command = COMMANDS[name]
    shutil.rmtree(place, ignore_errors=True)
    course = copy_of(courses[command.made_on], place)
    words = [word.replace("{zip}", str(packed)) for word in command.words]
    with failing(course.root, fails, how, code) as disk:
        status, said = run(course, words)
    return disk.count, disk.fired, status, said, course, words


@pytest.fixture(scope="module")
def undisturbed(courses, packed, tmp_path_factory):
    """By command, how many changes it makes and what the course holds after it."""
    known = {}

    def of(name):
        if name not in known:
            place = tmp_path_factory.mktemp("undisturbed") / "course"
            count, fired, status, said, course, _ = tried(courses, packed, place, name, 0, ONCE, 0)
            assert status == 0 and not fired, said
            known[name] = count, state(course)
        return known[name]

    return of


def assert_told_and_mended(courses, packed, undisturbed, place, name, fails, how, code):
    """Fail the n-th change; what was said, nothing lost, and the same end when it is run again."""
    _, whole = undisturbed(name)
    _, fired, status, said, course, words = tried(courses, packed, place, name, fails, how, code)
    at = f"{name}, change {fails}, {how}, {code}: {said}"
    assert fired, at
    assert "Traceback" not in said, at
    assert status == 0 or (status == 1 and any(reason in said for reason in REASONS)), at
    if status:
        assert name.split()[0] in said.rpartition(":")[2] or "again" in said, at
    Course.open(course.root)
    again, text = run(course, words)
    assert again == 0, f"{at}\nthen: {text}"
    found = state(course)
    assert found.keys() == whole.keys(), f"{at}: {sorted(found.keys() ^ whole.keys())}"
    assert not [key for key in whole if found[key] != whole[key]], at
    for student in course.students("ps1"):
        assert store.stored(course, student, "ps1"), at


def some(count):
    """A few places among so many changes: the first, the last, and some between."""
    return sorted({1, 2, count // 3, count // 2, count - 1, count} - {0})


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_a_write_fails_says_so_and_completes_the_next_time(courses, packed, undisturbed, tmp_path, name):
    count, _ = undisturbed(name)
    assert count >= 1, "the command writes"
    places = [1, count // 2 + 1] if name in ("release", "feedback") else some(count)
    for number, place in enumerate(places):
        how = (ONCE, ONWARD, FULL)[number % 3]
        assert_told_and_mended(courses, packed, undisturbed, tmp_path / "c", name, place, how, CODES[number % 3])


def test_a_write_that_fails_inside_nbgrader_is_told_in_a_line_of_ours(courses, tmp_path):
    course = copy_of(courses["released"], tmp_path / "c")
    with failing(f"{course.root}/release/.", 1) as disk:  # as nbgrader writes the path, and nobody else does
        status, said = run(course, COMMANDS["release"].words)
    assert disk.fired and status == 1
    assert said.startswith("release ps1: the disk is full (") and "Traceback" not in said and "nbgrader" not in said
    assert said.endswith("make room, and run release again; nothing is half done")
    assert run(course, COMMANDS["release"].words)[0] == 0


IN_TEXTS = {
    "a\nOSError: [Errno 28] No space left on device: '/c/./ps1'\nb": "the disk is full (/c/./ps1): make room",
    "Error: [('a', 'b', \"[Errno 30] Read-only file system: 'b'\")]": "the disk is read-only (b): make it writable",
    "OSError: [Errno 5] Input/output error\nsee 'above'": "the disk does not answer, Input/output error: see to it",
    "(sqlite3.OperationalError) database or disk is full": "the disk is full (the gradebook): make room",
}


@pytest.mark.parametrize("text", IN_TEXTS)
def test_a_fault_of_the_machine_is_known_from_a_librarys_text(text):
    assert machine_fault(error_in_text(text)) == IN_TEXTS[text]
    assert error_in_text("KeyError: 'Errno'") is None


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("how", [ONCE, ONWARD, FULL])
@pytest.mark.parametrize("name", COMMANDS)
def test_whichever_write_fails_the_command_says_so_and_completes_the_next_time(
    courses, packed, undisturbed, tmp_path, name, how
):
    for place in range(1, undisturbed(name)[0] + 1):
        code = CODES[place % 3]
        assert_told_and_mended(courses, packed, undisturbed, tmp_path / "c", name, place, how, code)
