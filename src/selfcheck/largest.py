"""Counts the entries of the largest tensor that is made while a step is carried out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .dispatch import dispatch_mode


@contextlib.contextmanager
def largest_counted(step: dict[str, Any], facts: dict[str, Any]) -> Iterator[None]:
    """Within it, the entries of the largest tensor that is made are counted, where a step asks for it."""
    if not step.get("memory"):
        yield
        return

    class Largest(dispatch_mode()):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            for leaf in _leaves(made):
                if hasattr(leaf, "untyped_storage"):  # a view by expand has many entries in little memory
                    held = leaf.untyped_storage().nbytes() // max(leaf.element_size(), 1)
                    facts["largest"] = max(facts["largest"], min(leaf.numel(), held))
            return made

    facts["largest"] = 0
    with Largest():
        yield


def _leaves(made: Any) -> list[Any]:
    return [leaf for part in made for leaf in _leaves(part)] if isinstance(made, (tuple, list)) else [made]
