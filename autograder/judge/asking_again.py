"""Asks an exercise again, with the inputs of a forbidden function moved, where that function ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfcheck.call_effect import MOVES, UNTOLD, Answers, Bend, effect, functions_that_ran
from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key
from selfcheck.differences import differences_of

from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from . import limits
from .answers import of_comparable_size
from .periods import Deadline, Turn
from .protocol import ask
from .requests import Keys, requests_for


@dataclass(frozen=True)
class Ran:
    """The forbidden functions that ran for answers of which one is right, and whether the answers come from them.

    effect: see selfcheck/call_effect.py
    """

    names: Sequence[str]
    effect: str


@dataclass(frozen=True)
class AskingAgain:
    """How a package is asked again, and until when."""

    files: Mapping[str, bytes]
    keys: Keys
    sandbox: Sandbox
    tally: Tally
    end: Deadline

    def ran(
        self, exercise: Exercise, kind: int, given: Sequence[tuple[Key, list[Answer]]], turn: Turn | None = None
    ) -> Ran | None:
        """What ran for these answers to draws of one kind; None where nothing did, or no answer is right.

        turn: in which the sandboxes run. Code that ran no forbidden function is not asked again.
        """
        keys, answers = [key for key, _ in given], [answer for _, answer in given]
        names = functions_that_ran(answers)
        if not names or all(differences_of(keys, answers)):
            return None
        left = self.end.idle_left, self.end.cpu_left
        try:
            found = self._effect(exercise, kind, keys, answers, turn)
            if found == UNTOLD and self.end.is_over:  # else it would pay to use up the time when asked again
                found = MOVES
            return Ran(names, found)
        finally:
            self.end.idle_left, self.end.cpu_left = left

    def _effect(
        self, exercise: Exercise, kind: int, keys: list[Key], given: list[list[Answer]], turn: Turn | None
    ) -> str:
        def ask_with(bends: Sequence[Bend | None]) -> list[Answers]:
            # Else who has waited, or computed, for long before could not be asked.
            self.end.idle_left, self.end.cpu_left = limits.submission_idle_seconds(), limits.submission_cpu_seconds()
            # Each in a sandbox of its own: what one run leaves in a scratch folder is not there for the next to
            # answer by.
            of_each = [requests_for({exercise: keys}, self.keys, bend)[exercise, kind] for bend in bends]
            return [
                {place: of_comparable_size(keys[int(place)].expected, some) for place, some in answers.items()}
                for request in of_each
                for answers in ask(dict(self.files), [request], True, self.sandbox, self.tally, self.end, turn)
            ]

        return effect(ask_with, {str(place): answers for place, answers in enumerate(given)})
