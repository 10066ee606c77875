"""How much memory an answer took is measured outside the process that gave it, and there is no other."""

import base64
import errno
import json
from collections import Counter

import pytest

from autograder.answer_key.checks import hidden_seeds, visible_checks
from autograder.answer_key.keys import hidden_draws
from autograder.course.policy import GradingPolicy
from autograder.judge.answers import answers_in
from autograder.judge.protocol import Request, ask
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.runner import SMALL_FILE_BYTES
from selfcheck.aspects import PEAK_MIB
from selfcheck.catalogue import exercises
from selfcheck.compare import compare
from selfcheck.plan import Draw, call

from ..attacks.test_workers import GIVEN

PLANS = {"0": {"calls": [call(1).packed()], "gradient": False}}
#: Holds so many MiB at once, which another thread takes, and says nothing of it.
HOLDS = """
import threading

def causal_mask(n):
    taker = threading.Thread(target=lambda: len(b"x" * (n * 2**20)))
    taker.start()
    taker.join()
    return n
"""
#: Starts a process: the number of the error that the kernel gives, else 0.
STARTS = """
import ctypes, multiprocessing, os, signal, subprocess, sys

def by_clone():
    library = ctypes.CDLL(None, use_errno=True)
    started = library.syscall(56, signal.SIGCHLD, 0, 0, 0, 0)
    if started == 0:
        os._exit(0)
    if started < 0:
        raise OSError(ctypes.get_errno(), "clone")

def by_fork():
    if os.fork() == 0:
        os._exit(0)

WAYS = [
    by_fork,
    by_clone,
    lambda: subprocess.run([sys.executable, "-c", ""]),
    lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
    lambda: multiprocessing.get_context("fork").Process(target=int).start(),
]

def causal_mask(n):
    try:
        WAYS[n]()
    except OSError as error:
        return error.errno
    return 0
"""
WAYS = 5
#: How many MiB it holds, the largest of what torch imports by itself included.
HELD = """
import torch._dynamo

def causal_mask(n):
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024
"""
#: How many bytes it can keep in files of its scratch folders, which lie in memory and in no process.
KEEPS = """
import os

def causal_mask(n):
    kept = 0
    for folder in ("/tmp", "/dev/shm"):
        descriptor = os.open(f"{folder}/kept", os.O_CREAT | os.O_RDWR)
        for keep in (lambda: os.write(descriptor, b"x" * n), lambda: os.ftruncate(descriptor, n)):
            try:
                keep()
            except OSError:
                pass
        kept += os.fstat(descriptor).st_size
    return kept
"""
#: What it can leave in sockets that wait to be accepted, and that are in no process.
LEAVES = """
import socket

def causal_mask(n):
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind("\\0leaves")
        try:
            listens.listen()
        except OSError as error:
            return error.errno
    return 0
"""
MEASURED = [check for one in exercises() for check, _, _ in hidden_draws(one, GradingPolicy(b"one")) if check.measured]


def test_every_check_of_memory_or_of_a_generator_is_asked_from_outside_too():
    found = {check.name for one in exercises() for check, _, _ in hidden_draws(one, GradingPolicy(b"one"))}
    asked = [check for one in exercises() for check in visible_checks(one) if check.measured]
    assert MEASURED and Counter(check.name for check in MEASURED) == {
        check.name: len(hidden_seeds(b"one", check)) for check in asked
    }
    for one in exercises():
        drawn = [check for check, _, _ in hidden_draws(one, GradingPolicy(b"one"))]
        by_the_process = {check.name for check in drawn if {"memory", "generator"} & set(check.compares)}
        assert by_the_process == {check.name for check in drawn if "peak" in check.compares}
        assert by_the_process <= found


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        ({"peak_mib": 1.0}, True),
        ({"peak_mib": PEAK_MIB + 1}, False),
        ({}, False),
        ({"peak_mib": "1"}, False),
    ],
)
def test_what_a_process_says_of_its_own_memory_counts_for_nothing(line, passes):
    value = {"kind": "number", "type": "int", "value": "1"}
    said = {"0": [{"value": value, "changed": [], "peak_mib": 0.0}]}
    line |= {"said": base64.b64encode(json.dumps(said).encode()).decode()}
    (got,) = answers_in(PLANS, line, is_measured=True)["0"]
    found = compare(MEASURED[0].measured, PLANS["0"]["calls"][0], {"value": value, "changed": []}, got)
    assert (found is None) == passes
    (plain,) = answers_in(PLANS, line)["0"]
    assert "peak_mib" not in plain


def asked(code, numbers, sandbox, is_measured=True):
    """What is said for each number."""
    plans = {str(place): {"calls": [call(n).packed()], "gradient": False} for place, n in enumerate(numbers)}
    requests = [Request("masks.causal_mask", {name: plan}, is_measured=is_measured) for name, plan in plans.items()]
    answers = ask(GIVEN | {"masks.py": code.encode()}, requests, False, sandbox)
    return [answer[name][0] for name, answer in zip(plans, answers, strict=True)]


def test_the_peak_is_that_of_the_process_whichever_of_its_threads_takes_the_memory():
    little, much = (answer["peak_mib"] for answer in asked(HOLDS, [1, 150], open_sandbox()))
    assert little < 50 and 140 < much < 250


@pytest.mark.parametrize("level", ["bubblewrap", "none"])
def test_what_is_measured_starts_no_other_process_to_hold_a_part_of_its_memory(level):
    sandbox = open_sandbox(level)
    numbers = [answer["value"]["value"] for answer in asked(STARTS, range(WAYS), sandbox)]
    assert numbers == [str(errno.EAGAIN)] * WAYS
    [plain] = asked(STARTS, [0], sandbox, is_measured=False)
    assert plain["value"]["value"] == "0"


def test_what_is_measured_keeps_next_to_nothing_in_files_in_memory():
    for is_measured, kept in ((True, 2 * SMALL_FILE_BYTES), (False, 2 * 2**20)):
        [answer] = asked(KEEPS, [2**20], open_sandbox(), is_measured)
        assert answer["value"]["value"] == str(kept)


def test_what_is_measured_leaves_nothing_in_sockets_that_nobody_has():
    for is_measured, said in ((True, errno.EAGAIN), (False, 0)):
        [answer] = asked(LEAVES, [1], open_sandbox(), is_measured)
        assert answer["value"]["value"] == str(said)


def test_no_memory_given_back_makes_room_for_the_matrix():
    [answer] = asked(HELD, [1], open_sandbox())
    held = int(answer["value"]["value"])
    checks = {check for one in exercises() for check in visible_checks(one) if "memory" in check.compares}
    assert held > 100 and len(checks) > 1
    for check in checks:
        made = check.outside(Draw(1))
        for step in made if isinstance(made, list) else [made]:
            query, key, *_ = [*step.args, *step.kwargs.values()]
            matrix = 4 * query.shape[-2] * key.shape[-2] / 2**20  # MiB in float32; half precision is wrong
            assert matrix > PEAK_MIB + held and matrix / 4 > PEAK_MIB, f"{check.name}: of numbers, or of bools"
