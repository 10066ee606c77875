"""The grader's side of the fork server: starts it, and has it fork workers."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import psutil

from selfcheck.catalogue import exercises, forbidden_by, in_problem_set, problem_sets

from . import cgroup, seccomp, staging
from .bubblewrap import fork_server_command
from .fork_server import ALONE, COMPILER, FORK, MANY, NO_FILTER, WATCH
from .stage_folder import stage_folder
from .usage import Used
from .worker_handle import WorkerHandle, start_program

START_SECONDS = 120.0  # by the clock, for the fork server to import torch
END_SECONDS = 30.0  # by the clock, for a worker to kill and count its processes
MESSAGE_BYTES = 512
CREDENTIALS = struct.Struct("3i")  # process, user, group


class ForkServer:
    """One sandbox that has torch imported and forks workers, for any number of threads."""

    def __init__(self) -> None:
        self._open = ExitStack()
        stage = self._open.enter_context(stage_folder())
        staging.stage_programs(stage)
        staging.let_everybody_read(stage)
        self._control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = staging.command("fork_server", inside.fileno(), options=staging.WITH_ENVIRONMENT)
        with inside:
            self._process = start_program(fork_server_command(stage, program), [inside.fileno()], subprocess.DEVNULL)
        rules = seccomp.program()
        self._control.send(rules or NO_FILTER)
        self._control.send(json.dumps(_watched()).encode())
        self._has_filter, self._lost = rules is not None, False

    @property
    def pid(self) -> int:
        """Of the process whose descendants the fork server and all its workers are."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can fork workers, as far as is known."""
        return not self._lost and self._process.poll() is None

    def expect_many(self) -> None:
        """Have it prepare for the workers of a class, before the first of them."""
        with suppress(OSError):  # it has gone: whoever wants a worker sees that
            self._control.send(MANY)

    def expect_watch(self, patterns: list[str]) -> None:
        """Have it prepare for workers in which most watches are of these patterns, or of some of them."""
        with suppress(OSError):  # as above
            self._control.send(WATCH + json.dumps(patterns).encode())

    def expect_compiler(self) -> None:
        """Have it prepare for workers that import torch's compiler, before the next of them."""
        with suppress(OSError):  # as above
            self._control.send(COMPILER)

    @contextmanager
    def worker(
        self, files: dict[str, bytes] | None, memory_bytes: int | None, arguments: int, is_alone: bool = False
    ) -> Iterator[WorkerHandle]:
        """A worker for a package, or one that tells the properties of its isolation; it ends with the context.

        files: the text of every file of the package, by name; memory_bytes: the most that it may use in all
        arguments: a descriptor, of memory for them that the grader sees too
        is_alone: whether the learner's code is to run in the worker's own process
        Where the fork server is gone, the worker says nothing.
        """
        sizes = {name: len(data) for name, data in files.items()} if files is not None else None
        package = b"\n".join([json.dumps(sizes).encode(), b"".join((files or {}).values())])
        requests_end, requests = os.pipe()
        answers, answers_end = os.pipe()
        lifeline, lifeline_end = _Lifeline.pair()
        try:
            descriptors = [requests_end, answers_end, lifeline_end.fileno(), arguments]
            socket.send_fds(self._control, [ALONE if is_alone else FORK], descriptors)
        except OSError:
            self._lost = True
        finally:
            os.close(requests_end)
            os.close(answers_end)
            lifeline_end.close()
        group = _join_cgroup(lifeline, memory_bytes) if memory_bytes is not None else None
        handle = WorkerHandle(
            requests,
            answers,
            package,
            0 if is_alone else 1,
            lifeline.find_pid,
            memory_of=_memory_of(group, memory_bytes),
        )
        try:
            yield handle
        finally:
            os.close(requests)
            os.close(answers)
            used = lifeline.end()
            self._lost |= used is None
            handle.ran_out_of_memory = group is not None and group.ran_out_of_memory()
            handle.used = handle.watch.at_least(self._counted(used, group))

    def _counted(self, used: Used | None, group: cgroup.WorkerCgroup | None) -> Used:
        """What a worker has used: by its cgroup where it has one, else by the fork server's report."""
        if group is not None:
            try:
                return group.used()
            except (OSError, ValueError, KeyError):
                pass  # this kernel counts otherwise
            finally:
                group.remove()
        if used is None:
            return Used(complete=False, watched=True)
        # Without the filter a process can have its children's usage thrown away.
        return Used(used.processor_seconds, used.peak_mib, used.complete and self._has_filter, watched=True)

    def close(self) -> None:
        """End it, and every worker of it."""
        self._control.close()
        with suppress(psutil.Error):
            for process in psutil.Process(self.pid).children(recursive=True):
                with suppress(psutil.Error):
                    process.kill()
        self._process.kill()
        self._process.wait()
        self._open.close()


def _watched() -> list[list[str]]:
    """The lists of patterns that are watched in workers: those of a problem set, and those of an exercise."""
    of_sets = [forbidden_by(in_problem_set(name)) for name in problem_sets()]
    return of_sets + [list(exercise.forbidden) for exercise in exercises()]


class _Lifeline:
    """The grader's end of a worker's lifeline (see fork_server.py)."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._pid: int | None = None
        self._used: Used | None = None
        self._closed = False

    @classmethod
    def pair(cls) -> tuple[_Lifeline, socket.socket]:
        """A lifeline, and its other end."""
        channel, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel tells who sends
        return cls(channel), other_end

    def find_pid(self, seconds: float) -> int | None:
        """The worker's process id out here; None where it has not begun by then."""
        if self._pid is None:
            self._receive(seconds)
        return self._pid

    def end(self) -> Used | None:
        """Have the worker end; what it has used, None where the fork server does not tell, because it is gone."""
        with self._channel:
            with suppress(OSError):
                self._channel.shutdown(socket.SHUT_WR)
            for seconds in (START_SECONDS if self._pid is None else END_SECONDS, END_SECONDS):
                while self._receive(seconds):
                    pass
                if self._used or self._closed or self._pid is None:
                    break
                with suppress(OSError):
                    os.kill(self._pid, signal.SIGKILL)
        return self._used

    def _receive(self, seconds: float) -> bool:
        """Take in one message; False where none comes in time, or none will."""
        if self._closed or self._used:
            return False
        self._channel.settimeout(seconds)
        try:
            message, more, _, _ = self._channel.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(CREDENTIALS.size))
        except (TimeoutError, BlockingIOError):
            return False
        except OSError:
            message, more = b"", []
        if message == b"started":
            sender = next(data for _, kind, data in more if kind == socket.SCM_CREDENTIALS)
            self._pid = CREDENTIALS.unpack(sender)[0]
        elif message:
            used = json.loads(message)
            self._used = Used(used["processor_seconds"], used["peak_kib"] / 1024, used["complete"])
        else:
            self._closed = True
        return not self._closed


def _join_cgroup(lifeline: _Lifeline, memory_bytes: int) -> cgroup.WorkerCgroup | None:
    """Put a worker that has read no request yet in a cgroup; None where none may be made."""
    parent = cgroup.delegated_parent()
    pid = lifeline.find_pid(START_SECONDS) if parent else None
    if parent is None or pid is None:
        return None
    group = None
    try:
        group = cgroup.WorkerCgroup(parent, memory_bytes)
        group.add(pid)
    except OSError:
        if group is not None:
            group.remove()
        return None
    return group


def _memory_of(group: cgroup.WorkerCgroup | None, memory_bytes: int | None) -> Callable[[WorkerHandle], int]:
    """How a worker's memory becomes known: by its cgroup, by looking at its processes, or, without a limit, not."""
    if group is not None:
        return lambda _: group.memory_bytes()
    return WorkerHandle.watched_memory_bytes if memory_bytes is not None else lambda _: 0
