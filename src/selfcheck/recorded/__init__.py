"""What the reference and each misconception answer to the visible checks: generated, so that no solution is needed."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from ..catalogue import Exercise
from ..diagnose import Key
from ..plan import checks_in
from .folding import Folded

FOLDER = Path(__file__).parent


@functools.cache
def _read(module: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{module}.json").read_text(encoding="utf-8"))


def is_recorded(exercise: Exercise) -> bool:
    """Whether the answers to all visible checks of an exercise are here."""
    return (FOLDER / f"{exercise.module}.json").exists() and set(exercise.points) <= set(_read(exercise.module))


def visible_keys(exercise: Exercise) -> list[Key]:
    """The recorded draw of each visible check of an exercise, in the catalogue's order."""
    checks = {check.name: check for check in checks_in(f"selfcheck.checks.{exercise.module}")}
    recorded = _read(exercise.module)
    keys = []
    for name in exercise.points:
        entry = recorded[name]
        keys.append(Key(checks[name], entry["calls"], entry["expected"], Folded(entry["misconceptions"])))
    return keys


def plans_of(keys: list[Key]) -> dict[str, dict[str, Any]]:
    """The runner's part of some keys, by position, as text: calls, and whether gradients are asked.

    held: whether a grader has to see for itself what became of the arguments
    """
    return {
        str(place): {
            "calls": key.calls,
            "gradient": "gradient" in key.check.compares,
            "held": not {"unchanged", "kept"}.isdisjoint(key.check.compares),
        }
        for place, key in enumerate(keys)
    }
