"""The program inside the sandbox: runs a learner's exercises, and says their answers.

It is staged beside what selfcheck's `runner` needs, and knows nothing else. The request comes as a line of JSON
on standard input:
    {"torch": bool, "seconds": float, "budget": float, "patience": float, "memory": bytes, "processes": int,
     "alone": bool, "together": bool, "filter": base64, "exercises": [{"place", "id", "plans"}]}
and, once all of these are answered, a second line with further exercises: until then nobody here knows their inputs.
Seconds and budget are the processor's; by the clock there are `patience` times as many. `alone` says that no process
but this program's is in sight, so that whatever an exercise leaves behind can be ended. Each exercise has a process of
its own, whose times are added up here, which no child can prevent; unless they run `together`, in this one, which then
has `seconds` for all, and a `filter` that lets it start no other: what that used might be counted nowhere.
Each answer leaves as one JSON line, {"place", "answers"} or {"place", "died"}, on the descriptor that the command line
names; with it, "seconds" of the processor that an exercise's own process and what it started have used.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from typing import TextIO

MOST_BYTES = 8 * 2**20  # one exercise's answers
STARTED = {"started": True}  # said once, before any of the learner's code runs


def main(descriptor: int, package_parent: str) -> None:
    """Read the request, answer every exercise, say so on the descriptor."""
    request = json.loads(sys.stdin.readline())
    set_dumpable(False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the first process of a namespace is spared what it does not handle
    if request["torch"]:
        import torch

        torch.set_num_threads(1)  # before any operation: a forked child must inherit no thread pool
    _say(descriptor, STARTED)
    if request["together"]:
        _together(request, descriptor, package_parent)
        return
    end = time.monotonic() + request["budget"] * request["patience"]
    died: dict[str, str] = {}  # who takes too long does so once
    for exercise in _in_two_lines(request, sys.stdin):
        late = time.monotonic() > end or _spent() > request["budget"]
        if late or exercise["id"] in died:
            said = {"died": died.get(exercise["id"], "budget")}
        else:
            before = _spent()
            said = _in_a_child(exercise, request, descriptor, package_parent)
            said["seconds"] = round(_spent() - before, 4)
        if "died" in said:
            died[exercise["id"]] = said["died"]
        _say(descriptor, {"place": exercise["place"], **said})


def _together(request: dict, descriptor: int, package_parent: str) -> None:
    """Answer in this process, as far as that goes; whoever asked does not rely on what comes, or does not."""
    asked = os.fdopen(os.dup(0))
    _silence()
    _limit(request)
    keep_to(base64.b64decode(request["filter"]))
    sys.path.insert(0, package_parent)
    for exercise in _in_two_lines(request, asked):
        _say(descriptor, {"place": exercise["place"], "answers": _answers(exercise)})


def _in_two_lines(request: dict, asked: TextIO) -> Iterator[dict]:
    yield from request["exercises"]
    yield from json.loads(asked.readline() or "[]")


def set_dumpable(yes: bool) -> None:
    """Whether processes of the same user may look into this one's memory and take its descriptors."""
    with contextlib.suppress(AttributeError, OSError):  # not on Linux
        ctypes.CDLL(None).prctl(4, int(yes), 0, 0, 0)  # PR_SET_DUMPABLE


def keep_to(filtered: bytes) -> None:
    """Let this process make only the system calls that a filter lets pass, and those of former filters; b"" for all."""
    if not filtered:
        return

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_char_p)]

    program = Program(len(filtered) // 8, filtered)
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(22, 2, ctypes.byref(program), 0, 0):  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _spent() -> float:
    """Seconds of the processor that the exercises so far have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _say(descriptor: int, line: dict) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def _in_a_child(exercise: dict, request: dict, descriptor: int, package_parent: str) -> dict:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.close(reading)
            os.close(descriptor)
            set_dumpable(True)
            _limit(request)
            _answer(exercise, writing, package_parent)
        finally:
            os._exit(0)
    os.close(writing)
    collected, reason = _collect(reading, time.monotonic() + request["seconds"] * request["patience"])
    os.close(reading)
    # Whoever has closed the pipe has nothing more to say; what was started beside it ends with it.
    os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    _end_others(request)
    if reason:
        return {"died": reason}
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        late = os.WTERMSIG(status) == signal.SIGXCPU or usage.ru_utime + usage.ru_stime > request["seconds"]
        return {"died": "time" if late else "killed"}
    try:
        return {"answers": json.loads(collected)}
    except (ValueError, RecursionError):
        return {"died": "ended"}


def _end_others(request: dict) -> None:
    """End whatever an exercise has left behind, where nobody else's processes are in sight, and wait for it."""
    if request["alone"]:
        with contextlib.suppress(ProcessLookupError):  # there was nobody
            os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # the first process of a sandbox inherits every orphan
            while True:
                os.waitpid(-1, 0)


def _limit(request: dict) -> None:
    seconds = math.ceil(request["seconds"])
    # A signal that says why; a second later, for code that ignores it, one that none survives.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for kind, most in (
        (resource.RLIMIT_AS, request["memory"]),
        *(((resource.RLIMIT_NPROC, request["processes"]),) if request["processes"] else ()),
        (resource.RLIMIT_FSIZE, 16 * 2**20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _answer(exercise: dict, writing: int, package_parent: str) -> None:
    _silence()
    sys.path.insert(0, package_parent)
    data = json.dumps(_answers(exercise)).encode()
    while data:
        data = data[os.write(writing, data) :]


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)


def _answers(exercise: dict) -> dict:
    from selfcheck import runner

    return runner.answer_exercise(exercise["id"], exercise["plans"])


def _collect(reading: int, deadline: float) -> tuple[bytes, str]:
    """Everything written, and "" or the reason to kill the writer: "time" or "output"."""
    collected = bytearray()
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return bytes(collected), "time"
        data = os.read(reading, 65536)
        if not data:
            return bytes(collected), ""
        collected += data
        if len(collected) > MOST_BYTES:
            return bytes(collected), "output"


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main(int(sys.argv[1]), sys.argv[2])
