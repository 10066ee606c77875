"""`collect` takes the time of each submission from the learning platform, where the download carries one."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.paths import REFERENCE
from autograder.intake import store
from autograder.intake.arrivals import arrivals
from autograder.intake.lms_times import moment_of, read_times

from .shared_courses import copy_of, released

WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Last modified (submission),Feedback comments
Participant 12345,Ada Lovelace,ada@example.org,Submitted for grading,,"Friday, 20 November 2026, 8:14 PM",
Participant 12346,Ben Ali,ben@example.org,No submission,,-,
Participant 12347,Zoë Müller,zoe@example.org,Submitted for grading,,"Saturday, 21 November 2026, 9:05",
"""
EAST = timezone(timedelta(hours=1))


@pytest.fixture
def course(tmp_path_factory, tmp_path):
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path / "course")
    (course.root / "students.csv").write_text(
        "id,first_name,last_name,email\nada,Ada,Lovelace,ada@example.org\nzoe,Zoë,Müller,zoe@example.org\n"
    )
    (course.root / "course.toml").write_text("[deadlines]\nps1 = 2026-11-20T23:59:00+01:00\n")
    return course


def put(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((REFERENCE / "worked_example.py").read_bytes())


def collected(course, download, *words):
    command = ["collect", "ps1", "--course", str(course.root), *map(str, words), str(download)]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def came(course, student):
    (arrival,) = arrivals(course, student, "ps1")
    assert store.take_in(course, student, "ps1").arrived == arrival.time.when
    return arrival.time.when, arrival.time.source


def test_moodle_s_grading_worksheet_beside_the_folders_says_when_each_came(course, tmp_path):
    put(tmp_path / "all/Ada Lovelace_12345_assignsubmission_file_/worked_example.py")
    put(tmp_path / "all/Zoë Müller_12347_assignsubmission_file_/worked_example.py")
    (tmp_path / "all/Grades-ps1.csv").write_text(WORKSHEET, encoding="utf-8-sig")
    status, said = collected(course, tmp_path / "all")
    assert status == 0 and "Grades" not in said
    assert said.count("as the learning platform says") == said.count("2 times as the") == 1
    assert came(course, "ada") == (datetime(2026, 11, 20, 19, 14, tzinfo=UTC), "lms"), "in the deadline's zone"
    assert came(course, "zoe") == (datetime(2026, 11, 21, 8, 5, tzinfo=UTC), "lms")
    assert "9 h 6 min late" in said


def test_a_table_that_is_named_gives_times_and_time_by_hand_counts_before_it(course, tmp_path):
    for student in ("ada", "zoe"):
        put(tmp_path / f"all/{student}/worked_example.py")
    (tmp_path / "times.csv").write_text("id,submitted\nada,2026-11-20T20:14:00Z\nzoe,2026-11-20 21:14\n")
    status, said = collected(course, tmp_path / "all", "--times", tmp_path / "times.csv")
    assert status == 0, said
    assert came(course, "ada")[0] == datetime(2026, 11, 20, 20, 14, tzinfo=UTC) == came(course, "zoe")[0]
    again = collected(course, tmp_path / "all", "--times", tmp_path / "times.csv", "--time", "2026-11-20T12:00+01:00")
    assert again[1].count("2026-11-20 11:00:00 UTC") == 2 and "2 times as --time says" in again[1]


def test_blackboard_s_file_names_hold_the_time(course, tmp_path):
    put(tmp_path / "all/ps1_ada_attempt_2026-11-20-20-14-00_worked_example.py")
    (tmp_path / "all/ps1_ada_attempt_2026-11-20-20-14-00.txt").write_text("Name: Ada")
    status, said = collected(course, tmp_path / "all")
    assert status == 0 and came(course, "ada") == (datetime(2026, 11, 20, 19, 14, tzinfo=UTC), "lms"), said


def test_a_table_without_times_or_with_one_that_cannot_be_read_is_refused_with_its_row(course, tmp_path):
    put(tmp_path / "all/ada/worked_example.py")
    table = tmp_path / "times.csv"
    for text, told in (
        ("id,grade\nada,3\n", "has no column of times: expected one named `submitted`"),
        ("id,submitted\nada,soon\n", "times.csv, row 2: expected a time as 2030-12-01 23:59"),
        ("id,submitted\nada,2099-01-01 12:00\n", "is still to come"),
    ):
        table.write_text(text)
        status, said = collected(course, tmp_path / "all", "--times", table)
        assert status == 1 and told in said, said
    assert not arrivals(course, "ada", "ps1")


def test_two_rows_that_disagree_give_no_time_by_what_they_share(tmp_path):
    table = tmp_path / "times.csv"
    table.write_text("id,name,submitted\no1,Omar Ali,2026-11-20 10:00\no2,Omar Ali,2026-11-20 11:00\n")
    times = read_times(table, EAST)
    assert times.of(["Omar Ali"]) is None
    assert times.of(["Omar Ali", "o2"]) == datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Friday, 20 November 2026, 8:14 PM",
        "20 November 2026, 20:14",
        "2026-11-20T19:14:00Z",
        "2026-11-20 20:14",
        "2026-11-20 19:14:00 UTC",
        "2026-11-20-20-14-00",
    ],
)
def test_each_platform_s_form_of_a_time_is_read(text):
    assert moment_of(text, EAST) == datetime(2026, 11, 20, 19, 14, tzinfo=UTC)
