"""What an exercise is asked: its visible draws, later its hidden ones, and those that are measured."""

from __future__ import annotations

import functools
from pathlib import Path

from selfcheck import handed
from selfcheck.call_effect import Bend, as_watched
from selfcheck.catalogue import Exercise, forbidden_by
from selfcheck.diagnose import Key
from selfcheck.objects import HANDED
from selfcheck.plan import MEASURED as PEAK
from selfcheck.recorded import plans_of

from .answers import Plans
from .protocol import Request

Keys = dict[Exercise, list[Key]]
VISIBLE, HIDDEN, MEASURED = range(3)
Part = tuple[Exercise, int]  # of an exercise the visible draws, the hidden ones, or those measured from outside


def requests_for(asked: Keys, keys: Keys, bend: Bend | None = None) -> dict[Part, Request]:
    """The requests for all parts of exercises.

    keys: of all exercises: while the package is imported, what any of them forbids is watched
    bend: how forbidden functions are moved; None for answers that count
    """
    everything = forbidden_by(keys)
    requests = {}
    for kind in (VISIBLE, HIDDEN, MEASURED):
        for exercise in asked:
            plans = plans_of(asked[exercise])
            chosen = {
                place: plan
                for (place, plan), key in zip(plans.items(), asked[exercise], strict=True)
                if kind_of(key) == kind
            }
            if chosen or kind != MEASURED:
                watch = {"forbidden": exercise.forbidden, "importing": everything, **as_watched(bend)}
                more = watch, _handed(chosen)
                requests[exercise, kind] = Request(exercise.id, chosen, kind != VISIBLE, kind == MEASURED, *more)
    return requests


def _handed(plans: Plans) -> str:
    """The text of what steps hand over that another exercise asks for, where some do; it comes with them alone."""
    uses = (
        use
        for plan in plans.values()
        for step in plan["calls"]
        for use in (step, step.get("construct", {}), *step.get("uses", ()))
    )
    given = (tree for use in uses for tree in (*use.get("args", ()), *use.get("kwargs", {}).values()))
    return handed_text() if any(tree["kind"] in HANDED for tree in given) else ""


@functools.cache
def handed_text() -> str:
    """The text of selfcheck/handed.py."""
    return Path(handed.__file__).read_text(encoding="utf-8")


def kind_of(key: Key) -> int:
    """Whether a draw is visible, hidden, or hidden and measured."""
    if key.reveal:
        return VISIBLE
    return MEASURED if PEAK in key.check.compares else HIDDEN
