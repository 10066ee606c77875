"""What one student uploads to a learning platform stops nobody else's work, and says nothing of anybody's time."""

import os
import zipfile

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.intake import archive, downloads
from autograder.intake.arrivals import arrivals

from ..autograder.shared_courses import copy_of, released
from .handing_in import HONEST, PROBLEM_SET, as_released, released_notebook, written

STUDENTS = {"101": "ann", "102": "bob", "103": "eve"}
LONG = "eve_103_9_" + "\u674e" * 100  # more than 255 bytes
FORGED = "id,submitted_at\n103,2026-01-01 10:00:00 UTC\n101,2026-01-02 10:00:00 UTC\n"
#: What eve uploads beside her work, by its name: tables are read where a platform writes them.
TABLES = {
    "eve_LATE_103_9_times.csv": FORGED.encode(),
    "eve_LATE_103_9_none.csv": b"\xff\xfe",
    "eve_LATE_103_9_soon.csv": b"id,time\n103,soon\n",
    "Eve_103_assignsubmission_file_times.csv": FORGED.encode(),
    "ps1_eve_attempt_2026-11-20-20-14-00_times.csv": FORGED.encode(),
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with released(tmp_path_factory, PROBLEM_SET) as course:
        yield course


@pytest.fixture
def course(bare, tmp_path):
    return copy_of(bare, tmp_path / "course")


def canvas(course, place):
    """What Canvas gives of three students, each with a folder's content in a zip."""
    work = written(place.parent / "work", {}, HONEST, as_released(released_notebook(course)))
    place.mkdir()
    for number, student in STUDENTS.items():
        with zipfile.ZipFile(place / f"{student}_{number}_7_ps1.zip", "w") as packed:
            for name in ("attention/worked_example.py", "ps1.ipynb"):
                packed.write(work / name, name)
    return place


def collected(course, download):
    ids = course.root.parent / "ids.csv"
    ids.write_text("".join(f"{number},{student}\n" for number, student in STUDENTS.items()) + "eve,eve\n")
    done = CliRunner().invoke(main, ["collect", PROBLEM_SET, "--course", str(course.root), "--ids", ids, str(download)])
    return " ".join(done.output.split())


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_a_student_uploads_is_none_of_the_platforms(course, tmp_path, name):
    folder = canvas(course, tmp_path / "in")
    (folder / name).write_bytes(TABLES[name])
    said = collected(course, folder)
    assert {"ann", "bob"} <= set(course.students(PROBLEM_SET)), said
    assert arrivals(course, "ann", PROBLEM_SET)[0].time.source == "archive"
    assert all(one.time.when.year != 2026 or one.time.when.month != 1 for one in arrivals(course, "eve", PROBLEM_SET))


def as_download(folder, more, first=()):
    """The folder as a platform packs it, with these entries behind, and others in front."""
    path = folder.parent / "download.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in dict(first).items():
            packed.writestr(name, data)
        for file in sorted(folder.iterdir()):
            packed.write(file, file.name)
        for name, data in more.items():
            packed.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["eve_103_9_{}.mp4", "eve_103_9_{}.py", "Eve_103_assignsubmission_file_/{}.py"])
def test_many_files_of_one_person_leave_room_for_the_others(course, tmp_path, monkeypatch, name):
    monkeypatch.setattr(downloads, "MOST_ZIP_BYTES", 2**20)
    monkeypatch.setattr(downloads, "MOST_UNPACKED_BYTES", 2**22)
    films = {name.format(number): bytes(2**20) for number in range(20)}
    said = collected(course, as_download(canvas(course, tmp_path / "in"), {}, films))
    assert {"ann", "bob"} <= set(course.students(PROBLEM_SET)), said


@pytest.mark.parametrize("name", ["eve_103_9_{}.py", "in/eve_103_9_{}.py", "Eve_103_assignsubmission_file_/a/{}.py"])
def test_of_one_person_so_many_files_are_unpacked_and_all_of_the_others(tmp_path, monkeypatch, name):
    monkeypatch.setattr(downloads, "MOST_BESIDE", 5)
    monkeypatch.setattr(downloads, "MOST_ENTRIES", 5)
    (tmp_path / "in").mkdir()
    before = name.partition("eve")[0] if "in/" in name else ""
    others = {f"{before}{who}_{number}_7_masks.py": b"x" for number, who in STUDENTS.items() if who != "eve"}
    many = {name.format(number): b"x" for number in range(20)}
    with downloads.opened(as_download(tmp_path / "in", others, many)) as folder:
        found = [path.name for path in folder.rglob("*.py")]
    assert len(found) == 5 + len(others) and {name.rpartition("/")[2] for name in others} <= set(found)


def test_many_files_of_one_person_are_not_taken_for_many_people(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MOST_PEOPLE", 3)
    for number in range(20):
        (tmp_path / f"eve_103_9_{number}.py").touch()
    for number, student in STUDENTS.items():
        (tmp_path / f"{student}_{number}_7_ps1.py").touch()
    assert len(downloads.submissions_in(tmp_path, PROBLEM_SET)) == 3
    (tmp_path / "zoe_104_7_ps1.py").touch()
    with pytest.raises(ValueError, match="more than 3 people"):
        downloads.submissions_in(tmp_path, PROBLEM_SET)


def test_what_is_unpacked_of_one_person_is_more_than_a_submission_may_have_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MOST_ZIP_BYTES", 2**20)
    (tmp_path / "in").mkdir()
    films = {f"eve_103_{number}_film.mp4": bytes(2**19) for number in range(20)} | {"eve_103_30_masks.py": b"x = 1"}
    with downloads.opened(as_download(tmp_path / "in", films)) as folder:
        assert sum(file.stat().st_size for file in folder.iterdir()) == 2**20 + 1
        assert (folder / "eve_103_30_masks.py").read_bytes() == b"x = 1", "her work comes before her films"


@pytest.mark.parametrize(
    "more",
    [
        {f"{LONG}.pdf": b"x"},
        {f"{'e' * 400}.zip": b"x"},
        {"eve_103_9_x": b"x", "eve_103_9_x/y": b"y"},
        {"eve_103_9_x/y": b"y", "eve_103_9_x": b"x"},
        {"eve_103_9_film.mp4": bytes(archive.MOST_PACKAGE_BYTES)},
        {f"Eve_103_assignsubmission_file_/{'a/' * 2000}x.py": b"x"},
    ],
    ids=["Chinese", "long", "file and folder", "folder and file", "large", "deep"],
)
def test_a_file_that_cannot_be_unpacked_as_it_is_stops_nobody(course, tmp_path, monkeypatch, more):
    monkeypatch.setattr(downloads, "MOST_ZIP_BYTES", archive.MOST_PACKAGE_BYTES - 1)
    said = collected(course, as_download(canvas(course, tmp_path / "in"), more))
    assert set(course.students(PROBLEM_SET)) == set(STUDENTS.values()), said


def test_a_long_name_keeps_its_beginning_and_its_ending(course, tmp_path):
    with downloads.opened(as_download(canvas(course, tmp_path / "in"), {f"{LONG}.zip": b"x"})) as folder:
        (name,) = (file.name for file in folder.iterdir() if file.name.startswith("eve_103_9"))
        assert name.startswith("eve_103_9_\u674e\u674e") and name.endswith("\u674e.zip")
        assert len(os.fsencode(name)) <= 255
