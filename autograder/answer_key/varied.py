"""The same check asked otherwise, as hidden draws ask it once: what is right is so in float32, in training, and anew.

A check draws few numbers, so that they can be read, of float64, so that rounding hides nothing, and asks modules in
evaluation, so that nothing is random. An answer that is right there alone would pass. So the last hidden draw of a
visible check has a long axis, the one that is chosen for it or else one of the sizes that it draws, is made in float32,
and of modules in training with a dropout of 0; one that looks at dropout makes its call twice, and the two must differ.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from selfcheck.arguments import pack_argument
from selfcheck.arrays import Array, array, pack, unpack
from selfcheck.draw import told_apart
from selfcheck.plan import Check, Draw

from .long_axes import Places, lengthened

Step = dict[str, Any]

NEAR = 1e-2  # by which an entry may be off in float32: what orders of summation make of scores of ten thousand

#: Where float32 does not have the digits: differences of scores that lie thousands apart count.
FLOAT64_ALONE = ("attend_large_score", "backward_large", "decoder_masked", "local_softmax")

#: Modules that are random in training by their `dropout` alone; all others never are.
SILENT_AT_0 = (
    "classifier.TextClassifier",
    "classifier.PairMatcher",
    "decoder.DecoderLayer",
    "decoder.EncoderDecoder",
    "decoder.LanguageModel",
    "encoder.Encoder",
    "encoder.EncoderLayer",
    "encoder.FeedForward",
    "multi_head.MultiHeadAttention",
    "positions.PositionalEncoding",
)


class OneLong(Draw):
    """Draws the sizes that a check asks for, one of them larger; they can be told apart as well.

    Were all of them larger, answers that loop over their entries would take too long.
    """

    def sizes(self, count: int, low: int = 2, high: int = 10) -> list[int]:
        while True:
            found = super().sizes(count, low, high)
            found[self.randrange(count)] = self.integer(low + 14, high + 24)
            if told_apart(found):
                return found


@dataclass(frozen=True)
class _Made:
    """A step that is packed already."""

    tree: Step

    def packed(self) -> Step:
        return self.tree


@functools.cache
def varied(check: Check, places: Places = ()) -> Check | None:
    """The check asked otherwise; None where it is asked so already, or looks at something else.

    places: a tuple of those that are long; where it is empty, it is one of the sizes that the check draws
    """
    if not {"values", "gradient"}.intersection(check.compares) or {"memory", "generator"}.intersection(check.compares):
        return None
    steps = check.calls(0)
    if any(step.get("lessons") for step in steps):
        return None
    if any(map(_drops, steps)):
        return None if check.given else _with(check, (), _twice, compares=("values",), view=_differ)
    changes: list[Callable[[Step], Step]] = []
    is_sized = with_a_long_axis(check, Draw(0), places) != packed(check.make(Draw(0)))
    tolerance = check.tolerance
    narrows = not check.view and check.name not in FLOAT64_ALONE
    if narrows and any(_in_float32(step) != step for step in steps):
        changes.append(_in_float32)
        tolerance = max(tolerance, NEAR)
    if all("construct" in step for step in steps) and not any(map(_is_random_or_trained, steps)):
        changes.append(_in_training_without_dropout if check.exercise in SILENT_AT_0 else _in_training)

    def change(step: Step) -> Step:
        for one in changes:
            step = one(step)
        return step

    return _with(check, places, change, tolerance=tolerance) if changes or is_sized else None


def _with(check: Check, places: Places, change: Callable[[Step], Step | None], **more: Any) -> Check:
    def make(rng: Draw) -> Any:
        steps = map(change, with_a_long_axis(check, rng, places))
        return [_Made(step) for step in steps if step is not None]

    return replace(check, make=make, tells=None, outside=None, **more)


def with_a_long_axis(check: Check, rng: Draw, places: Places = ()) -> list[Step]:
    """The packed calls of a check with a long axis at these places, or of sizes of which one is larger."""
    if places:
        return lengthened(packed(check.make(rng)), places)
    longer = OneLong()
    longer.setstate(rng.getstate())
    return packed(check.make(longer))


def packed(made: Any) -> list[Step]:
    """The packed calls that a check makes, one or several."""
    return [step.packed() for step in (made if isinstance(made, list) else [made])]


def _dropout(step: Step) -> Any:
    """The rate that a module is made with by name, None where none is."""
    tree = step.get("construct", {}).get("kwargs", {}).get("dropout")
    return None if tree is None else unpack(tree)


def _drops(step: Step) -> bool:
    """Whether a module is made in training, and drops a part of what it makes in its first use."""
    rate = _dropout(step)
    return bool(step.get("training")) and isinstance(rate, float) and 0 < rate < 0.9 and "stirred" not in step


def _twice(step: Step) -> Step | None:
    """The first use twice, on a batch of two sequences that are alike, as are the tokens of each."""
    if not _drops(step):
        return None
    use = step["uses"][0]
    return step | {"uses": [use | {name: _of_two(use[name]) for name in ("args", "kwargs")}] * 2}


def _of_two(tree: Any) -> Any:
    """Arguments whose sequences hold their first token throughout; a sequence alone becomes a batch of two."""
    if isinstance(tree, list):
        return [_of_two(part) for part in tree]
    if tree.get("kind") == "tensor":
        given = unpack(tree)
        if not given.floating or len(given.shape) not in (2, 3):
            return tree
        sequences = given.nested() if len(given.shape) == 3 else [given.nested()]
        two = sequences * 2 if len(sequences) == 1 else sequences
        return pack(array([tokens[:1] * len(tokens) for tokens in two], given.kind, given.dtype))
    return {name: _of_two(part) if isinstance(part, dict) else part for name, part in tree.items()}


def _differ(step: Step, answer: Any) -> Array:
    """1 where two uses of one object, of which something is dropped, differ; so for the sequences, and their tokens."""
    first, again = answer if isinstance(answer, (tuple, list)) and len(answer) == 2 else (None, None)
    if isinstance(first, (tuple, list)) and isinstance(again, (tuple, list)) and first and again:
        first, again = first[0], again[0]  # beside the output stand the weights before dropout
    if not isinstance(first, Array) or not isinstance(again, Array) or not first.shape:
        return array([-1, -1, -1])
    rows = first.nested()
    tokens_differ = any(token != row[0] for row in rows if isinstance(row, list) for token in row)
    return array([int(first != again), int(any(row != rows[0] for row in rows)), int(tokens_differ)])


def _is_random_or_trained(step: Step) -> bool:
    return bool(step.get("training") or _dropout(step))


def _in_training(step: Step) -> Step:
    return step | {"training": True}


def _in_training_without_dropout(step: Step) -> Step:
    construct = step["construct"]
    silent = construct | {"kwargs": construct["kwargs"] | {"dropout": pack_argument(0.0)}}
    return _in_training(step | {"construct": silent})


def _in_float32(tree: Any) -> Any:
    """A JSON tree whose tensors of float64 are of float32."""
    if isinstance(tree, list):
        return [_in_float32(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.get("kind") == "tensor" and tree.get("dtype") == "float64":
        given = unpack(tree)
        return pack(array(given.nested(), "tensor", "float32")) if 0 not in given.shape else tree | {"dtype": "float32"}
    return {name: _in_float32(part) for name, part in tree.items()}
