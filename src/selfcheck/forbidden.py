"""Finds calls that an exercise asks the learner to write, written out in the learner's own source."""

from __future__ import annotations

import ast


def forbidden_call(source: str, symbol: str, forbidden: tuple[str, ...]) -> tuple[str, int] | None:
    """The first forbidden dotted name that `symbol` reaches, and its line; None where there is none.

    source: the module's text; symbol: the exercise's function. Functions of the same module that it names are followed.
    A name is forbidden as a whole ("torch.nn.functional.softmax"), under whatever alias it was imported.
    """
    if not forbidden:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # the import reports it
    aliases = _aliases(tree)
    definitions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    waiting, seen = [symbol], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        for node in ast.walk(definitions[name]):
            dotted = _dotted(node, aliases)
            if dotted in forbidden:
                return dotted, getattr(node, "lineno", 0)
            if isinstance(node, ast.Name):
                waiting.append(node.id)
    return None


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, wherever in the module it is imported."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([aliases.get(node.id, node.id), *reversed(parts)])
