"""Every attack of the bank, for real: handed in, graded beside an honest student, read as the instructor reads it."""

import contextlib
import hashlib
import json
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from autograder import pipeline
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE, ROOT
from autograder.intake import archive, store
from autograder.judge import limits
from autograder.release import bundle
from autograder.sandbox.bubblewrap import NOBODY

from .bank import CODE, code_attacks, full_marks, text_attacks, write

ATTACKS = code_attacks() + text_attacks()
SETS = sorted({one.problem_set for one in ATTACKS})
#: Of the kind "isolation", those that do no harm where there are no walls.
HARMLESS = ("environment_read", "locks", "network", "processes_of_the_grader", "watches_files")
OUTSIDE = ["/proc/sys/kernel/shmmni", "/proc/sys/kernel/msgmax", "/proc/sys/kernel/pid_max", "/proc/sys/vm/swappiness"]


def outside():
    """What a sandbox must not change: settings of the kernel, the repository's files."""
    settings = {path: Path(path).read_text() for path in OUTSIDE if Path(path).exists()}
    files = [path for folder in ("solutions", "src", "autograder") for path in sorted((ROOT / folder).rglob("*.py"))]
    return settings | {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def hand_in(course, folder, student, problem_set, files):
    store.store(course, student, problem_set, archive.read_folder(write(folder, files), problem_set))


@pytest.fixture(scope="session")
def to_be_found():
    """What attacks look for outside their sandbox: a secret in the environment, listeners in the network."""
    with pytest.MonkeyPatch.context() as patch, socket.socket() as port, socket.socket(socket.AF_UNIX) as name:
        patch.setenv("ATTACK_SECRET", "found")
        for one, address in ((port, ("127.0.0.1", 45871)), (name, "\0attack-on-the-grader")):
            with contextlib.suppress(OSError):  # somebody else listens there already
                one.bind(address)
                one.listen()
        yield


@pytest.fixture(scope="session")
def attacked(to_be_found, tmp_path_factory):
    """The course after every attack, the instructor's lines by problem set and student, what was outside before."""
    course, lines, before = Course.open(tmp_path_factory.mktemp("attacked") / "course"), {}, outside()
    honest = {f"attention/{path.name}": path.read_bytes() for path in REFERENCE.glob("*.py")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "EXERCISE_CPU_SECONDS", 2.0)
        patch.setattr(limits, "WALL_CLOCK_FACTOR", 3.0)
        for problem_set in SETS:
            bundle.release(course, problem_set)
            for one in ATTACKS:
                if one.problem_set == problem_set:
                    hand_in(course, tmp_path_factory.mktemp("hostile"), one.name, problem_set, one.files)
            hand_in(course, tmp_path_factory.mktemp("honest"), "zoe", problem_set, honest)
            graded = pipeline.grade(course, problem_set)
            lines |= {(problem_set, line.student): line for line in graded}
    return course, lines, before


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_an_attack_earns_what_its_honest_part_deserves(attacked, one):
    course, lines, _ = attacked
    found = json.loads(course.result_file(one.name, one.problem_set).read_text(encoding="utf-8"))
    assert {exercise["id"]: exercise["points"] for exercise in found["exercises"]} == one.deserves
    line = lines[one.problem_set, one.name]
    assert line.points == sum(one.deserves.values())
    assert one.log in " ".join(line.remarks)
    assert one.name.startswith("texts") or line.remarks, "the instructor reads of it"


@pytest.mark.parametrize("problem_set", SETS)
def test_the_class_goes_on_and_an_honest_student_has_full_marks(attacked, problem_set):
    _, lines, _ = attacked
    line = lines[problem_set, "zoe"]
    assert line.points == sum(full_marks(problem_set).values())
    assert {student for name, student in lines if name == problem_set} == {
        "zoe",
        *(one.name for one in ATTACKS if one.problem_set == problem_set),
    }


def test_nothing_outside_has_changed_and_nothing_is_left_over(attacked):
    assert outside() == attacked[2]
    orphans = [
        one.info["pid"]
        for one in psutil.process_iter(["pid", "ppid", "uids", "cmdline"])
        if one.info["ppid"] == 1
        and one.info["uids"].real == NOBODY
        and any(
            program in " ".join(one.info["cmdline"] or []) for program in ("start.py fork_server", "start.py worker")
        )
    ]
    assert orphans == []


@pytest.mark.parametrize("name", HARMLESS)
def test_where_there_are_no_walls_an_attack_on_them_reaches_what_it_is_after(to_be_found, name):
    code = (CODE / "isolation" / f"{name}.py").read_text(encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", f"{code}\nraise SystemExit(0 if _reached() else 'not reached')"])
    assert done.returncode == 0


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 60
