"""Has a learner's package answer plans inside the sandbox, and brings every way to fail into one form."""

from __future__ import annotations

import base64
import json
import os
import re
import selectors
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from selfcheck.arrays import unpack
from selfcheck.compare import Answer

from ..course.printable import printable, printable_line
from ..sandbox.bubblewrap import Sandbox
from ..sandbox.seccomp import no_processes
from ..sandbox.usage import Tally
from ..sandbox.worker_pool import Room, opened

TOGETHER = 4.0  # of the processor, for all exercises in one process, which is what most submissions need
SECONDS = 15.0  # of the processor, for one exercise; the longest, which trains a model, needs 6 on a busy machine
BUDGET = 45.0  # likewise, for one submission to one problem set: after it no further exercise is tried
PATIENCE = 4.0  # seconds by the clock for each of the processor's: a busy machine costs nobody a point
START = 60.0  # by the clock, for the sandbox to begin
MEMORY = 6 * 2**30  # address space, of which torch takes about 2 GiB without touching it
MEMORY_IN_ALL = 4 * 2**30  # taken at once by all of a submission's processes
PROCESSES = 64  # and threads
COUNTS_PER_NAMESPACE = (5, 14)  # the first Linux that counts processes per namespace, not over the machine
MOST_OUTPUT = 64 * 2**20
LOOK = 0.2  # seconds between two looks at the memory taken
LARGEST = 2**48  # no length or count in an answer is larger
STOPPED = "Stopped"  # the type of what the grader says where there is no answer
ATTEMPTS = 2  # at an exercise whose process something killed: was it the learner's code or the machine?


Answers = dict[str, list[Answer]]  # to one request, by the keys of its plans


class GraderFault(RuntimeError):
    """The grader could not do its work: nobody loses a point for it."""


@dataclass(frozen=True)
class Request:
    """One exercise's plans: {key: {"calls": [...], "gradient": bool}}.

    later: to be answered when all others are: what these say cannot tell of its inputs, which had not come by then
    """

    id: str
    plans: dict[str, dict[str, Any]]
    later: bool = False


def ask_together(
    files: dict[str, bytes],
    requests: list[Request],
    sandbox: Sandbox,
    enough: Callable[[list[Answers]], bool],
    tally: Tally | None = None,
) -> list[Answers]:
    """The answers to every request from one process for all, which is quick; a failure where it did not come so far.

    What one exercise does there can disturb another: an answer that is wrong, or missing, is to be asked for again.
    enough: whether the answers to the requests that are not later leave nothing to be asked again that feedback may
        quote; only then do the inputs of the later ones enter the sandbox
    tally: what the submission uses is counted there
    """
    first = [one for one in requests if not one.later]

    def held(lines: list[dict]) -> bool:
        return not enough(_by_place(first, lines))

    _, _, lines = _run(files, requests, True, sandbox, held, tally or Tally(), together=True)
    return _by_place(requests, lines)


def answers_in(said: bytes, requests: list[Request]) -> list[Answers]:
    """The answers to every request in what a process said, each of the expected form; a failure where there is none."""
    return _by_place(requests, _lines(said, len(requests))[1])


def _by_place(requests: list[Request], lines: list[dict]) -> list[Answers]:
    said = {line["place"]: line for line in lines}
    return [_sound(request, said.get(place, {})) for place, request in enumerate(requests)]


def ask(
    files: dict[str, bytes], requests: list[Request], torch: bool, sandbox: Sandbox, tally: Tally | None = None
) -> list[Answers]:
    """The answers to every request, in order; whatever the learner's code does becomes an answer with an error.

    files: the text of every file of the package `attention`; torch: whether to import it beforehand
    tally: what the submission uses is counted there
    What was killed is tried once more: another process may have taken the machine's memory.
    Raises GraderFault where the sandbox fails twice for no reason that lies in the learner's code.
    """
    found: list[Answers | None] = [None] * len(requests)
    killed: Counter[int] = Counter()
    faults, end = 0, time.monotonic() + ATTEMPTS * PATIENCE * BUDGET
    while None in found:
        waiting = [place for place, answers in enumerate(found) if answers is None]
        if time.monotonic() > end:  # a room that is stopped at its limits, one exercise after the other
            for place in waiting:
                found[place] = _all_failed(requests[place], "budget")
            break
        waiting.sort(key=lambda place: requests[place].later)
        again = frozenset(number for number, place in enumerate(waiting) if killed[place])

        def tried_again(lines: list[dict], again: frozenset[int] = again) -> bool:
            return any(line.get("died") == "killed" and line["place"] not in again for line in lines)

        asked = [requests[place] for place in waiting]
        started, stopped, lines = _run(files, asked, torch, sandbox, tried_again, tally or Tally())
        said = {waiting[line["place"]]: line for line in lines}
        held = tried_again([line for line in lines if not requests[waiting[line["place"]]].later])
        missing = [place for place in waiting if place not in said and not (held and requests[place].later)]
        if not started or (missing and not stopped and sandbox.level != "none"):
            # Behind walls no code of a learner's can end the process that relays its answers.
            faults += 1
            if faults == ATTEMPTS:
                raise GraderFault(f"the sandbox ended {'while' if started else 'before'} the learner's code ran")
        elif missing:  # the whole sandbox ended at the first that has no line
            said[missing[0]] = {"died": "killed"}
        for place, line in said.items():
            if line.get("died") == "killed":
                killed[place] += 1
            if killed[place] in (0, ATTEMPTS):
                found[place] = _sound(requests[place], line)
    return [answers for answers in found if answers is not None]


def _run(
    files: dict[str, bytes],
    requests: list[Request],
    torch: bool,
    sandbox: Sandbox,
    held: Callable[[list[dict]], bool],
    tally: Tally,
    together: bool = False,
) -> tuple[bool, bool, list[dict]]:
    """One room: whether it began on the learner's code, whether it was stopped at one of its limits, and the sound
    lines it said, each place once.

    held: whether, after these lines, the later requests stay outside: what feedback may quote is to be asked again
    """
    exercises = [{"place": place, "id": one.id, "plans": one.plans} for place, one in enumerate(requests)]
    first = sum(not one.later for one in requests)
    settings = {
        "torch": torch,
        "together": together,
        "filter": base64.b64encode(no_processes() if together else b"").decode(),
        "seconds": min(TOGETHER, SECONDS) if together else SECONDS,
        "budget": BUDGET,
        "patience": PATIENCE,
        "memory": MEMORY,
        "processes": PROCESSES if sandbox.level != "none" and _kernel() >= COUNTS_PER_NAMESPACE else 0,
        "alone": sandbox.level != "none",
        "exercises": exercises[:first],
    }

    def later(said: bytes) -> bytes:
        return _line([] if held(_lines(said, first)[1]) else exercises[first:])

    texts = [(0, lambda said: _line(settings)), (1 + first, later)]
    most = TOGETHER if together else BUDGET + 2 * SECONDS
    with opened(files, sandbox) as room:
        data, stopped = _exchange(room, texts, PATIENCE * most + START)
    started, lines = _lines(data, len(requests))
    # What a learner's own process says of its time counts for nothing.
    tally.add(room.used, [] if together else [(requests[line["place"]].id, line.get("seconds")) for line in lines])
    return started, stopped, lines


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def _line(tree: Any) -> bytes:
    return json.dumps(tree).encode() + b"\n"


def _exchange(room: Room, texts: list[tuple[int, Callable[[bytes], bytes]]], seconds: float) -> tuple[bytes, bool]:
    """Send each text, made from what was said, once so many lines were; what was said until the end or a limit of time,
    size or memory, and whether it was a limit.
    """
    deadline = time.monotonic() + seconds
    said, lines, text, look = bytearray(), 0, room.first, time.monotonic() + LOOK
    os.set_blocking(room.asks, False)
    with selectors.DefaultSelector() as selector:
        selector.register(room.says, selectors.EVENT_READ)
        if text:
            selector.register(room.asks, selectors.EVENT_WRITE)
        while (left := deadline - time.monotonic()) > 0 and len(said) <= MOST_OUTPUT:
            if time.monotonic() > look:
                if room.look() > MEMORY_IN_ALL:
                    break
                look = time.monotonic() + LOOK
            if texts and not text and lines >= texts[0][0]:
                text = texts.pop(0)[1](bytes(said))
                selector.register(room.asks, selectors.EVENT_WRITE)
            for ready, _ in selector.select(min(left, LOOK)):
                if ready.fileobj == room.asks:
                    text = _send(room.asks, text)
                    if not text:
                        selector.unregister(room.asks)
                    continue
                data = os.read(room.says, 1 << 16)
                if not data:
                    return bytes(said), False
                said += data
                lines += data.count(b"\n")
    return bytes(said), True


def _send(descriptor: int, text: bytes) -> bytes:
    try:
        return text[os.write(descriptor, text) :]
    except BlockingIOError:
        return text
    except BrokenPipeError:
        return b""


def _lines(data: bytes, count: int) -> tuple[bool, list[dict]]:
    started, found = False, {}
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, dict):
            continue
        started = started or "started" in line
        place = line.get("place")
        if type(place) is int and 0 <= place < count:
            found.setdefault(place, line)
    return started, list(found.values())


def _sound(request: Request, line: dict) -> Answers:
    """A line's answers, with everything in them of the expected form."""
    answers = line.get("answers")
    if not isinstance(answers, dict):
        return _all_failed(request, str(line.get("died")))
    found = {}
    for key, plan in request.plans.items():
        given = answers.get(key)
        if not isinstance(given, list) or len(given) != len(plan["calls"]):
            found[key] = [_failure("ended") for _ in plan["calls"]]
        else:
            found[key] = [_sound_answer(answer) for answer in given]
    return found


def _sound_answer(answer: Any) -> Answer:
    """One answer if it has the form that the runner gives, else a failure."""
    if not isinstance(answer, dict):
        return _failure("ended")
    error = answer.get("error")
    if error is not None:
        if not isinstance(error, dict):
            return _failure("ended")
        return {"error": _sound_error(error)}
    try:
        value = _sound_tree(answer["value"])
        gradients = _sound_trees(answer.get("gradients", {}))
        states = {_name(one): _sound_trees(state) for one, state in answer.get("states", {}).items()}
        lost = {
            _name(one): {_name(name): _name(came) for name, came in names.items()}
            for one, names in answer.get("lost", {}).items()
        }
        parameters = {
            _name(name): [_count(length) for length in shape] for name, shape in answer.get("parameters", {}).items()
        }
        drawn = {_name(name): bool(came) for name, came in answer.get("drawn", {}).items()}
        largest = _count(answer.get("largest", 0))
    except (KeyError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        return _failure("ended")
    changed = answer.get("changed")
    sound = {"value": value, "changed": [_name(name) for name in changed] if isinstance(changed, list) else []}
    more = {"gradients": gradients, "states": states, "parameters": parameters, "lost": lost}
    more |= {"drawn": drawn, "largest": largest}
    return sound | {name: found for name, found in more.items() if found or name in answer}


def _sound_error(error: dict[str, Any]) -> dict[str, Any]:
    kinds, line = error.get("kinds"), error.get("line")
    kind = _name(error.get("type"))
    text = error.get("text")
    return {
        "type": "Exception" if kind == STOPPED else kind,  # that one is the grader's own word
        "kinds": [_name(kind) for kind in kinds[:20]] if isinstance(kinds, list) else [],
        "text": printable(text[:500], keep="\n\t") if isinstance(text, str) else "",
        "line": line if type(line) is int and 0 <= line < LARGEST else None,
        "source": printable_line(error.get("source"), 200),
        "importing": bool(error.get("importing")),
    }


def _name(value: Any) -> str:
    return printable_line(value, 100)


def _sound_trees(trees: dict[str, Any]) -> dict[str, Any]:
    return {_name(name): _sound_tree(tree) for name, tree in trees.items()}


def _sound_tree(tree: dict[str, Any]) -> dict[str, Any]:
    """A packed value with nothing in it that `pack` would not have put there; ValueError where that cannot be."""
    unpack(tree)
    return _rebuilt(tree)


def _rebuilt(tree: dict[str, Any]) -> dict[str, Any]:
    kind = tree["kind"]
    if kind in ("tensor", "ndarray", "list"):
        return {"kind": kind, "dtype": tree["dtype"], "shape": tree["shape"], "data": tree["data"]}
    if kind == "none":
        return {"kind": kind}
    if kind == "number":
        if len(tree["value"]) > 100:
            raise ValueError("no number")
        return {"kind": kind, "type": tree["type"], "value": tree["value"]}
    if kind in ("tuple", "items"):
        return {"kind": kind, "items": [_rebuilt(item) for item in tree["items"]]}
    return {"kind": _name(kind), "type": _name(tree.get("type")), "value": printable_line(tree.get("value"), 1000)}


def _count(number: Any) -> int:
    if type(number) is not int or not 0 <= number < LARGEST:
        raise ValueError("no length")
    return number


def _failure(reason: str) -> Answer:
    return {"error": {"type": STOPPED, "kinds": [], "text": _reasons().get(reason, _reasons()["ended"])}}


def _reasons() -> dict[str, str]:
    """What a learner reads, by what `room` says of an exercise that gave no answer."""
    return {
        "time": f"your code took longer than {SECONDS:.0f} seconds: is there a loop that never ends?",
        "output": "the answer is too large",
        "ended": "your code ended the process instead of returning an answer",
        "killed": "your code was stopped: did it use too much memory, or end its own process?",
        "budget": f"not tried: the submission had used its {BUDGET:.0f} seconds",
    }


def _all_failed(request: Request, reason: str) -> Answers:
    return {key: [_failure(reason) for _ in plan["calls"]] for key, plan in request.plans.items()}
