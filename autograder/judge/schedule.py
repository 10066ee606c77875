"""Asks a package for its answers: all exercises in one process where they are right, else each in its own."""

from __future__ import annotations

from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key, first_difference
from selfcheck.recorded import plans_of
from selfcheck.verdict import Differences, differences_of

from ..answer_key.keys import TRAINED
from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from ..sandbox.worker_pool import is_fork_server_available
from .answers import Answers
from .protocol import Request, ask, ask_together

Keys = dict[Exercise, list[Key]]
Part = tuple[Exercise, bool]  # of an exercise the draws that feedback shows, or the others
Compared = tuple[list[list[Answer]], Differences]  # the answers to each key, in order, and what is wrong with them


class Asking:
    """The answers of one package to the keys of its exercises, as they come in; tally: what it used is added there."""

    def __init__(self, files: dict[str, bytes], keys: Keys, sandbox: Sandbox, tally: Tally) -> None:
        self._files, self._keys, self._sandbox = files, keys, sandbox
        self._requests = _requests(keys)
        self._answers: dict[Part, Answers] = {}
        self._right: set[Part] = set()
        self._tally = tally

    def everything(self) -> dict[Exercise, Compared]:
        """All answers. What feedback shows is asked to the end before any input that it must not tell of goes in."""
        quick = is_fork_server_available(self._sandbox)
        if quick:
            self._together([part for part in self._requests if part[0].id not in TRAINED])
        wrong = {exercise for exercise, later in self._open() if not later}
        self._alone([part for part in self._open() if part[0] in wrong])
        if quick and wrong:
            self._together(self._open())
        self._alone(self._open())
        return {exercise: self._compared(exercise) for exercise in self._keys}

    def _open(self) -> list[Part]:
        return [part for part in self._requests if part not in self._answers]

    def _together(self, parts: list[Part]) -> None:
        """Ask for these in one process, and keep what is right."""
        shown = [part for part in parts if not part[1]]

        def nothing_shown_is_open(answers: list[Answers]) -> bool:
            self._keep_right(shown, answers)
            return all(later for _, later in self._open())

        if parts:
            requests = [self._requests[part] for part in parts]
            answers = ask_together(self._files, requests, self._sandbox, nothing_shown_is_open, self._tally)
            self._keep_right(parts[len(shown) :], answers[len(shown) :])

    def _keep_right(self, parts: list[Part], answers: list[Answers]) -> None:
        for part, given in zip(parts, answers, strict=True):
            keys = self._keys[part[0]]
            if not any(first_difference(keys[int(one)], keys[int(one)].expected, came) for one, came in given.items()):
                self._answers[part] = given
                self._right.add(part)

    def _alone(self, parts: list[Part]) -> None:
        """Ask for these each in a process of its own, and keep whatever comes."""
        if parts:
            requests = [self._requests[part] for part in parts]
            torch = any(not one.id.startswith("worked_example.") for one in requests)
            self._answers |= zip(parts, ask(self._files, requests, torch, self._sandbox, self._tally), strict=True)

    def _compared(self, exercise: Exercise) -> Compared:
        keys, parts = self._keys[exercise], [(exercise, False), (exercise, True)]
        both = self._answers[parts[0]] | self._answers[parts[1]]
        given = [both[str(place)] for place in range(len(keys))]
        return given, [None] * len(keys) if self._right.issuperset(parts) else differences_of(keys, given)


def _requests(keys: Keys) -> dict[Part, Request]:
    """What every exercise is asked: the draws that feedback shows, and later those that it must not tell of."""
    found = {}
    for later in (False, True):
        for exercise in keys:
            plans = plans_of(keys[exercise])
            asked = [place for place, key in zip(plans, keys[exercise], strict=True) if key.reveal != later]
            found[exercise, later] = Request(exercise.id, {place: plans[place] for place in asked}, later)
    return found
