"""Finds what became of the parameters of a module: those that nobody wrote into, that hold another's numbers.

It also says which parameters a wrong answer does not depend on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .arrays import Array, array, unpack
from .generic_pairs import Found
from .module_state import BUILT, listed
from .trees import close
from .words import argument_name, number_text

Answer = dict[str, Any]


def state_slip(call: dict[str, Any], expected: Answer, got: Answer, tolerance: float) -> Found | None:
    """A statement about the first parameter of a module among the arguments that holds wrong numbers."""
    wrong = list(_wrong(expected, got, tolerance))
    for argument, name, _, _ in wrong:
        if _was_to_stay(call, argument, expected["states"][argument], tolerance):
            return Found(
                "other_module_written",
                f"{name} of {argument_name(argument)} was to stay as it was, and has other numbers now",
            )
    for argument, name, due, came in wrong[:1]:
        whose = f"{name} of {argument_name(argument)}"
        wanted = {other: unpack(tree) for other, tree in expected["states"][argument].items()}
        old = _before(call, argument).get(name)
        if old is not None and _same(old, came, tolerance):
            return Found("not_written", f"{whose} still has its old numbers: nothing was copied into it")
        for other, held in wanted.items():
            if other != name and _same(held, came, tolerance):
                return Found("another_parameter", f"{whose} holds the numbers that belong into {other}")
        if len(due.shape) == 2 and _same(_transposed(due), came, tolerance):
            return Found("transposed", f"{whose} holds the right numbers with rows and columns exchanged")
        if old is not None and _sums(old, due, came, tolerance):
            return Found("added_to_old", f"{whose} holds the sum of its old numbers and the right ones")
    return another_distance(call, expected, got, tolerance)


def another_distance(call: dict[str, Any], expected: Answer, got: Answer, tolerance: float) -> Found | None:
    """All parameters have moved where they should, by one other distance: a gradient that is clipped or scaled."""
    moves = []
    for argument, wanted in expected["states"].items():
        before = _before(call, argument)
        for name, tree in wanted.items():
            due, came = unpack(tree), unpack((got.get("states") or {}).get(argument, {}).get(name, {"kind": "none"}))
            if name in before and isinstance(due, Array) and isinstance(came, Array):
                numbers = (array.values() for array in (before[name], due, came))
                moves += [(new - old, now - old) for old, new, now in zip(*numbers, strict=False)]
    right, own = max(moves, key=lambda move: abs(move[0]), default=(0.0, 0.0))
    if not right or not all(close(due * own / right, came, tolerance) for due, came in moves):
        return None
    factor = own / right
    if factor < 0:
        far = number_text(-factor)
        text = "" if far == "1" else f", {far} times as far as is due"
        return Found("other_way", f"All parameters move the other way{text}: does backward start from -loss?")
    why = "is step called twice?" if abs(factor - 2) < tolerance else "is the loss or the gradient scaled, or clipped?"
    return Found("another_distance", f"All parameters move {number_text(factor)} times as far as is due: {why}")


def _wrong(expected: Answer, got: Answer, tolerance: float) -> Iterator[tuple[str, str, Array, Array]]:
    for argument, wanted in expected.get("states", {}).items():
        came = (got.get("states") or {}).get(argument, {})
        for name, tree in wanted.items():
            due, part = unpack(tree), unpack(came.get(name, {"kind": "none"}))
            if isinstance(due, Array) and isinstance(part, Array) and not _same(due, part, tolerance):
                yield argument, name, due, part


def _before(call: dict[str, Any], argument: str) -> dict[str, Array]:
    """The parameters that a module had among the arguments of a call, by name."""
    held = call["args"][int(argument)] if argument.isdecimal() else call["kwargs"].get(argument, {})
    return {name: unpack(tree) for name, tree in held.get("state", {}).items()}


def _same(first: Array, other: Array, tolerance: float) -> bool:
    if first.shape != other.shape:
        return False
    return all(close(a, b, tolerance) for a, b in zip(first.values(), other.values(), strict=True))


def _was_to_stay(call: dict[str, Any], argument: str, wanted: dict[str, Any], tolerance: float) -> bool:
    """Whether a right answer changes nothing in a module."""
    before = _before(call, argument)
    return all(name in before and _same(before[name], unpack(tree), tolerance) for name, tree in wanted.items())


def _sums(old: Array, due: Array, came: Array, tolerance: float) -> bool:
    if not old.shape == due.shape == came.shape:
        return False
    entries = zip(old.values(), due.values(), came.values(), strict=True)
    return all(close(a + b, c, tolerance) for a, b, c in entries)


def _transposed(matrix: Array) -> Array:
    return array([list(column) for column in zip(*matrix.nested(), strict=True)])


def one_object(got: Answer) -> Found | None:
    """Two names of one parameter in what was built."""
    twice = (got.get("lost") or {}).get(BUILT)
    if not twice:
        return None
    name, first = next(iter(twice.items()))
    return Found("one_object", f"{name} and {first} are one parameter: one layer was made and stands under both names")


def leftover(got: Answer) -> Found | None:
    """What earlier calls have left in the module, where a call is answered otherwise without it."""
    names = got.get("leftover")
    if not names:
        return None
    kept = "keeps" if len(names) == 1 else "keep"
    text = f"{listed(names)} {kept} what earlier calls left there, and without it this call gets another answer"
    return Found("leftover", text)


def unused(expected: Answer, got: Answer) -> Found | None:
    """The parameters that no gradient reaches, where others get one."""
    due = expected.get("gradients", {})
    came = {name: unpack((got.get("gradients") or {}).get(name, {"kind": "none"})) for name in due}
    missing = [
        name.removeprefix("state.")
        for name, tree in due.items()
        if name.startswith("state.") and isinstance(unpack(tree), Array) and came[name] is None
    ]
    if not missing or all(part is None for part in came.values()):
        return None
    return Found("unused", f"Your answer does not depend on {listed(missing)}: is it used, and nothing detached?")


def with_unused(results: list[Any]) -> list[Any]:
    """The verdicts, the first that has no cause with the parameters that another check's gradients do not reach."""
    told = next((result for result in results if result.misconception == "generic.unused"), None)
    unnamed = (None, "generic.part")
    place = next((at for at, one in enumerate(results) if one.shown and one.misconception in unnamed), None)
    if told is None or place is None or results[place].kind != "values":
        return results
    sentence = told.message.partition(" In detail: ")[0]
    first = replace(
        results[place], message=f"{sentence} In detail: {results[place].message}", misconception=told.misconception
    )
    return [*results[:place], first, *results[place + 1 :]]
