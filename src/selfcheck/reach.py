"""What a learner's function reaches, read from the source without running it: forbidden calls, what it builds on.

Whether a forbidden call counts is decided by what runs (see call_effect.py); the source says in which line it stands.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate

from .bindings import LONG_CHAIN, Module, Reached
from .source import parse

PACKAGE = "attention"


def prepare(forbidden: Iterable[Sequence[str]], texts: Iterable[str]) -> None:
    """Do beforehand what processes that are forked later have in common.

    forbidden: patterns of exercises; texts: of modules to which many functions lead
    """
    for patterns in forbidden:
        _matcher(tuple(patterns))
    for module in filter(None, map(_module, texts)):
        module.read()


def forbidden_call(
    source: str, symbol: str, forbidden: Sequence[str], text_of: Callable[[str], str] = lambda module: ""
) -> tuple[str, int] | None:
    """The first forbidden dotted name that `symbol` reaches, and its line; None where there is none.

    source: the module's text; symbol: the exercise's function. What it names in the same module is followed, and in
    other modules of the package, whose texts `text_of` gives ("" for those that are not to be followed).
    A name is forbidden as a whole ("torch.nn.functional.softmax"), under whatever alias it was imported; with a "*"
    for any part of it ("torch.*scaled_dot_product*"); or, with a dot in front (".softmax"), as a method of whatever
    object.
    """
    reached: dict[str, Reached | None] = {}
    waiting = [("", symbol)] if forbidden else []
    seen, allowed = set(waiting), set[str]()
    is_forbidden = _matcher(tuple(forbidden)).match
    while waiting:
        place, wanted = waiting.pop()
        if place not in reached:
            module = _module(text_of(place) if place else source)
            reached[place] = Reached(module) if module else None  # what does not parse is reported by its import
        reading = reached[place]
        for node in reading.by(wanted) if reading else ():
            for name in reading.module.names_of(node) if reading else ():
                if name not in allowed and (name == LONG_CHAIN or is_forbidden(name)):
                    return f"{name} (in {place}.py)" if place else name, node.lineno
                allowed.add(name)
                other, _, inside = _in_package(name).partition(".")
                following = other, inside.partition(".")[0]
                if other and following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if isinstance(node, ast.Attribute) and f".{node.attr}" in forbidden:
                return f".{node.attr}", node.lineno
    return None


def builds_on(source: str, symbol: str, other: str) -> bool:
    """Whether `symbol` reaches a function named `other`, its own or imported; True where it cannot be told."""
    names = _names_reached(source, symbol)
    return names is None or other in names


@functools.lru_cache(maxsize=64)
def _names_reached(source: str, symbol: str) -> frozenset[str] | None:
    """The last words of all names that `symbol` reaches; None where the source cannot be read."""
    module = _module(source)
    if module is None:
        return None
    names = (name for node in module.reached(symbol) for name in module.names_of(node))
    return frozenset(name.rpartition(".")[2] for name in names)


@functools.cache
def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or "(?!)")


@functools.lru_cache(maxsize=64)
def _module(source: str) -> Module | None:
    tree = parse(source)
    return None if tree is None else Module(tree)


def _in_package(name: str) -> str:
    """A name of the package without the package's own: ".masks.f" and "attention.masks.f" are "masks.f"; else ""."""
    if name.startswith("."):
        return name.lstrip(".")
    return name.partition(".")[2] if name.partition(".")[0] == PACKAGE else ""
