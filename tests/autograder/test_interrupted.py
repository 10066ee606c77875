"""A command that is ended, whose reader leaves or whose disk is full leaves a course that the next run completes."""

import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.course.locks import reading_release
from autograder.course.paths import REFERENCE, ROOT
from autograder.intake import store
from autograder.release import bundle

from .faults import failing
from .judged_class import CLASS, judged_course
from .shared_courses import copy_of, released

RIGHT = (REFERENCE / "worked_example.py").read_bytes()
#: A command that gets a signal at its n-th change below its course. A shell has what it starts with `&` ignore Ctrl-C,
#: and so do the tests then, and what they start: a command in the foreground, which this stands for, does not.
SIGNALLED = """
import os, signal as signals, sys
signals.signal(signals.SIGINT, signals.default_int_handler)
root, number, signal, count = sys.argv[1] + os.sep, int(sys.argv[2]), int(sys.argv[3]), 0

def see(event, given):
    global count
    if event in ("os.mkdir", "os.rename") or event == "open" and isinstance(given[2], int) and given[2] & 0o1103:
        if isinstance(given[0], str) and given[0].startswith(root):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal)

sys.addaudithook(see)
from autograder.__main__ import main
main(sys.argv[4:])
"""
INTERRUPT, KILL = 2, 9


def called(course, number, signal, *words):
    command = [sys.executable, "-c", SIGNALLED, str(course.root), str(number), str(signal), *map(str, words)]
    return subprocess.run(
        [*command, "--course", str(course.root)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with released(tmp_path_factory, "ps1") as course:
        yield course


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    with judged_course(tmp_path_factory) as course:
        yield course


def zipped(path, course, text=RIGHT):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("attention/worked_example.py", text)
        file.write(course.release("ps1") / "ps1.ipynb", "ps1.ipynb")
    return path


def submit(course, path, number=0, signal=0):
    return called(course, number, signal, "submit", "ps1", "--student", "ada", path)


def whole(course):
    """The modules of what is there, which is clean and marked so: taken in completely."""
    found = store.stored(course, "ada", "ps1")
    return found and dict(found.files)


def killed_at(bare, tmp_path, number):
    """A submission killed at its n-th change while it replaces another; False where it makes no more changes."""
    shutil.rmtree(tmp_path / "course", ignore_errors=True)
    course = copy_of(bare, tmp_path / "course")
    old, new = RIGHT + b"# old\n", RIGHT + b"# new\n"
    assert submit(course, zipped(tmp_path / "old.zip", bare, old)).returncode == 0
    done = submit(course, zipped(tmp_path / "new.zip", bare, new), number, KILL)
    if done.returncode == 0:
        return False
    assert done.returncode == -KILL
    store.recover_all(course, "ps1")
    assert course.students("ps1") == ["ada"]
    assert store.take_in(course, "ada", "ps1").files["worked_example.py"] in (old, new)
    again = submit(course, tmp_path / "new.zip")
    assert again.returncode == 0, again.stdout
    assert whole(course) == {"worked_example.py": new}
    folder = course.submitted("ada", "ps1").parent
    assert [path.name for path in folder.iterdir()] == ["ps1"], "nothing is left over"
    return True


def test_a_submission_that_is_killed_where_folders_change_places_is_the_old_one_or_the_new(bare, tmp_path):
    # The last changes: the former folder aside, the new one in its place, the mark written and put in its place.
    count = changes_of_a_submission(bare, tmp_path)
    for number in (count - 3, count - 2):
        assert killed_at(bare, tmp_path, number)


def changes_of_a_submission(bare, tmp_path):
    """How many changes a submission makes that replaces another, up to the mark's."""
    course = copy_of(bare, tmp_path / "counted")
    for text in (b"# old\n", b"# new\n"):
        path = zipped(tmp_path / "counted.zip", bare, RIGHT + text)
        with failing(course.root, 0) as disk:
            words = ["submit", "ps1", "--student", "ada", "--course", str(course.root), str(path)]
            assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
    return disk.count


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_a_submission_that_is_killed_anywhere_is_the_old_one_or_the_new(bare, tmp_path):
    number = 1
    while killed_at(bare, tmp_path, number):
        number += 1
    assert number > 10


def test_ctrl_c_is_one_line_and_the_next_run_completes(judged, tmp_path):
    course = copy_of(judged, tmp_path / "course")
    done = called(course, 4, INTERRUPT, "grade", "ps1", "--isolation", "none")
    assert done.returncode == 130 and "Traceback" not in done.stdout + done.stderr
    assert "interrupted. What is done stays; run grade again for the rest" in " ".join(done.stdout.split())
    lines = pipeline.grade(course, "ps1", "none")
    assert {line.student for line in lines if line.points is not None} == set(CLASS)


def test_a_reader_that_leaves_stops_nobody_from_being_entered(judged, tmp_path):
    course = copy_of(judged, tmp_path / "course")
    command = [sys.executable, "-m", "autograder", "grade", "ps1", "--isolation", "none", "--course", course.root]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()  # as `| head` does when it has seen enough
        said = process.stderr.read()
        assert process.wait(300) == 0 and said == ""
    assert {path.parent.name for path in (course.root / "autograded").glob("*/ps1")} == set(CLASS)


def test_a_release_waits_for_a_grade_and_a_grade_for_a_release(bare, tmp_path):
    course, said = copy_of(bare, tmp_path / "course"), []
    waits = threading.Event()

    def say(text):
        said.append(text)
        waits.set()

    with ThreadPoolExecutor(1) as pool:
        with reading_release(course):
            done = pool.submit(bundle.release, course, "ps1", (), say)
            assert waits.wait(300) and not done.done()
            assert (course.release("ps1") / "ps1.ipynb").is_file(), "it is there as long as somebody reads it"
        assert done.result(300) == course.release("ps1")
    assert said == [bundle.WAITING]


def test_a_release_that_was_killed_is_as_it_was_before(bare, tmp_path):
    course = copy_of(bare, tmp_path / "course")
    before = {path.name: path.read_bytes() for path in course.release("ps1").glob("*.ipynb")}
    done = called(course, 25, KILL, "release", "ps1")
    assert done.returncode == -KILL
    done = submit(course, zipped(tmp_path / "ps1.zip", bare))
    assert done.returncode == 0, done.stdout
    assert {path.name: path.read_bytes() for path in course.release("ps1").glob("*.ipynb")} == before
    assert sorted(path.name for path in (course.root / "release").iterdir()) == ["ps1"]


@contextmanager
def small_disk(place, mib):
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("a disk that is really full is only to be had as root, with the right to mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_on_a_disk_that_is_really_full_nothing_is_half_written(bare, tmp_path):
    with small_disk(tmp_path / "disk", 16) as disk:
        course = copy_of(bare, disk / "course")
        path = zipped(tmp_path / "ps1.zip", bare, RIGHT + b"#" * 500_000)
        (disk / "filler").write_bytes(os.urandom(free(disk) - 200_000))
        done = submit(course, path)
        said = " ".join(done.stdout.split())
        assert done.returncode == 1 and "Traceback" not in said + done.stderr
        assert re.search(r"submit ps1: the disk is full.*: make room, and run submit again", said)
        assert course.students("ps1") == [] and not (course.root / "received" / "ada").exists()
        (disk / "filler").unlink()
        assert submit(course, path).returncode == 0
        assert list(whole(course)) == ["worked_example.py"]
        (disk / "filler").write_bytes(os.urandom(free(disk) - 4096))
        done = called(course, 0, 0, "grade", "ps1", "--isolation", "none")
        assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
        assert "the disk is full" in " ".join(done.stdout.split())
        (disk / "filler").unlink()
        (line,) = pipeline.grade(course, "ps1", "none")
        assert line.points == line.max_points > 0


def free(disk):
    status = os.statvfs(disk)
    return status.f_bavail * status.f_frsize


def test_a_disk_that_cannot_be_written_is_told_in_a_line(bare, tmp_path):
    with small_disk(tmp_path / "disk", 16) as disk:
        course = copy_of(bare, disk / "course")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        path = zipped(tmp_path / "ps1.zip", bare)
        for words in (("submit", "ps1", "--student", "ada", path), ("release", "ps1")):
            done = called(course, 0, 0, *words)
            said = " ".join(done.stdout.split())
            assert done.returncode == 1 and "Traceback" not in said + done.stderr
            assert "the disk is read-only" in said and f"run {words[0]} again" in said
        assert Course(course.root).students("ps1") == []
