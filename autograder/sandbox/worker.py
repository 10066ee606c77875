"""The worker: supervises one submission's processes, relays their answers, ends and counts them; or answers itself.

Where there is isolation it is the first process of its PID namespace: it inherits every orphan, no signal of the
learner's code reaches it, and its end is the end of all. It reads the request as a line of JSON on standard input:
    {"torch": bool, "seconds": float, "budget": float, "wall_clock_factor": float, "idle": float, "idle_left": float,
     "memory": bytes, "processes": int, "isolated": bool, "together": bool, "filter": base64, "last_filter": base64,
     "exercises": [{"place", "id", "plans", "measured", "handed"}]}
and, once all of these are answered, a second line with further exercises: until then nothing here knows their inputs.
`seconds` (for one exercise, in each of its processes and in all of them) and `budget` (for all exercises) are of the
processor; by the clock there are `wall_clock_factor` times as many, and more where others leave it less of the
processor than that. For `idle` of these an exercise may wait while nothing of it computes, and all of
them together for `idle_left`. `isolated` says that all processes in sight are the submission's, so that whatever is
left over can be ended, and whether any of them computes can be told. Each exercise runs in a process of its own, or
all `together` in this one: then `seconds` are for all of them, and whoever started this process watches over it. There,
and where an exercise is `measured`, a `filter` lets a process start no other; with `last_filter`, the last of all, a
process cannot change how its crash is recorded, nor have a filter of its own.
Each answer leaves as one line of JSON on the descriptor for answers: {"place", "said"} or {"place", "died"}; of an
exercise with a process of its own also "seconds" of the processor that it and what it started have used, "idle", the
seconds by the clock that it waited, and where it is `measured`, "peak_mib": how much more memory than at its start it
held at once, or the largest of its processes where no filter is to be had. What an exercise has said is passed on as
bytes, in base64: nothing here reads it. "unready" died what failed before the first line of the learner's code. With an
exercise comes its "watch" too, what is to be noticed meanwhile (see selfcheck/runner.py), and the text of what is
"handed" to it: these go to the process which answers.
The worker ends when all is answered, and where it supervises, when the other side hangs up the lifeline. Then it exits
with 0 when every process of the submission has ended and been waited for: its resource usage is theirs.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from . import activity, linux, runner

ANSWER_BYTES = 8 * 2**20  # of one exercise with a process of its own
READY_WALL_SECONDS = 60.0  # for a process to come to the learner's code, on a machine that hardly gets on
HANGS_UP = getattr(select, "POLLRDHUP", 0)  # of a socket; that a pipe has hung up is reported without asking
STARTED = {"started": True}  # the first line, before any of the learner's code runs


class HungUp(Exception):
    """The other side wants nothing more of this worker."""


def main(answers: str, memory: str, package_parent: str) -> None:
    """Serve the one request of a sandbox that is for one submission; standard input is request and lifeline."""
    linux.set_dumpable(False)
    requests = open(0, "rb", buffering=runner.CHUNK_BYTES, closefd=False)  # noqa: SIM115  (to the end of this process)
    serve(requests, int(answers), package_parent, lifeline=0, memory=int(memory))


def serve(requests: BinaryIO, answers: int, package_parent: str, lifeline: int, memory: int) -> None:
    """Read the request, have every exercise answered, and end whatever is left over.

    requests: standard input, as far as it is not read yet
    answers, lifeline: descriptors; memory: one of memory for arguments, which the grader sees too
    package_parent: the folder that holds the learner's package
    """
    request = json.loads(requests.readline())
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the kernel spares the first process of a namespace the default
    if request["torch"]:
        import torch

        torch.set_num_threads(1)  # before any operation: a forked child must inherit no thread pool
    _import_for_all()
    if request["together"]:
        if lifeline != 0:  # which the runner closes
            os.close(lifeline)
        runner.say(answers, STARTED)
        runner.answer_all(request, answers, package_parent, memory)
        return
    worker = _Worker(request, requests, answers, package_parent, lifeline, memory)
    try:
        runner.say(answers, STARTED)
        worker.answer_one_by_one()
    except (HungUp, BrokenPipeError):
        pass
    finally:
        worker.end_processes()


def _import_for_all() -> None:
    """Import what stands beside the learner's code, before any of that runs: what fails here is no fault of its."""
    import numpy  # noqa: F401

    import selfcheck.runner  # noqa: F401  (as staged)


class _Worker:
    """One submission's processes, one for each exercise."""

    def __init__(
        self,
        request: dict[str, Any],
        requests: BinaryIO,
        answers: int,
        package_parent: str,
        lifeline: int,
        memory: int,
    ) -> None:
        """requests: what is not read of them yet"""
        self._request, self._requests, self._answers, self._package_parent = request, requests, answers, package_parent
        self._lifeline, self._memory = lifeline, memory
        self._idle_left = request["idle_left"]  # seconds by the clock that all exercises may wait

    def answer_one_by_one(self) -> None:
        """A process for each exercise; this one relays what it says."""
        budget = self._request["budget"]
        end = time.monotonic() + budget * self._request["wall_clock_factor"]
        died: dict[str, str] = {}  # an exercise that fails once is not tried again
        for exercise, waited in _with_waits(runner.exercises_of(self._request, self._requests)):
            end += waited  # for hidden inputs, until others have said what feedback quotes
            is_late = time.monotonic() > end or self._idle_left <= 0
            spent = "budget" if _seconds_of_children() > budget else "wall" if is_late else ""
            outcome: dict[str, Any]
            if spent or exercise["id"] in died:
                outcome = {"died": died.get(exercise["id"], spent)}
            else:
                before, idle_left = _seconds_of_children(), self._idle_left
                outcome = self._answer_in_child(exercise)
                outcome["seconds"] = round(_seconds_of_children() - before, 4)
                outcome["idle"] = idle_left - self._idle_left
            if "died" in outcome:
                died[exercise["id"]] = outcome["died"]
            runner.say(self._answers, {"place": exercise["place"], **outcome})

    def end_processes(self) -> int:
        """Kill what the submission has left running, where no other processes are in sight, and wait for all of it.

        Returns the peak of the largest, in KiB.
        """
        peak = 0
        if self._request["isolated"]:
            with contextlib.suppress(ProcessLookupError):  # there is none
                os.kill(-1, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while True:
                    peak = max(peak, os.wait4(-1, 0)[2].ru_maxrss)
        return peak

    def _answer_in_child(self, exercise: dict[str, Any]) -> dict[str, Any]:
        seconds = self._request["seconds"]
        at_start = self._peak_at_start() if exercise.get("measured") else 0
        child, reading = self._fork(
            lambda writing: runner.answer_one(exercise, self._request, writing, self._package_parent, self._memory)
        )
        try:
            is_ready = self._is_ready(reading)
            answer, reason = self._read_to_end(reading, seconds) if is_ready else (b"", "")
        finally:
            os.close(reading)
            # A child that has closed the pipe has nothing more to say; what it started ends with it.
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            peak = max(usage.ru_maxrss, self.end_processes())
        if not is_ready:
            return {"died": "unready"}
        if reason:
            return {"died": reason}
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
            late = os.WTERMSIG(status) == signal.SIGXCPU or usage.ru_utime + usage.ru_stime > seconds
            return {"died": "time" if late else "killed"}
        if not answer:
            return {"died": "ended"}
        outcome: dict[str, Any] = {"said": base64.b64encode(answer).decode()}
        return outcome | ({"peak_mib": round((peak - at_start) / 1024, 1)} if exercise.get("measured") else {})

    def _peak_at_start(self) -> int:
        """The KiB that a process holds which answers an exercise, before it does so."""
        child, reading = self._fork(lambda _: None)
        os.close(reading)
        return os.wait4(child, 0)[2].ru_maxrss

    def _fork(self, work: Callable[[int], None]) -> tuple[int, int]:
        """Start a process for the learner's code: its pid, and the pipe that it writes to and closes by its end."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                os.close(reading)
                if self._lifeline != 0:  # which the runner closes
                    os.close(self._lifeline)
                os.close(self._answers)
                work(writing)
            finally:
                os._exit(0)
        os.close(writing)
        return child, reading

    def _is_ready(self, reading: int) -> bool:
        """Whether a child says that it comes to the learner's code, whose time begins then. Raises HungUp as below."""
        return self._is_said(reading, READY_WALL_SECONDS) and os.read(reading, len(runner.READY)) == runner.READY

    def _read_to_end(self, reading: int, seconds: float) -> tuple[bytes, str]:
        """What a child writes before it closes the pipe, and "" or why it is to be killed: "time", "idle" or "output".

        Raises HungUp when nobody waits for it any more. seconds: of the processor
        """
        data, limit = bytearray(), self._limit(seconds)
        try:
            while True:
                if reason := limit.exceeded():
                    return bytes(data), reason
                if not self._is_said(reading, limit.next_look_in()):
                    continue
                chunk = os.read(reading, runner.CHUNK_BYTES)
                if not chunk:
                    return bytes(data), ""
                data += chunk
                if len(data) > ANSWER_BYTES:
                    return bytes(data), "output"
        finally:
            self._idle_left -= limit.idle

    def _is_said(self, reading: int, seconds: float) -> bool:
        """Whether there is something to read, or its end, within these seconds by the clock."""
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        poll.register(self._lifeline, HANGS_UP)
        events = dict(poll.poll(1000 * seconds + 1))
        if self._lifeline in events:
            raise HungUp
        return bool(events)

    def _limit(self, seconds: float) -> _Limit:
        idle = min(self._request["idle"], self._idle_left)
        return _Limit(seconds, self._request["wall_clock_factor"], idle, self._request["isolated"])


class _Limit:
    """How long one exercise may take, from now on; looks at what its processes do, where no others are in sight."""

    def __init__(self, seconds: float, wall_clock_factor: float, most_idle: float, isolated: bool) -> None:
        self._seconds, self._factor, self._most_idle, self._isolated = seconds, wall_clock_factor, most_idle, isolated
        self._looked, self._used, self._wait = time.monotonic(), 0.0, activity.until_next_look()
        self._deadline = self._looked + wall_clock_factor * seconds
        self.idle = 0.0  # seconds by the clock that nothing computed

    def next_look_in(self) -> float:
        """Seconds by the clock."""
        return max(0.0, self._next_look() - time.monotonic())

    def exceeded(self) -> str:
        """Which limit is reached, "time" or "idle"; "" for none."""
        now = time.monotonic()
        if self._isolated and now > self._next_look():
            found, passed = activity.seen(), now - self._looked
            if found.seconds > self._seconds:
                return "time"
            if not found.is_busy:
                self.idle += passed
            elif found.is_runnable:  # others have the processor: what they take of it is no time of this exercise's
                self._deadline += max(0.0, passed - self._factor * max(0.0, found.seconds - self._used))
            self._looked, self._used, self._wait = now, found.seconds, activity.until_next_look()
            if self.idle >= self._most_idle:
                return "idle"
        return "time" if now > self._deadline else ""

    def _next_look(self) -> float:
        return min(self._looked + self._wait, self._deadline) if self._isolated else self._deadline


def _with_waits(exercises: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], float]]:
    """Each exercise, and the seconds by the clock that it took to come."""
    before = time.monotonic()
    for exercise in exercises:
        yield exercise, time.monotonic() - before
        before = time.monotonic()


def _seconds_of_children() -> float:
    """Seconds of the processor that all children that have ended, and theirs, have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
