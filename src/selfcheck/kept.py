"""An answer with what is made of it to compare it: made once for all that it is compared with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .arrays import as_array, unpack
from .plan import Check
from .trees import leaves


class Kept(dict[str, Any]):
    """An answer that keeps what is made of it.

    A view takes as long as a learner's answer makes it take. That is within limits once for each answer, but not once
    for each misconception that the answer is compared with.
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer)
        self._made: dict[Any, Any] = {}

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Kept:
        return answer if isinstance(answer, cls) else cls(answer)

    def _once(self, what: Any, make: Callable[[], Any]) -> Any:
        if what not in self._made:
            self._made[what] = make()
        return self._made[what]

    @property
    def value(self) -> Any:
        """What the answer is, unpacked."""
        return self._once("value", lambda: unpack(self["value"]))

    def seen(self, check: Check, call: dict[str, Any]) -> tuple[Any, bool]:
        """The answer as a check's view sees it, where it has one, and whether the view can read it; else as it is."""

        def see() -> tuple[Any, bool]:
            try:
                return (check.view(call, self.value) if check.view else self.value), True
            except Exception:  # the view meets whatever a learner, or a misconception, returned
                return self.value, False

        return self._once(("seen", id(check.view), id(call)), see)

    def count(self, check: Check, call: dict[str, Any]) -> int:
        """How many numbers a check compares of the answer: answers that are the same have as many."""
        return self._once(("count", id(check.view), id(call)), lambda: count(self.seen(check, call)[0]))


def count(tree: Any) -> int:
    """How many numbers a tree holds."""
    return sum(math.prod(array.shape) for leaf in leaves(tree) if (array := as_array(leaf)))
