"""Holds arguments of checks in memory of the grader's own, and looks there at what became of them.

Whether an argument was changed is a fact about a process, which that process could lie about. So the arrays of checks
that ask for it lie in memory that the grader shares with the worker, and that it reads itself when the answer has come.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from selfcheck import held

BYTES = 2**26  # of which the kernel gives what is used
SEALS = ("F_SEAL_GROW", "F_SEAL_SHRINK", "F_SEAL_SEAL")  # nobody inside makes it larger, which would be free memory

Answers = dict[str, list[dict[str, Any]]]
Plans = dict[str, dict[str, Any]]


class NoRoom(ValueError):
    """The arguments of a problem set's checks are larger than any should be."""


@dataclass(frozen=True)
class Held:
    """An argument: of which exercise by its place among the requests, key and number of the call; its arrays' places.

    name: as `steps.Given` has it
    """

    place: int
    key: str
    call: int
    name: str
    arrays: list[tuple[int, bytes]]


class ArgumentMemory:
    """Memory for the arguments that one worker is sent."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._used = 0
        self._held: list[Held] = []
        self._seen: dict[int, Seen] = {}

    def hold(self, place: int, plans: Plans) -> Plans:
        """Plans whose steps say where their arguments lie, for those that are to be held; place: of their request."""
        return {key: self._placed(place, key, plan) if plan.get("held") else plan for key, plan in plans.items()}

    def _placed(self, place: int, key: str, plan: dict[str, Any]) -> dict[str, Any]:
        calls = []
        for number, step in enumerate(plan["calls"]):
            places = {}
            for name, arrays in held.arrays_of(step).items():
                places[name] = self._used
                spots = [(self._take(len(data)), data) for data in arrays]
                self._held.append(Held(place, key, number, name, spots))
            calls.append(step | {"held": places})
        return plan | {"calls": calls}

    def _take(self, size: int) -> int:
        at, self._used = self._used, self._used + held.padded(size)
        if self._used > BYTES:
            raise NoRoom(f"the arguments that must not be changed take more than {BYTES // 2**20} MiB")
        return at

    def seen(self, place: int) -> Seen:
        """What lay in memory of the arguments of the request of a place when that was first asked.

        Processes that answer later requests have this memory too: those with hidden inputs could note them there, for
        what feedback quotes of visible ones.
        """
        if place not in self._seen:
            mine = [argument for argument in self._held if argument.place == place]
            self._seen[place] = Seen(mine, os.pread(self.descriptor, self._used, 0) if mine else b"")
        return self._seen[place]


@dataclass(frozen=True)
class Seen:
    """What became of the arguments of one request."""

    held: list[Held]
    memory: bytes

    def told_in(self, answers: Answers) -> Answers:
        """The answers to this request, with what was seen, whatever they say themselves."""
        answers = {key: [dict(answer) for answer in to_plan] for key, to_plan in answers.items()}
        for entry in self.held:
            answer = answers[entry.key][entry.call]
            if "error" not in answer and any(self.memory[at : at + len(data)] != data for at, data in entry.arrays):
                answer["changed"] = list(dict.fromkeys([*answer["changed"], entry.name]))
        return answers


@contextmanager
def argument_memory() -> Iterator[ArgumentMemory]:
    """Memory that can be handed to a worker, within the context."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("arguments", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:  # no Linux, so no isolation
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, BYTES)
        if all(hasattr(fcntl, name) for name in SEALS):
            seals = sum(getattr(fcntl, name) for name in SEALS)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        yield ArgumentMemory(descriptor)
    finally:
        os.close(descriptor)
