"""Finds out which statements of a module give a name its value, and what these name in turn."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .source import dotted_name, imports_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NAMING = (ast.Name, ast.Attribute, ast.alias, ast.MatchClass)
Naming = ast.Name | ast.Attribute | ast.alias | ast.MatchClass
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Module:
    """The top-level bindings of a module: which statement gives a name its value."""

    def __init__(self, tree: ast.Module) -> None:
        self._parts: dict[int, tuple[list[Naming], list[str]]] = {}
        nodes = list(ast.walk(tree))
        self.aliases = imports_of(nodes)
        self.stars = [name.removesuffix("*") for name in self.aliases.values() if name.endswith(".*")]
        self.bound: dict[str, list[tuple[int, ast.AST, bool]]] = {}
        statements = (one for part in tree.body for one in (*_bound_within(part), *_bindings([part])))
        for place, (name, node, surely) in enumerate(statements):
            self.bound.setdefault(name, []).append((place, node, surely))
        self.own = {name for node in nodes for name in _bound_by(node)}
        for node in nodes:  # F = torch.nn.functional is one more way to import
            if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
                value = dotted_name(node.value, self.aliases)
                for target in node.targets:
                    if value and isinstance(target, ast.Name) and root_of(node.value) in self.aliases:
                        self.aliases.setdefault(target.id, value)

    def names_of(self, node: ast.AST) -> list[str]:
        """The dotted names that a node may stand for: one, or one more for each `from … import *`."""
        if isinstance(node, ast.alias):  # where it is imported
            return [self.aliases.get(node.asname or node.name.partition(".")[0], "")]
        name = dotted_name(node, self.aliases)
        unknown = [] if name is None or root_of(node) in self.own else self.stars
        return [name, *(star + name for star in unknown)] if name else []

    def reached(self, symbol: str) -> Iterator[Naming]:
        """Every node that names something, of a top-level definition and of those in the same module that it names."""
        waiting, seen = self._definitions(symbol) + self._definitions("__getattr__"), set()
        if not waiting and self.stars:
            yield ast.Name(symbol, ast.Load(), lineno=1)
        while waiting:
            place, node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            naming, taken = self._part(node)
            yield from naming
            for name in taken:
                # A function looks a name up when it is called, other statements when they are run.
                waiting += self._definitions(name) + self._definitions(name, place)

    def _part(self, node: ast.AST) -> tuple[list[Naming], list[str]]:
        """The nodes of a definition that name something, and the names that it takes from the module."""
        if id(node) not in self._parts:
            naming = [one for one in ast.walk(node) if isinstance(one, NAMING)]
            last = dict.fromkeys(reversed(_names_taken(node)))  # the last is followed first
            self._parts[id(node)] = naming, [*reversed(last)]
        return self._parts[id(node)]

    def _definitions(self, name: str, before: int | None = None) -> list[tuple[int, ast.AST]]:
        """What may have given a name its value: a later definition replaces an earlier one, unless it is a branch's."""
        found: list[tuple[int, ast.AST]] = []
        for place, node, surely in self.bound.get(name, []):
            if before is None or place < before:
                found = [(place, node)] if surely else [*found, (place, node)]
        return found


def _bindings(body: Sequence[ast.stmt], surely: bool = True) -> Iterator[tuple[str, ast.AST, bool]]:
    """Name, what gives it its value, and whether that surely happens; for a module's statements, in order."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node, surely
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((one.asname or one.name.partition(".")[0], one, surely) for one in node.names)
        elif isinstance(node, ast.If):
            yield from _bindings([*([] if _only_as_program(node.test) else node.body), *node.orelse], False)
        elif isinstance(node, (ast.For, ast.While)):
            if isinstance(node, ast.For):
                yield from ((name, node.iter, False) for name in _stored(node.target))
            yield from _bindings([*node.body, *node.orelse], False)
        elif isinstance(node, ast.With):
            for item in node.items:
                yield from ((name, item.context_expr, surely) for name in _stored(item.optional_vars))
            yield from _bindings(node.body, surely)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            handled = [one for handler in node.handlers for one in handler.body]
            yield from _bindings([*node.body, *handled, *node.orelse, *node.finalbody], False)
        elif isinstance(node, ast.Match):
            yield from _bindings([one for case in node.cases for one in case.body], False)
        elif isinstance(node, ast.Expr):  # register(f) may change what f does
            yield from ((one.id, node, False) for one in ast.walk(node) if isinstance(one, ast.Name))
        else:
            plain = isinstance(node, (ast.Assign, ast.AnnAssign))
            yield from ((name, node, surely and plain) for name in _stored(node))
            for target in getattr(node, "targets", []):
                if isinstance(target, (ast.Attribute, ast.Subscript)) and root_of(target):
                    yield root_of(target), node, False


def _bound_within(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, bool]]:
    """As `_bindings`, the names that a part of a statement may give a value: (f := …), a pattern, `global f`."""
    if isinstance(statement, ast.If) and _only_as_program(statement.test):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.NamedExpr):
            yield node.target.id, node, False
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
            name = node.rest if isinstance(node, ast.MatchMapping) else node.name
            yield from [(name, statement, False)] if name else []
        elif isinstance(node, ast.Global):
            yield from ((name, statement, False) for name in node.names)


def _only_as_program(test: ast.expr) -> bool:
    """Whether a test is `__name__ == "__main__"`."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) > 1:
        return False
    sides = (test.left, *test.comparators)
    names = [one.id for one in sides if isinstance(one, ast.Name)]
    return names == ["__name__"] and any(isinstance(one, ast.Constant) and one.value == "__main__" for one in sides)


def _bound_by(node: ast.AST) -> list[str]:
    """The names that a node itself gives a value, in whatever scope."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def _stored(node: ast.AST | None) -> list[str]:
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)] if node else []
    return [one.id for one in names if isinstance(one.ctx, ast.Store)]


def root_of(node: ast.AST) -> str:
    """The name that a chain of attributes and items begins with; "" where it begins otherwise."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_taken(node: ast.AST) -> list[str]:
    """The names that a node takes from the module; where it is too deep to be told, every name in it."""
    try:
        return list(_free(node))
    except RecursionError:
        return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]


def _free(node: ast.AST) -> Iterator[str]:
    """The names that a node takes from the module: those of a function's own are left out."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, FUNCTIONS):
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for part in (node.args, *getattr(node, "decorator_list", [])):
            yield from _free(part)
        own = _own_names(node)
        yield from (name for part in body for name in _free(part) if name not in own)
    elif isinstance(node, COMPREHENSIONS):
        own = {name for one in node.generators for name in _stored(one.target)}
        yield from _free(node.generators[0].iter)
        yield from (name for part in ast.iter_child_nodes(node) for name in _free(part) if name not in own)
    else:
        for part in ast.iter_child_nodes(node):
            yield from _free(part)


def _own_names(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names that are a function's own: its arguments, and what it binds outside the functions within it."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own, shared = {one.arg for one in every if one}, set()
    waiting: list[ast.AST] = [] if isinstance(function, ast.Lambda) else [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.Global):
            shared.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(node))
    return own - shared
