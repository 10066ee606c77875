"""Opens rooms for submissions: in a house that waits with torch imported, or each in a sandbox of its own."""

from __future__ import annotations

import base64
import functools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from ..course.paths import SELFCHECK
from . import seccomp
from .bubblewrap import INSIDE, Sandbox, house_wall
from .usage import Looks, Used

START = 120.0  # seconds by the clock, for a house to be ready or a room to be closed
LINGER = 0.5  # likewise, for a sandbox whose programs have ended to end too
OURS = 1  # generations of processes that are the grader's own, below a house or whatever was started
RUNNER = ("arrays.py", "objects.py", "runner.py", "steps.py", "traces.py")  # of selfcheck


@dataclass
class Room:
    """Where a learner's package answers.

    asks: the descriptor to write requests to; says: the one that its answers are read from
    pid: the process whose descendants run there; ours: so many generations of them are the grader's own programs
    first: what it reads before any request
    used: what ran there has used; known when the room is closed
    """

    asks: int
    says: int
    pid: int
    ours: int
    first: bytes = b""
    looks: Looks = field(default_factory=Looks)
    used: Used = Used(complete=False)

    def look(self) -> int:
        """Bytes of memory that all its processes take now, those of files left out."""
        return self.looks.look(self.pid, self.ours)


@contextmanager
def opened(files: dict[str, bytes], sandbox: Sandbox) -> Iterator[Room]:
    """A room for a package; when the context ends, so does whatever runs there.

    files: the text of every file of the package `attention`, by name
    """
    if not cost_little(sandbox):
        with _alone(files, sandbox) as room:
            yield room
        return
    with _borrowed() as house, house.room(files) as room:
        yield room


def cost_little(sandbox: Sandbox) -> bool:
    """Whether a room opens in a house, where torch is imported already."""
    return sandbox.level != "none" and houses_stand(sandbox.lacks)


@functools.cache
def houses_stand(lacks: tuple[str, ...]) -> bool:
    """Whether a room in a house has every wall here that a sandbox has, but for those that it lacks too."""
    with _borrowed() as house, house.room(None) as room:
        try:
            os.write(room.asks, room.first)
            walls = json.loads(os.read(room.says, 1 << 12))
        except (OSError, ValueError):  # this kernel, or this machine's settings, gives no namespaces within namespaces
            return False
    return {name for name, stands in walls.items() if not stands} <= set(lacks)


@contextmanager
def _alone(files: dict[str, bytes], sandbox: Sandbox) -> Iterator[Room]:
    """A sandbox for this package alone."""
    with tempfile.TemporaryDirectory(prefix="attention-grade-") as folder:
        stage = Path(folder)
        _stage_code(stage)
        (stage / "work" / "attention").mkdir()
        for name, data in files.items():
            (stage / "work" / "attention" / name).write_bytes(data)
        _open_to_all(stage)
        says, answers = os.pipe()
        program = [sys.executable, "-I", "-B", f"{INSIDE}/code/room.py", str(answers), f"{INSIDE}/work"]
        with sandbox.command(stage, program) as (command, descriptors):
            process = _start(command, [answers, *descriptors], subprocess.PIPE)
        os.close(answers)
        walled = sandbox.level != "none"
        room = Room(process.stdin.fileno(), says, process.pid, OURS if walled else 0)
        try:
            yield room
        finally:
            os.close(says)
            process.stdin.close()
            used = _ended(process)
            room.used = room.looks.at_least(replace(used, complete=used.complete and walled and not sandbox.lacks))


def _ended(process: subprocess.Popen) -> Used:
    """What a sandbox has used that ends by itself, or is killed: then what ran in it is not all counted."""
    end, pid, killed = time.monotonic() + LINGER, 0, False
    while pid == 0:
        if time.monotonic() > end and not killed:
            process.kill()
            killed = True
        pid, _, usage = os.wait4(process.pid, 0 if killed else os.WNOHANG)
        if pid == 0:
            time.sleep(0.002)
    process.wait()
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, not killed)


class Builder:
    """One sandbox that has torch imported, and builds houses."""

    def __init__(self) -> None:
        self._stage = tempfile.TemporaryDirectory(prefix="attention-house-")
        stage = Path(self._stage.name)
        _stage_code(stage)
        _open_to_all(stage)
        self._control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The wall gives it an environment of our own, which -I would have it ignore.
        program = [sys.executable, "-s", "-P", "-B", f"{INSIDE}/code/house.py", str(inside.fileno())]
        with inside:
            self._process = _start(house_wall(stage, program), [inside.fileno()], subprocess.DEVNULL)
        filtered = seccomp.program()
        self._control.send(filtered or b"none")
        self.walled = filtered is not None

    @property
    def works(self) -> bool:
        return self._process.poll() is None

    def build(self, listens: socket.socket) -> None:
        """Have a house that listens to a socket: it takes a second to be ready."""
        with suppress(OSError):  # it is gone, which the house will tell by its silence
            socket.send_fds(self._control, [b"build"], [listens.fileno()])

    def end(self) -> None:
        """Kill whatever is left of it, its houses too."""
        self._control.close()
        with suppress(psutil.Error):
            for one in [*psutil.Process(self._process.pid).children(recursive=True), self._process]:
                with suppress(psutil.Error):
                    one.kill()
        self._process.wait()
        self._stage.cleanup()


class House:
    """A process that has torch imported, and opens one room at a time."""

    def __init__(self, builder: Builder) -> None:
        self._control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # to be told its number as it is out here
        self._control.settimeout(START)
        with inside:
            builder.build(inside)
        self._walled, self.sound = builder.walled, True  # as far as is known
        self._process: psutil.Process | None = None  # of which nothing is heard before it is ready

    @contextmanager
    def room(self, files: dict[str, bytes] | None) -> Iterator[Room]:
        """A room for a package, or one that says which walls it has. Where the house is gone, it says nothing."""
        if self.sound and self._process is None:
            self._enter()
        package = {name: base64.b64encode(data).decode() for name, data in files.items()} if files is not None else None
        asked, asks = os.pipe()
        says, answers = os.pipe()
        try:
            try:
                if self.sound:
                    socket.send_fds(self._control, [b"open"], [asked, answers])
            except OSError:
                self.sound = False
            finally:
                os.close(asked)
                os.close(answers)
            first = json.dumps(package).encode() + b"\n"
            room = Room(asks, says, self._process.pid if self._process else 0, OURS, first)
            yield room
        finally:
            os.close(asks)
            os.close(says)
            room.used = room.looks.at_least(self._close())

    @property
    def is_gone(self) -> bool:
        """Whether it was ready once, and something has killed it since."""
        with suppress(psutil.Error):
            return self._process is not None and self._process.status() == psutil.STATUS_ZOMBIE
        return True

    def end(self) -> None:
        """Kill whatever is left of it."""
        self._control.close()
        if self._process:
            with suppress(psutil.Error):
                self._process.kill()

    def _enter(self) -> None:
        """Wait until it is ready."""
        credentials = struct.Struct("3i")  # process, user, group
        try:
            said, more, _, _ = self._control.recvmsg(500, socket.CMSG_SPACE(credentials.size))
        except OSError:
            said, more = b"", []
        numbers = [data for _, kind, data in more if kind == socket.SCM_CREDENTIALS]
        with suppress(psutil.Error):
            if said == b"ready" and numbers:
                self._process = psutil.Process(credentials.unpack(numbers[0])[0])
        self.sound = self._process is not None

    def _close(self) -> Used:
        """Have whatever runs in the room killed; what it has used."""
        with suppress(OSError):
            self._control.send(b"close")
        said = self._said() if self.sound else b""
        self.sound = bool(said)
        if not said:
            return Used(complete=False)
        used = json.loads(said)
        return Used(used["processor_seconds"], used["peak_kib"] / 1024, used["complete"] and self._walled)

    def _said(self) -> bytes:
        try:
            return self._control.recv(500)
        except OSError:  # it is gone, or late
            return b""


_builder: Builder | None = None
_idle: list[House] = []
_built = 0  # how many there are, lent ones among them
_lock = threading.Lock()


def build_ahead(houses: int) -> None:
    """Have so many houses, or begin to: what they need takes a second, in which nobody waits for it."""
    with _lock:
        while _built < houses:
            _idle.append(_another())


def _another() -> House:
    global _builder, _built
    if _builder is None or not _builder.works:
        if _builder is not None:
            _builder.end()
        _builder = Builder()
    _built += 1
    return House(_builder)


@contextmanager
def _borrowed() -> Iterator[House]:
    """A house that nobody else uses meanwhile: one that waits, or a new one."""
    global _built
    with _lock:
        while _idle and _idle[-1].is_gone:
            _idle.pop().end()
            _built -= 1
        house = _idle.pop() if _idle else _another()
    try:
        yield house
    finally:
        with _lock:
            if house.sound:
                _idle.append(house)
            else:
                _built -= 1
        if not house.sound:
            house.end()


def _start(command: list[str], descriptors: list[int], asked: int) -> subprocess.Popen:
    return subprocess.Popen(
        command,
        stdin=asked,
        bufsize=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        start_new_session=True,
        env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
    )


def _stage_code(stage: Path) -> None:
    """The programs that run inside, beside an empty folder for the package."""
    code = stage / "code"
    (code / "selfcheck").mkdir(parents=True)
    (stage / "work").mkdir()
    for name in ("house.py", "room.py", "probe.py"):
        shutil.copyfile(Path(__file__).with_name(name), code / name)
    for name in RUNNER:
        shutil.copyfile(SELFCHECK / name, code / "selfcheck" / name)
    (code / "selfcheck" / "__init__.py").touch()


def _open_to_all(stage: Path) -> None:
    for place in (stage, *stage.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
