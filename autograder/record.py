"""Records what the reference and each misconception answer to the visible checks."""

from __future__ import annotations

import json

from selfcheck.catalogue import exercises

from .reference import recorded_key, visible_checks


def recordings() -> dict[str, str]:
    """The text of every file of selfcheck/recorded, by file name."""
    tables: dict[str, dict] = {}
    for exercise in exercises():
        table = tables.setdefault(exercise.module, {})
        for check in visible_checks(exercise):
            key = recorded_key(check)
            table[check.name] = {
                "calls": key.calls,
                "expected": [_plain(answer) for answer in key.expected],
                "misconceptions": {
                    name: [_plain(answer) for answer in answers] for name, answers in key.misconceptions.items()
                },
            }
    return {f"{module}.json": json.dumps(table, indent=1) + "\n" for module, table in tables.items()}


def _plain(answer: dict) -> dict:
    """An answer without where its error arose: a path of this machine, and a line of the solution."""
    if "error" not in answer:
        return answer
    return answer | {"error": {name: answer["error"][name] for name in ("type", "kinds", "text")}}
