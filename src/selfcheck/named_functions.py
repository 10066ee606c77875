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
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase, translate
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .import_finder import FINDER

#: Left alone: what they return when called is not yet what they compute.
UNUSUAL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

#: By a class whose objects stand for functions that are compiled, or run in another way, the attribute that holds one.
DEFINED = {
    "torch._library.custom_ops.CustomOpDef": "_init_fn",
    "triton.runtime.jit.JITFunction": "fn",
    "triton.runtime.interpreter.InterpretedFunction": "fn",
}


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


_functions: dict[str, _Index] = {}  # by package
_indexed: dict[str, ModuleType] = {}
_looked_at: dict[str, tuple[int, str, Any]] = {}  # by package: the last module that stays in its place, with that
_Found = dict[int, tuple[str, FunctionType]]  # by the id of a function, so that its shortest name stands for it
_found: dict[str, tuple[_Found, int]] = {}  # by pattern; and how many names there were
_named: dict[tuple[str, ...], tuple[dict[str, FunctionType], int]] = {}  # by patterns; likewise
_again: dict[int, tuple[str, FunctionType]] = {}  # by the id of a function that is another one once more, its full name


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

    Those that are others once more have a number behind a space in their names. The table is not to be changed.
    """
    patterns = tuple(patterns)
    for root in roots_of(patterns):
        if not FINDER.is_importing(root):  # half a module may be there
            _index_modules(root)
    now = sum(_functions[root].count for root in roots_of(patterns) if root in _functions) + len(_again)
    known, count = _named.get(patterns, ({}, -1))
    if count == now:
        return known
    by_place: _Found = {}
    for pattern in patterns:
        for place, (name, function) in _functions_under(pattern).items():
            if place not in by_place or len(name) < len(by_place[place][0]):
                by_place[place] = name, function
    again = [pair for pair in _again.values() if _is_under(pair[0], patterns)]
    found = dict(by_place.values()) | {f"{name} {number}": function for number, (name, function) in enumerate(again)}
    _named[patterns] = found, now
    return found


def index_again(file: str, space: Any, patterns: Sequence[str], codes: Mapping[int, CodeType]) -> None:
    """Add the named functions that a file, or a text, made once more where it was executed.

    file: of the code, "" for a text; codes: by the id of a function, what was its own where that was replaced
    A library's file is known by its place. What else made a function that does the same as a named one made that one.
    """
    place = _module_in(file, roots_of(patterns))
    names = list(dict.items(space)) if issubclass(type(space), dict) else []  # its own methods could hide some
    made = [pair for word, thing in names for pair in _functions_of(word, defining(thing))]
    known = functions_named(patterns) if made else {}
    sizes = {function.__code__.co_nlocals for _, function in made}
    alike = [(name, code) for name, one in known.items() if (code := _code_of(one, codes)).co_nlocals in sizes]
    does = {_does(code): name.partition(" ")[0] for name, code in alike}
    seen = {*_again, *map(id, known.values())}
    for inside, function in made:
        is_of_file = place and function.__code__.co_filename == file
        name = does.get(_does(_code_of(function, codes))) or (f"{place}.{inside}" if is_of_file else "")
        if name and id(function) not in seen and _is_under(name, patterns):
            _again[id(function)] = name, function


def is_on_its_way(name: str, space: Any) -> bool:
    """Whether a module of these names is being imported, and its functions are found after that."""
    module = sys.modules.get(name)
    is_importing = FINDER.is_importing(name.partition(".")[0])
    return is_importing and getattr(module, "__dict__", None) is space and _indexed.get(name) is not module


def _code_of(function: FunctionType, codes: Mapping[int, CodeType]) -> CodeType:
    return codes.get(id(function), function.__code__)


def _does(code: CodeType) -> tuple[Any, ...]:
    """What code names and holds, wherever it stands: what it is compiled to differs with the module around it."""
    held = tuple(_does(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.co_varnames, code.co_names, code.co_freevars, tuple(map(repr, held))


def _module_in(file: str, roots: Iterable[str]) -> str:
    """The full name of the module that a file of one of these packages holds, "" where it is of none."""
    for root in roots:
        folders = getattr(sys.modules.get(root), "__path__", ())
        for folder in map(Path, folders if type(folders) is list else ()):
            if folder in Path(file).parents:
                return ".".join([root, *Path(file).relative_to(folder).with_suffix("").parts])
    return ""


def _is_under(name: str, patterns: Iterable[str]) -> bool:
    """Whether a function is named, or the class that holds it: "torch.nn.Softmax" of "torch.nn.Softmax.extra_repr"."""
    return is_named(name, patterns) or is_named(name.rpartition(".")[0], patterns)


def operators_named(patterns: Iterable[str]) -> list[str]:
    """The operators of torch's dispatcher under such names: "aten::_softmax", "aten::softmax.int"."""
    patterns = list(patterns)
    if "torch" not in roots_of(patterns):
        return []
    return list(dict.fromkeys(name for pattern in patterns for name in _operators_under(pattern)))


def _functions_under(pattern: str) -> _Found:
    index = _functions.get(pattern.partition(".")[0])
    known, count = _found.get(pattern, ({}, -1))
    if index is None or count == index.count:
        return known
    by_place: _Found = {}
    for name, thing in index.matching(pattern):
        for full, function in functions_in(name, thing):
            if len(full) < len(by_place.get(id(function), (full + " ", None))[0]):
                by_place[id(function)] = full, function
    _found[pattern] = by_place, index.count
    return by_place


def _index_modules(root: str) -> None:
    index = _functions.setdefault(root, _Index())
    for name in _new_modules(root):
        module = sys.modules.get(name)
        if name.partition(".")[0] != root or _indexed.get(name) is module or type(module) is not ModuleType:
            continue
        _indexed[name] = module
        for word, thing in list(vars(module).items()):
            thing = defining(thing)
            if _is_plain(thing) and str(thing.__module__).partition(".")[0] == root:
                index.add(f"{name}.{word}", thing)


def defining(thing: Any) -> Any:
    """The function that defines an operator of torch.library, or one of Triton's; everything else as it is."""
    kind = type(thing)
    holder = DEFINED.get(f"{kind.__module__}.{kind.__name__}")
    return getattr(thing, holder) if holder else thing


def _new_modules(root: str) -> list[str]:
    """The names of the modules that were imported since a package was indexed; of all, where some have gone since.

    Those that were there are not touched: in a forked process that alone would copy megabytes. A module that is put in
    the place of another without an import is a copy of the library, as a learner might paste it, and is not looked for.
    """
    before, last, module = _looked_at.get(root, (0, "", None))
    new = list(itertools.islice(reversed(sys.modules), max(0, len(sys.modules) - before)))[::-1]
    is_in_its_place = bool(new) and new[0] == last and sys.modules.get(last) is module
    if not is_in_its_place:
        before, new = 0, list(sys.modules)
    settled = list(itertools.takewhile(lambda name: not _is_being_imported(sys.modules.get(name)), new))
    if settled:
        _looked_at[root] = before + len(settled) - 1, settled[-1], sys.modules.get(settled[-1])
    return new[1:] if is_in_its_place else new


def _is_being_imported(module: Any) -> bool:
    """Whether a module is being imported: Python puts it behind all others when that ends."""
    spec = vars(module).get("__spec__") if type(module) is ModuleType else None
    return bool(getattr(spec, "_initializing", False))


@functools.cache
def _operators() -> _Index:
    """All operators that are registered when one is looked for first: what learners register later is their own."""
    import torch

    index = _Index()
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::")
        index.add(f"torch.ops.{space}.{rest.partition('.')[0]}", name)
    return index


@functools.cache
def _operators_under(pattern: str) -> tuple[str, ...]:
    return tuple(name for _, name in _operators().matching(pattern))


def _is_plain(thing: Any) -> bool:
    """Whether something is a function or a class; isinstance asks an object that pretends for its class."""
    return issubclass(type(thing), (FunctionType, type))


def _functions_of(name: str, thing: Any) -> list[tuple[str, FunctionType]]:
    return functions_in(name, thing) if _is_plain(thing) else []


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
