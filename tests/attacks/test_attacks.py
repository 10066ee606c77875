"""Every attack of the bank, for real: handed in, graded beside an honest student, read as the instructor reads it."""

import contextlib
import hashlib
import json
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest

from autograder import pipeline
from autograder.course.paths import REFERENCE, ROOT
from autograder.intake import archive, store
from autograder.judge import limits
from autograder.sandbox import limited
from autograder.sandbox.bubblewrap import NOBODY
from selfcheck.catalogue import problem_sets

from ..autograder.outside_view import until
from ..autograder.shared_courses import copy_of, released
from ..records.whole import proof_of_the_whole
from .bank import CODE, code_attacks, full_marks, text_attacks, write

ATTACKS = code_attacks() + text_attacks()
QUICK = [one for one in ATTACKS if not one.costly]
SETS = sorted({one.problem_set for one in QUICK})
#: Tried in every run, for the kernel has a part in what comes of them. What comes of the others, and of those that take
#: many seconds, is on record.
EVERY_TIME = [
    one
    for one in QUICK
    if one.problem_set == "ps1"
    and (
        one.name.startswith("isolation-")
        or one.name
        in {
            "forging-double_fork",
            "forging-parent_killed",
            "output-ten_megabytes",
            "resources-open_files",
            "resources-thread_bomb",
            "texts-nested_source",
        }
    )
]
#: Seconds of the processor for one exercise, of which an honest one here needs a hundredth; in ps9 `EncoderDecoder`
#: needs half a second, in ps10 the measurement of memory at a great length a second, and more beside others.
LIMIT, LIMITS = 1.0, {"ps9": 4.0, "ps10": 8.0}
BY_THE_CLOCK = 5.0  # seconds for each of these
READING = 2**27  # bytes for reading a source, of which an honest one here needs half
KINDS = {"forging": 20, "isolation": 12, "output": 15, "resources": 18, "texts": 9}  # the least of each
#: Of the kind "isolation", those that do no harm where there is no isolation.
HARMLESS = ("environment_read", "locks", "network", "processes_of_the_grader", "watches_files")
OUTSIDE = ["/proc/sys/kernel/shmmni", "/proc/sys/kernel/msgmax", "/proc/sys/kernel/pid_max", "/proc/sys/vm/swappiness"]


def outside():
    """What a sandbox must not change: settings of the kernel, the repository's files."""
    settings = {path: Path(path).read_text() for path in OUTSIDE if Path(path).exists()}
    files = [path for folder in ("solutions", "src", "autograder") for path in sorted((ROOT / folder).rglob("*.py"))]
    return settings | {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def hand_in(course, folder, student, problem_set, files):
    store.store(course, student, problem_set, archive.read_folder(write(folder, files), problem_set))


@pytest.fixture(scope="module")
def to_be_found():
    """What attacks look for outside their sandbox: a secret in the environment, listeners in the network."""
    with pytest.MonkeyPatch.context() as patch, socket.socket() as port, socket.socket(socket.AF_UNIX) as name:
        patch.setenv("ATTACK_SECRET", "found")
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # other workers of pytest listen too
        for one, address in ((port, ("127.0.0.1", 45871)), (name, "\0attack-on-the-grader")):
            with contextlib.suppress(OSError):  # somebody else listens there already
                one.bind(address)
                one.listen()
        yield


def after(attacks, factory):
    """The course after these attacks and an honest student, and the instructor's lines by problem set and student."""
    with released(factory, *(name for name in problem_sets() if name in {one.problem_set for one in attacks})) as bare:
        course, lines = copy_of(bare, factory.mktemp("attacked") / "course"), {}
    honest = {f"attention/{path.name}": path.read_bytes() for path in REFERENCE.glob("*.py")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "WALL_CLOCK_FACTOR", BY_THE_CLOCK)
        patch.setattr(limited, "MEMORY_BYTES", READING)
        patch.setattr(limited, "CPU_SECONDS", 2)
        for problem_set in sorted({one.problem_set for one in attacks}):
            patch.setattr(limits, "EXERCISE_CPU_SECONDS", LIMITS.get(problem_set, LIMIT))
            for one in attacks:
                if one.problem_set == problem_set:
                    hand_in(course, factory.mktemp("hostile"), one.name, problem_set, one.files)
            hand_in(course, factory.mktemp("honest"), "zoe", problem_set, honest)
            lines |= {(problem_set, line.student): line for line in pipeline.grade(course, problem_set)}
    return course, lines


@pytest.fixture(scope="module")
def attacked(to_be_found, tmp_path_factory):
    """The course after the attacks of every run, the instructor's lines, what was outside before."""
    before = outside()
    return *after(EVERY_TIME, tmp_path_factory), before


@pytest.fixture(scope="module")
def attacked_by_others(to_be_found, tmp_path_factory):
    """Likewise after those that are on record."""
    before = outside()
    return *after([one for one in QUICK if one not in EVERY_TIME], tmp_path_factory), before


@pytest.fixture(scope="module")
def attacked_at_cost(to_be_found, tmp_path_factory):
    """Likewise after those that cost more."""
    before = outside()
    return *after([one for one in ATTACKS if one.costly], tmp_path_factory), before


on_record = proof_of_the_whole(Path(__file__))


@pytest.fixture
def after_attack(request):
    """What came of an attack, or of the others in its problem set: as `attacked`."""
    return lambda is_often: request.getfixturevalue("attacked" if is_often else "attacked_by_others")


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, marks=() if one in EVERY_TIME else on_record) for one in QUICK],
    ids=lambda one: one.name,
)
def test_an_attack_earns_what_its_honest_part_deserves(after_attack, one):
    assert_deserved(one, *after_attack(one in EVERY_TIME))


@pytest.mark.full
@pytest.mark.parametrize("one", [one for one in ATTACKS if one.costly], ids=lambda one: one.name)
def test_a_costly_attack_earns_what_its_honest_part_deserves(attacked_at_cost, one):
    course, lines, before = attacked_at_cost
    assert_deserved(one, course, lines, before)
    assert lines[one.problem_set, "zoe"].points == sum(full_marks(one.problem_set).values())
    assert outside() == before


def assert_deserved(one, course, lines, _):
    line = lines[one.problem_set, one.name]
    assert line.points == sum(one.deserves.values()), line.remarks
    found = json.loads(course.result_file(one.name, one.problem_set).read_text(encoding="utf-8"))
    assert {exercise["id"]: exercise["points"] for exercise in found["exercises"]} == one.deserves
    assert one.log in " ".join(line.remarks)
    assert one.name.startswith("texts") or line.remarks, "the instructor reads of it"


@pytest.mark.parametrize(
    ("chosen", "problem_set"),
    [("every time", "ps1"), *(pytest.param("others", problem_set, marks=on_record) for problem_set in SETS)],
)
def test_the_class_goes_on_and_an_honest_student_has_full_marks(after_attack, chosen, problem_set):
    is_often = chosen == "every time"
    _, lines, _ = after_attack(is_often)
    line = lines[problem_set, "zoe"]
    assert line.points == sum(full_marks(problem_set).values())
    assert {student for name, student in lines if name == problem_set} == {
        "zoe",
        *(one.name for one in QUICK if one.problem_set == problem_set and (one in EVERY_TIME) == is_often),
    }


@pytest.mark.parametrize("chosen", ["every time", pytest.param("others", marks=on_record)])
def test_nothing_outside_has_changed_and_nothing_is_left_over(after_attack, chosen):
    assert outside() == after_attack(chosen == "every time")[2]
    left = orphans()
    until(lambda: not left & orphans())  # those of somebody who grades beside this are on their way out


def orphans():
    """Sandboxed processes of this Python that nobody has started."""
    return {
        (one.pid, one.create_time())
        for one in psutil.process_iter(["ppid", "uids", "cmdline"])
        if one.info["ppid"] == 1 and one.info["uids"].real == NOBODY and sys.executable in (one.info["cmdline"] or [])
    }


@pytest.mark.parametrize("name", HARMLESS)
def test_where_there_are_no_walls_an_attack_on_them_reaches_what_it_is_after(to_be_found, name):
    code = (CODE / "isolation" / f"{name}.py").read_text(encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", f"{code}\nraise SystemExit(0 if _reached() else 'not reached')"])
    assert done.returncode == 0


def test_every_kind_of_attack_is_tried():
    assert {one.name.partition("-")[0] for one in EVERY_TIME} == KINDS.keys()
    tried = Counter(one.name.partition("-")[0] for one in QUICK)
    assert tried.keys() == KINDS.keys() == {path.name for path in CODE.iterdir() if path.is_dir()} | {"texts"}
    assert all(tried[kind] >= least for kind, least in KINDS.items()), tried
