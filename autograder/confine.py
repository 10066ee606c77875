"""Has a learner's package answer plans inside the sandbox, and brings every way to fail into one form."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selfcheck.arrays import unpack
from selfcheck.compare import Answer

from .places import SELFCHECK
from .sandbox import INSIDE, Sandbox

SECONDS = 15.0  # of the processor, for one exercise; the longest, which trains a model, needs 6 on a busy machine
BUDGET = 45.0  # likewise, for one submission to one problem set: after it no further exercise is tried
PATIENCE = 4.0  # seconds by the clock for each of the processor's: a busy machine costs nobody a point
LIMIT = PATIENCE * (BUDGET + 2 * SECONDS) + 60.0  # by the clock, for the whole sandbox, start included
MEMORY = 6 * 2**30  # address space, of which torch takes about 2 GiB without touching it
MOST_OUTPUT = 64 * 2**20
REASONS = {
    "time": f"your code took longer than {SECONDS:.0f} seconds: is there a loop that never ends?",
    "output": "the answer is too large",
    "ended": "your code ended the process instead of returning an answer",
    "killed": "your code was stopped: did it use too much memory, or end its own process?",
    "budget": f"not tried: the submission had used its {BUDGET:.0f} seconds",
}


class GraderFault(RuntimeError):
    """The grader could not do its work: nobody loses a point for it."""


@dataclass(frozen=True)
class Request:
    """One exercise's plans: {key: {"calls": [...], "gradient": bool}}."""

    id: str
    plans: dict[str, dict[str, Any]]


@contextmanager
def staged(files: dict[str, bytes]) -> Iterator[Path]:
    """A temporary folder that anyone may read: the package under work/attention, the runner under code."""
    stage = Path(tempfile.mkdtemp(prefix="attention-grade-"))
    try:
        package, code = stage / "work" / "attention", stage / "code"
        (code / "selfcheck").mkdir(parents=True)
        package.mkdir(parents=True)
        for name, data in files.items():
            (package / name).write_bytes(data)
        shutil.copyfile(Path(__file__).with_name("room.py"), code / "room.py")
        for name in ("arrays.py", "objects.py", "runner.py", "steps.py", "traces.py"):
            shutil.copyfile(SELFCHECK / name, code / "selfcheck" / name)
        (code / "selfcheck" / "__init__.py").touch()
        for place in (stage, *stage.rglob("*")):
            place.chmod(0o755 if place.is_dir() else 0o644)
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def ask(
    files: dict[str, bytes], requests: list[Request], torch: bool, sandbox: Sandbox
) -> list[dict[str, list[Answer]]]:
    """The answers to every request, in order; whatever the learner's code does becomes an answer with an error.

    files: the text of every file of the package `attention`; torch: whether to import it beforehand
    Raises GraderFault where the sandbox fails twice before any of the learner's code has run.
    """
    found: list[dict[str, list[Answer]] | None] = [None] * len(requests)
    faults = 0
    with staged(files) as stage:
        while None in found:
            waiting = [place for place, answers in enumerate(found) if answers is None]
            started, lines = _run(stage, [requests[place] for place in waiting], torch, sandbox)
            for line in lines:
                place = waiting[line["place"]]
                found[place] = _sound(requests[place], line)
            if not started:
                faults += 1
                if faults == 2:
                    raise GraderFault("the sandbox ended before the learner's code began")
            elif len(lines) < len(waiting):
                # The learner's code took the whole sandbox down: that exercise is lost, the others get a new one.
                culprit = next(place for place in waiting if found[place] is None)
                found[culprit] = _all_failed(requests[culprit], "killed")
    return [answers for answers in found if answers is not None]


def _run(stage: Path, requests: list[Request], torch: bool, sandbox: Sandbox) -> tuple[bool, list[dict]]:
    """One sandbox: whether it began on the learner's code, and the sound lines it said, each place once."""
    text = json.dumps(
        {
            "torch": torch,
            "seconds": SECONDS,
            "budget": BUDGET,
            "patience": PATIENCE,
            "memory": MEMORY,
            "exercises": [{"id": request.id, "plans": request.plans} for request in requests],
        }
    )
    reading, writing = os.pipe()
    program = [sys.executable, "-I", "-B", f"{INSIDE}/code/room.py", str(writing), f"{INSIDE}/work"]
    process = subprocess.Popen(
        sandbox.command(stage, program),
        stdin=subprocess.PIPE,
        bufsize=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[writing],
        start_new_session=True,
        env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
    )
    os.close(writing)
    try:
        data = _exchange(process, text.encode(), reading)
    finally:
        os.close(reading)
        process.stdin.close()
        process.kill()
        process.wait()
    return _lines(data, len(requests))


def _exchange(process: subprocess.Popen, text: bytes, reading: int) -> bytes:
    """Send the request and read what is said until the end, the time limit or the size limit."""
    deadline = time.monotonic() + LIMIT
    said = bytearray()
    os.set_blocking(process.stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while (left := deadline - time.monotonic()) > 0 and len(said) <= MOST_OUTPUT:
            for ready, _ in selector.select(left):
                if ready.fileobj is process.stdin:
                    text = _send(process, text)
                    if not text:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                data = os.read(reading, 1 << 16)
                if not data:
                    return bytes(said)
                said += data
    return bytes(said)


def _send(process: subprocess.Popen, text: bytes) -> bytes:
    try:
        return text[os.write(process.stdin.fileno(), text) :]
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


def _sound(request: Request, line: dict) -> dict[str, list[Answer]]:
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
        kinds = error.get("kinds")
        return {
            "error": {
                "type": str(error.get("type"))[:100],
                "kinds": [str(kind)[:100] for kind in kinds[:20]] if isinstance(kinds, list) else [],
                "text": str(error.get("text"))[:500],
                "line": error["line"] if type(error.get("line")) is int else None,
                "source": str(error.get("source", ""))[:200],
                "importing": bool(error.get("importing")),
            }
        }
    try:
        unpack(answer["value"])
        gradients = answer.get("gradients", {})
        states = answer.get("states", {})
        for tree in (*gradients.values(), *(tree for state in states.values() for tree in state.values())):
            unpack(tree)
        lost = {str(one)[:100]: dict(names.items()) for one, names in answer.get("lost", {}).items()}
        parameters = {str(name)[:100]: list(map(int, shape)) for name, shape in answer.get("parameters", {}).items()}
        drawn = {str(name)[:100]: bool(came) for name, came in answer.get("drawn", {}).items()}
        largest = int(answer.get("largest", 0))
    except (KeyError, ValueError, AttributeError, TypeError, OverflowError):
        return _failure("ended")
    changed = answer.get("changed")
    sound = {
        "value": answer["value"],
        "changed": [str(name)[:50] for name in changed] if isinstance(changed, list) else [],
    }
    more = {"gradients": gradients, "states": states, "parameters": parameters, "lost": lost}
    more |= {"drawn": drawn, "largest": largest}
    return sound | {name: found for name, found in more.items() if found or name in answer}


def _failure(reason: str) -> Answer:
    text = REASONS.get(reason, REASONS["ended"])
    return {"error": {"type": "Stopped", "kinds": [], "text": text}}


def _all_failed(request: Request, reason: str) -> dict[str, list[Answer]]:
    return {key: [_failure(reason) for _ in plan["calls"]] for key, plan in request.plans.items()}
