"""The program inside the sandbox: runs a learner's exercises, each in a process of its own, and relays their answers.

It is staged beside what selfcheck's `runner` needs, and knows nothing else. The request comes as JSON
on standard input:
    {"torch": bool, "seconds": float, "budget": float, "patience": float, "memory": bytes,
     "exercises": [{"id", "plans"}]}
Seconds and budget are the processor's; by the clock there are `patience` times as many.
Each answer leaves as one JSON line, {"place", "answers"} or {"place", "died"}, on the descriptor that the command line
names.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import sys
import time

MOST_BYTES = 8 * 2**20  # one exercise's answers
STARTED = {"started": True}  # said once, before any of the learner's code runs


def main(descriptor: int, package_parent: str) -> None:
    """Read the request, answer every exercise, say so on the descriptor."""
    request = json.load(sys.stdin)
    if request["torch"]:
        import torch

        torch.set_num_threads(1)  # before any operation: a forked child must inherit no thread pool
    _say(descriptor, STARTED)
    end = time.monotonic() + request["budget"] * request["patience"]
    for place, exercise in enumerate(request["exercises"]):
        late = time.monotonic() > end or _spent() > request["budget"]
        said = {"died": "budget"} if late else _in_a_child(exercise, request, descriptor, package_parent)
        _say(descriptor, {"place": place, **said})


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
            _limit(request)
            _answer(exercise, writing, package_parent)
        finally:
            os._exit(0)
    os.close(writing)
    collected, reason = _collect(reading, time.monotonic() + request["seconds"] * request["patience"])
    os.close(reading)
    if reason:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    if reason:
        return {"died": reason}
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        late = os.WTERMSIG(status) == signal.SIGXCPU or usage.ru_utime + usage.ru_stime > request["seconds"]
        return {"died": "time" if late else "killed"}
    try:
        return {"answers": json.loads(collected)}
    except (ValueError, RecursionError):
        return {"died": "ended"}


def _limit(request: dict) -> None:
    seconds = math.ceil(request["seconds"])
    # A signal that says why; a second later, for code that ignores it, one that none survives.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for kind, most in (
        (resource.RLIMIT_AS, request["memory"]),
        (resource.RLIMIT_FSIZE, 16 * 2**20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _answer(exercise: dict, writing: int, package_parent: str) -> None:
    from selfcheck import runner

    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    with runner.fresh_package(package_parent):
        answers = runner.answer_exercise(exercise["id"], exercise["plans"])
    data = json.dumps(answers).encode()
    while data:
        data = data[os.write(writing, data) :]


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
