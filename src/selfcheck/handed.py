"""What a step hands to a learner's code that another exercise asks learners to write: the scores, a cache.

No file of the sandbox holds it. Where a grader asks for answers, its text comes with the exercises whose steps hand it
over; see `runner.hand_over`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any


class Cache:
    """Keys and values of all steps so far, as `attention.efficient.KeyValueCache`, made without the learner's own."""

    def __init__(self, max_length: int) -> None:
        self.max_length = max_length
        self._held: tuple[Any, ...] = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The learner's own class, where there is one: the layer may ask for what its signature says."""
        theirs = getattr(sys.modules.get("attention.efficient"), "KeyValueCache", None)
        return theirs if isinstance(theirs, type) else Cache

    @property
    def length(self) -> int:
        return self._held[0].shape[-2] if self._held else 0

    def append(self, key: Any, value: Any) -> tuple[Any, Any]:
        import torch

        pairs = list(zip(self._held or (key[..., :0, :], value[..., :0, :]), (key, value), strict=True))
        fits = all((*old.shape[:-2], old.shape[-1]) == (*new.shape[:-2], new.shape[-1]) for old, new in pairs)
        if not fits or key.shape[:-1] != value.shape[:-1] or self.length + key.shape[-2] > self.max_length:
            raise ValueError(
                f"the cache holds {self.length} positions of at most {self.max_length}; keys {tuple(key.shape)} and "
                f"values {tuple(value.shape)} do not fit behind them"
            )
        self._held = tuple(torch.cat(pair, dim=-2) for pair in pairs)
        return self._held[0].clone(), self._held[1].clone()


def score(name: str, weights: list[Any]) -> Callable[[Any, Any], Any]:
    """A score function of the course with its weights bound, made without the learner's own."""
    import torch

    def scores(query: Any, keys: Any) -> Any:
        if name == "additive":
            w1, w2 = weights
            width = query.shape[-1]
            hidden = (query @ w1[:, :width].T).unsqueeze(-2) + (keys @ w1[:, width:].T).unsqueeze(-3)
            return torch.tanh(hidden) @ w2
        if name == "bilinear":
            return query @ weights[0] @ keys.transpose(-2, -1)
        dots = query @ keys.transpose(-2, -1)
        return dots / math.sqrt(keys.shape[-1]) if name == "scaled" else dots

    scores.__name__ = scores.__qualname__ = "score"  # as an error names it that a learner's call meets
    return scores
