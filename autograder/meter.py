"""Runs commands side by side and measures them: time by the clock, the processor's, memory, when lines were said.

Every process that the commands start is counted, in whatever namespace and as whatever user: those whose parents
end pass to this program, which waits for each of them, so that the kernel adds up what all of them have used.
As a program, `-m autograder.meter TASK RESULT`, it reads {"jobs": [{"command", "cwd", "env", "log", "mark"}]}, mark
being a pattern of lines whose times are kept, and writes the fields of `Measured`, both as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from .places import ROOT

LOOK = 0.25  # seconds between two looks at the memory
LEFT_OVER = 10.0  # seconds that processes may outlive the commands
SUBREAPER = 36  # of prctl(2)
MIB = 2**20


@dataclass(frozen=True)
class Job:
    """A command; mark: the pattern of the lines whose times are kept."""

    command: Sequence[str]
    cwd: str
    env: dict[str, str]
    log: str
    mark: str


@dataclass(frozen=True)
class Measured:
    """What the commands took.

    seconds: by the clock, until the last command ended; cpu: of the processor, all processes together
    peak_mib: the largest memory of all processes together, a page that several share counted once ("pss"; "rss" where
        that cannot be read: then it counts for each of them); looked at every 0.25 s
    codes: exit statuses; marks: for each command, the times of the lines that match its mark, from the start
    left_over: processes that had to be killed when all commands had ended
    meter_cpu: seconds of the processor that measuring took, not part of cpu
    """

    seconds: float
    cpu: float
    peak_mib: float
    memory: str
    codes: list[int]
    marks: list[list[float]]
    left_over: int
    meter_cpu: float


def measure(jobs: Sequence[Job]) -> Measured:
    """Run commands side by side, in a process of their own, and measure them."""
    with tempfile.TemporaryDirectory() as place:
        task, result = Path(place) / "task.json", Path(place) / "result.json"
        task.write_text(json.dumps({"jobs": [asdict(job) for job in jobs]}), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "autograder.meter", str(task), str(result)], cwd=ROOT, check=True)
        return Measured(**json.loads(result.read_text(encoding="utf-8")))


def _run(jobs: list[Job]) -> Measured:
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this program cannot take over processes whose parents end")
    begun = time.monotonic()
    started = [_start(job) for job in jobs]
    marks: list[list[float]] = [[] for _ in jobs]
    listeners = [
        threading.Thread(target=_listen, args=(one, job, found, begun), daemon=True)
        for one, job, found in zip(started, jobs, marks, strict=True)
    ]
    memory = _Memory()
    for thread in (*listeners, memory):
        thread.start()
    codes, cpu, last, killed = {}, 0.0, begun, 0
    pids = [one.pid for one in started]
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG if len(codes) == len(jobs) else 0)
        except ChildProcessError:  # nobody is left
            break
        if pid == 0:
            if time.monotonic() - last > LEFT_OVER:
                killed += _kill_all()
            time.sleep(0.02)
            continue
        cpu += usage.ru_utime + usage.ru_stime
        if pid in pids:
            codes[pid] = os.waitstatus_to_exitcode(status)
            last = time.monotonic()
    memory.stop()
    for thread in listeners:
        thread.join(LEFT_OVER)
    return Measured(
        last - begun,
        cpu,
        memory.peak / MIB,
        memory.kind,
        [codes[pid] for pid in pids],
        marks,
        killed,
        time.process_time(),
    )


def _start(job: Job) -> subprocess.Popen:
    return subprocess.Popen(
        list(job.command),
        cwd=job.cwd,
        env=job.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _listen(process: subprocess.Popen, job: Job, found: list[float], begun: float) -> None:
    """Keep what a command says, and when it said the lines that are looked for."""
    mark = re.compile(job.mark.encode())
    with open(job.log, "wb") as log, process.stdout as said:
        for line in said:
            if mark.search(line):
                found.append(time.monotonic() - begun)
            log.write(line)


def _kill_all() -> int:
    left = psutil.Process().children(recursive=True)
    for one in left:
        with suppress(psutil.Error):
            one.send_signal(signal.SIGKILL)
    return len(left)


class _Memory(threading.Thread):
    """Looks at the memory of all descendants; what takes long to read only where the quick sum is a new peak."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.kind = 0, "pss"
        self._highest, self._end = 0, threading.Event()

    def run(self) -> None:
        while not self._end.wait(LOOK):
            processes = psutil.Process().children(recursive=True)
            taken = sum(filter(None, map(_resident, processes)))
            if taken > self._highest:
                self._highest = taken
                proportional = [_proportional(one) for one in processes]
                if None in proportional:
                    self.kind = "rss"
                found = taken if self.kind == "rss" else sum(proportional)
                self.peak = max(self.peak, found)

    def stop(self) -> None:
        self._end.set()
        self.join()


def _resident(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _proportional(process: psutil.Process) -> int | None:
    """Bytes, a page that several processes share divided among them; 0 for one that is gone, None where untold."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 0
    except OSError:
        return None


def main(task: Path, result: Path) -> None:
    """Run what the task says and write what it took."""
    jobs = [Job(**one) for one in json.loads(task.read_text(encoding="utf-8"))["jobs"]]
    result.write_text(json.dumps(asdict(_run(jobs))), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
