"""Takes a function out of its file together with everything there that it builds on, so that it stands alone."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable

ANYWHERE = {*sys.stdlib_module_names, "torch", "numpy"}  # what a learner's module may import too


class NotAlone(ValueError):
    """The function builds on something that cannot be taken along."""


def taken_out(function: Callable) -> dict[str, str]:
    """The source of a function and of what it builds on, by name, each after what it needs itself.

    The function's one decorator, which registers it, is left behind. NotAlone where it has more, such as no_grad, or
    needs the reference or something that is decorated.
    """
    found: dict[str, str] = {}
    _take(function.__module__, function.__name__, found, decorated=True)
    if function.__name__ not in found:
        raise NotAlone(f"{function.__module__} does not define {function.__name__}")
    return found


def top_level(source: str) -> dict[str, ast.stmt]:
    """The statement that binds each name at the top level of a module's text."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(source).body:
        for name in _bound(node):
            found[name] = node
    return found


def import_of(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The statement that imports one name, of one that may import several."""
    alias = next(one for one in node.names if _name_of(one) == name)
    renamed = f" as {alias.asname}" if alias.asname else ""
    if isinstance(node, ast.Import):
        return f"import {alias.name}{renamed}"
    return f"from {'.' * node.level}{node.module or ''} import {alias.name}{renamed}"


def _take(module: str, name: str, found: dict[str, str], decorated: bool = False) -> None:
    source, table = _read(module)
    node = table.get(name)
    if node is None:
        return  # a name of Python's own, or one within the function
    if isinstance(node, ast.Import | ast.ImportFrom):
        _take_import(module, node, name, found)
        return
    text = ast.get_source_segment(source, node) or ""
    if name in found:
        if found[name] != text:
            raise NotAlone(f"two things are named {name}")
        return
    if len(getattr(node, "decorator_list", [])) > decorated:
        raise NotAlone(f"{name} is decorated")
    found[name] = text  # now, so that a function may name itself
    for part in (one for statement in _without_decorators(node) for one in ast.walk(statement)):
        if isinstance(part, ast.Name):
            _take(module, part.id, found)
    found[name] = found.pop(name)


def _take_import(module: str, node: ast.Import | ast.ImportFrom, name: str, found: dict[str, str]) -> None:
    if isinstance(node, ast.ImportFrom) and node.level:
        package = module.rpartition(".")[0]
        if node.module is None or any(_name_of(one) == name and one.asname for one in node.names):
            raise NotAlone(f"{name} is imported as a module or under another name")
        _take(importlib.util.resolve_name("." * node.level + node.module, package), name, found)
        return
    text = import_of(node, name)
    if text.split()[1].partition(".")[0] not in ANYWHERE:
        raise NotAlone(f"{text}: a learner has it not")
    found[name] = text


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
