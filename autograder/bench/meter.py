"""Runs commands in parallel and measures wall time, processor time, memory and the times of output lines.

Every process that the commands start counts, in whatever namespace and as whatever user. They run in a control group of
their own, whose processor time the kernel adds up. Where no group can be made, the time of processes that were waited
for counts: orphans become children of this program, but those that end with the init process of their namespace are
lost, so that the time sampled while they ran is taken where it is larger.

As a program, `-m autograder.bench.meter TASK RESULT`, it reads {"jobs": [{"command", "cwd", "env", "log", "mark"}]},
mark being the pattern of the lines whose times are kept, and writes the fields of `Measured`, both as JSON.
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

SAMPLE_INTERVAL = 0.25  # seconds
GRACE = 10.0  # seconds that processes may outlive the commands
PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
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
    """The time and memory of some commands and of all processes that they started.

    seconds: wall time until the last command ended; cpu: processor seconds of all processes; cpu_from: how they were
        measured, "cgroup", "waited for" or "seen" (sampled)
    cpu_main: the part of it that the commands' own processes used, as last sampled
    peak_mib: the largest memory of all processes together, sampled every 0.25 s; memory: "pss" (a shared page counts
        once) or, where that cannot be read, "rss" (a shared page counts for each process)
    quarters_mib: the largest "rss" in each quarter of the time
    codes: exit statuses; marks: for each command, the times of the lines that match its mark, from the start
    left_over: processes that had to be killed when all commands had ended
    meter_cpu: processor seconds of the measurement itself, not part of cpu
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
    """Run commands in parallel below a process of their own, and measure them."""
    with tempfile.TemporaryDirectory() as place:
        task, result = Path(place) / "task.json", Path(place) / "result.json"
        task.write_text(json.dumps({"jobs": [asdict(job) for job in jobs]}), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "autograder.bench.meter", str(task), str(result)], cwd=ROOT, check=True)
        return Measured(**json.loads(result.read_text(encoding="utf-8")))


def _run(jobs: list[Job]) -> Measured:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot become the parent of orphaned processes")
    group = _Group.create()
    begun = time.monotonic()
    started = [_start(job, group) for job in jobs]
    marks: list[list[float]] = [[] for _ in jobs]
    listeners = [
        threading.Thread(target=_listen, args=(process, job, times, begun), daemon=True)
        for process, job, times in zip(started, jobs, marks, strict=True)
    ]
    sampler = _Sampler()
    for thread in (*listeners, sampler):
        thread.start()
    codes: dict[int, int] = {}
    waited, last, killed = 0.0, begun, 0
    pids = [process.pid for process in started]
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG if len(codes) == len(jobs) else 0)
        except ChildProcessError:  # no process is left
            break
        if pid == 0:
            if time.monotonic() - last > GRACE:
                killed += _kill_all()
            time.sleep(0.02)
            continue
        waited += usage.ru_utime + usage.ru_stime
        if pid in pids:
            codes[pid] = os.waitstatus_to_exitcode(status)
            last = time.monotonic()
    sampler.stop()
    for thread in listeners:
        thread.join(GRACE)
    cpu, kind = max((waited, "waited for"), (sampler.seconds, "seen"))
    if group:
        cpu, kind = group.seconds(), "cgroup"
        group.remove()
    return Measured(
        seconds=last - begun,
        cpu=cpu,
        cpu_from=kind,
        cpu_main=sampler.seconds_of(pids),
        peak_mib=sampler.peak / MIB,
        memory=sampler.kind,
        quarters_mib=sampler.quarters(begun, last),
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
    def create(cls) -> _Group | None:
        """A new group; None where the system has no version 2 groups, or none can be made."""
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
        """Processor seconds of everything in the group."""
        lines = (self.folder / "cpu.stat").read_text(encoding="ascii").splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, to be run in the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *command]

    def remove(self) -> None:
        """Remove the group; the kernel needs a moment after the last process has ended."""
        for _ in range(50):
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.02)


def _start(job: Job, group: _Group | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        group.command(job.command) if group else list(job.command),
        cwd=job.cwd,
        env=job.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _listen(process: subprocess.Popen[bytes], job: Job, times: list[float], begun: float) -> None:
    """Write a command's output to its log, and keep the times of the lines that match its mark."""
    mark = re.compile(job.mark.encode())
    assert process.stdout is not None, "started with a pipe"
    with open(job.log, "wb") as log, process.stdout as output:
        for line in output:
            if mark.search(line):
                times.append(time.monotonic() - begun)
            log.write(line)


def _kill_all() -> int:
    survivors = psutil.Process().children(recursive=True)
    for process in survivors:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)
    return len(survivors)


class _Sampler(threading.Thread):
    """Samples the processor time and memory of all descendants.

    "pss" is slow to read, so it is read only where the sum of "rss" is a new peak.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.kind = 0, "pss"
        self._seconds: dict[psutil.Process, float] = {}
        self._highest, self._end = 0, threading.Event()
        self._samples: list[tuple[float, int]] = []  # monotonic seconds, and bytes

    @property
    def seconds(self) -> float:
        """Processor seconds of all descendants, as last sampled."""
        return sum(self._seconds.values())

    def seconds_of(self, pids: Sequence[int]) -> float:
        """Processor seconds of these processes alone, as last sampled."""
        return sum(seconds for process, seconds in self._seconds.items() if process.pid in pids)

    def quarters(self, begun: float, ended: float) -> list[float]:
        """The largest sum of "rss" in each quarter of the time from `begun` to `ended`, MiB."""
        quarter = (ended - begun) / 4 or 1.0
        largest = [0.0] * 4
        for when, size in self._samples:
            place = min(3, int((when - begun) / quarter))
            largest[place] = max(largest[place], size / MIB)
        return largest

    def run(self) -> None:
        while not self._end.wait(SAMPLE_INTERVAL):
            processes = psutil.Process().children(recursive=True)
            resident = sum(map(self._resident, processes))
            self._samples.append((time.monotonic(), resident))
            if resident > self._highest:
                self._highest = resident
                proportional = [_proportional(process) for process in processes]
                if None in proportional:
                    self.kind = "rss"
                size = resident if self.kind == "rss" else sum(size or 0 for size in proportional)
                self.peak = max(self.peak, size)

    def _resident(self, process: psutil.Process) -> int:
        """The "rss" of a process in bytes, 0 for one that has ended; records its processor time."""
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
    """The "pss" of a process in bytes; 0 for one that has ended, None where it cannot be read."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 0
    except OSError:
        return None


def main(task: Path, result: Path) -> None:
    """Run the jobs of a task file and write the measurement to a result file."""
    jobs = [Job(**job) for job in json.loads(task.read_text(encoding="utf-8"))["jobs"]]
    result.write_text(json.dumps(asdict(_run(jobs))), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
