"""When a submission came in: by whose word, and that no later one changes it."""

import shutil
import zipfile
from datetime import UTC, datetime, timedelta, timezone

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.intake import archive, store
from autograder.intake.arrivals import SubmissionTime, arrivals, arrive, newest_in_zip

from .shared_courses import copy_of, released

NOW = datetime(2030, 1, 10, 12, tzinfo=UTC)
CET = timezone(timedelta(hours=1))


@pytest.fixture
def course(tmp_path_factory, tmp_path):
    with released(tmp_path_factory, "ps1") as bare:
        return copy_of(bare, tmp_path / "course")


@pytest.fixture
def packed(tmp_path):
    """Makes a zip of a module with this text, whose files were written at this local time."""

    def make(text, *written, extra=b""):
        path = tmp_path / "ps1.zip"
        with zipfile.ZipFile(path, "w") as file:
            for number, when in enumerate(written):
                info = zipfile.ZipInfo("attention/worked_example.py" if not number else f"note{number}", when)
                info.extra = extra
                file.writestr(info, text)
        return path

    return make


def submit(course, path, *options, now=NOW):
    command = ["submit", "ps1", "--course", str(course.root), "--student", "ada", *options, str(path)]
    done = CliRunner().invoke(main, command, obj=lambda: now, catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def came(course):
    return store.take_in(course, "ada", "ps1").arrived


def with_deadline(course, text="2030-01-01T00:00:00+01:00"):
    (course.root / "course.toml").write_text(f"[deadlines]\nps1 = {text}\n")


def test_the_time_given_counts_in_whatever_zone(course, packed):
    code, said = submit(course, packed("x = 1", (2030, 1, 9, 8, 0, 0)), "--time", "2030-01-02T01:30:00.7+01:00")
    assert code == 0 and "handed in 2030-01-02 00:30:00 UTC, as --time says" in said
    assert came(course) == datetime(2030, 1, 2, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("odd", ["yesterday", "2030-13-01", "2030-01-11T12:00Z", "9999-12-31T23:59-12:00"])
def test_a_time_that_is_none_or_still_to_come_is_refused_and_nothing_is_taken_in(course, packed, odd):
    code, said = submit(course, packed("x = 1", (2030, 1, 9, 8, 0, 0)), "--time", odd)
    assert code == 1 and ("as 2030-12-01T23:59+01:00" in said or "still to come" in said)
    assert not course.submitted("ada", "ps1").exists() and not arrivals(course, "ada", "ps1")


def test_a_zip_came_when_its_newest_file_was_written_in_the_zone_of_the_deadline(course, packed):
    with_deadline(course)
    code, said = submit(course, packed("x = 1", (2030, 1, 2, 8, 0, 0), (2030, 1, 3, 9, 30, 0)))
    assert code == 0 and "handed in 2030-01-03 08:30:00 UTC, by the newest file in the archive" in said
    assert came(course) == datetime(2030, 1, 3, 8, 30, tzinfo=UTC)


def test_a_zip_that_knows_its_times_in_utc_needs_no_zone(packed):
    seconds = int(datetime(2030, 1, 3, 7, tzinfo=UTC).timestamp())
    path = packed("x", (2030, 1, 3, 8, 0, 0), extra=b"UT\x05\x00\x01" + seconds.to_bytes(4, "little"))
    assert newest_in_zip(path, CET) == datetime(2030, 1, 3, 7, tzinfo=UTC)


def test_a_zip_of_the_future_or_without_times_comes_now(course, packed):
    assert "a time to come: now counts" in submit(course, packed("x = 1", (2031, 1, 1, 0, 0, 0)))[1]
    assert came(course) == NOW
    assert "when it was taken in" in submit(course, packed("x = 2", (1980, 1, 1, 0, 0, 0)), now=NOW + timedelta(1))[1]
    assert came(course) == NOW + timedelta(1)


def test_what_is_no_zip_has_no_time(tmp_path):
    path = tmp_path / "odd.zip"
    path.write_bytes(b"PK\1\2" * 50)
    assert newest_in_zip(path) is None


def test_a_folders_own_time_is_a_hint_alone(course, tmp_path):
    shutil.copytree(course.release("ps1"), tmp_path / "in")
    code, said = submit(course, tmp_path / "in", now=NOW + timedelta(days=3650))
    assert code == 0 and "when it was taken in" in said and "if it came then, say so with --time" in said
    assert came(course) == NOW + timedelta(days=3650)


def test_a_resubmission_changes_no_earlier_time_and_work_put_back_has_its_own(course, packed):
    submit(course, packed("first = 1", (2030, 1, 2, 8, 0, 0)), "--time", "2030-01-02T09:00Z")
    submit(course, packed("second = 2", (2030, 1, 3, 8, 0, 0)), "--time", "2030-01-05T09:00Z")
    assert came(course) == datetime(2030, 1, 5, 9, tzinfo=UTC)
    known = arrivals(course, "ada", "ps1")
    assert [one.time.when.day for one in known] == [2, 5] and {one.taken_in for one in known} == {NOW}
    _, said = submit(course, packed("first = 1", (2030, 1, 9, 8, 0, 0)), now=NOW + timedelta(days=1))
    assert "the same came before: its time stays 2030-01-02 09:00:00 UTC, as --time says" in said
    assert came(course) == datetime(2030, 1, 2, 9, tzinfo=UTC)
    assert arrivals(course, "ada", "ps1") == known


def test_the_platforms_time_counts_before_the_archives_and_a_dry_run_leaves_nothing(course, packed):
    path = packed("x = 1", (2030, 1, 2, 8, 0, 0))
    received, platform = archive.read_zip(path, "ps1"), datetime(2030, 1, 4, tzinfo=UTC)
    arrived = arrive(course, "ada", "ps1", path, received, lms=platform, clock=lambda: NOW, dry_run=True)
    assert arrived.time == SubmissionTime(platform, "lms") and not arrivals(course, "ada", "ps1")


def test_a_damaged_record_stops_nothing(course, packed):
    course.arrivals_file("ada", "ps1").parent.mkdir(parents=True)
    course.arrivals_file("ada", "ps1").write_text('[{"digest": 3}]')
    assert submit(course, packed("x = 1", (2030, 1, 2, 8, 0, 0)))[0] == 0
    assert len(arrivals(course, "ada", "ps1")) == 1


@pytest.mark.parametrize("when, source", [(datetime(2030, 1, 1), "given"), (NOW, "guessed")])
def test_a_time_without_a_zone_or_of_another_source_is_refused(when, source):
    with pytest.raises(ValueError, match="expected a time with its distance|source is one of"):
        SubmissionTime(when, source)
