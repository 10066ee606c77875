"""Everything that touches a learner's bytes has limits, for each class of bytes: what exceeds one costs nobody else."""

import base64
import json
import math
import os
import time
import zipfile

import pytest

from autograder import pipeline
from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.intake import archive, notebook, store
from autograder.judge import answers, asking_again, limits, periods, protocol, sources
from autograder.judge.requests import VISIBLE
from autograder.sandbox import activity, limited
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.call_effect import STAYS, Bend
from selfcheck.catalogue import exercises
from selfcheck.plan import call
from selfcheck.recorded import visible_keys

from ..autograder.shared_courses import copy_of, released
from .bank import full_marks, write

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
PLANS = {"0": {"calls": [call(3).packed()], "gradient": False}}
MOST = limits.JOINT_OUTPUT_BYTES
DEPTHS = range(982, 998)  # about where Python's parser and its writer of JSON give up, each at another
DEEP = """
import json


def __getattr__(name):
    depth = int(name.removeprefix("f"))
    json.JSONEncoder.encode = lambda self, tree: "[" * depth + "]" * depth
    raise AttributeError(name)
"""
ARRAY = {"kind": "ndarray", "dtype": "float64", "shape": [2], "data": ""}
#: What a hostile process may say in place of an exercise's answers, in about so many bytes.
BOMBS = {
    "lists": lambda size: b'{"0": [' + b"[]," * (size // 3) + b"0]}",
    "objects": lambda size: b'{"0": [' + b"{}," * (size // 3) + b"0]}",
    "numbers": lambda size: b'{"0": [' + b"1," * (size // 2) + b"0]}",
    "keys": lambda size: b"{" + b'"":0,' * (size // 5) + b'"0":0}',
    "depth": lambda size: b"[" * size,
    "objects within objects": lambda size: b'{"0":' * (size // 5),
    "digits": lambda size: b'{"0": ' + b"9" * size + b"}",
    "digits behind a point": lambda size: b'{"0": 1.' + b"9" * size + b"}",
    "an exponent": lambda size: b'{"0": 1e' + b"9" * size + b"}",
    "numbers that are none": lambda size: b'{"0": [' + b"NaN," * (size // 4) + b"0]}",
    "escapes": lambda size: b'{"0": "' + b"\\u0041" * (size // 6) + b'"}',
    "blanks": lambda size: b" " * size,
    "no text": lambda size: b"\xff" * size,
    "axes": lambda size: as_answer(ARRAY | {"shape": [2**47] * (size // 17)}),
    "a number's digits": lambda size: as_answer({"kind": "number", "type": "int", "value": "9" * size}),
    "entries": lambda size: as_answer(ARRAY | {"shape": [size // 11], "data": "A" * (size // 11 * 32 // 3 // 4 * 4)}),
    "parts": lambda size: as_answer({"kind": "items", "items": [{"kind": "none"}] * (size // 17)}),
    "tuples within tuples": lambda size: as_answer(nested(min(size // 29, 300))),
    "names": lambda size: as_answer({"kind": "none"}, changed=["x" * 1000] * (size // 1004)),
}
TRIES = 10
QUICK = ("lists", "depth", "digits", "axes", "tuples within tuples")  # that are tried in every run


def nested(depth):
    tree = {"kind": "none"}
    for _ in range(depth):
        tree = {"kind": "tuple", "items": [tree]}
    return tree


def as_answer(value, **more):
    return json.dumps({"0": [{"value": value, **more}]}).encode()


def line(said):
    return json.dumps({"place": 0, "said": base64.b64encode(said).decode()}).encode() + b"\n"


def read(data):
    """What is made of a worker's words, and the seconds of the processor that this takes."""
    began = time.thread_time()
    _, lines = answers.lines_of(data, 1)
    found = answers.answers_in(PLANS, lines[0] if lines else {})
    return found["0"], time.thread_time() - began


def read_within(seconds, data):
    """What is made of a worker's words; what takes too long does so each time, whatever else the machine does."""
    tries = (read(data) for _ in range(TRIES))
    return next(found for found, taken in tries if taken < seconds)


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox whose fork server has started: that takes seconds of the first submission's."""
    found = open_sandbox()
    protocol.ask(GIVEN | {"masks.py": b""}, [protocol.Request("masks.f", PLANS)], False, found)
    return found


def test_the_relay_passes_on_what_it_could_not_read(sandbox):
    requests = [protocol.Request(f"masks.f{depth}", PLANS) for depth in DEPTHS]
    found = protocol.ask(GIVEN | {"masks.py": DEEP.encode()}, requests, False, sandbox)
    assert {one["0"][0]["error"]["type"] for one in found} == {answers.STOPPED}


@pytest.mark.parametrize(
    "bomb",
    [pytest.param(bomb, id=name, marks=[] if name in QUICK else pytest.mark.full) for name, bomb in BOMBS.items()],
)
def test_what_a_process_says_is_read_in_time_in_proportion_to_its_length(bomb):
    most = 30 * max(0.01, min(read(line(bomb(MOST // 40)))[1] for _ in range(TRIES)))
    assert len(read_within(most, line(bomb(MOST // 4)))) == 1


@pytest.mark.parametrize("many", [b"\n", b"{}\n", b"[]\n", b'{"place": 0}\n', b'{"place": 9}\n'], ids=ascii)
def test_of_many_lines_no_more_are_read_than_there_are_answers(many):
    found = read_within(1, many * (MOST // 4 // len(many)))
    assert found[0]["error"]["type"] == answers.STOPPED


def array_of(*shape):
    return {
        "kind": "tensor",
        "dtype": "int8",
        "shape": shape,
        "data": base64.b64encode(bytes(math.prod(shape))).decode(),
    }


def test_an_answer_that_is_far_larger_than_the_expected_one_is_not_compared():
    expected = [{"value": array_of(2)}]
    larger, largest = ([{"value": array_of(count)}] for count in (2**11, 2**12))
    assert answers.of_comparable_size(expected, larger) == larger
    several = {"kind": "items", "items": [larger[0]["value"]] * 3}
    for value in (
        largest[0]["value"],
        several,
        array_of(2**12, 0),
        {"kind": "items", "items": [{"kind": "none"}] * 2**12},
    ):
        found = answers.of_comparable_size(expected, [{"value": value}])
        assert "too large" in found[0]["error"]["text"]
    assert answers.of_comparable_size(largest, [{"value": several}]) == [{"value": several}]


def test_an_answer_that_is_asked_for_again_may_be_as_large_and_no_larger(monkeypatch):
    exercise = next(one for one in exercises() if one.id == "masks.masked_softmax")
    keys = visible_keys(exercise)
    given = [(key, [answer | {"ran": ["torch.softmax"]} for answer in key.expected]) for key in keys]
    large, again = [{"value": array_of(2**17)}], []

    def ask(files, requests, *_):
        return [{place: large * len(plan["calls"]) for place, plan in one.plans.items()} for one in requests]

    monkeypatch.setattr(asking_again, "ask", ask)
    monkeypatch.setattr(asking_again, "effect", lambda asked, _: again.extend(asked([Bend(0.0)])) or STAYS)
    asking = asking_again.AskingAgain({}, {exercise: keys}, None, None, periods.Deadline.of_submission())
    assert asking.ran(exercise, VISIBLE, given).effect == STAYS
    assert {one["error"]["text"] for some in again[0].values() for one in some} == {"the answer is too large"}


BOMB_IN_THE_PIPE = """
import os

for descriptor in range(3, 64):
    try:
        os.write(descriptor, b'{"place": 0, "said": [')
        for _ in range(2**10):
            os.write(descriptor, b"[]," * 2**15)
    except OSError:
        pass
"""


def test_one_process_for_all_says_no_more_than_one_for_each(sandbox, monkeypatch):
    said = []
    monkeypatch.setattr(
        protocol, "lines_of", lambda data, count: said.append(len(data)) or answers.lines_of(data, count)
    )
    files = GIVEN | {"masks.py": BOMB_IN_THE_PIPE.encode()}
    (found,) = protocol.ask_together(files, [protocol.Request("masks.f", PLANS)], sandbox, lambda _: [])
    assert found["0"][0]["error"]["type"] == answers.STOPPED
    assert MOST < max(said) < MOST + 2**17


SLEEPS = "import time\n\ndef __getattr__(name):\n    return lambda n: time.sleep(1e6)\n"


def test_a_submission_that_sleeps_is_ended_by_the_clock(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 0.5)
    monkeypatch.setattr(limits, "PART_CPU_SECONDS", 1.2)
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 1.0)
    requests = [protocol.Request(f"masks.f{number}", PLANS) for number in range(100)]
    began, used = time.monotonic(), sum(os.times()[:2])
    found = protocol.ask(GIVEN | {"masks.py": SLEEPS.encode()}, requests, False, sandbox)
    assert time.monotonic() - began < 100 * 0.5, "each has its time, and all together have no more"
    assert sum(os.times()[:2]) - used < 10
    assert "took longer than" in found[0]["0"][0]["error"]["text"]
    assert "does your code sleep" in found[-1]["0"][0]["error"]["text"]


WAITS_FOR_A_THREAD = """
import threading, time

def f0(n):
    def work():
        while time.thread_time() < 4:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return n
"""


#: Waits as if for a disk, for a process that it has started: one that hides from others of its user too, or not.
WAITS_FOR_A_PROCESS = """
import ctypes, time

def __getattr__(name):
    library = ctypes.CDLL(None)
    library.prctl(4, HIDES, 0, 0, 0)  # PR_SET_DUMPABLE
    return lambda n: (library.vfork(), time.sleep(1e6))
"""


@pytest.mark.parametrize(
    "code",
    [SLEEPS, *(WAITS_FOR_A_PROCESS.replace("HIDES", one) for one in "10")],
    ids=["sleeps", "waits for a process", "waits and hides"],
)
def test_what_only_sleeps_is_ended_long_before_its_time_by_the_clock(sandbox, monkeypatch, code):
    monkeypatch.setattr(limits, "IDLE_WALL_SECONDS", 0.5)  # one look
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 5.0)
    requests = [protocol.Request(f"masks.f{number}", PLANS) for number in range(9)]
    said = [
        one["0"][0]["error"]["text"]
        for one in protocol.ask(GIVEN | {"masks.py": code.encode()}, requests, False, sandbox)
    ]
    assert "computed nothing" in said[0]
    assert all("without computing" in one for one in said[2:]), "two have waited as long as all may, or the first has"


def test_nobody_can_compute_just_when_it_is_looked_at():
    waits = {activity.until_next_look() for _ in range(50)}
    assert len(waits) > 25 and 0.5 <= min(waits) < 0.75 < 1.25 < max(waits) <= 1.5


def test_a_submission_that_waits_in_one_process_after_the_other_has_no_more_time_for_it(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "IDLE_WALL_SECONDS", 1.0)
    end, files = periods.Deadline.of_submission(), GIVEN | {"masks.py": SLEEPS.encode()}
    began = time.monotonic()
    for _ in range(5):
        found = protocol.ask(files, [protocol.Request("masks.f", PLANS)], False, sandbox, end=end)
    assert time.monotonic() - began < 5 + 5, "two of them have waited, and no other"
    assert end.idle_left <= 0 and "without computing" in found[0]["0"][0]["error"]["text"]


@pytest.mark.full
def test_what_waits_for_what_computes_has_its_time(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "IDLE_WALL_SECONDS", 2.0)
    files = GIVEN | {"masks.py": WAITS_FOR_A_THREAD.encode()}
    (found,) = protocol.ask(files, [protocol.Request("masks.f0", PLANS)], False, sandbox)
    assert found["0"][0]["value"]["value"] == "3"


ACCENTS = "\na" + "\u0300\u0316" * 60_000 + " = 1\n"  # a name whose accents every parser puts in order
RELEASED = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(limited, "MEMORY_BYTES", 2**26)  # of which the process has half when it begins


@pytest.mark.full
def test_a_source_that_exceeds_its_limits_is_its_learners_verdict_and_nobody_elses(
    monkeypatch, tmp_path, tmp_path_factory
):
    """Beside what the bank of attacks hands in: here the answers are right."""
    monkeypatch.setattr(limited, "CPU_SECONDS", 1)
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 1.0)
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path / "course")
    right = (REFERENCE / "worked_example.py").read_bytes()
    for student, text in (("ada", right), ("eve", right + ACCENTS.encode()), ("zoe", right + b"# mine\n")):
        folder = write(tmp_path / student, {"attention/worked_example.py": text})
        store.store(course, student, "ps1", archive.read_folder(folder, "ps1"))
    lines = {line.student: line for line in pipeline.grade(course, "ps1")}
    full = sum(full_marks("ps1").values())
    assert {student: line.points for student, line in lines.items()} == {"ada": full, "eve": 0, "zoe": full}
    assert any("worked_example.py, or a module that it uses, takes more" in one for one in lines["eve"].remarks)
    assert "nothing in it was looked at" in lines["eve"].remarks[-1]
    assert "simplify it" in course.result_file("eve", "ps1").read_text(encoding="utf-8")


def test_of_sources_what_can_be_read_within_the_limits_is_read(monkeypatch):
    monkeypatch.setattr(limited, "CPU_SECONDS", 1)
    files = {name: (REFERENCE / name).read_bytes() for name in ("masks.py", "scores.py")}
    files["masks.py"] += ACCENTS.encode()
    chosen = [one for one in exercises() if one.module == "scores" or one.id == "masks.causal_mask"]
    found = sources.read_sources(files, files, chosen)
    assert {one.module for one in found.findings} == {"scores"} and len(found.findings) == len(chosen) - 1
    assert [line for line in found.remarks if "nothing in it was looked at" in line] == [
        f"masks.py {sources.UNREAD}: nothing in it was looked at"
    ]


def test_a_notebook_that_exceeds_its_limits_counts_as_unanswered(little_memory):
    data = json.dumps(RELEASED)[:-1].encode() + b', "more": [' + b"[]," * 10**6 + b"0]}"
    rebuilt, remarks = notebook.rebuild_within_limits(RELEASED, data)
    assert rebuilt == RELEASED and "of memory to read: the written questions count as unanswered" in remarks[0]


def test_a_zip_that_exceeds_its_limits_is_refused(little_memory, tmp_path):
    with zipfile.ZipFile(tmp_path / "ps1.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ps1.ipynb", bytes(archive.MOST_NOTEBOOK_BYTES))
    with pytest.raises(ValueError, match="ps1.zip takes more than .* of memory to read. Hand in the folder"):
        archive.read_zip(tmp_path / "ps1.zip", "ps1")


def test_a_submission_that_computes_in_one_worker_after_the_other_has_no_more_time_for_it(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "PART_CPU_SECONDS", 0.2)
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 200.0)  # the clock has no word in this
    code = "import time\ndef f(n):\n    while time.process_time() < 0.4:\n        pass\n    return n\n"
    end, files = periods.Deadline.of_submission(), GIVEN | {"masks.py": code.encode()}
    found = [protocol.ask(files, [protocol.Request("masks.f", PLANS)], False, sandbox, end=end) for _ in range(3)]
    assert "value" in found[0][0]["0"][0] and end.cpu_left < 0
    assert "had used its" in found[2][0]["0"][0]["error"]["text"]
