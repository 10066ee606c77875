"""Finds what an imported library has under forbidden names: Python functions, and operators of torch's dispatcher.

Standard library only. A pattern is as in the catalogue: "torch.*softmax" matches "torch.nn.functional.softmax" and the
operator "aten::_softmax", which counts as "torch.ops.aten._softmax". A pattern that begins with a dot is for texts
alone (see reach.py), and matches nothing here.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
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

    def matching(self, pattern: str) -> list[tuple[str, Any]]:
        """Full names that match a pattern, and what they stand for."""
        if pattern.startswith("."):
            return []
        words = self._words_with(max(re.split(r"[*?[\]]", pattern.rpartition(".")[2]), key=len))
        full = re.compile(translate(pattern))
        return [pair for word in sorted(words) for pair in self._things[word] if full.match(pair[0])]

    def _words_with(self, piece: str) -> set[str]:
        if not self._words:
            self._words = "\n".join(["", *self._things, ""])
        if not piece:
            return set(self._things)
        lines, place = set(), self._words.find(piece)
        while place >= 0:
            end = self._words.index("\n", place)
            lines.add(self._words[self._words.rindex("\n", 0, place) + 1 : end])
            place = self._words.find(piece, end)
        return lines


_functions = _Index()
_indexed: dict[str, ModuleType] = {}
_looked_at: dict[str, tuple[int, str, Any]] = {}  # by package: how many modules there were, and the last, by its name
_Found = dict[int, tuple[str, FunctionType]]  # by the id of a function, so that its shortest name stands for it
_found: dict[str, tuple[_Found, int]] = {}  # by pattern; and how many names there were
_named: dict[tuple[str, ...], tuple[dict[str, FunctionType], int]] = {}  # by patterns; likewise


def roots_of(patterns: Iterable[str]) -> set[str]:
    """The top-level packages that patterns name: {"torch", "scipy"}."""
    return {root for pattern in patterns if (root := pattern.partition(".")[0]) and "*" not in root}


def is_named(name: str, patterns: Iterable[str]) -> bool:
    """Whether the name of a function that ran, or of the class that it belongs to, matches one of the patterns."""
    return any(fnmatchcase(name, pattern) or fnmatchcase(public_name(name), pattern) for pattern in patterns)


def public_name(name: str) -> str:
    """A method that a module or class is called by, as the class: "torch.nn.Softmax" of "torch.nn.Softmax.forward"."""
    return name.removesuffix(".forward").removesuffix(".__init__")


def functions_named(patterns: Iterable[str]) -> dict[str, FunctionType]:
    """The Python functions that are imported by now under such names, and all methods of such classes.

    The table is not to be changed.
    """
    patterns = tuple(patterns)
    for root in roots_of(patterns):
        _index_modules(root)
    known, count = _named.get(patterns, ({}, -1))
    if count == _functions.count:
        return known
    by_place: _Found = {}
    for pattern in patterns:
        for place, (name, function) in _functions_under(pattern).items():
            if place not in by_place or len(name) < len(by_place[place][0]):
                by_place[place] = name, function
    _named[patterns] = dict(by_place.values()), _functions.count
    return _named[patterns][0]


def operators_named(patterns: Iterable[str]) -> list[str]:
    """The operators of torch's dispatcher under such names: "aten::_softmax", "aten::softmax.int"."""
    patterns = list(patterns)
    if "torch" not in roots_of(patterns):
        return []
    return list(dict.fromkeys(name for pattern in patterns for name in _operators_under(pattern)))


def _functions_under(pattern: str) -> _Found:
    known, count = _found.get(pattern, ({}, -1))
    if count == _functions.count:
        return known
    by_place: _Found = {}
    for name, thing in _functions.matching(pattern):
        for full, function in functions_in(name, thing):
            if len(full) < len(by_place.get(id(function), (full + " ", None))[0]):
                by_place[id(function)] = full, function
    _found[pattern] = by_place, _functions.count
    return by_place


def _index_modules(root: str) -> None:
    for name in _new_modules(root):
        module = sys.modules.get(name)
        if name.partition(".")[0] != root or _indexed.get(name) is module or type(module) is not ModuleType:
            continue
        _indexed[name] = module
        for word, thing in list(vars(module).items()):
            thing = defining(thing)
            # Not isinstance, which asks an object that pretends for its class.
            if issubclass(type(thing), (FunctionType, type)) and str(thing.__module__).partition(".")[0] == root:
                _functions.add(f"{name}.{word}", thing)


def defining(thing: Any) -> Any:
    """The function that defines an operator of torch.library; everything else as it is."""
    kind = type(thing)
    is_operator = kind.__name__ == "CustomOpDef" and kind.__module__ == "torch._library.custom_ops"
    return thing._init_fn if is_operator else thing


def _new_modules(root: str) -> list[str]:
    """The names of the modules that were imported since a package was indexed; of all, where some have gone since.

    Those that were there are not touched: in a forked process that alone would copy megabytes. A module that is put in
    the place of another without an import is a copy of the library, as a learner might paste it, and is not looked for.
    """
    known, last, module = _looked_at.get(root, (0, "", None))
    new = list(itertools.islice(reversed(sys.modules), max(0, len(sys.modules) - known) + 1))
    if not new:
        return []
    _looked_at[root] = len(sys.modules), new[0], sys.modules.get(new[0])
    return new[:-1] if new[-1] == last and sys.modules.get(last) is module else list(sys.modules)


@functools.cache
def _operators() -> _Index:
    import torch

    index = _Index()
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::")
        index.add(f"torch.ops.{space}.{rest.partition('.')[0]}", name)
    return index


@functools.cache
def _operators_under(pattern: str) -> tuple[str, ...]:
    return tuple(name for _, name in _operators().matching(pattern))


def functions_in(name: str, thing: Any) -> list[tuple[str, FunctionType]]:
    """A function and those that it wraps; the functions of a class."""
    if isinstance(thing, type):
        held = [(f"{name}.{word}", _plain(value)) for word, value in vars(thing).items()]
    else:
        held = [(name, thing)]
        while hasattr(held[-1][1], "__wrapped__"):
            held.append((name, held[-1][1].__wrapped__))
    return [
        (full, member)
        for full, member in held
        if isinstance(member, FunctionType) and not member.__code__.co_flags & UNUSUAL
    ]


def _plain(value: Any) -> Any:
    """The function behind what a class holds."""
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    return value.fget if isinstance(value, property) else value
