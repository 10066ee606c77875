"""Reads a learner's source without running it."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator

_ONE_AT_A_TIME = threading.Lock()  # CPython 3.11 counts the depth of two parsing threads as one, and fails


def forbidden_call(source: str, symbol: str, forbidden: tuple[str, ...]) -> tuple[str, int] | None:
    """The first forbidden dotted name that `symbol` reaches, and its line; None where there is none.

    source: the module's text; symbol: the exercise's function. What it names in the same module is followed.
    A name is forbidden as a whole ("torch.nn.functional.softmax"), under whatever alias it was imported, or, with a
    dot in front (".softmax"), as a method of whatever object.
    """
    tree = _parse(source)
    if not forbidden or tree is None:  # a module that does not parse is reported by its import
        return None
    aliases = _aliases(tree)
    for node in _reached(tree, symbol):
        dotted = _dotted(node, aliases)
        if dotted in forbidden:
            return dotted, getattr(node, "lineno", 0)
        if isinstance(node, ast.Attribute) and f".{node.attr}" in forbidden:
            return f".{node.attr}", node.lineno
    return None


def builds_on(source: str, symbol: str, other: str) -> bool:
    """Whether `symbol` reaches a function named `other`, its own or imported; True where it cannot be told."""
    tree = _parse(source)
    if tree is None:
        return True
    aliases = _aliases(tree)
    names = {name.rpartition(".")[2] for node in _reached(tree, symbol) if (name := _dotted(node, aliases))}
    return other in names


def _parse(source: str) -> ast.Module | None:
    try:
        with _ONE_AT_A_TIME:
            return ast.parse(source.removeprefix("\ufeff"))  # some editors on Windows put this mark first
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _reached(tree: ast.Module, symbol: str) -> Iterator[ast.AST]:
    """Every node of a top-level definition, and of the definitions in the same module that it names."""
    definitions: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            definitions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    definitions.setdefault(target.id, []).append(node)
    waiting, seen = [symbol], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for definition in definitions.get(name, [])[-1:]:  # a later definition replaces an earlier one
            for node in ast.walk(definition):
                yield node
                if isinstance(node, ast.Name):
                    waiting.append(node.id)


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, wherever in the module it is imported."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{'.' * node.level}{node.module or ''}.{alias.name}"
    return found


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([aliases.get(node.id, node.id), *reversed(parts)])
