"""Extracts a function from its module together with everything there that it uses."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable

IMPORTABLE = {*sys.stdlib_module_names, "torch", "numpy"}  # by a learner's module as well


class NotSelfContained(ValueError):
    """The function uses something that cannot be extracted with it."""


def extract(function: Callable[..., object]) -> dict[str, str]:
    """The source of a function and of all that it uses, by name, each after what it needs itself.

    Its decorator, which registers it, is left out. NotSelfContained where it has another, such as no_grad, or where it
    needs the reference or something decorated.
    """
    pieces: dict[str, str] = {}
    _add(function.__module__, function.__name__, pieces, decorated=True)
    if function.__name__ not in pieces:
        raise NotSelfContained(f"{function.__module__} does not define {function.__name__}")
    return pieces


def top_level(source: str) -> dict[str, ast.stmt]:
    """The statement that binds each name at the top level of a module's text."""
    statements: dict[str, ast.stmt] = {}
    for node in ast.parse(source).body:
        for name in _bound(node):
            statements[name] = node
    return statements


def import_of(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The statement that imports one name, of one that may import several."""
    alias = next(imported for imported in node.names if _name_of(imported) == name)
    renamed = f" as {alias.asname}" if alias.asname else ""
    if isinstance(node, ast.Import):
        return f"import {alias.name}{renamed}"
    return f"from {'.' * node.level}{node.module or ''} import {alias.name}{renamed}"


def _add(module: str, name: str, pieces: dict[str, str], decorated: bool = False) -> None:
    source, table = _read(module)
    node = table.get(name)
    if node is None:
        return  # a builtin, or local to the function
    if isinstance(node, ast.Import | ast.ImportFrom):
        _add_import(module, node, name, pieces)
        return
    text = ast.get_source_segment(source, node) or ""
    if name in pieces:
        if pieces[name] != text:
            raise NotSelfContained(f"two things are named {name}")
        return
    if len(getattr(node, "decorator_list", [])) > decorated:
        raise NotSelfContained(f"{name} is decorated")
    pieces[name] = text  # now, for a recursive function
    for part in (node_inside for statement in _without_decorators(node) for node_inside in ast.walk(statement)):
        if isinstance(part, ast.Name):
            _add(module, part.id, pieces)
    pieces[name] = pieces.pop(name)


def _add_import(module: str, node: ast.Import | ast.ImportFrom, name: str, pieces: dict[str, str]) -> None:
    if isinstance(node, ast.ImportFrom) and node.level:
        package = module.rpartition(".")[0]
        if node.module is None or any(_name_of(alias) == name and alias.asname for alias in node.names):
            raise NotSelfContained(f"{name} is imported as a module or under another name")
        _add(importlib.util.resolve_name("." * node.level + node.module, package), name, pieces)
        return
    text = import_of(node, name)
    if text.split()[1].partition(".")[0] not in IMPORTABLE:
        raise NotSelfContained(f"{text}: learners do not have this package")
    pieces[name] = text


@functools.cache
def _read(module: str) -> tuple[str, dict[str, ast.stmt]]:
    source = inspect.getsource(importlib.import_module(module))
    return source, top_level(source)


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [_name_of(alias) for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _name_of(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _without_decorators(node: ast.stmt) -> list[ast.AST]:
    left = getattr(node, "decorator_list", [])
    return [part for part in ast.iter_child_nodes(node) if part not in left]
