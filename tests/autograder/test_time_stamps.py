"""The time at which something was handed in is not chosen by whoever hands it in, or the instructor is told."""

import os
import shutil
import time
from datetime import UTC, datetime, timedelta

import pytest

from autograder import pipeline
from autograder.gradebook.nbgrader import inbound_folder
from autograder.intake import archive, store, time_stamps

from .shared_courses import copy_of, released

LONG_AGO = datetime(2026, 1, 31, 12, tzinfo=UTC)
DOUBT = "arrived 2026-01-31 12:00:00 UTC by its own timestamp.txt alone, which whoever hands in can write"


@pytest.fixture
def course(tmp_path_factory, tmp_path):
    with released(tmp_path_factory, "ps1") as bare:
        return copy_of(bare, tmp_path / "course")


def hand_in(course, folder, stamp):
    """Copy the released files to a folder, with a time stamp."""
    shutil.copytree(course.release("ps1"), folder)
    (folder / "timestamp.txt").write_text(f"{stamp:%Y-%m-%d %H:%M:%S.%f} UTC")
    return folder


def doubts(course, student="ada", **more):
    return [one for one in store.take_in(course, student, "ps1", **more).remarks if "timestamp.txt" in one]


def test_a_stamp_in_a_copied_folder_is_told_and_stays_told(course):
    hand_in(course, course.submitted("ada", "ps1"), LONG_AGO)
    (line,) = pipeline.grade(course, "ps1")
    assert any(DOUBT in remark for remark in line.remarks)
    first = doubts(course)
    assert DOUBT in first[0] and f"at {datetime.now(UTC):%Y-%m-%d}" in first[0]
    assert doubts(course) == first, "once it is clean too"
    assert (course.submitted("ada", "ps1") / "timestamp.txt").read_text().startswith("2026-01-31 12:00:00")


def test_a_stamp_of_when_the_folder_came_needs_no_word(course):
    hand_in(course, course.submitted("ada", "ps1"), datetime.now(UTC) - timedelta(minutes=2))
    assert doubts(course) == []


def test_a_folder_without_a_stamp_came_when_it_was_found(course):
    shutil.copytree(course.release("ps1"), course.submitted("ada", "ps1"))
    assert doubts(course) == []


def test_the_same_files_with_another_time_are_told(course):
    received = archive.read_folder(course.release("ps1"), "ps1")
    store.store(course, "ada", "ps1", received)
    assert doubts(course) == []
    (course.submitted("ada", "ps1") / "timestamp.txt").write_text("2026-01-31 12:00:00 UTC")
    assert DOUBT in doubts(course)[0]


def in_exchange(course, tmp_path, monkeypatch, later):
    """Ada's submission as it was left in the exchange, and collected so many seconds later."""
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"c.Exchange.root = {str(tmp_path / 'exchange')!r}\n")
    inbound = inbound_folder(course)
    assert inbound == tmp_path / "exchange" / "attention-by-hand" / "inbound"
    now = datetime.now(UTC)
    left = hand_in(course, inbound / f"ada+ps1+{now:%Y-%m-%d %H:%M:%S.%f} UTC+x", now)
    shutil.copytree(left, course.submitted("ada", "ps1"))
    here = course.submitted("ada", "ps1") / "timestamp.txt"
    seen = time_stamps._last_change

    def last_change(path):  # the kernel's clock cannot be put forward for one folder
        return seen(path) + timedelta(seconds=later) if path == here else seen(path)

    monkeypatch.setattr(time_stamps, "_last_change", last_change)
    return left, inbound


def test_what_was_collected_late_is_known_by_when_it_was_left_in_the_exchange(course, tmp_path, monkeypatch):
    _, inbound = in_exchange(course, tmp_path, monkeypatch, later=86400)
    assert doubts(course, inbound=lambda: inbound) == []
    (line,) = pipeline.grade(course, "ps1")
    assert not [one for one in line.remarks if "timestamp.txt" in one]


@pytest.mark.parametrize("deed", ["another stamp", "a file that changed", "a pipe"])
def test_what_changed_in_the_exchange_afterwards_proves_nothing(course, tmp_path, monkeypatch, deed):
    left, inbound = in_exchange(course, tmp_path, monkeypatch, later=86400)
    stamp = left / "timestamp.txt"
    if deed == "another stamp":
        stamp.write_text("2026-01-31 12:00:00 UTC")
    elif deed == "a pipe":
        stamp.unlink()
        os.mkfifo(stamp)
    else:
        changed, seen = left / "attention" / "worked_example.py", time_stamps._last_change
        monkeypatch.setattr(
            time_stamps,
            "_last_change",
            lambda path: seen(path) + timedelta(hours=1) if path == changed else seen(path),
        )
    started = time.monotonic()
    assert len(doubts(course, inbound=lambda: inbound)) == 1
    assert time.monotonic() - started < 60, "nobody waits for a pipe"


def test_no_more_of_a_copy_is_walked_through_than_counts(tmp_path, monkeypatch):
    now, looked_into, scandir = datetime.now(UTC), [], os.scandir
    (tmp_path / "timestamp.txt").write_text(time_stamps.stamp_text(now))
    for number in range(50):
        (tmp_path / f"{number}").mkdir()
    monkeypatch.setattr(os, "scandir", lambda place: looked_into.append(place) or scandir(place))
    monkeypatch.setattr(time_stamps, "MOST_COPIED", 10)
    assert not time_stamps._is_left_at(tmp_path, "timestamp.txt", time_stamps.stamp_text(now), now)
    assert looked_into == [tmp_path]
