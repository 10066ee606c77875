"""Finds the exercises whose answers come from a function that the exercise forbids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from selfcheck.call_effect import Answers, answers_depend, best_name, functions_that_ran
from selfcheck.catalogue import Exercise
from selfcheck.reach import forbidden_call

from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from .protocol import ask
from .schedule import Compared, Keys, requests_for


def forbidden_calls(
    files: Mapping[str, bytes],
    keys: Keys,
    answers: Mapping[Exercise, Compared],
    sandbox: Sandbox,
    tally: Tally,
    source_of: Callable[[str], str],
) -> dict[Exercise, tuple[str, int]]:
    """Of each such exercise the function's name, and the line that calls it: 0 where the text does not show it.

    source_of: the text of a module as it was written, by its name
    Code that ran none of these functions while it answered is not asked again. Raises GraderFault as `ask` does.
    """
    found = {}
    for exercise, (given, differences) in answers.items():
        # What a process says after it has met hidden inputs is no text for feedback: it may tell of them.
        visible = [answer for key, answer in zip(keys[exercise], given, strict=True) if key.reveal]
        if functions_that_ran(given) and not all(differences) and _depends(files, keys, exercise, sandbox, tally):
            spot = forbidden_call(source_of(exercise.module), exercise.symbol, exercise.forbidden, source_of)
            found[exercise] = spot or (best_name(functions_that_ran(visible), exercise.forbidden), 0)
    return found


def _depends(files: Mapping[str, bytes], keys: Keys, exercise: Exercise, sandbox: Sandbox, tally: Tally) -> bool:
    def ask_with(bends: Sequence[float]) -> list[Answers]:
        of_each = [requests_for({exercise: keys[exercise]}, keys, bend) for bend in bends]
        requests = [one for requests in of_each for one in requests.values()]
        order = sorted(range(len(requests)), key=lambda place: requests[place].hidden)
        came = ask(dict(files), [requests[place] for place in order], True, sandbox, tally)
        by_place = dict(zip(order, came, strict=True))
        return [by_place[2 * place] | by_place[2 * place + 1] for place in range(len(bends))]  # visible, then hidden

    return answers_depend(ask_with)
