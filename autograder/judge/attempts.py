"""Which requests have their answers, as worker after worker gives them, and what is tried again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..sandbox.usage import Used
from . import limits
from .answers import Answers, Line, Plans, all_failed, answers_in


class GraderFault(RuntimeError):
    """The grader could not do its work: nobody loses a point for it."""


@dataclass(frozen=True)
class Request:
    """One exercise's plans.

    hidden: whether feedback must not tell of their inputs; watch: what to notice meanwhile, see selfcheck/runner.py
    is_measured: whether the worker has to say how far the process grew that answered; not to be asked together
    handed: the text of a module that its steps need and that answers another exercise; not to be asked together with it
    """

    id: str
    plans: Plans
    hidden: bool = False
    is_measured: bool = False
    watch: dict[str, Any] = field(default_factory=dict)
    handed: str = ""


@dataclass(frozen=True)
class Conversation:
    """What one worker said.

    asked: the requests that it was sent; lines: those of the expected form, one of each place among them
    started: whether it began on the learner's code; stopped: whether it was ended at one of its limits
    used: by all its processes
    """

    asked: list[Request]
    started: bool
    stopped: bool
    lines: list[Line]
    used: Used


class Attempts:
    """The answers to requests as worker after worker gives them; an exercise whose process died is tried again."""

    def __init__(self, requests: list[Request]) -> None:
        self._requests = requests
        self._answers: list[Answers | None] = [None] * len(requests)
        self._died: Counter[int] = Counter()
        self._faults = 0

    def waiting(self) -> list[int]:
        """The places of requests without an answer, of the visible ones first."""
        places = [place for place, answers in enumerate(self._answers) if answers is None]
        return sorted(places, key=lambda place: self._requests[place].hidden)

    def hidden_after(
        self,
        waiting: list[int],
        hidden: list[Request],
        before: Callable[[list[Answers]], None] | None,
        lines: list[Line],
    ) -> list[Request]:
        """The hidden requests, or none where an exercise that these lines tell of is to be tried again.

        before: is told the answers to the visible ones, where hidden ones follow
        """
        died = (waiting[line["place"]] for line in lines if _has_died(line))
        again = any(map(_is_unready, lines)) or not all(map(self._is_last, died))
        if hidden and before and not again:
            said = {waiting[line["place"]]: line for line in lines}
            before(
                [
                    self._answers[place] or answers_in(request.plans, said.get(place, {}))
                    for place, request in enumerate(self._requests)
                    if not request.hidden
                ]
            )
        return [] if again else hidden

    def take(self, waiting: list[int], conversation: Conversation, is_isolated: bool) -> None:
        """Keep what a worker said when it was asked for the waiting requests.

        Raises GraderFault where it is the second that ended, or failed before the learner's code, for no reason that
        lies in this code.
        """
        lines = {waiting[line["place"]]: line for line in conversation.lines}
        asked = waiting[: len(conversation.asked)]
        missing = [place for place in asked if place not in lines]
        unready = [place for place, line in lines.items() if _is_unready(line)]
        ended = missing and not conversation.stopped and is_isolated  # there no code of a learner's can end the worker
        if not conversation.started or unready or ended:
            self._faults += 1
            if self._faults == limits.ATTEMPTS:
                when = "before" if unready or not conversation.started else "while"
                raise GraderFault(f"the sandbox ended {when} the learner's code ran")
        elif missing:  # the whole worker was ended at the first that has no line
            lines[missing[0]] = {"died": "killed"}
        for place in unready:
            del lines[place]
        for place, line in lines.items():
            if _has_died(line) and not self._is_last(place):
                self._died[place] += 1
            else:
                self._answers[place] = answers_in(self._requests[place].plans, line, self._requests[place].is_measured)

    def give_up(self, waiting: list[int], reason: str) -> None:
        """There is no time left for the waiting requests. reason: "wall" or "budget", see answers.all_failed"""
        for place in waiting:
            self._answers[place] = all_failed(self._requests[place].plans, reason)

    def answers(self) -> list[Answers]:
        """Those of all requests, which all have some."""
        return [answers for answers in self._answers if answers is not None]

    def _is_last(self, place: int) -> bool:
        """Whether the attempt at an exercise that comes now, or has just been made, is its last."""
        return self._died[place] + 1 >= limits.ATTEMPTS


def _has_died(line: Line) -> bool:
    """Whether the process ended at no limit of ours: killed, by a fault of a library, or by itself."""
    return line.get("died") in ("killed", "ended")


def _is_unready(line: Line) -> bool:
    return line.get("died") == "unready"
