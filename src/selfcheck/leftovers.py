"""Finds out whether answers depend on what earlier calls have left in a dictionary, list or set of a module.

Standard library only: it runs beside a learner's code.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

KINDS = (dict, list, set, OrderedDict, defaultdict)


class Leftovers:
    """Containers of a module, of its classes and among its functions' defaults, and what each held at first."""

    def __init__(self, module: ModuleType | None) -> None:
        every = _containers(vars(module), module.__name__) if module else ()
        found = {id(held): (name, held) for name, held in every}
        self._held = [(name, held, held.copy()) for name, held in found.values()]

    def grown(self) -> list[str]:
        """The names of those that hold more than at first."""
        return [name for name, held, first in self._held if len(held) > len(first)]

    def put_back(self) -> None:
        """Have each hold again what it held at first."""
        for _, held, first in self._held:
            held.clear()
            held.extend(first) if isinstance(held, list) else held.update(first)


def _containers(names: Any, module: str, within: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in list(names.items()):
        kind = type(value)
        if type(name) is not str or name.startswith("__"):
            continue
        if kind in KINDS:
            yield within + name, value
        elif kind is FunctionType and value.__module__ == module:
            for argument, default in _defaults(value):
                yield f"{argument} of {within}{name}", default
        elif kind is type and value.__module__ == module and not within:
            yield from _containers(vars(value), module, f"{name}.")


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    last = code.co_argcount
    values = function.__defaults__ or ()
    named = zip(code.co_varnames[last - len(values) : last], values, strict=True)
    for name, value in (*named, *(function.__kwdefaults__ or {}).items()):
        if type(value) in KINDS:
            yield name, value
