"""Names the forbidden function that an exercise's answers come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selfcheck.call_effect import MOVES, STAYS, best_name
from selfcheck.catalogue import Exercise

from .asking_again import Ran
from .requests import HIDDEN, MEASURED, VISIBLE, Part
from .sources import Sources


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


def forbidden_call(exercise: Exercise, ran: Mapping[Part, Ran], sources: Sources) -> Forbidden | None:
    """The forbidden function of an exercise, by what ran for each part of its answers; None without one."""
    parts = [(exercise, kind) for kind in (VISIBLE, HIDDEN, MEASURED) if (exercise, kind) in ran]
    found = [part for part in parts if ran[part].effect != STAYS]
    sure = [part for part in found if ran[part].effect == MOVES]
    for part in sure or found:
        spot = sources.findings[exercise].forbidden or (best_name(ran[part].names, exercise.forbidden), 0)
        return Forbidden(*spot, is_hidden=part[1] != VISIBLE, is_sure=bool(sure))
    return None
