"""Finds out whether answers depend on what earlier calls have left in a module: in containers, names or caches.

Standard library only: it runs beside a learner's code.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

KINDS = (dict, list, set, OrderedDict, defaultdict)
CACHE = type(functools.lru_cache(lambda: None))
ABSENT = object()


class Leftovers:
    """What a module, its classes and its functions hold at first, in all places where a call can leave something."""

    def __init__(self, module: ModuleType | None) -> None:
        every = list(_places(module, module.__name__) if module else ())
        self._held = {id(held): (name, held, held.copy()) for name, held in every if type(held) in KINDS}
        self._caches = {id(cache): (name, cache) for name, cache in every if type(cache) is CACHE}
        owners = [("", module)] if module else []
        owners += [(f"{name}.", held) for name, held in every if type(held) in (FunctionType, type)]
        self._names = [(within, owner, _own_names(owner)) for within, owner in owners]

    def left(self) -> list[str]:
        """The names of what holds something else than at first."""
        return [name for name, *_ in self._changes()]

    def put_back(self) -> None:
        """Have everything hold again what it held at first."""
        for _, put_back in list(self._changes()):
            put_back()

    def _changes(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for within, owner, first in self._names:
            now = _own_names(owner)
            for name in dict.fromkeys((*now, *first)):
                if now.get(name, ABSENT) is not first.get(name, ABSENT):
                    yield within + name, functools.partial(_set_name, owner, name, first.get(name, ABSENT))
        for name, held, first in self._held.values():
            if not _same_items(held, first):
                yield name, functools.partial(_refill, held, first)
        for name, cache in self._caches.values():
            if cache.cache_info().currsize:
                yield name, cache.cache_clear


def _own_names(owner: Any) -> dict[str, Any]:
    return {name: value for name, value in list(vars(owner).items()) if type(name) is str and name[:2] != "__"}


def _set_name(owner: Any, name: str, first: Any) -> None:
    if first is not ABSENT:
        setattr(owner, name, first)
    elif name in vars(owner):
        delattr(owner, name)


def _same_items(held: Any, first: Any) -> bool:
    """Whether a container holds the very objects that it held at first."""
    if len(held) != len(first):
        return False
    if isinstance(held, list):
        return all(one is other for one, other in zip(held, first, strict=True))
    if isinstance(held, dict):
        pairs = zip(held.items(), first.items(), strict=True)
        return all(key is other and value is one for (key, value), (other, one) in pairs)
    return {id(one) for one in held} == {id(one) for one in first}


def _refill(held: Any, first: Any) -> None:
    held.clear()
    held.extend(first) if isinstance(held, list) else held.update(first)


def _places(owner: Any, module: str, within: str = "") -> Iterator[tuple[str, Any]]:
    """What a module or one of its classes holds under names, and its functions among their defaults."""
    for name, value in _own_names(owner).items():
        kind = type(value)
        own = kind in (CACHE, FunctionType, type) and getattr(value, "__module__", None) == module
        if kind in KINDS or own:
            yield within + name, value
        function = value.__wrapped__ if kind is CACHE else value
        if own and type(function) is FunctionType:
            for argument, default in _defaults(function):
                yield f"{argument} of {within}{name}", default
        if own and kind is type and not within:
            yield from _places(value, module, f"{name}.")


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    last = code.co_argcount
    values = function.__defaults__ or ()
    named = zip(code.co_varnames[last - len(values) : last], values, strict=True)
    for name, value in (*named, *(function.__kwdefaults__ or {}).items()):
        if type(value) in KINDS:
            yield name, value
