"""Finds the exercises whose answers come from a function that the exercise forbids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfcheck.call_effect import MOVES, UNTOLD, Answers, best_name, effect, functions_that_ran
from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key

from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from . import limits
from .periods import Deadline
from .protocol import ask
from .schedule import HIDDEN, VISIBLE, Compared, Keys, requests_for
from .sources import Sources


@dataclass(frozen=True)
class Asking:
    """How a package is asked again, and until when."""

    files: Mapping[str, bytes]
    keys: Keys
    sandbox: Sandbox
    tally: Tally
    end: Deadline


@dataclass(frozen=True)
class Forbidden:
    """A forbidden function that an exercise's answers come from, or may come from.

    is_sure: whether that was seen; if not, the instructor has to look
    line: that calls it, 0 where the text does not show it
    is_hidden: whether that was seen for hidden inputs alone, of which feedback must not tell more than pass or fail
    """

    name: str
    line: int
    is_hidden: bool
    is_sure: bool = True


def forbidden_calls(
    asking: Asking, answers: Mapping[Exercise, Compared], sources: Sources
) -> dict[Exercise, Forbidden]:
    """The forbidden function of each exercise whose answers come from one.

    Code that ran none of these functions while it answered is not asked again. Raises GraderFault as `ask` does.
    """
    calls: dict[Exercise, Forbidden] = {}
    for exercise, (given, differences) in answers.items():
        told = list(zip(asking.keys[exercise], given, differences, strict=True))
        for kind in (VISIBLE, HIDDEN):
            ran = _ran_rightly([answer for answer in told if answer[0].reveal == (kind == VISIBLE)])
            if not ran or (exercise in calls and calls[exercise].is_sure):
                continue
            seen = _effect(asking, exercise, kind, given)
            if seen == MOVES or (seen == UNTOLD and exercise not in calls):
                name = best_name(ran, exercise.forbidden)
                spot = sources.findings[exercise].forbidden or (name, 0)
                calls[exercise] = Forbidden(*spot, is_hidden=kind == HIDDEN, is_sure=seen == MOVES)
    return calls


def _ran_rightly(told: Sequence[tuple[Key, list[Answer], object]]) -> list[str]:
    """The forbidden functions that ran, where at least one of these draws is answered rightly."""
    if all(difference for _, _, difference in told):
        return []
    return functions_that_ran([given for _, given, _ in told])


def _effect(asking: Asking, exercise: Exercise, kind: int, given: list[list[Answer]]) -> str:
    both = zip(asking.keys[exercise], given, strict=True)
    chosen = [(key, answers) for key, answers in both if key.reveal == (kind == VISIBLE)]
    keys = [key for key, _ in chosen]
    asking.end.idle_left = limits.submission_idle_seconds()  # else who has waited before could not be asked again

    def ask_with(bends: Sequence[float | None]) -> list[Answers]:
        # Each in a sandbox of its own: what one run leaves in a scratch folder is not there for the next to answer by.
        of_each = [requests_for({exercise: keys}, asking.keys, bend)[exercise, kind] for bend in bends]
        return [
            answers
            for request in of_each
            for answers in ask(dict(asking.files), [request], True, asking.sandbox, asking.tally, asking.end)
        ]

    return effect(ask_with, {str(place): answers for place, (_, answers) in enumerate(chosen)})
