"""Runs the learner's code: the innermost process, which answers exercises under resource limits.

A worker (see worker.py) forks it. It knows the requests and nothing else.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import mmap
import os
import resource
import selectors
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, BinaryIO

from . import linux

if TYPE_CHECKING:
    from selfcheck.call_watch import Noticed
    from selfcheck.steps import Tell

FILE_BYTES = 16 * 2**20  # that one file may hold
OPEN_FILES = 64
#: Of a crashed process's memory, to be written out: less than there can be. With 0 Linux would start the machine's own
#: program for that, outside the sandbox and with the rights of root; 1 is how it is told not to.
CORE_BYTES = 1
SMALL_FILE_BYTES = 4096  # of a file, where memory is measured: a log has room, and not a matrix in all files together
CHUNK_BYTES = 1 << 16  # that a pipe holds, and that is read from one at once
READY = b"."  # what precedes the answers: all of ours has worked, and none of the learner's code has run
#: Bytes of message queues; signals that wait, and timers: the kernel keeps a piece of memory for each.
OF_LINUX = {"RLIMIT_MSGQUEUE": 0, "RLIMIT_SIGPENDING": 256}


def answer_one(
    exercise: dict[str, Any], limits: dict[str, Any], answers: int, package_parent: str, memory: int
) -> None:
    """Answer one exercise: READY and the JSON of its answers, to the end of the pipe.

    memory: for arguments, its descriptor
    """
    # What is measured is this process: neither another one nor files in memory must hold much of it.
    is_measured = bool(exercise.get("measured"))
    _prepare(limits, package_parent, is_alone=is_measured)
    if is_measured:
        linux.return_freed_memory()
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_FILE_BYTES, SMALL_FILE_BYTES))
    arguments = _mapped(memory)
    write_all(answers, READY)
    with _watching(exercise):
        write_all(answers, json.dumps(_answers_to(exercise, arguments)).encode())


def answer_all(request: dict[str, Any], answers: int, package_parent: str, memory: int) -> None:
    """Answer every exercise of a joint request, each by a line with its place, and then those of its second line.

    No process can be started: `seconds` limits each process, so it limits all of them only where there is one. Nor is
    an exception described: what is wrong here is asked for again elsewhere, and of a right answer nobody reads that.
    """
    requests = os.fdopen(os.dup(0), "rb", buffering=CHUNK_BYTES)
    _prepare(request, package_parent, is_alone=True)
    arguments = _mapped(memory)
    # What one exercise had a forbidden function of another make, that other one could answer by.
    with _watching(request["exercises"][0]) as noticed:
        from selfcheck import traces  # as above

        for exercise in exercises_of(request, requests):
            said = json.dumps(_answers_to(exercise, arguments, noticed.names(), traces.summarise)).encode()
            say(answers, {"place": exercise["place"], "said": base64.b64encode(said).decode()})


def exercises_of(request: dict[str, Any], requests: BinaryIO) -> Iterator[dict[str, Any]]:
    """The exercises of a request, then those of its second line, which comes once all of these are answered."""
    yield from request["exercises"]
    yield from json.loads(requests.readline() or b"[]")


def say(descriptor: int, message: dict[str, Any]) -> None:
    """Write a message as one line of JSON."""
    write_all(descriptor, json.dumps(message).encode() + b"\n")


def write_all(descriptor: int, data: bytes) -> None:
    """Write to a pipe, however often that takes."""
    while data:
        data = data[os.write(descriptor, data) :]


def _prepare(limits: dict[str, Any], package_parent: str, is_alone: bool) -> None:
    """Set the limits, close off standard input and output, and have the learner's package importable.

    is_alone: whether this process starts no other
    """
    linux.set_dumpable(True)
    _set_resource_limits(limits)
    for name in (*(("filter",) if is_alone else ()), "last_filter"):
        linux.install_filter(base64.b64decode(limits[name]))
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # makes its pool anew after a fork, for which threads of the learner's would race
    sys.path.insert(0, package_parent)
    vars(selectors)["DefaultSelector"] = selectors.PollSelector  # for asyncio: there is no epoll (see system_calls.py)
    vars(mmap)["mmap"] = Map
    keep_torch_plain()


@functools.cache
def keep_torch_plain() -> None:
    """Have torch compile nothing and keep to its dispatcher: once, for the processes that this one forks inherit it."""
    from selfcheck import dispatched, eager  # as staged; their folder is on the path in the sandbox alone

    eager.leave_uncompiled()
    dispatched.keep_to_the_dispatcher()


class Map(mmap.mmap):
    """As mmap.mmap. Memory that is shared and no file's is refused (see seccomp.py): it is a scratch file's instead."""

    def __new__(cls, fileno: int, length: int, *arguments: int, **options: int) -> Map:
        kind = arguments[0] if arguments else options.get("flags", mmap.MAP_SHARED)
        is_shared = kind & mmap.MAP_SHARED and options.get("access", 0) != mmap.ACCESS_COPY
        if fileno != -1 or length <= 0 or not is_shared:
            return super().__new__(cls, fileno, length, *arguments, **options)

        import tempfile

        with tempfile.TemporaryFile(buffering=0) as file:
            file.truncate(length)
            if "flags" in options:
                options["flags"] &= ~mmap.MAP_ANONYMOUS
            arguments = tuple(kind & ~mmap.MAP_ANONYMOUS if place == 0 else one for place, one in enumerate(arguments))
            return super().__new__(cls, file.fileno(), length, *arguments, **options)


def _set_resource_limits(limits: dict[str, Any]) -> None:
    seconds = math.ceil(limits["seconds"])
    # A signal that says why; a second later, for code that ignores it, one that none survives.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        *(((resource.RLIMIT_NPROC, limits["processes"]),) if limits["processes"] else ()),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, CORE_BYTES),
        *((getattr(resource, name), most) for name, most in OF_LINUX.items() if hasattr(resource, name)),
    ):
        allowed = min(most, _most(kind))  # the grader may itself have been given less
        resource.setrlimit(kind, (allowed, allowed))


def _most(kind: int) -> float:
    """What a limit of this process may be at the most."""
    _, hard = resource.getrlimit(kind)
    return math.inf if hard == resource.RLIM_INFINITY else hard


def _mapped(descriptor: int) -> mmap.mmap:
    """The memory for arguments, which the grader sees too; no descriptor of it is left, which code could write to."""
    from selfcheck.held import map_without_descriptor  # as above

    memory = map_without_descriptor(descriptor, 0)
    os.close(descriptor)
    return memory


def _watching(exercise: dict[str, Any]) -> AbstractContextManager[Noticed]:
    """Notice from now on whatever any exercise forbids, unless something is bent: then each notices its own."""
    from selfcheck.call_watch import watching  # as above

    watch = exercise.get("watch") or {}
    return watching(watch.get("importing", ()) if watch.get("bend") is None else ())


def _answers_to(
    exercise: dict[str, Any], memory: mmap.mmap, ran_before: Iterable[str] = (), tell: Tell | None = None
) -> dict[str, Any]:
    """tell: what tells of an exception; None for all there is to tell"""
    from selfcheck import runner  # as above

    if exercise.get("handed"):
        runner.hand_over(exercise["handed"])
    asked = exercise["id"], exercise["plans"], exercise.get("watch"), memory, ran_before
    return runner.answer_exercise(*asked, tell=tell)
