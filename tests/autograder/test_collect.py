"""A class comes in from one download: of Moodle, Canvas, GitHub Classroom, or a folder that somebody filled."""

import shutil
import unicodedata
import zipfile
from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.paths import REFERENCE
from autograder.intake import downloads, store
from autograder.intake.identities import Identities, read_ids

from .shared_courses import copy_of, released

RIGHT = (REFERENCE / "worked_example.py").read_bytes()


@dataclass
class Person:
    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""


ROSTER = [
    Person("ada", "Ada", "Lovelace", "ada@example.org", "501"),
    Person("fmüller", "Fritz", "Müller", "f.mueller@example.org", "502"),
    Person("李雷", "雷", "李", "li@example.org", "503"),
    Person("omar1", "Omar", "Ali", "o1@example.org", "504"),
    Person("omar2", "Omar", "Ali", "o2@example.org", "505"),
]
MAC = unicodedata.normalize("NFD", "Fritz Müller")
DOWNLOADS = {
    "moodle": {
        "Ada Lovelace_12345_assignsubmission_file_/ps1.zip": "ada",
        f"{MAC}_12346_assignsubmission_file_/work/attention/worked_example.py": "fmüller",
        f"{MAC}_12346_assignsubmission_onlinetext_/onlinetext.html": None,
        "雷 李_12347_assignsubmission_file_/worked_example.py": "李雷",
    },
    "moodle without folders": {
        "Ada Lovelace_12345_assignsubmission_file_ps1.zip": "ada",
        "Fritz Müller_12346_assignsubmission_file_worked_example.py": "fmüller",
        "Fritz Müller_12346_assignsubmission_file_ps1.ipynb": "fmüller",
    },
    "canvas": {
        "lovelaceada_LATE_501_67890_ps1.zip": "ada",
        "müllerfritz_502_67891_worked_example-1.py": "fmüller",
        "müllerfritz_502_67892_ps1-1.ipynb": "fmüller",
        "alomar_505_67893_ps1.zip": "omar2",
    },
    "classroom": {
        "ps1-submissions/ps1-ada/.git/config": None,
        "ps1-submissions/ps1-ada/attention/worked_example.py": "ada",
        "ps1-submissions/ps1-fmüller/src/attention/worked_example.py": "fmüller",
    },
    "folder of zips": {"ada.zip": "ada", "fmüller.zip": "fmüller", ".DS_Store": None},
    "folder of folders": {"ada/ps1/attention/worked_example.py": "ada", "李雷/attention/worked_example.py": "李雷"},
    "by address": {"ada@example.org.zip": "ada", "f.mueller/attention/worked_example.py": "fmüller"},
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with released(tmp_path_factory, "ps1") as course:
        yield course


@pytest.fixture
def course(bare, tmp_path, monkeypatch):
    course = copy_of(bare, tmp_path / "course")
    return course


def put(path, course, text=RIGHT):
    """A file of somebody's work, by its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("ps1/attention/worked_example.py", text)
            packed.writestr("ps1/ps1.ipynb", (course.release("ps1") / "ps1.ipynb").read_bytes())
    elif path.suffix == ".ipynb":
        shutil.copyfile(course.release("ps1") / "ps1.ipynb", path)
    else:
        path.write_bytes(text)


def laid_out(place, course, files):
    for name in files:
        put(place / name, course)
    return place


def by_roster():
    return Identities(ROSTER, {})


def found_in(folder, identities):
    return {identities.id_of(one.label, one.keys): one for one in downloads.submissions_in(folder, "ps1")}


@pytest.mark.parametrize("kind", DOWNLOADS)
def test_each_submission_of_a_download_is_found_with_its_owner(bare, tmp_path, kind):
    folder = laid_out(tmp_path / "in", bare, DOWNLOADS[kind])
    assert set(found_in(folder, by_roster())) == {student for student in DOWNLOADS[kind].values() if student}
    with zipfile.ZipFile(tmp_path / "download.zip", "w") as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, path.relative_to(folder))
    with downloads.opened(tmp_path / "download.zip") as unpacked:
        assert set(found_in(unpacked, by_roster())) == {student for student in DOWNLOADS[kind].values() if student}


def test_a_file_that_names_no_student_is_refused(course, tmp_path):
    code, said = run(course, "collect", "ps1", laid_out(tmp_path / "in", course, ["ps1.zip"]))
    assert code == 1 and "it is called ps1, as no student is" in said and course.students("ps1") == []


def test_a_zip_alone_in_its_folder_keeps_the_times_that_are_in_it(bare, course, tmp_path):
    laid_out(tmp_path / "in", bare, ["ada/ps1.zip"])
    with zipfile.ZipFile(tmp_path / "in" / "ada" / "ps1.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo("attention/worked_example.py", (2026, 1, 2, 3, 4, 5)), RIGHT)
        packed.writestr(zipfile.ZipInfo("ps1.ipynb", (2026, 1, 1, 3, 4, 5)), b"{}")
    code, said = run(course, "collect", "ps1", tmp_path / "in")
    assert code == 0 and "by the newest file in the archive" in said
    assert store.take_in(course, "ada", "ps1").arrived.date().isoformat().startswith("2026-01-0")


def test_canvas_word_late_is_passed_on(bare, tmp_path):
    found = found_in(laid_out(tmp_path, bare, DOWNLOADS["canvas"]), by_roster())
    assert {student: one.late for student, one in found.items()} == {"ada": True, "fmüller": False, "omar2": False}


def test_whoever_may_be_several_or_is_nobody_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="Omar Ali may be omar1 or omar2: say which with --ids"):
        by_roster().id_of("Omar Ali_9", (("name", "Omar Ali"),))
    with pytest.raises(ValueError, match="not on the roster: add a line to the table of --ids, eve.zip,ID"):
        by_roster().id_of("eve.zip", (("id", "eve"), ("name", "eve")))
    with pytest.raises(ValueError, match="the course has no roster"):
        Identities(None, {}).id_of("Ada Lovelace_1", (("name", "Ada Lovelace"), ("lms_id", "1")))
    table = tmp_path / "ids.csv"
    table.write_text("﻿Omar Ali_9,omar2\neve.zip,ada\n", encoding="utf-8")
    own = Identities(ROSTER, read_ids(table))
    assert own.id_of("Omar Ali_9", (("name", "Omar Ali"),)) == "omar2" and own.id_of("eve.zip", ()) == "ada"
    table.write_text("one\n")
    with pytest.raises(ValueError, match="row 1: expected two columns"):
        read_ids(table)


def run(course, *arguments):
    done = CliRunner().invoke(main, [*map(str, arguments), "--course", str(course.root)], catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def test_a_class_comes_in_by_one_command_and_a_dry_run_writes_nothing(course, tmp_path):
    folder = laid_out(tmp_path / "in", course, ["ada.zip", "ben.zip", "émile/attention/worked_example.py"])
    (folder / "essay.zip").write_bytes(b"no zip")
    (folder / "zoe").mkdir()
    (folder / "zoe" / "essay.docx").write_bytes(b"x")
    before = {path for path in course.root.rglob("*") if path.name != ".turn"}
    code, said = run(course, "collect", "ps1", "--dry-run", folder)
    assert code == 1 and "3 would be taken in, 2 refused" in said and "nothing is written" in said
    assert {path for path in course.root.rglob("*") if path.name != ".turn"} == before
    code, said = run(course, "collect", "ps1", folder)
    assert code == 1 and "ps1: 3 taken in, 2 refused" in said and "the others are taken in" in said
    assert "ada.zip → ada: taken in, 1 module" in said
    assert "essay.zip → essay: refused: essay.zip is no readable zip" in said
    assert "zoe → zoe: refused: there is nothing of ps1 in it. Found: essay.docx. Expected: attention/worked_e" in said
    assert course.students("ps1") == ["ada", "ben", "émile"]
    assert all(store.take_in(course, one, "ps1").files["worked_example.py"] == RIGHT for one in ("ada", "émile"))
    assert not (course.root / "received" / "zoe").exists()
    code, said = run(course, "collect", "ps1", folder)
    assert "2 unchanged" in said or "3 unchanged" in said


def test_two_that_are_one_persons_are_both_refused(course, tmp_path):
    folder = laid_out(tmp_path / "in", course, ["ada.zip", "ps1-ada/attention/worked_example.py", "ben.zip"])
    code, said = run(course, "collect", "ps1", folder)
    assert code == 1 and said.count("2 in the download are ada's: leave one of them") == 2
    assert course.students("ps1") == ["ben"]


def test_a_table_of_ids_serves_where_there_is_no_roster(course, tmp_path):
    folder = laid_out(tmp_path / "in", course, ["Ada Lovelace_12345_assignsubmission_file_/ps1.zip"])
    code, said = run(course, "collect", "ps1", folder)
    assert (
        code == 1
        and "no id, and the course has no roster: add a line to the table of --ids, Ada Lovelace_12345,ID" in said
    )
    (tmp_path / "ids.csv").write_text("Ada Lovelace_12345,ada\n")
    assert run(course, "collect", "ps1", "--ids", tmp_path / "ids.csv", folder)[0] == 0
    assert course.students("ps1") == ["ada"]


def test_a_hostile_download_climbs_nowhere_and_links_lead_nowhere(bare, tmp_path):
    place = tmp_path / "download.zip"
    link = zipfile.ZipInfo("eve/attention/worked_example.py")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(place, "w") as packed:
        packed.writestr("../../climbed.py", b"x")
        packed.writestr("/absolute.py", b"x")
        packed.writestr("eve\\..\\..\\..\\climbed.py", b"x")
        packed.writestr(link, b"/etc/passwd")
        packed.writestr("ada/worked_example.py", RIGHT)
    with downloads.opened(place) as folder:
        assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")] == ["ada/worked_example.py"]
    assert not list(tmp_path.glob("climbed*")) and not list(tmp_path.parent.glob("climbed*"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "eve").symlink_to("/etc")
    assert downloads.submissions_in(tmp_path / "in", "ps1") == []
    with (
        pytest.raises(ValueError, match=r"is no folder, nor a zip that can be read .*: unpack it"),
        downloads.opened(bare.release("ps1") / "ps1.ipynb"),
    ):
        pass


def test_each_submission_has_one_line_and_whose_word_its_time_is_stands_once_below(course, tmp_path):
    folder = laid_out(tmp_path / "in", course, ["ada.zip", "fmüller.zip"])
    done = CliRunner().invoke(main, ["collect", "ps1", str(folder), "--course", str(course.root)])
    assert done.exit_code == 0
    first, second, summary, word = done.output.splitlines()
    assert first.startswith("ada.zip → ada: taken in, 1 module, handed in 20") and first.endswith(" UTC")
    assert second.startswith("fmüller.zip → fmüller: taken in") and summary == "ps1: 2 taken in"
    assert word.strip() == "2 times by the newest file in the archive, which whoever packs it can choose"


def test_times_by_another_s_word_are_named(course, tmp_path):
    folder = laid_out(tmp_path / "in", course, ["ada.zip", "fmüller/attention/worked_example.py"])
    code, said = run(course, "collect", "ps1", folder)
    assert code == 0 and "1 time by the newest file in the archive, which whoever packs it can choose: ada" in said
    assert "1 time when it was taken in: fmüller" in said
