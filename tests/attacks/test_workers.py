"""What one worker of a fork server leaves to the next, and what it can take from whoever grades."""

import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import time

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.build.stubs import given_files
from autograder.cores import cores
from autograder.course.paths import REFERENCE, ROOT
from autograder.course.policy import GradingPolicy
from autograder.judge import judge, limits, protocol
from autograder.sandbox import linux, runner, worker
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.worker_pool import WorkerPool
from selfcheck.arrays import unpack
from selfcheck.catalogue import in_problem_set
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
FIRST, LATER = 1234567, 7654321  # inputs that are found in what the grader sends, and in nothing else of it
SHOWN, HIDDEN = ({"0": {"calls": [call(n).packed()], "gradient": False}} for n in (FIRST, LATER))
#: A socket with a name that no file has, held by nobody but messages that wait in it.
STAYS = """
import socket

def causal_mask(n):
    waits, asks, (one, other) = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX), socket.socketpair()
    waits.bind(chr(0) + "stays")
    waits.listen(5)
    asks.connect(chr(0) + "stays")
    asks.sendall(b"from the worker before")
    socket.send_fds(one, [b"."], [part.fileno() for part in (one, other, waits, asks)])
    return n
"""
LOOKS = """
def causal_mask(n):
    return open("/proc/net/unix").read()
"""
#: Finds notes in the folders that a worker may have, and leaves one in each that it can write to.
NOTES = """
import os

def causal_mask(n):
    found, left = [], []
    for folder in ("/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run", "/sandbox", "/sandbox/work/attention"):
        try:
            found += [folder] * os.path.exists(folder + "/note")
            open(folder + "/note", "w").close()
            left.append(folder)
        except OSError:
            pass
    return f"found {found}, left {left}"
"""
#: Pages that are in no process any more, though one of them is kept; each way of getting them says why it is refused.
HOARDS = """
import ctypes, os

def causal_mask(n):
    library, said = ctypes.CDLL(None, use_errno=True), []
    library.mmap.restype = ctypes.c_void_p
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size, zero = 2**26, os.open("/dev/zero", os.O_RDWR)
    for flags, file in ((0x21, -1), (0x23, -1), (0x01, zero)):
        place = library.mmap(None, ctypes.c_size_t(size), 3, flags, file, 0)
        if place == 2**64 - 1:
            said.append(os.strerror(ctypes.get_errno()))
        else:
            ctypes.memset(place, 1, size)
            library.munmap(place + 4096, size - 4096)
            said.append("held")
    return str(said)
"""
#: Sockets whose other ends wait to be accepted, and that are closed themselves: what was written stays.
BACKLOG = """
import os, socket, time

def causal_mask(n):
    if os.fork() == 0:
        os._exit(0)  # nobody waits for it, and by it the kernel tells nothing of the sandbox
    listens = socket.socket(socket.AF_UNIX)
    listens.bind(chr(0) + "backlog")
    listens.listen(4096)
    for _ in range(COUNT):
        with socket.socket(socket.AF_UNIX) as asks:
            asks.connect(chr(0) + "backlog")
            asks.setblocking(False)
            try:
                while True:
                    asks.send(bytes(2**15))
            except BlockingIOError:
                pass
    time.sleep(TIME)
    return n
"""
#: A map in as many parts as there may be, none of which holds a page, and processes that have it too: in each of them
#: the kernel keeps a piece of its memory for every part, and one for every process between it and the first.
PARTS = """
import ctypes, os, time

def causal_mask(n):
    library, size = ctypes.CDLL(None), 4096 * 60_000
    library.mmap.restype = ctypes.c_void_p
    place = library.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0))
    for part in range(0, size, 8192):
        library.mprotect(ctypes.c_void_p(place + part), ctypes.c_size_t(4096), 1)
    for _ in range(COUNT):
        if os.fork() == 0:
            time.sleep(1e6)
    time.sleep(TIME)
    return n
"""
SLEEPS = "import time\n\ndef __getattr__(name):\n    return lambda n: time.sleep(1e6)\n"
KILLED = """
import os, signal

def causal_mask(n):
    if n % 10 == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
"""


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox()


@pytest.fixture
def sent(monkeypatch):
    """Whatever this process has sent to others through pipes, in its order."""
    found = bytearray()

    def write(descriptor, data, write=os.write):
        count = write(descriptor, data)
        found.extend(bytes(data)[:count])
        return count

    monkeypatch.setattr(os, "write", write)
    return found


def ask(sandbox, body, *requests):
    return [one["0"][0] for one in protocol.ask(GIVEN | {"masks.py": body.encode()}, list(requests), False, sandbox)]


def test_no_socket_outlives_its_worker(sandbox):
    shown = protocol.Request("masks.causal_mask", SHOWN)
    assert "error" not in ask(sandbox, STAYS, shown)[0]
    assert "stays" not in ask(sandbox, LOOKS, shown)[0]["value"]["value"]


def test_no_file_outlives_its_worker(sandbox):
    shown = protocol.Request("masks.causal_mask", SHOWN)
    for said in (ask(sandbox, NOTES, shown)[0]["value"]["value"] for _ in range(2)):
        assert "found [], left ['/tmp', '/dev/shm'" in said


HIDES = """
import sys
from autograder.judge import protocol
from autograder.sandbox import bubblewrap, sight
from tests.attacks.test_workers import LISTS, SHOWN, ask

sight.EXCHANGE, sight.OURS = "/usr/share", ("/usr/include", "/usr/bin/none")
print(ask(bubblewrap.open_sandbox(), LISTS, protocol.Request("masks.causal_mask", SHOWN))[0]["value"]["value"])
"""
LISTS = """
import os

def causal_mask(n):
    found = []
    for place in ("/usr/share", "/usr/include", "/usr/lib"):
        found.append(bool(os.listdir(place)))
        try:
            os.mkdir(place + "/note")
            found.append("made")
        except OSError:
            pass
    return str(found)
"""


def test_what_is_hidden_below_usr_is_empty_and_stays_so():
    done = subprocess.run([sys.executable, "-c", HIDES], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[False, False, True]\n", done.stderr


def test_no_process_has_memory_that_is_shared_and_no_files(sandbox):
    said = ask(sandbox, HOARDS, protocol.Request("masks.causal_mask", SHOWN))[0]["value"]["value"]
    assert said == str(["Operation not permitted"] * 2 + ["No such device"])


def test_what_lies_in_sockets_is_counted_though_no_process_has_them(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**29)  # of which the grader's own processes take half
    shown = protocol.Request("masks.causal_mask", SHOWN)
    few, many = (BACKLOG.replace("COUNT", count).replace("TIME", time) for count, time in (("9", "1"), ("1100", "1e6")))
    assert "error" not in ask(sandbox, few, shown)[0]
    assert "too much memory" in ask(sandbox, many, shown)[0]["error"]["text"]


def test_parts_of_maps_are_counted_though_they_hold_no_page(sandbox):
    shown = protocol.Request("masks.causal_mask", SHOWN)
    few, many = (PARTS.replace("COUNT", count).replace("TIME", time) for count, time in (("0", "1"), ("3", "1e6")))
    assert "error" not in ask(sandbox, few, shown)[0]
    assert "too much memory" in ask(sandbox, many, shown)[0]["error"]["text"]


def test_hidden_inputs_stay_outside_while_an_answer_that_is_quoted_is_tried_again(sandbox, sent):
    asked = [protocol.Request("masks.causal_mask", SHOWN), protocol.Request("masks.other", HIDDEN, hidden=True)]
    answers = ask(sandbox, KILLED + "def other(n):\n    return n\n", *asked)
    assert answers[0]["error"]["type"] == "Stopped" and answers[1]["value"]["value"] == str(LATER)
    assert [int(one) for one in re.findall(rf"{FIRST}|{LATER}".encode(), sent)] == [FIRST, FIRST, LATER]


def test_a_submission_that_is_stopped_again_and_again_has_its_time_and_no_more(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 1)  # whatever runs is stopped at the first look
    monkeypatch.setattr(limits, "PART_CPU_SECONDS", 0.1)
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 50.0)  # 5 seconds: under load too the first look comes before
    answers = ask(sandbox, SLEEPS, *(protocol.Request(f"masks.f{number}", SHOWN) for number in range(80)))
    assert {answer["error"]["type"] for answer in answers} == {"Stopped"}
    assert "too much memory" in answers[0]["error"]["text"] and "not tried" in answers[-1]["error"]["text"]


SPINS = """
import os, time

def causal_mask(n):
    for _ in range(50):
        if os.fork() == 0:
            os.setsid()
            os.execv("/bin/sh", ["sh", "-c", "while :; do :; done"])
    time.sleep(1e6)
"""
HALF_A_SECOND = """
import time

def causal_mask(n):
    while time.process_time() < 0.5:
        pass
    return n
"""


def test_processes_that_compute_together_have_the_time_of_one(sandbox, monkeypatch):
    """Each of them has used a tenth of its own limit when all of them have used that of the exercise."""
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 5.0)
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 1000.0)  # the clock ends nobody
    (answer,) = ask(sandbox, SPINS, protocol.Request("masks.causal_mask", SHOWN))
    assert "longer than 5 seconds" in answer["error"]["text"]


def test_what_others_take_of_the_processor_is_no_time_of_an_exercise(sandbox, monkeypatch):
    """By the clock it has five times what it needs, while others leave it a tenth or less of the processor."""
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 2.5)
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 1.0)
    ask(sandbox, HALF_A_SECOND, shown := protocol.Request("masks.causal_mask", SHOWN))  # the fork server has started
    with contextlib.ExitStack() as stack:
        for _ in range(12 * cores()):
            spins = subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
            stack.callback(spins.wait)
            stack.callback(spins.kill)
        (answer,) = ask(sandbox, HALF_A_SECOND, shown)
    assert "value" in answer, answer
    assert answer["value"]["value"] == str(FIRST)


def test_what_comes_before_the_code_is_no_time_of_an_exercise(monkeypatch):
    """A machine that waits for its disk before the first line of the code ends nobody."""

    def answer_late(exercise, request, writing, *_):
        time.sleep(1.5)
        os.write(writing, runner.READY)
        time.sleep(exercise["sleeps"])
        os.write(writing, b"{}")

    monkeypatch.setattr(runner, "answer_one", answer_late)
    request = {"seconds": 1.0, "wall_clock_factor": 1.0, "idle": 1.0, "idle_left": 1.0, "isolated": False}
    lifeline, other_end = os.pipe()
    answers = [
        worker._Worker(request, io.BytesIO(), other_end, "", lifeline, memory=0)._answer_in_child({"sleeps": seconds})
        for seconds in (0.0, 60.0)
    ]
    os.close(lifeline)
    os.close(other_end)
    assert answers == [{"said": base64.b64encode(b"{}").decode()}, {"died": "time"}]


WRONG = "\n\nsoftmax = len\n"
FORBIDDEN = """

def softmax(scores, axis=-1):
    import torch

    return torch.softmax(torch.as_tensor(scores, dtype=torch.float64), axis).numpy()
"""


@pytest.mark.parametrize("code", [WRONG, FORBIDDEN, ""], ids=["wrong", "forbidden", "right"])
def test_hidden_inputs_stay_outside_until_no_answer_that_is_quoted_is_asked_again(sandbox, sent, code):
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    files["worked_example.py"] += code.encode()
    answer_key = live_answer_key("ps1", GradingPolicy(b"s" * 20))
    judge.judge_problem_set(files, answer_key, sandbox)
    keys = [key for exercise in in_problem_set("ps1") for key in answer_key.keys_of(exercise)]
    shown, hidden = (
        # without the last brace: where arguments are held may be said behind them
        [json.dumps(one).encode()[:-1] for key in keys if key.reveal == quoted for one in key.calls]
        for quoted in (True, False)
    )
    secret = set(hidden) - set(shown)  # a check of fixed inputs draws the same ones
    assert len(secret) > 20 and all(one in sent for one in {*shown, *secret})
    assert max(sent.rfind(one) for one in shown if one not in hidden) < min(sent.find(one) for one in secret)
    again = [one for one in set(shown) - set(hidden) if sent.count(one) > shown.count(one)]
    assert bool(again) == bool(code), "what is wrong, or comes from a forbidden function, is asked again"


@pytest.mark.parametrize("forks", [True, False], ids=["forked", "sandbox of its own"])
def test_no_counter_of_the_whole_machine_is_seen(forks):
    names = (*linux.COUNTERS, "pressure/cpu", "sys/fs/inode-nr", "sys/fs/file-nr")
    paths = [path for path in (f"/proc/{name}" for name in names) if os.path.exists(path)]
    of_devices = "[1 for folder, _, names in os.walk('/sys') if {*names} - {'enabled', 'hpage_pmd_size'}]"
    read = f"[len(open(path).read()) for path in {paths} if os.path.exists(path)] + {of_devices}"
    code = f"import os\n\ndef causal_mask(n):\n    return {read}\n"
    asked = [protocol.Request("masks.causal_mask", SHOWN)]
    with WorkerPool(forks) as pool:
        (answers,) = protocol.ask(GIVEN | {"masks.py": code.encode()}, asked, False, open_sandbox(pool=pool))
    assert len(paths) > 8 and set(unpack(answers["0"][0]["value"]).values()) <= {0}
