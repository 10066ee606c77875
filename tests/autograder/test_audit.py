"""The log of a course: every change once, with its reason, whatever interrupts or edits it."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.gradebook import audit_log
from autograder.gradebook.audit_log import Log, NotLogged, read_log
from autograder.gradebook.entry import GradebookEntry
from autograder.gradebook.nbgrader import api
from autograder.judge.result import CheckOutcome, Result
from autograder.pipeline import grade
from autograder.version import grader_version

from .class_records import file_record
from .judged_class import CLASS, copy_of, dump, judged_course

RECORD = {
    **{"student": "ada", "problem_set": "ps1", "key": "k1", "graded": "2030-01-01T12:00:00+00:00", "grader": "g1"},
    **{"secret": "s1", "terms": "t1", "isolation": "bubblewrap", "files": {"masks.py": "f1"}},
    **{"grader_error": False, "troubles": [], "remarks": []},
}
LATER = {"graded": "2030-01-02T12:00:00+00:00"}
ODD = "\x1b[2J\u202e[red]x\n"
GRADER = """
import sys
from autograder.gradebook.audit_log import Log
from autograder.course.folder import Course
from tests.autograder.test_audit import entry_of, record

with Log(Course.open(sys.argv[1])) as log:
    for number in range(60):
        for one in (record(student=f"{sys.argv[2]}{number}"), record(student=f"both{number}")):
            log.entered(one, entry_of(one))
"""


def record(softmax=13, projection=8, **fields):
    """A result with so many points for two exercises; fields: others than RECORD has."""
    points = {"worked_example.softmax": softmax, "worked_example.project": projection}
    rest = {"number": "", "max_points": 13, "text": "", "checks": []}
    exercises = [{"id": name, "points": got} | rest for name, got in points.items()]
    return Result.from_json(RECORD | {"exercises": exercises} | fields)


def entry_of(result, by_hand=None, late=None):
    return GradebookEntry(result.student, result.problem_set, result.points, result.max_points, by_hand, late)


@pytest.fixture
def course(tmp_path):
    return Course.open(tmp_path / "course")


def logged(course, *records, by_hand=None, regraded=False):
    """Log these one after the other, each in a run of its own; the events of the whole log."""
    for one in records:
        with Log(course, regraded) as log:
            log.entered(one, entry_of(one, by_hand))
    return [line.event for line in read_log(course)[0]]


def run(course, *options):
    done = CliRunner().invoke(main, ["log", "ps1", "--course", str(course.root), *options])
    return done.exit_code, done.output


def test_a_first_grading_says_who_got_what_by_which_grader_and_who_ran_it(course):
    (event,) = logged(course, record())
    assert event["points"] == [None, 21] and event["of"] == 26 and event["why"] == ["first grading"]
    assert event["exercises"] == {"worked_example.softmax": [None, 13], "worked_example.project": [None, 8]}
    assert [event[name] for name in ("student", "grader", "secret", "isolation")] == ["ada", "g1", "s1", "bubblewrap"]
    assert event["user"] == audit_log.getpass.getuser() and len(event["run"]) == 8 and event["previous"] == ""


def test_what_is_in_the_log_is_not_logged_again(course):
    assert len(logged(course, record(), record(), record(student="ben"), record())) == 2


CHANGES = [
    ({"key": "k2", "files": {"masks.py": "f2", "scores.py": "f3"}}, ["handed in again: masks.py, scores.py"]),
    ({"key": "k2", "files": {}}, ["handed in again: masks.py"]),
    ({"key": "k2", "grader": "g2"}, ["the grader changed: g1 → g2"]),
    ({"key": "k2", "secret": "s2", "terms": "t2"}, ["the course's secret changed: s1 → s2"]),
    ({"key": "k2", "terms": "t2"}, ["the course's settings or its further hidden checks changed"]),
    ({"isolation": "none"}, ["the isolation changed: bubblewrap → none"]),
    ({}, ["judged again: its record was gone"]),
    (
        {"softmax": 12},
        ["judged again: its record was gone", "another verdict on the same work by the same rules: ask why"],
    ),
]


@pytest.mark.parametrize(("change", "why"), CHANGES)
def test_another_verdict_has_its_reason(course, change, why):
    event = logged(course, record(), record(**LATER | change))[-1]
    assert event["why"] == why


def test_only_what_changed_stands_in_an_event_with_its_value_before(course):
    changed = record(softmax=11, key="k2", files={"masks.py": "f2"}, **LATER)
    event = logged(course, record(), changed)[-1]
    assert event["exercises"] == {"worked_example.softmax": [13, 11]} and event["points"] == [21, 19]
    assert event["files"] == {"masks.py": ["f1", "f2"]}


def test_grading_again_on_demand_is_an_event_though_nothing_changed(course):
    logged(course, record())
    event = logged(course, record(**LATER), regraded=True)[-1]
    assert event["why"] == ["--regrade"] and event["points"] == [21, 21] and event["exercises"] == {}


def test_a_mark_given_by_hand_is_logged_when_it_is_first_seen(course):
    logged(course, record(), by_hand={})
    assert len(logged(course, record(), by_hand=None)) == 1, "that it is not seen does not mean that it is gone"
    event = logged(course, record(), by_hand={"explain": 2.5})[-1]
    assert event["by_hand"] == {"explain": [None, 2.5]} and event["why"] == ["marks given by hand changed: explain"]
    assert logged(course, record(), by_hand={"explain": 3.0})[-1]["by_hand"] == {"explain": [2.5, 3.0]}


def test_an_exercise_that_is_left_out_later_has_no_points_any_more(course):
    left = record(key="k2", terms="t2", **LATER)
    left = replace(left, exercises=left.exercises[:1])
    event = logged(course, record(), left)[-1]
    assert event["exercises"] == {"worked_example.project": [8, None]} and event["points"] == [21, 13]


def test_whoever_was_entered_and_not_logged_is_logged_by_the_next_run_and_once(course):
    with pytest.raises(KeyboardInterrupt), Log(course) as log:
        log.entered(record(), entry_of(record()))
        raise KeyboardInterrupt  # ben is in the gradebook by now
    assert [one["student"] for one in logged(course, record(), record(student="ben"))] == ["ada", "ben"]
    assert len(logged(course, record(), record(student="ben"))) == 2


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_a_line_that_a_crash_cut_off_is_told_and_the_next_begins_on_its_own(course, kept):
    logged(course, record(), record(student="ben"))
    path = course.root / audit_log.FILE
    first, second = path.read_bytes().splitlines()
    path.write_bytes(first + b"\n" + second[:kept])
    logged(course, record(student="ben"), record(student="eve"))
    lines, _ = read_log(course)
    assert [line.event and line.event["student"] for line in lines] == ["ada", None, "ben", "eve"]
    assert "line 2 holds no event" in lines[1].trouble and not any(line.breaks for line in lines)
    code, output = run(course, "--check")
    assert code == 0 and "line 2" in output and "the log is whole: 4 lines" in output


def test_a_full_disk_is_told_and_the_next_run_completes_the_log(course, monkeypatch):
    logged(course, record())
    with monkeypatch.context() as patch, Log(course) as log:
        patch.setattr(audit_log.os, "write", cut_short(os.write))
        with pytest.raises(NotLogged, match="the disk is full.*: make room, and run grade again"):
            log.entered(record(student="ben"), entry_of(record(student="ben")))
    assert [event and event["student"] for event in logged(course, record(student="ben"))] == ["ada", None, "ben"]
    assert run(course, "--check")[0] == 0


def cut_short(write):
    """Writes ten bytes, and then no more."""
    written = []

    def wrapped(descriptor, data):
        if written:
            raise OSError(28, "No space left on device")
        written.append(write(descriptor, data[:10]))
        return written[0]

    return wrapped


def spoil_points(lines):
    lines[1] = lines[1].replace(b"[null, 21]", b"[null, 26]")


def remove_one(lines):
    del lines[1]


def remove_the_first(lines):
    del lines[0]


def swap(lines):
    lines[1], lines[2] = lines[2], lines[1]


@pytest.mark.parametrize("edit", [spoil_points, remove_one, remove_the_first, swap])
def test_an_edit_in_the_middle_is_found(course, edit):
    logged(course, *(record(student=name) for name in ("ada", "ben", "eve", "leo")))
    assert run(course, "--check")[0] == 0
    path = course.root / audit_log.FILE
    lines = path.read_bytes().splitlines()
    edit(lines)
    path.write_bytes(b"\n".join(lines) + b"\n")
    code, output = run(course, "--check")
    assert code == 1 and "does not follow from what stands before it" in output.replace("\n", " ")
    assert run(course)[0] == 0, "to read it is no check"


def test_the_digest_to_keep_elsewhere_is_that_of_the_last_line(course):
    logged(course, record())
    line = (course.root / audit_log.FILE).read_bytes().rstrip(b"\n")
    assert hashlib.sha256(line).hexdigest() in run(course, "--check")[1].replace("\n", "")


def test_two_graders_at_once_make_one_chain_and_log_nothing_twice(course):
    graders = [
        subprocess.Popen([sys.executable, "-c", GRADER, course.root, name], cwd=ROOT, stderr=subprocess.PIPE)
        for name in ("left", "right")
    ]
    for grader in graders:
        assert grader.wait(120) == 0, grader.stderr.read().decode()
        grader.stderr.close()
    lines, _ = read_log(course)
    students = sorted(line.event["student"] for line in lines)
    assert students == sorted(f"{name}{number}" for name in ("left", "right", "both") for number in range(60))
    assert not any(line.trouble for line in lines)
    assert len({line.event["run"] for line in lines}) == 2


def test_lines_reach_the_disk_in_batches(course, monkeypatch):
    synced = []
    monkeypatch.setattr(audit_log.os, "fsync", lambda descriptor: synced.append(descriptor))
    with Log(course) as log:
        for number in range(2 * audit_log.BATCH + 1):
            log.entered(record(student=f"s{number}"), entry_of(record(student=f"s{number}")))
        assert len(synced) == 2
    assert len(synced) == 3


def test_nothing_in_a_log_moves_the_cursor_or_is_markup(course):
    logged(course, record(), record(key="k2", files={ODD: "f2"}, isolation=ODD, **LATER))
    path = course.root / audit_log.FILE
    path.write_bytes(path.read_bytes().replace(b'"user": "', b'"user": "\\u001b[2J\\u202e'))
    output = run(course)[1]
    assert "\\x1b[2J\\u202e[red]x\\n" in "".join(output.split())
    assert not {"\x1b", "\u202e"} & set(output + path.read_text())


ODD_LINES = [
    b"",
    b"{}",
    b"[" * 10_000,
    b"\xff\xfe",
    b'{"why": 3}',
    json.dumps({**RECORD, "time": "", "run": "", "user": "", "previous": "", "why": ["x"], "points": [1]}).encode(),
]


@pytest.mark.parametrize("odd", ODD_LINES)
def test_a_line_that_holds_no_event_is_passed_over(course, odd):
    logged(course, record())
    with (course.root / audit_log.FILE).open("ab") as file:
        file.write(odd + b"\n")
    events = logged(course, record(), record(student="ben"))
    assert [event and event["student"] for event in events] == ["ada", None, "ben"]


def test_no_id_is_broken_in_a_terminal_of_80_columns_and_what_counts_is_told(course, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"masks.an_exercise_with_a_long_name_{number}" for number in range(8)]
    with Log(course) as log:
        for files in ({}, dict.fromkeys(names, "f")):
            one = record(student="a-student-with-a-name-of-some-length", key=f"k{len(files)}", files=files, **LATER)
            log.entered(one, replace(entry_of(one, {"explain": 2.5}), score=one.points + 2.5))
    output = run(course)[1]
    assert all(f" {name}" in output for name in names) and "a-student-with-a-name-of-some-length" in output
    assert max(map(len, output.splitlines())) <= 80 and "21 of 26; 23.5 count" in output


def test_one_student_is_shown_alone_with_what_became_of_each_exercise(course):
    logged(course, record(), record(student="ben"), record(softmax=11, key="k2", files={"masks.py": "f2"}, **LATER))
    code, output = run(course, "--student", "ada")
    text = " ".join(output.split())
    assert code == 0 and "ps1: 2 events" in text and "ben" not in text
    assert "21 → 19 of 26" in text and "13 → 11" in text
    assert "nothing is logged of leo in ps1" in run(course, "--student", "leo")[1]


def test_the_mistake_that_was_named_for_an_exercise_is_told(course):
    first = record(softmax=9)
    found = {"check": "", "sees": "", "verdict": "failed", "points": 0, "max_points": 2}
    checks = tuple(CheckOutcome(**found, misconception=one) for one in ("over_the_queries", "over_the_queries", None))
    softmax = replace(first.exercises[0], checks=checks)
    (event,) = logged(course, replace(first, exercises=(softmax, *first.exercises[1:])))
    assert event["mistakes"] == {"worked_example.softmax": ["over_the_queries"]}
    code, output = run(course)
    assert code == 0 and "worked_example.softmax: named over_the_queries" in " ".join(output.split())


def test_a_record_that_is_not_what_was_logged_is_found(course):
    file_record(course, "ada")
    known = json.loads(course.result_file("ada", "ps1").read_text())
    logged(course, Result.from_json(known))
    assert run(course, "--check")[0] == 0
    known["exercises"][0]["points"] += 1
    course.result_file("ada", "ps1").write_text(json.dumps(known))
    code, output = run(course, "--check")
    assert code == 1 and "ada: the record on file is not what was logged last" in " ".join(output.split())


def test_a_course_without_a_log_is_told(course):
    code, output = run(course)
    assert code == 1 and "run grade first" in " ".join(output.split())


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    with judged_course(tmp_path_factory) as course:
        yield course


def test_grade_logs_everybody_once_though_it_was_stopped_between_gradebook_and_log(judged, monkeypatch, tmp_path):
    course = copy_of(judged, tmp_path / "course")

    def stopped(log, result, entry, entered=Log.entered):
        if result.student == "carla":
            raise KeyboardInterrupt
        return entered(log, result, entry)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Log, "entered", stopped)
        grade(course, "ps1")
    assert "carla" in str(dump(course)["submitted_assignment"])
    for _ in range(2):
        grade(course, "ps1")
        events = [line.event for line in read_log(course)[0]]
        assert sorted(event["student"] for event in events) == sorted(CLASS)
    with api(course).gradebook as book:
        written = next(one for one in book.find_submission("ps1", "ben").notebooks[0].grades if one.needs_manual_grade)
        name, written.manual_score = written.name, 1.5
        book.db.commit()
    grade(course, "ps1")
    *_, last = (line.event for line in read_log(course)[0])
    assert last["student"] == "ben" and last["by_hand"] == {name: [None, 1.5]} and last["exercises"] == {}
    assert run(course, "--check")[0] == 0


def test_a_log_that_cannot_be_written_costs_no_grade_and_is_told(judged, monkeypatch, tmp_path):
    course = copy_of(judged, tmp_path / "course")
    with monkeypatch.context() as patch:
        patch.setattr(Log, "entered", full)
        lines = grade(course, "ps1")
    assert all(line.points is not None and "entered, but not logged" in line.remarks[-1] for line in lines)
    grade(course, "ps1")
    assert len(read_log(course)[0]) == len(CLASS)


def full(*_):
    raise NotLogged("the disk is full")


def test_a_record_says_what_the_submission_used_and_what_it_was_judged_by(judged):
    ada, carla = (json.loads(judged.result_file(student, "ps1").read_text()) for student in ("ada", "carla"))
    for one in (ada, carla):
        assert 0 < one["used"]["processor_seconds"] < 20 and 20 < one["used"]["peak_mib"] < 4096
        assert one["grader"] == grader_version() and one["secret"] == judged.fingerprint
        assert one["terms"] == judged.policy.of("ps1").digest[:8] and one["isolation"].startswith("bubblewrap")
    assert ada["files"]["worked_example.py"] != carla["files"]["worked_example.py"]
    assert not any("seconds" in one for one in ada["exercises"]), "all was right, in one process"
    timed = {one["id"]: one["seconds"] for one in carla["exercises"] if "seconds" in one}
    assert "worked_example.project" in timed and sum(timed.values()) <= carla["used"]["processor_seconds"] + 0.1
