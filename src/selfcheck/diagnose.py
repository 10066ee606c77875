"""Names the misconception behind a wrong answer: the one that answers the same to the same inputs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arrays import unpack
from .compare import Answer, Difference, are_facts, compare
from .kept import Kept, count
from .module_state import BUILT
from .operations import RAISED
from .plan import Check
from .same_words import one_text
from .trees import compare_trees

FORM = "/"  # between the id of a misconception and the name of one of its forms
LEAF = "a leaf Variable that requires grad"  # what torch calls an argument that is changed in place
LEAST_CERTAIN = 2  # draws whose numbers a misconception explains, to be named beside failures that nothing explains
MOST_AGAINST = 2  # failures that a misconception answers otherwise, for each that it explains


@dataclass(frozen=True)
class Key:
    """What is known about one draw of one check: its calls, the right answers, and what each misconception answers.

    A misconception that answers as the reference does is left out.
    """

    check: Check
    calls: list[dict[str, Any]]
    expected: list[Answer]
    misconceptions: Mapping[str, list[Answer]]
    reveal: bool = True  # whether its numbers may be shown: a recorded draw of a visible check


def first_difference(
    key: Key, expected: list[Answer], got: list[Answer], reveal: bool = True
) -> tuple[int, Difference] | None:
    """The first difference over a draw's calls, with the call's position, or None."""
    for position, (call, want, came) in enumerate(zip(key.calls, expected, got, strict=True)):
        difference = compare(key.check, call, want, came, reveal)
        if difference:
            return position, difference
    return None


def explained_by(name: str) -> str:
    """The id of the catalogue's entry that explains a runnable misconception, which may be one of several forms."""
    return name.partition(FORM)[0]


def diagnose(
    keys: Sequence[Key], answers: Sequence[list[Answer]], failed: Sequence[bool] | None = None
) -> list[str | None]:
    """For each draw the misconception that explains its failure, or None.

    failed: which draws fail, where that is known

    A misconception is a candidate only if it fails nowhere where the learner is right: then it may be the whole
    mistake, or one of several. Of the candidates that answer a draw as the learner does, the one that explains most
    draws is named for it, so that one which explains all of them is named everywhere, and where two mistakes were made
    each draw has its own. Of those that explain as many, it is the one that answers otherwise in the fewest of the
    remaining failures; of these, the one whose exceptions say the same words most often, then the first in the
    catalogue. What answers otherwise in more than twice as many
    failures as it explains agrees by chance, as where two sizes happen to be equal, and is no candidate.
    """
    if failed is None:
        failed = [first_difference(key, key.expected, got) is not None for key, got in zip(keys, answers, strict=True)]
    if not any(bad and _says_something(got) for bad, got in zip(failed, answers, strict=True)):
        return [None] * len(keys)  # what the misconceptions answer, which takes long to learn, need not be known
    answers = [[Kept.of(answer) for answer in got] for got in answers]  # each is compared with every misconception
    candidates: dict[str, set[int]] = {}
    rank: dict[str, tuple[int, int, int]] = {}
    for name in dict.fromkeys(name for key in keys for name in key.misconceptions):
        if any(not bad and _tells(key) and name in key.misconceptions for key, bad in zip(keys, failed, strict=True)):
            continue  # it would have failed where the learner is right
        explained = _explained(name, keys, answers, failed)
        broken = sum(bad and name in key.misconceptions for key, bad in zip(keys, failed, strict=True))
        if explained and broken <= (1 + MOST_AGAINST) * len(explained):
            verbatim = sum(_same_words(keys[place].misconceptions[name], answers[place]) for place in explained)
            candidates[name], rank[name] = explained, (-len(explained), broken, -verbatim)
    candidates = _without_chance(candidates, keys, failed)
    names = [
        min((name for name, places in candidates.items() if place in places), key=rank.__getitem__, default=None)
        for place in range(len(keys))
    ]
    # What an earlier call has left is no misconception's, whatever numbers come of it.
    left = [any(answer.get("leftover") for answer in got) for got in answers]
    return [None if of_others or not name else explained_by(name) for name, of_others in zip(names, left, strict=True)]


def _without_chance(
    candidates: dict[str, set[int]], keys: Sequence[Key], failed: Sequence[bool]
) -> dict[str, set[int]]:
    """The candidates, without those that agree by chance: where numbers fail that no candidate explains.

    Such a failure is a mistake that is not known here, and what else fails may follow from it. So a candidate that
    answers it otherwise is none, and neither is one that explains no more than what views derive, a few facts that many
    wrong answers share. But where two mistakes account for all failures, each has its name; and so has one that no
    chance explains (see `_is_certain`), beside whatever else is wrong.
    """
    told = set().union(*candidates.values()) if candidates else set()
    unknown = {place for place, key in enumerate(keys) if failed[place] and _is_bare(key) and place not in told}
    if not unknown:
        return candidates
    both = _two_at_once(candidates, keys, failed)
    if both:
        return {name: places for name, places in candidates.items() if name in both}
    return {
        name: places
        for name, places in candidates.items()
        if (
            not any(name in keys[place].misconceptions for place in unknown)
            and not all(keys[place].check.view for place in places)
        )
        or _is_certain(name, places, unknown, keys)
    }


def _is_certain(name: str, places: set[int], unknown: set[int], keys: Sequence[Key]) -> bool:
    """Whether a candidate explains all numbers of as many draws as it answers otherwise, two at least, one alone."""
    whole = {place for place in places if _is_bare(keys[place])}
    against = {place for place in unknown if name in keys[place].misconceptions}
    return len(whole) >= max(len(against), LEAST_CERTAIN) and any(_is_alone(name, keys[place]) for place in whole)


def _is_alone(name: str, key: Key) -> bool:
    """Whether no misconception but a candidate, and its other forms, answers a draw so."""
    own = key.misconceptions[name]
    others = (other for other in key.misconceptions if explained_by(other) != explained_by(name))
    return not any(_same(key, key.misconceptions[other], own) for other in others)


def _two_at_once(candidates: dict[str, set[int]], keys: Sequence[Key], failed: Sequence[bool]) -> set[str]:
    """The candidates that account for all failures in pairs, as two mistakes do that were made at once.

    Each of the two explains a failure where the other is right, so that each shows alone; and where numbers fail that
    neither explains, both are wrong, so that the two may act together.
    """
    compared = {
        place for place, key in enumerate(keys) if failed[place] and {"values", "gradient"} & {*key.check.compares}
    }

    def may_be_all(one: str, other: str) -> bool:
        alone = (
            any(second not in keys[place].misconceptions for place in candidates[first])
            for first, second in ((one, other), (other, one))
        )
        rest = compared - candidates[one] - candidates[other]
        return all(alone) and all(name in keys[place].misconceptions for place in rest for name in (one, other))

    pairs = itertools.combinations(candidates, 2)
    return {name for pair in pairs if may_be_all(*pair) for name in pair}


def _is_bare(key: Key) -> bool:
    """Whether a check compares all numbers of an answer: as they are, or in a view that loses none of them."""
    if "values" not in key.check.compares:
        return False
    if key.check.view is None:
        return True
    answers = [unpack(answer["value"]) for answer in key.expected if "value" in answer]
    try:
        viewed = [key.check.view(call, answer) for call, answer in zip(key.calls, answers, strict=True)]
    except Exception:  # the expected answer is an error, or has another form than the view reads
        return False
    if any(are_facts(*pair) for pair in zip(viewed, answers, strict=True)):
        return False
    return count(viewed) >= count(answers)


def _explained(name: str, keys: Sequence[Key], answers: Sequence[list[Answer]], failed: Sequence[bool]) -> set[int]:
    """The failed draws that a misconception answers as the learner does.

    An exception has many causes: where no answer but exceptions alone agree, the lines they arose in must do the same.
    """
    explained, strictly, answered = set(), set(), False
    for place, (key, got, bad) in enumerate(zip(keys, answers, failed, strict=True)):
        wrong = key.misconceptions.get(name) if bad else None
        if wrong is None or not _same(key, wrong, got):
            continue
        explained.add(place)
        pairs = list(zip(wrong, got, strict=True))
        if all(_same_operation(want, came) for want, came in pairs):
            strictly.add(place)
        answered = answered or any("error" not in came for came in got)
    return explained if answered else strictly


def _same_operation(want: Answer, came: Answer) -> bool:
    """Whether two exceptions arose from one operation, as far as both lines are known.

    Of an operator such as /= no operation is known; and that it changed an argument says nothing of which one: there,
    the learner's own line says more.
    """
    done = [answer.get("error", {}).get("operation") for answer in (want, came)]
    if LEAF in str(came.get("error", {}).get("text")) and not done[1]:
        return False
    return None in done or done[0] == done[1]


def _says_something(got: list[Answer]) -> bool:
    """Whether a draw's answers could be a misconception's: not where one is not written yet, or cannot be imported."""
    errors = [answer["error"] for answer in got if "error" in answer]
    return not any(error.get("type") == "NotImplementedError" or error.get("importing") for error in errors)


def _tells(key: Key) -> bool:
    """Whether passing a check speaks against a misconception: not so for argument checks, which stubs give away."""
    return key.check.compares != ("error",)


def _same(key: Key, wrong: list[Answer], got: list[Answer]) -> bool:
    """Whether the learner answers as the misconception does, errors and their texts included."""
    for want, came in zip(wrong, got, strict=True):
        if ("error" in want) != ("error" in came):
            return False
        if "error" in want and not _same_error(want, came):
            return False
        # Where an error is due and none came, the check compares nothing: at least the answers' forms must agree.
        if "error" not in want and key.check.compares == ("error",) and _form(want) != _form(came):
            return False
        # Where no values are compared, None or an answer of another kind is no sign that the values are right.
        if "error" not in want and "values" not in key.check.compares and _kind(want) != _kind(came):
            return False
    # A gradient that is missing is missing for many reasons: the numbers that it belongs to must be the same.
    if "gradient" in key.check.compares and "values" not in key.check.compares and not _same_values(key, wrong, got):
        return False
    if key.check.compares == ("parameters",) and all(answer.get("parameters") == {} for answer in key.expected):
        # Where a state dict should be empty, what somebody calls its content says nothing about the mistake.
        return all(bool(a.get("parameters")) == bool(b.get("parameters")) for a, b in zip(wrong, got, strict=True))
    if any(
        answer.get("lost", {}).get(BUILT) != other.get("lost", {}).get(BUILT)
        for answer, other in zip(wrong, got, strict=True)
    ):
        return False  # one object under two names is a mistake of its own, whatever numbers come of it
    if not _as_many(key, wrong, got):
        return False
    # Both ways: what a misconception leaves out, a gradient for instance, must be missing in the answer as well.
    return first_difference(key, wrong, got) is None and first_difference(key, got, wrong) is None


def _as_many(key: Key, wrong: list[Answer], got: list[Answer]) -> bool:
    """Whether two answers have as many numbers, where these are compared: to count those of a large one takes no time.

    Counted once, they keep an answer of whatever size from being compared entry by entry with every misconception.
    """
    if "values" not in key.check.compares:
        return True
    both = [pair for pair in zip(key.calls, wrong, got, strict=True) if "value" in pair[1] and "value" in pair[2]]
    return all(Kept.of(a).count(key.check, call) == Kept.of(b).count(key.check, call) for call, a, b in both)


def _same_values(key: Key, wrong: list[Answer], got: list[Answer]) -> bool:
    pairs = [(Kept.of(a).value, Kept.of(b).value) for a, b in zip(wrong, got, strict=True) if "value" in a]
    return all(compare_trees(a, b, key.check.tolerance, False, "") is None for a, b in pairs)


def _kind(answer: Answer) -> str:
    """What an answer is, whatever its sizes: "none", "number", "tensor", "several"."""
    kind = str(answer.get("value", {}).get("kind", "none"))
    return "several" if kind in ("tuple", "items") else kind


def _form(answer: Answer) -> Any:
    return _form_of(answer["value"])


def _form_of(tree: dict[str, Any]) -> Any:
    """What kind of thing a packed answer is: None, a number, an array of so many axes, several of these."""
    if tree.get("kind") in ("tensor", "ndarray", "list"):
        return "tensor" if tree["kind"] == "tensor" else "array", len(tree["shape"])
    if tree.get("kind") in ("tuple", "items"):
        return [_form_of(item) for item in tree["items"]]
    return tree.get("kind")


def _same_error(want: Answer, came: Answer) -> bool:
    """Whether two exceptions are the same: a misconception's and a learner's.

    One that a learner raises himself has words of his own; of a misconception's, raised so too, no other operation is
    known then.
    """
    own = came["error"].get("operation") == RAISED and want["error"].get("operation") in (None, RAISED)
    return _error(want)[0] == _error(came)[0] if own else _error(want) == _error(came)


def _same_words(wrong: list[Answer], got: list[Answer]) -> bool:
    """Whether the exceptions of two answers to a draw say the same."""
    return all(_error(want) == _error(came) for want, came in zip(wrong, got, strict=True) if "error" in want)


def _error(answer: Answer) -> tuple[str, str]:
    kind, text = answer["error"].get("type", ""), answer["error"].get("text", "")
    return kind, one_text(text)
