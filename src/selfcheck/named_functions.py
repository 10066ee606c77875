"""Finds what an imported library has under forbidden names: Python functions, and operators of torch's dispatcher.

Standard library only. A pattern is as in the catalogue: "torch.*softmax" matches "torch.nn.functional.softmax" and the
operator "aten::_softmax", which counts as "torch.ops.aten._softmax". A pattern that begins with a dot is for texts
alone (see reach.py), and matches nothing here.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Sequence
from fnmatch import translate
from types import FunctionType, ModuleType
from typing import Any

#: Left alone: what they return when called is not yet what they compute.
UNUSUAL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Index:
    """Things by their full names, to be found by patterns: some ten thousand names in less than a millisecond."""

    def __init__(self) -> None:
        self._things: dict[str, list[tuple[str, Any]]] = {}  # by the last word of the full name
        self._words = ""  # these words, each on a line of its own
        self.count = 0

    def add(self, name: str, thing: Any) -> None:
        self.count += 1
        word = name.rpartition(".")[2]
        if word not in self._things:
            self._things[word] = []
            self._words = ""
        self._things[word].append((name, thing))

    def matching(self, patterns: Sequence[str]) -> list[tuple[str, Any]]:
        """Full names that match one of the patterns, and what they stand for."""
        whole = [one for one in patterns if not one.startswith(".")]
        words: set[str] = set()
        for piece in {max(re.split(r"[*?[\]]", one.rpartition(".")[2]), key=len) for one in whole}:
            words |= self._words_with(piece)
        full = re.compile("|".join(map(translate, whole)) or "(?!)")
        return [pair for word in sorted(words) for pair in self._things[word] if full.match(pair[0])]

    def _words_with(self, piece: str) -> set[str]:
        if not self._words:
            self._words = "\n".join(["", *self._things, ""])
        if not piece:
            return set(self._things)
        found, place = set(), self._words.find(piece)
        while place >= 0:
            end = self._words.index("\n", place)
            found.add(self._words[self._words.rindex("\n", 0, place) + 1 : end])
            place = self._words.find(piece, end)
        return found


_functions = _Index()
_indexed: dict[str, ModuleType] = {}
_found: dict[tuple[str, ...], tuple[dict[str, FunctionType], int]] = {}  # and how many names there were


def roots_of(patterns: Sequence[str]) -> set[str]:
    """The top-level packages that patterns name: {"torch", "scipy"}."""
    return {root for one in patterns if (root := one.partition(".")[0]) and "*" not in root}


def functions_named(patterns: Sequence[str]) -> dict[str, FunctionType]:
    """The Python functions that are imported by now under such names, and all methods of such classes."""
    _index_modules(roots_of(patterns))
    known, count = _found.get(tuple(patterns), ({}, -1))
    if count == _functions.count:
        return known
    found: dict[int, tuple[str, FunctionType]] = {}
    for name, thing in _functions.matching(patterns):
        for full, function in _functions_in(name, thing):
            if len(full) < len(found.get(id(function), (full + " ", None))[0]):
                found[id(function)] = full, function
    _found[tuple(patterns)] = dict(found.values()), _functions.count
    return _found[tuple(patterns)][0]


def operators_named(patterns: Sequence[str]) -> list[str]:
    """The operators of torch's dispatcher under such names: "aten::_softmax", "aten::softmax.int"."""
    return [name for _, name in _operators().matching(patterns)] if "torch" in roots_of(patterns) else []


def prepare() -> None:
    """Index torch beforehand, where processes are forked later."""
    functions_named(["torch.nothing"])
    operators_named(["torch.nothing"])


def _index_modules(roots: set[str]) -> None:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in roots or _indexed.get(name) is module or type(module) is not ModuleType:
            continue
        _indexed[name] = module
        for word, thing in list(vars(module).items()):
            # Not isinstance, which asks an object that pretends for its class.
            if issubclass(type(thing), (FunctionType, type)) and str(thing.__module__).partition(".")[0] in roots:
                _functions.add(f"{name}.{word}", thing)


@functools.cache
def _operators() -> _Index:
    import torch

    index = _Index()
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::")
        word = rest.partition(".")[0]
        if not word.endswith("_backward"):  # autograd asks for a gradient, whoever did the forward pass
            index.add(f"torch.ops.{space}.{word}", name)
    return index


def _functions_in(name: str, thing: Any) -> list[tuple[str, FunctionType]]:
    """A function and those that it wraps; the functions of a class."""
    if isinstance(thing, type):
        held = [(f"{name}.{word}", _plain(value)) for word, value in vars(thing).items()]
    else:
        held = [(name, thing)]
        while hasattr(held[-1][1], "__wrapped__"):
            held.append((name, held[-1][1].__wrapped__))
    return [(full, one) for full, one in held if isinstance(one, FunctionType) and not one.__code__.co_flags & UNUSUAL]


def _plain(value: Any) -> Any:
    """The function behind what a class holds."""
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    return value.fget if isinstance(value, property) else value
