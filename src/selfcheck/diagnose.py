"""Names the misconception behind a wrong answer: the one that answers the same to the same inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .compare import Answer, Difference, compare
from .plan import Check


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
    for position, (one, want, came) in enumerate(zip(key.calls, expected, got, strict=True)):
        difference = compare(key.check, one, want, came, reveal)
        if difference:
            return position, difference
    return None


def diagnose(
    keys: Sequence[Key], answers: Sequence[list[Answer]], failed: Sequence[bool] | None = None
) -> list[str | None]:
    """For each draw the misconception that explains its failure, or None.

    failed: which draws fail, where that is known

    A misconception is a candidate only if it fails nowhere where the learner is right: then it may be the whole
    mistake, or one of several. Of the candidates that answer as the learner does, the one that explains most wins.
    """
    if failed is None:
        failed = [first_difference(key, key.expected, got) is not None for key, got in zip(keys, answers, strict=True)]
    if not any(bad and _says_something(got) for bad, got in zip(failed, answers, strict=True)):
        return [None] * len(keys)  # what the misconceptions answer, which takes long to learn, need not be known
    names = list(dict.fromkeys(name for key in keys for name in key.misconceptions))
    explained: dict[str, list[int]] = {}
    for name in names:
        if any(not bad and _tells(key) and name in key.misconceptions for key, bad in zip(keys, failed, strict=True)):
            continue  # it would have failed where the learner is right
        explained[name] = [
            place
            for place, (key, got, bad) in enumerate(zip(keys, answers, failed, strict=True))
            if bad and name in key.misconceptions and _same(key, key.misconceptions[name], got)
        ]
    found: list[str | None] = []
    for place in range(len(keys)):
        candidates = [name for name in explained if place in explained[name]]
        found.append(max(candidates, key=lambda name: len(explained[name])) if candidates else None)
    return found


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
        if "error" in want and _error(want) != _error(came):
            return False
        # Where an error is due and none came, the check compares nothing: at least the answers' forms must agree.
        if "error" not in want and key.check.compares == ("error",) and _form(want) != _form(came):
            return False
    if key.check.compares == ("parameters",) and all(answer.get("parameters") == {} for answer in key.expected):
        # Where a state dict should be empty, what somebody calls its content says nothing about the mistake.
        return all(bool(a.get("parameters")) == bool(b.get("parameters")) for a, b in zip(wrong, got, strict=True))
    # Both ways: what a misconception leaves out, a gradient for instance, must be missing in the answer as well.
    return first_difference(key, wrong, got) is None and first_difference(key, got, wrong) is None


def _form(answer: Answer) -> Any:
    return _form_of(answer["value"])


def _form_of(tree: dict[str, Any]) -> Any:
    """What kind of thing a packed answer is: None, a number, an array of so many axes, several of these."""
    if tree.get("kind") in ("tensor", "ndarray", "list"):
        return "tensor" if tree["kind"] == "tensor" else "array", len(tree["shape"])
    if tree.get("kind") in ("tuple", "items"):
        return [_form_of(item) for item in tree["items"]]
    return tree.get("kind")


def _error(answer: Answer) -> tuple[str, str]:
    return answer["error"].get("type", ""), answer["error"].get("text", "")
