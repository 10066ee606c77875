"""Asks a learner's package in the sandbox for its answers, visible inputs before hidden ones.

The rule that keeps hidden inputs secret: visible checks run to completion before hidden inputs are sent. Whatever
feedback may quote is said before any process in the sandbox has a hidden input. A worker whose visible answers have
come waits until others have given those that are to be asked for again; only then are hidden inputs sent. And no other
submission has hidden inputs meanwhile, see periods.py. The rules stand in one place, `_Package.converse`.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..sandbox import seccomp
from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from ..sandbox.worker_pool import open_worker
from . import limits, periods
from .answers import SEEN, Answers, Line, answers_in, lines_of
from .arguments import ArgumentMemory, NoRoom, argument_memory
from .attempts import Attempts, Conversation
from .attempts import GraderFault as GraderFault
from .attempts import Request as Request
from .exchange import Bounds, TwoRequests, exchange
from .periods import HIDDEN, QUOTED, Deadline, Turn

NOTHING = b"[]\n"  # the second request where no hidden input is sent
COUNTS_PER_NAMESPACE = (5, 14)  # the first Linux that counts processes per namespace, not over the machine


def ask_together(
    files: dict[str, bytes],
    visible: list[Request],
    sandbox: Sandbox,
    hidden_after: Callable[[list[Answers]], list[Request]],
    tally: Tally | None = None,
    end: Deadline | None = None,
    turn: Turn | None = None,
) -> list[Answers]:
    """The answers to every request from one process for all, which is quick; a failure where it did not come so far.

    What one exercise does there can disturb another: an answer that is wrong, or missing, is to be asked for again.
    hidden_after: the requests with hidden inputs, whose answers follow the visible ones; called once, when all of those
        have come. No visible request may be asked after it
    tally: what the submission uses is counted there; end: of its time in all; turn: in which it runs
    """
    seconds = min(limits.JOINT_CPU_SECONDS, limits.EXERCISE_CPU_SECONDS)
    mode = {"together": True, "torch": True, "seconds": seconds}
    answers: list[Answers] = []

    def hidden(lines: list[Line]) -> list[Request]:
        answers.extend(_answers_to(visible, lines))
        return hidden_after(answers)

    conversation = _Package(files, sandbox).converse(
        visible,
        hidden,
        mode,
        Bounds(
            limits.WALL_CLOCK_FACTOR * seconds,
            Deadline.of_submission() if end is None else end,
            limits.JOINT_OUTPUT_BYTES,
        ),
        turn,
    )
    if tally is not None:
        tally.add(conversation.used, [])  # what a learner's own process says of its time counts for nothing
    return answers + _answers_to(conversation.asked, conversation.lines, len(answers))


def ask(
    files: dict[str, bytes],
    requests: list[Request],
    torch: bool,
    sandbox: Sandbox,
    tally: Tally | None = None,
    end: Deadline | None = None,
    turn: Turn | None = None,
    before_hidden: Callable[[list[Answers]], None] | None = None,
) -> list[Answers]:
    """The answers to every request, in order; whatever the learner's code does becomes an answer with an error.

    files: the text of every file of the package `attention`; torch: whether to import it beforehand
    tally: what the submission uses is counted there; end: of its time in all; turn: in which they run
    before_hidden: is told the answers to the visible requests, which come first, before a hidden one is sent
    What was killed, or ended without an answer, is tried once more: the machine may have had no memory or thread left.
    Raises GraderFault where the sandbox fails twice for no reason that lies in the learner's code.
    """
    end = Deadline.of_submission() if end is None else end
    budget = min(limits.PART_CPU_SECONDS, max(0.0, end.cpu_left))
    mode = {"together": False, "torch": torch, "seconds": limits.EXERCISE_CPU_SECONDS, "budget": budget}
    used = 0.0  # by the attempt that used most: a second one is the machine's fault as often as the learner's
    cpu_seconds = limits.PART_CPU_SECONDS + 2 * limits.EXERCISE_CPU_SECONDS
    package, attempts = _Package(files, sandbox), Attempts(requests)
    bounds = Bounds(limits.WALL_CLOCK_FACTOR * cpu_seconds, end, limits.OUTPUT_BYTES)
    while waiting := attempts.waiting():
        if end.is_over or budget == 0:  # worker after worker is stopped at its limits, or waits
            attempts.give_up(waiting, "wall" if end.is_over else "budget")
            break
        asked = [requests[place] for place in waiting]
        count = sum(not request.hidden for request in asked)
        hidden = partial(attempts.hidden_after, waiting, asked[count:], before_hidden)
        conversation = package.converse(asked[:count], hidden, mode, bounds, turn)
        if tally is not None:
            tally.add(
                conversation.used, [(asked[line["place"]].id, line.get("seconds")) for line in conversation.lines]
            )
        used = max(used, conversation.used.processor_seconds)
        attempts.take(waiting, conversation, sandbox.level != "none")
    end.cpu_left -= used
    return attempts.answers()


@dataclass(frozen=True)
class _Package:
    """A learner's package and the sandbox that it runs in."""

    files: dict[str, bytes]
    sandbox: Sandbox

    def converse(
        self,
        visible: list[Request],
        hidden_after: Callable[[list[Line]], list[Request]],
        mode: dict[str, Any],
        bounds: Bounds,
        turn: Turn | None = None,
    ) -> Conversation:
        """Ask a new worker; hidden requests are sent when the visible ones are answered.

        hidden_after: which, by the lines that answer those; it may ask other workers meanwhile
        mode: what differs between the ways of asking (see sandbox/worker.py); turn: in which it runs; None for its own
        """
        asked, count = list(visible), len(visible)

        def second_request(said: bytes) -> bytes:
            asked.extend(hidden_after(_seen(memory, lines_of(said, count)[1])))
            return _as_line(_exercises(asked, memory, count))

        with ExitStack() as stack:
            memory = stack.enter_context(argument_memory())
            mine = turn or stack.enter_context(periods.of_this_process().turn())
            bounds.end.at += mine.take(QUOTED if visible else HIDDEN)
            settings = self._settings() | mode | {"idle_left": bounds.end.idle_left}
            # One line says that the worker has begun, and then one is said for each exercise.
            texts = TwoRequests(
                _as_line(settings | {"exercises": _exercises(asked, memory)}),
                1 + count,
                second_request,
                lambda text, seconds: text == NOTHING or mine.is_taken_within(seconds, HIDDEN),
            )
            with open_worker(
                self.files, self.sandbox, limits.MEMORY_BYTES, memory.descriptor, mode["together"]
            ) as worker:
                exchanged = exchange(worker, texts, bounds)
            started, lines = lines_of(exchanged.data, len(asked))
            if not mode["together"]:  # there the learner's own process says the lines
                bounds.end.idle_left -= _seconds_waited(lines)
            stopped = exchanged.stopped or worker.ran_out_of_memory
            return Conversation(asked, started, stopped, _seen(memory, lines), worker.used)

    def _settings(self) -> dict[str, Any]:
        """What a worker is told beside its exercises, however they are asked (see sandbox/worker.py)."""
        is_isolated = self.sandbox.level != "none"
        return {
            "filter": base64.b64encode(seccomp.no_processes()).decode(),
            "last_filter": base64.b64encode(seccomp.last()).decode(),
            "budget": limits.PART_CPU_SECONDS,
            "wall_clock_factor": limits.WALL_CLOCK_FACTOR,
            "idle": limits.IDLE_WALL_SECONDS,
            "memory": limits.ADDRESS_SPACE_BYTES,
            "processes": limits.PROCESSES if is_isolated and _kernel_version() >= COUNTS_PER_NAMESPACE else 0,
            "isolated": is_isolated,
        }


def _seen(memory: ArgumentMemory, lines: list[Line]) -> list[Line]:
    """The lines, each with what is seen now of its arguments, whatever it says of them itself."""
    return [line | {SEEN: memory.seen(line["place"])} for line in lines]


def _exercises(requests: list[Request], memory: ArgumentMemory, first: int = 0) -> list[dict[str, Any]]:
    """What a worker is told of each request from a place on."""
    try:
        held = {place: memory.hold(place, request.plans) for place, request in enumerate(requests) if place >= first}
    except NoRoom as error:
        raise GraderFault(str(error)) from None
    return [
        {
            "place": place,
            "id": request.id,
            "plans": held[place],
            "measured": request.is_measured,
            "watch": request.watch,
            "handed": request.handed,
        }
        for place, request in enumerate(requests)
        if place >= first
    ]


def _answers_to(requests: list[Request], lines: list[Line], first: int = 0) -> list[Answers]:
    """The answers to the requests from a place on."""
    by_place = {line["place"]: line for line in lines}
    return [
        answers_in(request.plans, by_place.get(place, {})) for place, request in enumerate(requests) if place >= first
    ]


def _seconds_waited(lines: list[Line]) -> float:
    """For how long a worker's processes waited while none of them computed."""
    said = (line.get("idle") for line in lines)
    return sum(seconds for seconds in said if isinstance(seconds, float) and 0 < seconds < math.inf)


def _as_line(tree: Any) -> bytes:
    return json.dumps(tree).encode() + b"\n"


def _kernel_version() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
