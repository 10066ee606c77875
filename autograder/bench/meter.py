"""Runs commands side by side and measures them: time by the clock, the processor's, memory, when lines were said.

Every process that the commands start should count, in whatever namespace and as whatever user. They run in a control
group of their own, whose time the kernel adds up. Where none can be made, the processes that were waited for count:
those whose parents end pass to this program, but what ends with the first process of a namespace is lost, so that the
times seen while they ran are taken where these are more.
As a program, `-m autograder.bench.meter TASK RESULT`, it reads {"jobs": [{"command", "cwd", "env", "log", "mark"}]},
mark being a pattern of lines whose times are kept, and writes the fields of `Measured`, both as JSON.
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

from ..course.paths import ROOT

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

    seconds: by the clock, until the last command ended; cpu: of the processor, all processes together; cpu_from: how
        that is known, "cgroup", "waited for" or "seen"
    cpu_main: what the commands' own processes have used of it, as last seen; the rest is that of processes they started
    peak_mib: the largest memory of all processes together, looked at every 0.25 s; memory: "pss", a page that several
        share counted once, or "rss" where that cannot be read: then it counts for each of them
    quarters_mib: the largest memory in each quarter of the time, a page that several share counted for each of them
    codes: exit statuses; marks: for each command, the times of the lines that match its mark, from the start
    left_over: processes that had to be killed when all commands had ended
    meter_cpu: seconds of the processor that measuring took, not part of cpu
    """

    seconds: float
    cpu: float
    cpu_from: str
    cpu_main: float
    peak_mib: float
    memory: str
    quarters_mib: list[float]
    codes: list[int]
    marks: list[list[float]]
    left_over: int
    meter_cpu: float


def measure(jobs: Sequence[Job]) -> Measured:
    """Run commands side by side, in a process of their own, and measure them."""
    with tempfile.TemporaryDirectory() as place:
        task, result = Path(place) / "task.json", Path(place) / "result.json"
        task.write_text(json.dumps({"jobs": [asdict(job) for job in jobs]}), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "autograder.bench.meter", str(task), str(result)], cwd=ROOT, check=True)
        return Measured(**json.loads(result.read_text(encoding="utf-8")))


def _run(jobs: list[Job]) -> Measured:
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this program cannot take over processes whose parents end")
    group = _Group.made()
    begun = time.monotonic()
    started = [_start(job, group) for job in jobs]
    marks: list[list[float]] = [[] for _ in jobs]
    listeners = [
        threading.Thread(target=_listen, args=(one, job, found, begun), daemon=True)
        for one, job, found in zip(started, jobs, marks, strict=True)
    ]
    look = _Look()
    for thread in (*listeners, look):
        thread.start()
    codes, waited, last, killed = {}, 0.0, begun, 0
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
        waited += usage.ru_utime + usage.ru_stime
        if pid in pids:
            codes[pid] = os.waitstatus_to_exitcode(status)
            last = time.monotonic()
    look.stop()
    for thread in listeners:
        thread.join(LEFT_OVER)
    cpu, kind = max((waited, "waited for"), (look.seconds, "seen"))
    if group:
        cpu, kind = group.seconds(), "cgroup"
        group.remove()
    return Measured(
        seconds=last - begun,
        cpu=cpu,
        cpu_from=kind,
        cpu_main=look.seconds_of(pids),
        peak_mib=look.peak / MIB,
        memory=look.kind,
        quarters_mib=look.quarters(begun, last),
        codes=[codes[pid] for pid in pids],
        marks=marks,
        left_over=killed,
        meter_cpu=time.process_time(),
    )


@dataclass(frozen=True)
class _Group:
    """A control group (version 2) below that of this process."""

    folder: Path

    @classmethod
    def made(cls) -> _Group | None:
        """A new one; None where there are none, or none can be made."""
        try:
            mounts = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
            root = next(line[1] for line in mounts if line[2] == "cgroup2")
            own = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
            path = next(line.removeprefix("0::/") for line in own if line.startswith("0::/"))
            group = cls(Path(root, path, f"attention-bench-{os.getpid()}"))
            group.folder.mkdir()
            group.seconds()
        except (OSError, StopIteration, KeyError):
            return None
        return group

    def seconds(self) -> float:
        """Seconds of the processor that everything in it has used."""
        lines = (self.folder / "cpu.stat").read_text(encoding="ascii").splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, to be run in the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *command]

    def remove(self) -> None:
        """Remove it; the kernel needs a moment after the last process has ended."""
        for _ in range(50):
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.02)


def _start(job: Job, group: _Group | None) -> subprocess.Popen:
    return subprocess.Popen(
        group.command(job.command) if group else list(job.command),
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


class _Look(threading.Thread):
    """Looks at all descendants: the times they have used, and their memory.

    What takes long to read is read only where the quick sum is a new peak.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.kind = 0, "pss"
        self._seconds: dict[psutil.Process, float] = {}
        self._highest, self._end = 0, threading.Event()
        self._taken: list[tuple[float, int]] = []  # when, and bytes

    @property
    def seconds(self) -> float:
        """Of the processor, as far as they were seen."""
        return sum(self._seconds.values())

    def seconds_of(self, pids: Sequence[int]) -> float:
        """What these processes have used themselves, as far as it was seen."""
        return sum(seconds for process, seconds in self._seconds.items() if process.pid in pids)

    def quarters(self, begun: float, ended: float) -> list[float]:
        """The largest memory in each quarter of a time, MiB."""
        quarter = (ended - begun) / 4 or 1.0
        found = [0.0] * 4
        for when, taken in self._taken:
            place = min(3, int((when - begun) / quarter))
            found[place] = max(found[place], taken / MIB)
        return found

    def run(self) -> None:
        while not self._end.wait(LOOK):
            processes = psutil.Process().children(recursive=True)
            taken = sum(map(self._resident, processes))
            self._taken.append((time.monotonic(), taken))
            if taken > self._highest:
                self._highest = taken
                proportional = [_proportional(one) for one in processes]
                if None in proportional:
                    self.kind = "rss"
                found = taken if self.kind == "rss" else sum(proportional)
                self.peak = max(self.peak, found)

    def _resident(self, process: psutil.Process) -> int:
        """Bytes of a process, 0 for one that is gone; its time is noted."""
        try:
            with process.oneshot():
                times = process.cpu_times()
                self._seconds[process] = times.user + times.system
                return process.memory_info().rss
        except psutil.Error:
            return 0

    def stop(self) -> None:
        self._end.set()
        self.join()


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
