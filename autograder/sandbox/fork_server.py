"""The fork server: waits inside the sandbox with torch imported, and forks a worker for each submission.

It is the first process of a PID namespace, in which it has every capability and which ends with it. Each worker is the
first process of a PID namespace below that (see worker.py), with mount, network, IPC, host name and user namespaces of
its own, fresh scratch folders, no capability and the seccomp filter, before it reads anything of a learner's. The fork
server itself sees no submission. Any number of workers run at the same time.

The protocol, over a SOCK_SEQPACKET socket whose descriptor stands on the command line:
    the grader sends the seccomp filter, or b"none", and then, as JSON, lists of patterns of forbidden functions, those
    that are watched together in each;
    for each worker the grader sends b"fork" with four descriptors: a pipe to read the request from, a pipe to write
    answers to, the worker's lifeline, one end of a SOCK_SEQPACKET socket pair, and memory for arguments;
    b"alone" is b"fork" for a worker whose one process runs the learner's code, and looks at no lifeline;
    b"many" says that more workers follow than a single judgement needs, b"compiler" that some call what imports it;
    b"watch" with patterns, as JSON, that these are watched in most of the workers that follow.
Over the lifeline
    the worker sends b"started", so that the kernel tells the grader its pid;
    the grader shuts down its side when it wants nothing more: the worker kills all its processes and ends, or is
    killed by the fork server where it is alone;
    the fork server sends {"processor_seconds", "peak_kib", "complete"} when the worker has ended, and closes it.
A worker reads a line of JSON, {file name: bytes}, and the files themselves, one after the other; then the request. null
in the place of the package has it answer with the properties of its isolation instead.
When the socket hangs up, the fork server ends, and with it every worker.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from . import linux, runner, self_test, worker

MESSAGE_BYTES = 1 << 16
DESCRIPTORS = 4  # that come with a wish for a worker
PACKAGE = f"{self_test.INSIDE}/work"  # where a worker mounts the learner's package
SCRATCH_BYTES = 64 * 2**20
SCRATCH_INODES = 8192  # files, folders and links: each is the kernel's memory, a kilobyte or more
SCRATCH = ("/tmp", "/dev/shm")
EMPTY, EMPTY_FOLDER = "/dev/null", "/dev/pts"  # what is seen in the places of counters
SAFE = linux.NO_SETUID | linux.NO_DEVICES
NO_FILTER, FORK, ALONE, MANY, COMPILER, WATCH = b"none", b"fork", b"alone", b"many", b"compiler", b"watch"
#: What is imported once, for all workers: by a process's first backward pass and torch.broadcast_shapes, half a second;
#: by the first step of an optimizer and the first checkpoint, seconds.
IMPORTED = {MANY: "torch.fx.experimental.symbolic_shapes", COMPILER: "torch._dynamo"}
MANY_WORKERS = 4  # from the fourth on: the workers of a single judgement do not wait for an import few of them need
#: A worker's namespaces beside that for PIDs, which the fork server makes; a socket could outlive its worker.
OF_A_WORKER = linux.NEW_MOUNTS | linux.NEW_IPC | linux.NEW_HOST_NAME | linux.NEW_NETWORK


def main(descriptor: str) -> None:
    """Enter namespaces with a fork server in them, and wait for it."""
    linux.unshare_user(linux.NEW_MOUNTS | linux.NEW_PIDS)
    server = os.fork()
    if server == 0:
        try:
            linux.mount("proc", "/proc", SAFE | linux.NO_PROGRAMS)
            ForkServer(socket.socket(fileno=int(descriptor))).serve()
        finally:
            os._exit(0)
    os.close(int(descriptor))
    os.waitpid(server, 0)


@dataclass
class _Forked:
    """A worker that has not ended: its process, and the fork server's hold on its lifeline.

    is_alone: whether that process is the only one; is_watched: whether the fork server looks at the lifeline
    """

    pid: int
    lifeline: int
    is_alone: bool
    is_watched: bool


class ForkServer:
    """Forks workers until the grader hangs up."""

    def __init__(self, control: socket.socket) -> None:
        gc.disable()  # a sixth of the time to import torch goes into collections that find nothing
        import numpy  # noqa: F401
        import torch

        import selfcheck.runner  # noqa: F401  (imported once, here, for every worker)
        from selfcheck import eager

        eager.leave_compiler_out()
        runner.keep_torch_plain()
        torch.set_num_threads(1)  # before any operation: a forked child must inherit no thread pool
        linux.set_dumpable(False)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a process that ignores its children is not told their usage
        self._control = control
        self._filter = control.recv(MESSAGE_BYTES)
        self._watched: list[list[str]] = json.loads(control.recv(MESSAGE_BYTES))
        os.close(os.pidfd_open(os.getpid()))  # or fail now, where this kernel cannot do what `serve` needs
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._selector = selectors.DefaultSelector()
        self._forked = 0
        self._prepared_for: set[bytes] = set()
        self._overriding, self._overridden = ExitStack(), list[str]()  # until when, and of which patterns
        self._is_ready = self._is_dense = False

    def serve(self) -> None:
        """Fork and wait, until the grader hangs up."""
        self._selector.register(self._control, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, DESCRIPTORS)
                    if not message:
                        return
                    if message in IMPORTED:
                        self._prepare_for(message)
                    elif message.startswith(WATCH):
                        self._override(json.loads(message.removeprefix(WATCH)))
                    else:
                        self._fork_worker(message == ALONE, *descriptors)
                elif key.fd == key.data.lifeline:
                    self._end(key.data)
                else:
                    self._selector.unregister(key.fileobj)
                    os.close(key.fd)
                    self._stop_watching(key.data)
                    _report(key.data)

    def _end(self, forked: _Forked) -> None:
        """Kill a worker that is alone, unless it has just been reported."""
        if forked.is_watched:
            self._stop_watching(forked)
            os.kill(forked.pid, signal.SIGKILL)

    def _stop_watching(self, forked: _Forked) -> None:
        if forked.is_watched:
            self._selector.unregister(forked.lifeline)
            forked.is_watched = False

    def _fork_worker(self, is_alone: bool, requests: int, answers: int, lifeline: int, memory: int) -> None:
        """Fork a worker, and watch for its end; for that of its lifeline too, where nothing in it does."""
        self._forked += 1
        if self._forked == MANY_WORKERS:
            self._prepare_for(MANY)
        if not self._is_ready:
            self._make_ready()
        try:
            linux.unshare(linux.NEW_PIDS)
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    _be_worker(requests, answers, lifeline, memory, self._filter)
                    status = 0
                finally:
                    os._exit(status)
            forked = _Forked(pid, os.dup(lifeline), is_alone, is_watched=is_alone)
            self._selector.register(os.pidfd_open(pid), selectors.EVENT_READ, forked)
            if is_alone:
                self._selector.register(forked.lifeline, selectors.EVENT_READ, forked)
        except OSError:  # too many processes or namespaces
            _send_usage(os.dup(lifeline), 0.0, 0, False)
        finally:
            linux.enter_namespace(self._own_pids, linux.NEW_PIDS)
            for descriptor in (requests, answers, lifeline, memory):
                os.close(descriptor)

    def _override(self, patterns: list[str]) -> None:
        """Have every worker begin with overrides that watches of these patterns share: each would make them anew."""
        from selfcheck import overrides

        if patterns == self._overridden:
            return
        self._overriding.close()
        overrides.overridden(patterns, None, self._overriding)
        self._overridden, self._is_ready = patterns, False

    def _prepare_for(self, wish: bytes) -> None:
        """Import what each worker would have to, once."""
        if wish in self._prepared_for:
            return
        self._prepared_for.add(wish)
        gc.disable()
        importlib.import_module(IMPORTED[wish])

        from selfcheck import eager

        eager.leave_compiler_out()
        self._is_ready = self._is_dense = False

    def _make_ready(self) -> None:
        """Do what workers share once, after what has been imported and overridden since the last of them."""
        from selfcheck import overrides

        for patterns in self._watched:
            overrides.prepare(patterns)
        self._freeze_memory()
        self._is_ready = True

    def _freeze_memory(self) -> None:
        """Have workers write to few of the pages that they share: each of these is copied when they do.

        What is here now is left to no garbage collection, and no piece of memory is free among what is used, but those
        that former overrides leave to the next ones: to use these up would make the server larger with each change.
        """
        gc.freeze()
        if not self._is_dense:
            linux.use_up_free_memory()
        self._is_dense = True
        gc.enable()
        gc.set_threshold(20_000, 20, 20)  # reading a request alone would set off a hundred


def _report(forked: _Forked) -> None:
    """Tell the grader what a worker that has ended has used, with every process of its namespace.

    Usage is complete where there was one process, or where the worker says, by its status, that it has waited for all
    of them: what nobody waits for is counted nowhere.
    """
    _, status, usage = os.wait4(forked.pid, 0)
    seconds, is_complete = usage.ru_utime + usage.ru_stime, forked.is_alone or status == 0
    _send_usage(forked.lifeline, seconds, usage.ru_maxrss, is_complete)


def _send_usage(lifeline: int, seconds: float, peak_kib: int, complete: bool) -> None:
    usage = {"processor_seconds": seconds, "peak_kib": peak_kib, "complete": complete}
    with suppress(OSError), socket.socket(fileno=lifeline) as channel:  # the grader may be gone
        channel.send(json.dumps(usage).encode())


def _be_worker(requests: int, answers: int, lifeline: int, memory: int, filter_rules: bytes) -> None:
    """Isolate this process, drop its capabilities, and serve the request."""
    os.setsid()
    for place, descriptor in ((0, requests), (3, answers), (4, lifeline), (5, memory)):
        os.dup2(descriptor, place)
    os.closerange(6, 1 << 12)
    with socket.socket(fileno=os.dup(4)) as channel:
        channel.send(b"started")
    linux.unshare(OF_A_WORKER)
    received = open(0, "rb", buffering=runner.CHUNK_BYTES, closefd=False)  # noqa: SIM115  (the worker reads on)
    sizes = json.loads(received.readline())
    files = {name: received.read(size) for name, size in (sizes or {}).items()}
    proc = os.open("/proc", os.O_PATH)
    _mount_scratch(files)
    # The user namespace counts the worker's processes apart from others', and owns none of its other namespaces.
    linux.unshare_user(proc=f"/proc/self/fd/{proc}")
    os.close(proc)
    linux.drop_capabilities()
    linux.install_filter(b"" if filter_rules == NO_FILTER else filter_rules)
    if sizes is None:
        runner.say(3, self_test.properties())
    else:
        worker.serve(received, 3, PACKAGE, lifeline=4, memory=5)


def _mount_scratch(files: dict[str, bytes]) -> None:
    """Mount a /proc with the worker's processes alone, empty scratch folders, and the package, read-only."""
    linux.mount("proc", "/proc", linux.READ_ONLY | SAFE | linux.NO_PROGRAMS)
    for empty, names in ((EMPTY, linux.COUNTERS), (EMPTY_FOLDER, linux.COUNTING_FOLDERS)):
        for name in names:
            with suppress(FileNotFoundError):  # another kernel has others
                linux.bind(empty, f"/proc/{name}")
    mounted = linux.mounted_places()
    for place in (*SCRATCH, PACKAGE):
        with linux.kept_mounts_below(place, mounted):
            linux.mount("tmpfs", place, SAFE, f"size={SCRATCH_BYTES},nr_inodes={SCRATCH_INODES},mode=1777")
    os.chdir("/tmp")  # the one that is there now
    os.makedirs(f"{PACKAGE}/attention/__pycache__")
    for name, data in files.items():
        with open(f"{PACKAGE}/attention/{name}", "wb") as file:
            file.write(data)
    linux.mount("tmpfs", PACKAGE, linux.REMOUNT | linux.READ_ONLY | SAFE)
