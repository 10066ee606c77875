"""Turns a module into rows of tokens from its syntax tree.

There are no comments, docstrings, annotations, imports or layout in them, and one sign stands for every name that the
module itself gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType

from selfcheck.source import imports_of, parse

_SILENT = (ast.Load, ast.Store, ast.Del, ast.Import, ast.ImportFrom)


def normal_form(source: str) -> list[list[str]] | None:
    """The tokens of each statement at a module's top; None for what Python cannot read."""
    tree = parse(source)
    if tree is None:
        return None
    given = _given(tree)
    return [row for row in ([*_tokens(statement, given)] for statement in tree.body) if row]


@dataclass(frozen=True)
class _Given:
    """What a module itself gives: names to functions, arguments and variables, attributes to objects, and imports."""

    names: frozenset[str]
    attributes: frozenset[str]
    imported: dict[str, str]


def _given(tree: ast.Module) -> _Given:
    names, attributes = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                attributes.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
    return _Given(frozenset(names), frozenset(attributes), imports_of(ast.walk(tree)))


def _tokens(statement: ast.stmt, given: _Given) -> Iterator[str]:
    """A statement's tree in the order of its text; without calling itself, for trees may be deep."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _SILENT) or _is_text_alone(node):
            continue
        yield _token(node, given)
        waiting += reversed([*_parts(node)])


def _is_text_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "type_params"):
            yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST))


def _token(node: ast.AST, given: _Given) -> str:
    match node:
        case ast.Name(id=name):
            return "name" if name in given.names else given.imported.get(name, name)
        case ast.Attribute(attr=name):
            return ".name" if name in given.attributes else f".{name}"
        case ast.Constant(value=str() | bytes()):
            return "text"
        case ast.Constant(value=bool() | None | EllipsisType() as value):
            return repr(value)
        case ast.Constant(value=value):
            return str(hash(value))  # of a number, which may be too long to write out
        case ast.AnnAssign():
            return "Assign"
        case _:
            return type(node).__name__
