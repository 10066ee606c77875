"""What a learner's function reaches, read from the source without running it: forbidden calls, what it builds on."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from .bindings import LONG_CHAIN, Module, Reached, root_of
from .source import parse

PACKAGE = "attention"
MOST_WORDS = 2000  # attributes of a module whose exercises are followed to them; no honest one has as many


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
    while waiting:
        place, wanted = waiting.pop()
        if place not in reached:
            module = _module(text_of(place) if place else source)
            reached[place] = Reached(module) if module else None  # what does not parse is reported by its import
        found = reached[place]
        for node in found.by(wanted) if found else ():
            for name in found.module.names_of(node) if found else ():
                if name not in allowed and (name == LONG_CHAIN or any(fnmatchcase(name, one) for one in forbidden)):
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


def named_by_detour(tree: ast.Module, forbidden: Mapping[str, Sequence[str]]) -> list[tuple[int, str]]:
    """Line and last word of what is named as some forbidden call ends, where no full name is followed to it.

    forbidden: for every exercise of the module its function, and the names it must not reach
    """
    every = [one for patterns in forbidden.values() for one in patterns]
    named = [(node, words) for node in ast.walk(tree) if (words := _last_words(node))]
    known = [word for _, words in named for word in words]
    alike = {word for word in set(known) if any(fnmatchcase(word, one.rpartition(".")[2]) for one in every)}
    named = [(node, words) for node, words in named if alike.intersection(words) and root_of(node) != "self"]
    if not named:
        return []
    module = Module(tree)
    reaching: dict[int, set[str]] = {}
    for symbol in forbidden if len(known) <= MOST_WORDS else ():
        earlier = (part for part in tree.body if getattr(part, "name", None) == symbol)  # attempts that were left there
        for node in (*module.reached(symbol), *(node for part in earlier for node in ast.walk(part))):
            reaching.setdefault(id(node), set()).add(symbol)
    found = []
    for node, words in named:
        names = module.names_of(node)
        symbols = reaching.get(id(node), set())
        patterns = [one for symbol in symbols for one in forbidden[symbol]] if symbols else every
        followed = symbols and any(fnmatchcase(name, one) for name in names for one in patterns)
        if not followed and not any(_in_package(name).count(".") == 1 for name in names):
            found += [
                (getattr(node, "lineno", 1), word)
                for word in words
                if any(_ends_like(one, word, names) for one in patterns)
            ]
    return found


def _last_words(node: ast.AST) -> list[str]:
    if isinstance(node, ast.MatchClass):
        return node.kwd_attrs
    return [node.attr] if isinstance(node, ast.Attribute) else []


def _ends_like(pattern: str, word: str, names: Sequence[str]) -> bool:
    """Whether a last word, or the names that it ends, could be what a pattern forbids."""
    before, _, last = pattern.rpartition(".")
    if before and "*" not in last:  # torch.masked.softmax: the last word alone is no sign
        return any(name.endswith(f".{before.rpartition('.')[2]}.{last}") for name in names)
    return fnmatchcase(word, last)


def builds_on(source: str, symbol: str, other: str) -> bool:
    """Whether `symbol` reaches a function named `other`, its own or imported; True where it cannot be told."""
    module = _module(source)
    if module is None:
        return True
    names = (name for node in module.reached(symbol) for name in module.names_of(node))
    return other in {name.rpartition(".")[2] for name in names}


@functools.lru_cache(maxsize=64)
def _module(source: str) -> Module | None:
    tree = parse(source)
    return None if tree is None else Module(tree)


def _in_package(name: str) -> str:
    """A name of the package without the package's own: ".masks.f" and "attention.masks.f" are "masks.f"; else ""."""
    if name.startswith("."):
        return name.lstrip(".")
    return name.partition(".")[2] if name.partition(".")[0] == PACKAGE else ""
