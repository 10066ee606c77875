"""Finds the exercises that a learner's words name: an id, a number, a chapter, a module, its file, a problem set."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import PurePath

from . import Exercise, exercises

__all__ = ["exercises_named"]

MOST_SUGGESTIONS = 3
#: The names that an exercise answers to: where two kinds share one, the first kind has it.
KINDS: tuple[Callable[[Exercise], str], ...] = (
    lambda exercise: exercise.id,
    lambda exercise: exercise.number,
    lambda exercise: exercise.module,
    lambda exercise: exercise.problem_set,
    lambda exercise: exercise.number.partition(".")[0],
    lambda exercise: exercise.symbol,
)


def exercises_named(name: str | float) -> list[Exercise]:
    """The exercises that a name means, in order.

    name: an id "masks.causal_mask", a number "4.2" (4.2 will do), a chapter "4", a module "masks", a function or class
        "causal_mask", a file "src/attention/masks.py", a problem set "ps3", in any case; or the beginning of one of
        these, where it can mean one thing only
    Raises KeyError for any other name, with at most three that are near.
    """
    known = _known()
    wanted = _plain(str(name))
    if wanted in known:
        return known[wanted]
    longer = [other for other in known if wanted and other.startswith(wanted)]
    modules = {exercise.module for exercise in exercises() if wanted and exercise.module.startswith(wanted)}
    if len(modules) == 1:  # "mask" is masks, and neither masked_softmax nor one of its functions
        return known[modules.pop()]
    meant = {tuple(known[other]) for other in longer}
    if len(meant) == 1:
        return list(meant.pop())
    near = longer or difflib.get_close_matches(wanted, list(known), n=MOST_SUGGESTIONS, cutoff=0.6)
    raise KeyError(f"there is no exercise {str(name)!r}{_suggestion(near)}")


def _known() -> dict[str, list[Exercise]]:
    """Every name in small letters, and the exercises that it means."""
    known: dict[str, list[Exercise]] = {}
    for kind in KINDS:
        of_this_kind: dict[str, list[Exercise]] = {}
        for exercise in exercises():
            of_this_kind.setdefault(kind(exercise).lower(), []).append(exercise)
        known |= {name: ids for name, ids in of_this_kind.items() if name not in known}
    return known


def _plain(name: str) -> str:
    """A name as it stands among the known ones: of a path the module, in small letters."""
    name = name.strip().replace("\\", "/")
    if "/" in name or name.endswith(".py"):
        name = PurePath(name).name.removesuffix(".py")
    return name.lower()


def _suggestion(near: Sequence[str]) -> str:
    """The end of a message: what may have been meant, in the catalogue's own letters."""
    letters = {exercise.id.lower(): exercise.id for exercise in exercises()} | {
        exercise.symbol.lower(): exercise.symbol for exercise in exercises()
    }
    if not near:
        return "; python -m selfcheck lists them all"
    return f"; did you mean {' or '.join(letters.get(name, name) for name in near[:MOST_SUGGESTIONS])}?"
