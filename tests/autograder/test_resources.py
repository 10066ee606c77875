"""What a submission used is counted outside its reach: it can neither hide its time nor make some up."""

import errno
import json
import subprocess
import sys

import psutil
import pytest

from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.judge import limits, protocol
from autograder.judge.periods import Deadline
from autograder.sandbox import usage
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.usage import Tally, Used
from autograder.sandbox.worker_pool import WorkerPool, default_pool
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
PLANS = {"0": {"calls": [call(3).packed()], "gradient": False}}
BURNT = 0.6  # seconds of the processor that each of the bodies below uses at least, in a process that is not its own
NO_BURN = 0.4  # and what a worker costs without
HELPERS = f"""
import ctypes, mmap, os, signal, threading, time

def burn(seconds={BURNT}):
    while time.process_time() < seconds:
        pass

def endless(says):
    "Say when the time is spent, and go on."
    burn()
    os.write(says, b".")
    burn(1e9)

def detached(work, says):
    "Run in a process whose parent is gone; what it holds ends when it does."
    if os.fork() == 0:
        if os.fork() == 0:
            work()
            os.close(says)
        os._exit(0)
"""
#: Each burns in another way; n is answered once the time is spent.
HIDING = {
    "a child of a child whose parent is gone": """
def causal_mask(n):
    waits, says = os.pipe()
    detached(burn, says)
    os.close(says)
    os.read(waits, 1)
    return n
""",
    "a child of a parent that ignores how its children end": """
def causal_mask(n):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    waits, says = os.pipe()
    for _ in range(3):
        if os.fork() == 0:
            burn(time.process_time() + 0.2)
            os._exit(0)
    os.close(says)
    os.read(waits, 1)
    return n
""",
    "one that is left behind and still runs": """
def causal_mask(n):
    waits, says = os.pipe()
    detached(lambda: endless(says), says)
    os.read(waits, 1)
    return n
""",
    "a thread of a process whose first thread has ended": """
def causal_mask(n):
    waits, says = os.pipe()
    if os.fork() == 0:
        threading.Thread(target=endless, args=(says,)).start()
        ctypes.CDLL(None).syscall(60, 0)  # ends this thread alone
    os.read(waits, 1)
    return n
""",
}
THREADS = """
def causal_mask(n):
    threads = [threading.Thread(target=burn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return n
"""
LYING = """
def causal_mask(n):
    for descriptor in range(3, 64):
        for line in (b'{"place":0,"said": "e30=", "seconds": 77.5}', b'{"processor_seconds": 77.5, "complete": true}'):
            try:
                os.write(descriptor, line + b"\\n")
            except OSError:
                pass
    return n
"""


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox()


def used(sandbox, body, together):
    """What the module masks.py with this body uses for one answer, and the answer."""
    tally = Tally()
    asked = GIVEN | {"masks.py": (HELPERS + body).encode()}, [protocol.Request("masks.causal_mask", PLANS)]
    if together:
        answers = protocol.ask_together(*asked, sandbox, lambda answers: [], tally)
    else:
        answers = protocol.ask(*asked, False, sandbox, tally)
    return tally, answers[0]["0"][0]


@pytest.mark.parametrize("body", HIDING.values(), ids=HIDING)
def test_time_burnt_in_another_process_is_in_the_figure(sandbox, monkeypatch, body):
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 1.0)  # for what is left behind, which is waited for
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 60.0)
    tally, answer = used(sandbox, body, together=False)
    assert answer["value"]["value"] == "3" and tally.used.complete
    assert BURNT <= tally.seconds["masks.causal_mask"] <= tally.used.processor_seconds


@pytest.mark.parametrize("body", HIDING.values(), ids=HIDING)
def test_a_process_that_answers_everything_starts_no_other(sandbox, body):
    tally, answer = used(sandbox, body, together=True)
    assert "BlockingIOError" in answer["error"]["kinds"], "it is asked again, where it may"
    assert tally.used.complete and tally.used.processor_seconds < NO_BURN


def test_time_burnt_in_threads_is_in_the_figure_and_is_said_of_no_exercise(sandbox):
    tally, answer = used(sandbox, THREADS, together=True)
    assert answer["value"]["value"] == "3" and tally.used.complete
    assert tally.used.processor_seconds >= BURNT
    assert tally.seconds == {}, "one process has answered all: nobody outside can tell whose time it was"


@pytest.mark.parametrize("together", [True, False], ids=["together", "alone"])
def test_what_a_worker_says_of_its_time_is_not_believed(sandbox, together):
    tally, _ = used(sandbox, LYING, together)
    assert tally.used.processor_seconds < NO_BURN
    assert max(tally.seconds.values(), default=0) < NO_BURN


STOPPED = {
    "a process": "endless(says)",
    "a thread without its first": "threading.Thread(target=endless, args=(says,)).start(); end_thread()",
}
BURNS_ON = """
def end_thread():
    ctypes.CDLL(None).syscall(60, 0)

def causal_mask(n):
    "Once the time is spent by somebody else, who goes on, take more memory than there may be."
    waits, says = os.pipe()
    if os.fork() == 0:
        WORK
    os.read(waits, 1)
    kept = bytearray(b"x" * 2**30)
    time.sleep(1e6)
"""


@pytest.mark.parametrize("work", STOPPED.values(), ids=STOPPED)
def test_who_is_stopped_at_a_limit_is_counted_whole(sandbox, monkeypatch, work):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**30)
    tally, answer = used(sandbox, BURNS_ON.replace("WORK", work), together=False)
    assert answer["error"]["type"] == "Stopped" and "too much memory" in answer["error"]["text"]
    assert tally.used.complete and tally.used.processor_seconds >= 2 * BURNT, "it was tried twice"


@pytest.mark.parametrize("level", ["bubblewrap", "none"])
def test_a_sandbox_for_one_submission_counts_too_and_says_where_some_may_be_missing(level):
    sandbox = open_sandbox(level, WorkerPool(forks=False))
    tally, answer = used(sandbox, HIDING["a child of a child whose parent is gone"], False)
    assert answer["value"]["value"] == "3"
    assert tally.used.complete == (level == "bubblewrap")
    if tally.used.complete:
        assert tally.used.processor_seconds >= BURNT


def test_the_memory_of_the_largest_process_is_marked_by_the_kernel(sandbox):
    small, _ = used(sandbox, "def causal_mask(n):\n    return n\n", True)
    large, _ = used(sandbox, "def causal_mask(n):\n    return n + 0 * len(bytearray(b'x' * 2**28))\n", True)
    assert large.used.peak_mib - small.used.peak_mib >= 256


def test_memory_of_a_process_whose_first_thread_has_ended_is_seen(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**30)
    body = """
def take():
    kept = bytearray(b"x" * 2**30)
    time.sleep(1e6)

def causal_mask(n):
    if os.fork() == 0:
        threading.Thread(target=take).start()
        ctypes.CDLL(None).syscall(60, 0)
    time.sleep(1e6)
"""
    tally, answer = used(sandbox, body, together=False)
    assert "too much memory" in answer["error"]["text"]
    assert tally.used.peak_mib >= 2**9, "the limit counts the worker's own memory too, so this may be less than 1 GiB"


def test_processes_that_take_memory_together_are_seen_together(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**30)
    body = """
def causal_mask(n):
    for _ in range(4):
        if os.fork() == 0:
            kept = bytearray(b"x" * 2**28)
            time.sleep(1e6)
    time.sleep(1e6)
"""
    tally, answer = used(sandbox, body, together=False)
    assert "too much memory" in answer["error"]["text"]
    assert tally.used.peak_mib >= 3 * 2**8, "of one alone it would be a third of that"


TAKES_LATER = """
import signal

kept = []

def causal_mask(n):
    signal.signal(signal.SIGALRM, lambda *_: kept.append(bytearray(b"x" * 2**29)))
    signal.setitimer(signal.ITIMER_REAL, 1, 0.1)
    return n
"""
TAKES_ITS_TIME = """
import time

def causal_mask(n):
    time.sleep(4)
    return n
"""


def test_what_a_process_takes_while_it_waits_for_another_counts_too(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**30)
    end, asked = Deadline.of_submission(), protocol.Request("masks.causal_mask", PLANS)
    later, quiet = (GIVEN | {"masks.py": body.encode()} for body in (TAKES_LATER, TAKES_ITS_TIME))
    told = []

    def meanwhile(_):
        told.extend(protocol.ask(quiet, [asked], False, sandbox, end=end))
        return []

    protocol.ask_together(later, [asked], sandbox, meanwhile, end=end)
    assert "too much memory" in told[0]["0"][0]["error"]["text"]


MAPS = """
import ctypes, mmap, sys

ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # no large pages
kept = mmap.mmap(-1, 2**35, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
for size in (2**21, 2**35):
    for place in range(0, size, 2**21):
        kept[place]  # the page of zeros that all share, and 4 KiB of a table for it
    print(flush=True)
    sys.stdin.readline()
"""


def test_page_tables_are_counted_though_no_process_has_a_page_of_its_own():
    with subprocess.Popen([sys.executable, "-c", MAPS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        found = []
        for _ in range(2):
            process.stdout.readline()
            found.append((usage._memory_of(of := psutil.Process(process.pid)), of.memory_info().rss))
            process.stdin.write(b"\n")
            process.stdin.flush()
    (few, before), (many, after) = found
    assert many - few >= 2**26 > 2**23 >= after - before


def test_what_lies_in_swap_or_in_large_pages_of_the_machine_is_counted(tmp_path):
    (tmp_path / "status").write_text("VmRSS:\t9 kB\nVmSwap:\t     64 kB\nHugetlbPages:\t 2048 kB\nVmPTE:\t 8 kB\n")
    assert usage._shared_by(str(tmp_path)) == (64 + 2048 + 8) * 1024


def test_an_exercise_has_so_many_open_files(sandbox):
    body = """
def causal_mask(n):
    kept = []
    try:
        while True:
            kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return kept[-1] + 1
"""
    assert used(sandbox, body, together=False)[1]["value"]["value"] == "64"


def test_workers_add_up_and_the_largest_memory_counts():
    both = Used(1.5, 200.0) + Used(0.25, 300.0, complete=False, watched=True)
    assert both == Used(1.75, 300.0, complete=False, watched=True)
    assert both.as_json() == {"processor_seconds": 1.75, "peak_mib": 300, "complete": False, "memory": "watched"}
    assert Used(1.5, 200.0).as_json()["memory"] == "cgroup"


@pytest.mark.parametrize("said", [5.0, float("inf"), float("nan"), -1.0, "1", True, None])
def test_seconds_of_an_exercise_that_the_kernel_did_not_count_are_left_out(said):
    tally = Tally()
    tally.add(Used(1.0), [("masks.causal_mask", said)])
    assert tally.seconds == {} and tally.used == Used(1.0)


def test_seconds_of_an_exercise_that_is_asked_twice_add_up():
    tally = Tally()
    tally.add(Used(1.0), [("masks.causal_mask", 0.25), ("masks.padding_mask", 0.5)])
    tally.add(Used(1.0), [("masks.causal_mask", 0.5)])
    assert tally.seconds == {"masks.causal_mask": 0.75, "masks.padding_mask": 0.5}


#: Names for one file, as many as there may be; each takes a kilobyte of the kernel's memory and none of a process.
LINKS = """
def causal_mask(n):
    open("/dev/shm/file", "w").close()
    made = 0
    try:
        while made < MOST:
            os.link("/dev/shm/file", f"/dev/shm/{made}")
            made += 1
    except OSError as error:
        return f"{made} {error.errno}"
    time.sleep(1e6)
"""


LIMITS = """
import json

def causal_mask(n):
    found = {}
    for line in open("/proc/self/mountinfo"):
        place, kind = line.split()[4], line.partition(" - ")[2].split()[0]
        where = os.statvfs(place)
        if kind != "proc" and os.path.isdir(place) and not where.f_flag & os.ST_RDONLY:
            found[place] = where.f_blocks * where.f_frsize, where.f_files
    return json.dumps(found)
"""


def test_files_in_memory_are_of_a_limited_number(sandbox):
    if not default_pool().is_fork_server_available(sandbox):
        pytest.skip("no namespaces within namespaces here: files are counted as memory instead")
    _, answer = used(sandbox, LINKS.replace("MOST", "10**6"), together=False)
    made, reason = answer["value"]["value"].split()
    assert 1000 < int(made) < 20_000 and int(reason) == errno.ENOSPC


def test_every_folder_in_memory_that_can_be_written_has_a_limit_of_bytes_and_of_files(sandbox):
    if not default_pool().is_fork_server_available(sandbox):
        pytest.skip("no namespaces within namespaces here: files are counted as memory instead")
    _, answer = used(sandbox, LIMITS, together=False)
    found = json.loads(answer["value"]["value"])
    assert {"/tmp", "/dev/shm"} <= found.keys()
    assert all(0 < size <= 2**26 and 0 < files <= 2**13 for size, files in found.values()), found


def test_files_in_memory_are_counted_where_their_number_has_no_limit(monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**28)
    with WorkerPool(forks=False) as pool:
        tally, answer = used(open_sandbox(pool=pool), LINKS.replace("MOST", "300_000"), together=False)
    assert "too much memory" in answer["error"]["text"]
    assert tally.used.peak_mib >= 128 and tally.used.watched, "a process of it uses a tenth of that"


def test_signals_that_wait_are_of_a_limited_number(sandbox):
    body = """
def causal_mask(n):
    library, made, timer = ctypes.CDLL(None), 0, ctypes.c_void_p()
    while made < 10_000 and library.timer_create(1, None, ctypes.byref(timer)) == 0:
        made += 1
    return made
"""
    assert 0 < int(used(sandbox, body, together=False)[1]["value"]["value"]) <= 256
