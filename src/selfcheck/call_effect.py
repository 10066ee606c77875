"""Decides whether answers depend on a forbidden function that ran, from runs in which it answers for other inputs.

A forbidden function may run without giving the answer: an `assert` compares it with the learner's own, a `print` shows
it. So the exercise is answered again with the inputs of the function moved (see call_watch.py). Answers that stay do
not depend on it. Where the code raises instead, it compared, and the function is moved less and less, until the
comparison holds: a comparison has a tolerance, and below it an answer that the function gives still moves, if only in
its last digits. Code that raises however little is moved counts as using the function. And an answer that is rounded
moves by nothing that such a comparison lets pass: so code that gave none is asked again, while it raises nothing new
and takes the branches that lead to an answer (see same_branches.py).

All this is worth something only where code answers as before when nothing is moved. Code that answers otherwise then,
and as before when it is asked without any of this, reacts to being asked: it counts as using the function. So does code
that a limit ends whenever it is asked so; where one ended it once, the machine may have been busy. Where code does not
answer as before in any case, as it draws by chance, nobody can tell; but an answer that moves much farther behind a
bend than by itself comes from the function.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .arrays import Array, unpack
from .named_functions import is_named, public_name
from .same_branches import ALL, OF_IMPORT, RECORD, Record

Answers = dict[str, list[dict[str, Any]]]  # by the key of the plan, one for each call
Ask = Callable[[Sequence["Bend | None"]], Sequence[Answers]]
#: Close together where they are weak: behind a comparison to 1e-7 one a little too strong raises, and what comes of one
#: that is ten times weaker is lost where single precision rounds.
BENDS = (0.05, 1e-3, 1e-4, 1e-5, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 1e-10, 1e-13, 1e-15, 3e-16)
STAYS, MOVES, UNTOLD = "stays", "moves", "untold"  # answers, when a function that ran is moved; or nobody can tell
FARTHER = 10.0  # times as far as by itself: then it is the bend that moves an answer
ROUNDS = 20  # of which each takes one branch more as before, and the last one all
TIMES = 3  # that answers are asked for again to see it: once, chance may move them little
LEAST = 0.01  # of the bend: an answer that moves less was not computed from what moved


@dataclass(frozen=True)
class Bend:
    """How code is asked again: by how much functions are moved, and which branches it is to take.

    branches, forced: see `runner.answer_exercise`
    """

    by: float
    branches: str = ""
    forced: tuple[str, ...] = ()


def as_watched(bend: Bend | None) -> dict[str, Any]:
    """What a bend adds to what `runner.answer_exercise` is to watch."""
    if bend is None:
        return {"bend": None}
    return {"bend": bend.by, "branches": bend.branches, "forced": list(bend.forced)}


def functions_that_ran(answers: Iterable[list[dict[str, Any]]]) -> list[str]:
    """The watched functions that ran for these answers."""
    return list(dict.fromkeys(name for to_plan in answers for answer in to_plan for name in answer.get("ran", ())))


def best_name(ran: Sequence[str], forbidden: Sequence[str]) -> str:
    """What to call a forbidden function that ran: "torch.nn.Softmax" of all that it calls in turn."""
    for name in ran:
        if is_named(name, forbidden):
            return public_name(name)
    return "a function that is forbidden here"


def effect(ask: Ask, given: Answers) -> str:
    """Whether the answers to some plans depend on what is watched: STAYS, MOVES or UNTOLD.

    ask: answers the plans anew for each of several bends, and None for no difference from before
    given: the answers that count
    """
    plain, first = ask((Bend(0.0), Bend(BENDS[0])))
    if any(_is_stopped(answer) for answers in plain.values() for answer in answers):
        plain, first = ask((Bend(0.0), Bend(BENDS[0])))
    undecided = {
        (key, place) for key, answers in plain.items() for place, answer in enumerate(answers) if _is_one(answer)
    }
    itself, is_missing = _Itself(plain, ask), False
    for bend, answers in _in_turn(first, ask):
        for key, place in sorted(undecided):
            moved = _moves(plain[key][place], answers[key][place], bend)
            if moved and not itself.moves_as_far(key, place, answers):
                return MOVES
            is_missing = is_missing or moved is None
            if moved is not None:
                undecided.remove((key, place))
        if not undecided:
            break
    if undecided:
        return MOVES
    if is_missing and (found := _effect_on_the_same_branches(plain, ask, itself)) != STAYS:
        return found
    others = _not_as(given, plain)
    if not others:
        return STAYS
    (again,) = ask([None])
    return MOVES if others - _not_as(given, again) else UNTOLD


class _Itself:
    """How far answers move that are asked for again without a bend: those that are drawn by chance do."""

    def __init__(self, plain: Answers, ask: Ask) -> None:
        self._plain, self._ask, self._again = plain, ask, list[Answers]()

    def moves_as_far(self, key: str, place: int, answers: Answers) -> bool:
        """Whether an answer moves about as far by itself as it did behind a bend."""
        self._again = self._again or [*self._ask([Bend(0.0)] * TIMES)]
        plain, again = self._plain[key][place], [more[key][place] for more in self._again]
        by_itself = max((_distance(plain, other) for other in again if _is_one(other)), default=0.0)
        return _distance(plain, answers[key][place]) <= FARTHER * by_itself


def _effect_on_the_same_branches(plain: Answers, ask: Ask, itself: _Itself) -> str:
    """Whether answers move where the code raises nothing new, and takes the branches that lead to an answer.

    Code may raise where two answers of the function do not fit together, and round off what is left of a bend too weak
    to notice.
    """
    (recorded,) = ask([Bend(0.0, RECORD)])
    records = [answer.get("branches", "") for to_plan in recorded.values() for answer in to_plan if _is_one(answer)]
    bend = Bend(BENDS[0], max(records, key=len, default="") or Record().text(), () if records else (ALL,))
    due = {(key, place) for key, answers in plain.items() for place, answer in enumerate(answers) if _is_one(answer)}
    for rounds in itertools.count(2):
        (other,) = ask([bend])
        moved = {(key, place): _moves(plain[key][place], other[key][place], bend.by) for key, place in sorted(due)}
        if any(moves and not itself.moves_as_far(*where, other) for where, moves in moved.items()):
            return MOVES
        missing = [other[key][place] for (key, place), moves in moved.items() if moves is None]
        if ALL in bend.forced:  # beyond as many branches as a record holds, code may yet evade
            return MOVES if records and any(map(_is_stopped, missing)) else UNTOLD
        if not missing:
            return STAYS
        forced = {answer.get("guard", "") for answer in missing}
        if any(answer.get("error", {}).get("importing") for answer in missing):
            forced.add(OF_IMPORT)
        if any(map(_is_stopped, missing)) or rounds == ROUNDS:  # where all are as before, an answer that moves is told
            forced.add(ALL)
        forced -= {"", *bend.forced}
        if not forced:
            return MOVES
        bend = replace(bend, forced=(*bend.forced, *sorted(forced)))
    raise AssertionError("the last round takes all branches as before")


def _not_as(given: Answers, others: Answers) -> set[tuple[str, int]]:
    """Where an answer was given and something else comes now, of what was asked again."""
    return {
        (key, place)
        for key, answers in others.items()
        for place, answer in enumerate(given[key])
        if _is_one(answer) and _moves(answer, answers[place], 1.0) is not False
    }


def _is_one(answer: dict[str, Any]) -> bool:
    return "error" not in answer


def _is_stopped(answer: dict[str, Any]) -> bool:
    """Whether there is none because a limit, or something else outside, ended the process."""
    return bool(answer.get("error", {}).get("type") == "Stopped")


def _in_turn(first: Answers, ask: Ask) -> Iterable[tuple[float, Answers]]:
    yield BENDS[0], first
    for bend in BENDS[1:]:
        (answers,) = ask([Bend(bend)])
        yield bend, answers


def _moves(plain: dict[str, Any], bent: dict[str, Any], bend: float) -> bool | None:
    """Whether an answer is another one; None where something else came than an answer of this form."""
    if "error" in bent:
        return None
    if all(plain.get(part) == bent.get(part) for part in ("value", "gradients", "states")):
        return False
    before, other = _numbers(plain), _numbers(bent)
    if before is None or other is None or len(before) != len(other):
        return None
    return any(_differ(a, b, LEAST * bend) for a, b in zip(before, other, strict=True))


def _distance(one: dict[str, Any], other: dict[str, Any]) -> float:
    """By how much, relatively, the number moves that moves most; infinity where the forms are not the same."""
    before, after = _numbers(one), _numbers(other)
    if before is None or after is None or len(before) != len(after):
        return math.inf
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if _differ(a, b, 0.0)]
    if not all(math.isfinite(a) and math.isfinite(b) for a, b in pairs):
        return math.inf
    return max((abs(a - b) / max(abs(a), 1e-3) for a, b in pairs), default=0.0)


def _differ(a: float, b: float, least: float) -> bool:
    if math.isfinite(a) and math.isfinite(b):
        return abs(a - b) > least * max(abs(a), 1e-3)
    return not (a == b or (math.isnan(a) and math.isnan(b)))


def _numbers(answer: dict[str, Any]) -> list[float] | None:
    """Every number of an answer, its gradients and states, in order; None where it holds something else."""
    trees = [answer.get("value"), *answer.get("gradients", {}).values()]
    trees += [tree for state in answer.get("states", {}).values() for tree in state.values()]
    try:
        return [number for tree in trees if tree for number in _flat(unpack(tree))]
    except (ValueError, TypeError):
        return None


def _flat(value: Any) -> list[float]:
    if isinstance(value, Array):
        return [float(number) for number in value.values()]
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _flat(item)]
    return [] if value is None else [float(value)]
