"""Chooses which axis is long in the last hidden draw of which check: see `autograder/answer_key/long_axes`.

Each check takes the axes that make most of an exercise's axes long which are not so yet, until all are that can be. It
is tried on the reference: what it refuses, such as a batch as large as the number of heads or a text longer than the
model reads, is not asked; nor is what would take zeros, or random numbers, for its answer.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

from selfcheck.arrays import array, nest, pack, unpack
from selfcheck.catalogue import Exercise, exercises
from selfcheck.compare import Answer
from selfcheck.diagnose import Key, first_difference
from selfcheck.plan import Check

from ..answer_key.checks import ENOUGH_CALLS, visible_checks
from ..answer_key.live import answers_of
from ..answer_key.long_axes import LONG, Place, Places, Step, sizes_in
from ..answer_key.misconceptions import misconceptions_of
from ..answer_key.reference_package import reference
from ..answer_key.varied import varied

SEEDS = range(8)  # of the draws that it is tried on
MOST_ENTRIES = 10_000  # of all arrays of a call: whoever loops over them should have done so in a moment


def texts(module: str = "") -> dict[str, str]:
    """The text of every file of `long_axes`, by file name; of that of one module, where one is given."""
    tables: dict[str, dict[str, dict[str, list[Place | None]]]] = {}
    for exercise in exercises():
        if module in ("", exercise.module):
            tables.setdefault(exercise.module, {})[exercise.number] = chosen(exercise)
    return {f"{name}.json": _lines(table) for name, table in tables.items()}


def _lines(table: dict[str, dict[str, list[Place | None]]]) -> str:
    """JSON with a line for each check."""
    parts = []
    for number, checks in table.items():
        inner = [f"  {json.dumps(name)}: {json.dumps(places)}" for name, places in checks.items()]
        parts.append(f" {json.dumps(number)}: {{" + "".join(f"\n{line}," for line in inner).rstrip(",") + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def chosen(exercise: Exercise) -> dict[str, list[Place | None]]:
    """By check, what is long in each of its calls, as far as the last call in which something is."""
    draws = {check: check.calls(SEEDS[0]) for check in visible_checks(exercise) if may_be_long(check)}
    left = {(check, number): sizes_in(step) for check, steps in draws.items() for number, step in enumerate(steps)}
    short = {place for sizes in left.values() for place in sizes}
    found: dict[str, list[Place | None]] = {}
    while left:
        gains = {
            (call, place): {other for other, length in sizes.items() if length == size} & short
            for call, sizes in left.items()
            for place, size in sizes.items()
        }
        (call, place), gained = max(gains.items(), key=lambda one: len(one[1]), default=((None, ""), set()))
        if call is None or not gained:
            break
        check, number = call
        before = found.get(check.name, [])
        places = [*before, *[None] * (number + 1 - len(before))]
        places[number] = place
        if _is_answered(exercise, check, places):
            found[check.name] = places
            short -= gained
            del left[call]
        else:
            left[call] = {other: size for other, size in left[call].items() if other != place}
    return found


def may_be_long(check: Check) -> bool:
    """Whether a check looks at numbers alone, trains no model, and has more than one hidden draw."""
    numbers = {"values", "gradient"}.intersection(check.compares)
    other = {"memory", "generator"}.intersection(check.compares)
    calls = check.calls(SEEDS[0])
    return bool(numbers) and not other and len(calls) < ENOUGH_CALLS and not any(step.get("lessons") for step in calls)


def _is_answered(exercise: Exercise, check: Check, places: Places) -> bool:
    """Whether the reference answers to the longer calls as it does to those that are drawn, and nothing else does."""
    asked = varied(check, tuple(places)) or check
    symbol = reference(exercise.id)
    for seed in SEEDS:
        drawn, long = Key(check, check.calls(seed), [], {}, False), Key(asked, asked.calls(seed), [], {}, False)
        if not all(map(_is_long, long.calls, places)) or any(map(_is_large, long.calls, drawn.calls)):
            return False
        try:
            answers, due = answers_of(symbol, drawn), answers_of(symbol, long)
        except (ValueError, RuntimeError):  # an argument cannot be made
            return False
        if not all(map(alike, answers, due)):
            return False
        if not all(
            _tells(replace(long, expected=due), number, numbers)
            for number, place in enumerate(places)
            if place
            for numbers in (None, random.Random(seed))
        ):
            return False
    draws = any("generator" in other.compares for other in visible_checks(exercise))
    return not (check.view or draws) or _failing(exercise, check) == _failing(exercise, asked)


def _is_long(step: Step, place: Place | None) -> bool:
    return place is None or sizes_in(step).get(place, 0) >= LONG


def _is_large(step: Step, drawn: Step) -> bool:
    return MOST_ENTRIES < entries_in(step) > entries_in(drawn)


def _failing(exercise: Exercise, check: Check) -> set[str]:
    """The misconceptions that fail a check.

    Of longer calls a view should say what it says of short ones, and what is certain to be drawn should stay certain.
    """
    key = Key(check, check.calls(SEEDS[0]), [], {}, False)
    key = replace(key, expected=answers_of(reference(exercise.id), key))
    wrong = misconceptions_of(exercise.id).items()
    return {name for name, code in wrong if first_difference(key, key.expected, answers_of(code, key))}


def _tells(key: Key, number: int, numbers: random.Random | None) -> bool:
    """Whether a check takes no random numbers, or zeros, for the answer to one of its calls."""
    due = key.expected
    wrong = [_filled(answer, numbers) if place == number else answer for place, answer in enumerate(due)]
    return first_difference(key, due, wrong) is not None


def alike(one: Answer, other: Answer) -> bool:
    """Whether two answers are of one kind: an exception of one type, or a value of one kind."""
    return _kind(one) == _kind(other)


def _kind(answer: Answer) -> tuple[Any, Any]:
    return answer.get("error", {}).get("type"), answer.get("value", {}).get("kind")


def _filled(tree: Any, numbers: random.Random | None) -> Any:
    """An answer of random numbers, or of zeros, in place of its own."""
    if isinstance(tree, list):
        return [_filled(part, numbers) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if "shape" in tree and "data" in tree:
        given = unpack(tree)
        entries = [numbers.randint(0, 1) if numbers else 0 for _ in range(math.prod(given.shape))]
        return pack(array(nest(entries, given.shape), given.kind, given.dtype)) if entries else tree
    return {name: _filled(part, numbers) for name, part in tree.items()}


def entries_in(tree: Any) -> int:
    """How many entries the arrays of packed calls have in all."""
    if isinstance(tree, list):
        return sum(map(entries_in, tree))
    if not isinstance(tree, dict):
        return 0
    return math.prod(tree["shape"]) if "shape" in tree and "data" in tree else sum(map(entries_in, tree.values()))
