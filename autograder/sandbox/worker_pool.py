"""Gives each submission a worker: forked by a fork server, or in a bubblewrap of its own where that is not possible."""

from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import TracebackType

from . import staging
from .bubblewrap import Sandbox
from .fork_server import MANY_WORKERS
from .fork_server_client import START_SECONDS, ForkServer
from .stage_folder import stage_folder
from .usage import Used
from .worker_handle import WorkerHandle, start_program

LINGER_SECONDS = 2.0  # by the clock, for a worker without a fork server to count its processes, and to end
PROPERTIES_BYTES = 1 << 12


class WorkerPool:
    """One fork server, started when it is needed and again when it has died, for any number of threads.

    It ends with `close`, or as a context; and in any case with this process.
    """

    def __init__(self, forks: bool = True) -> None:
        """forks: whether to try a fork server at all; if not, each worker has a bubblewrap of its own"""
        self._forks = forks
        self._server: ForkServer | None = None
        self._lock = threading.Lock()
        self._self_test_lock = threading.Lock()
        self._properties: dict[str, bool] | None = None  # of a forked worker, once they are known

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def fork_server(self) -> ForkServer:
        """The fork server; a new one, which needs a second or two until it forks, where there is none that works."""
        with self._lock:
            if self._server is not None and not self._server.is_alive:
                self._server.close()
                self._server = None
            self._server = self._server or ForkServer()
            return self._server

    def is_fork_server_available(self, sandbox: Sandbox) -> bool:
        """Whether a forked worker has every property of isolation here that the sandbox has."""
        if sandbox.level == "none" or not self._forks:
            return False
        with self._self_test_lock:
            if self._properties is None:
                self._properties = self._run_self_test()
        return bool(self._properties) and {name for name, holds in self._properties.items() if not holds} <= set(
            sandbox.lacks
        )

    @contextmanager
    def worker(
        self, files: dict[str, bytes], sandbox: Sandbox, memory_bytes: int, arguments: int, is_alone: bool = False
    ) -> Iterator[WorkerHandle]:
        """A worker for a learner's package; when the context ends, so do its processes, and `used` is known.

        files: the text of every file of the package `attention`, by name
        memory_bytes: for all its processes, where it gets a cgroup; elsewhere whoever asks it has to look
        arguments: a descriptor, of memory for them that the grader sees too
        is_alone: whether the learner's code is to run in the worker's own process, as where it answers together
        """
        if self.is_fork_server_available(sandbox):
            with self.fork_server().worker(files, memory_bytes, arguments, is_alone) as handle:
                yield handle
        else:
            with _worker_in_own_sandbox(files, sandbox, arguments, is_alone) as handle:
                yield handle

    def close(self) -> None:
        """End the fork server and every worker of it."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None

    def _run_self_test(self) -> dict[str, bool]:
        """The properties of a forked worker's isolation; none where this machine allows no nested namespaces."""
        with (
            open(os.devnull, "rb") as nothing,
            self.fork_server().worker(None, None, nothing.fileno()) as handle,
            suppress(OSError, ValueError),
        ):
            os.write(handle.requests, handle.preamble)
            poll = select.poll()
            poll.register(handle.answers, select.POLLIN)
            if poll.poll(1000 * START_SECONDS):
                return dict(json.loads(os.read(handle.answers, PROPERTIES_BYTES)))
        return {}


@functools.cache
def default_pool() -> WorkerPool:
    """The pool of this process, for all that grade in it."""
    return WorkerPool()


def start_fork_server(isolation: str, workers: int = 1) -> None:
    """Start this process's fork server, where this level or choice may use one: it imports torch meanwhile.

    workers: so many are wanted at least
    """
    if isolation != "none":
        with suppress(OSError):  # without bubblewrap none starts: whoever needs it says so
            server = default_pool().fork_server()
            if workers >= MANY_WORKERS:
                server.expect_many()


def expect_watch(isolation: str, patterns: Sequence[str]) -> None:
    """Say of which functions most watches are in the workers that follow, by the patterns of all together."""
    if isolation != "none":
        with suppress(OSError):  # as above
            default_pool().fork_server().expect_watch(list(patterns))


def is_fork_server_available(sandbox: Sandbox) -> bool:
    """Whether a worker costs little: it is forked from a process that has torch imported."""
    return _pool_of(sandbox).is_fork_server_available(sandbox)


def expect_compiler(sandbox: Sandbox) -> None:
    """Say that the next worker imports torch's compiler; its processes then find it imported."""
    if is_fork_server_available(sandbox):
        _pool_of(sandbox).fork_server().expect_compiler()


@contextmanager
def open_worker(
    files: dict[str, bytes], sandbox: Sandbox, memory_bytes: int, arguments: int, is_alone: bool
) -> Iterator[WorkerHandle]:
    """A worker of the sandbox's pool for a learner's package (see WorkerPool.worker)."""
    with _pool_of(sandbox).worker(files, sandbox, memory_bytes, arguments, is_alone) as handle:
        yield handle


def _pool_of(sandbox: Sandbox) -> WorkerPool:
    return sandbox.pool if isinstance(sandbox.pool, WorkerPool) else default_pool()


@contextmanager
def _worker_in_own_sandbox(
    files: dict[str, bytes], sandbox: Sandbox, arguments: int, is_alone: bool
) -> Iterator[WorkerHandle]:
    """A worker for this package alone, in a sandbox that is started for it."""
    with stage_folder() as stage:
        staging.stage_programs(stage)
        staging.stage_package(stage, files)
        staging.let_everybody_read(stage)
        answers, answers_end = os.pipe()
        program = staging.command("worker", answers_end, arguments, staging.PACKAGE_PARENT)
        with sandbox.command(stage, program) as (command, descriptors):
            process = start_program(command, [answers_end, arguments, *descriptors], subprocess.PIPE)
        os.close(answers_end)
        assert process.stdin is not None
        is_isolated = sandbox.level != "none"
        own_generations = int(is_isolated) + int(not is_alone)  # bubblewrap, and the worker
        requests, memory_of = process.stdin.fileno(), WorkerHandle.watched_memory_bytes
        handle = WorkerHandle(requests, answers, b"", own_generations, lambda _: process.pid, memory_of)
        try:
            yield handle
        finally:
            os.close(answers)
            process.stdin.close()
            used = _wait_for(process)
            is_complete = used.complete and is_isolated and not sandbox.lacks
            handle.used = handle.watch.at_least(replace(used, complete=is_complete))


def _wait_for(process: subprocess.Popen[bytes]) -> Used:
    """What a worker and all below it have used; what runs in one that does not end by itself is not all counted."""
    end, pid, killed = time.monotonic() + LINGER_SECONDS, 0, False
    while pid == 0:
        if time.monotonic() > end and not killed:
            process.kill()
            killed = True
        pid, _, usage = os.wait4(process.pid, 0 if killed else os.WNOHANG)
        if pid == 0:
            time.sleep(0.002)
    process.wait()
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, not killed, watched=True)
