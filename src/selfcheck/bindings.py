"""Finds out which statements of a module give a name its value, and what these name in turn."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from .source import MOST_PARTS, dotted_name, imports_of, is_long_chain, nodes_of, of_bounded_length, parts_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NAMING = (ast.Name, ast.Attribute, ast.alias, ast.MatchClass)
Naming = ast.Name | ast.Attribute | ast.alias | ast.MatchClass
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
WITHIN = (ast.NamedExpr, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.Global)  # what binds a name in a statement
LONG_CHAIN = f"a chain of more than {MOST_PARTS} names"  # in the place of its name, which nobody reads


class Module:
    """The top-level bindings of a module: which statement gives a name its value."""

    def __init__(self, tree: ast.Module) -> None:
        self._parts: dict[int, tuple[list[Naming], list[str]]] = {}
        nodes = nodes_of(tree)
        self.aliases = imports_of(nodes)
        self.stars = [name.removesuffix("*") for name in self.aliases.values() if name.endswith(".*")]
        self.bound: dict[str, Bindings] = {}
        binds_within = any(isinstance(node, WITHIN) for node in nodes)  # which few modules do
        statements = (
            binding
            for part in tree.body
            for binding in (*(_bound_within(part) if binds_within else ()), *_bindings([part]))
        )
        for place, (name, node, surely) in enumerate(statements):
            self.bound.setdefault(name, Bindings()).add(place, node, surely)
        self.own = {name for node in nodes for name in _bound_by(node)}
        for node in nodes:  # F = torch.nn.functional is one more way to import
            if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
                value = dotted_name(node.value, self.aliases)
                for target in node.targets:
                    if value and isinstance(target, ast.Name) and root_of(node.value) in self.aliases:
                        self.aliases.setdefault(target.id, of_bounded_length(value))

    def names_of(self, node: ast.AST) -> list[str]:
        """The dotted names that a node may stand for: one, or one more for each `from … import *`."""
        if isinstance(node, ast.alias):  # where it is imported
            return [self.aliases.get(node.asname or node.name.partition(".")[0], "")]
        if is_long_chain(node):
            return [LONG_CHAIN]
        name = dotted_name(node, self.aliases)
        unknown = [] if name is None or root_of(node) in self.own else self.stars
        return [name, *(star + name for star in unknown)] if name else []

    def reached(self, symbol: str) -> Iterator[Naming]:
        """Every node that names something, of a top-level definition and of those in the same module that it names."""
        return Reached(self).by(symbol)

    def read(self) -> None:
        """Read every definition, which is otherwise done as it is reached."""
        for bindings in self.bound.values():
            for node in bindings.nodes:
                self.part(node)

    def part(self, node: ast.AST) -> tuple[list[Naming], list[str]]:
        """The nodes of a definition that name something, and the names that it takes from the module."""
        if id(node) not in self._parts:
            naming = [node_of_name for node_of_name in nodes_of(node) if isinstance(node_of_name, NAMING)]
            last = dict.fromkeys(reversed(_names_taken(node)))  # the last is followed first
            self._parts[id(node)] = naming, [*reversed(last)]
        return self._parts[id(node)]


class Bindings:
    """Everything that may give one name its value, in the order of the text."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.nodes: list[ast.AST] = []
        self._firsts: list[int] = []  # of each: the last before it, or it, that surely replaces what was before

    def add(self, place: int, node: ast.AST, surely: bool) -> None:
        """One more, which comes later than those that are there."""
        self._firsts.append(len(self.nodes) if surely or not self.nodes else self._firsts[-1])
        self.places.append(place)
        self.nodes.append(node)

    def range_before(self, place: int | None) -> range:
        """Those that may have given the name the value that it has there, or at last: a later one replaces an earlier
        one, unless it is a branch's.
        """
        end = len(self.nodes) if place is None else bisect_left(self.places, place)
        return range(self._firsts[end - 1], end) if end else range(0)


class Reached:
    """What is reached in a module from one name after the other; what was reached before is left out.

    However often a name is bound, and named, each of its bindings is followed once: the time grows with the text.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._next: dict[str, list[int]] = {}  # by name, of each of its bindings: the next that waits, as far as known
        self._seen: set[int] = set()

    def by(self, symbol: str) -> Iterator[Naming]:
        """Every node that names something, of a top-level definition and of those in the same module that it names."""
        module = self.module
        waiting = self._taken(symbol, None) + self._taken("__getattr__", None)
        if symbol not in module.bound and "__getattr__" not in module.bound and module.stars:
            yield ast.Name(symbol, ast.Load(), lineno=1)
        while waiting:
            place, node = waiting.pop()
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            naming, names = module.part(node)
            yield from naming
            for name in names:
                # A function looks a name up when it is called, other statements when they are run.
                then = self._taken(name, place)
                waiting += self._taken(name, None) + then

    def _taken(self, name: str, before: int | None) -> list[tuple[int, ast.AST]]:
        """What may have given a name its value, as far as it was not taken before."""
        bindings = self.module.bound.get(name)
        if bindings is None:
            return []
        if name not in self._next:
            self._next[name] = [*range(len(bindings.nodes) + 1)]
        following = self._next[name]
        taken, wanted = [], bindings.range_before(before)
        index = _first(following, wanted.start)
        while index < wanted.stop:
            taken.append((bindings.places[index], bindings.nodes[index]))
            following[index] = index + 1
            index = _first(following, index + 1)
        return taken


def _first(following: list[int], index: int) -> int:
    """The first of these indices, from one on, that leads to itself; those that lead there lead there at once then."""
    last = index
    while following[last] != last:
        last = following[last]
    while following[index] != last and index != last:
        following[index], index = last, following[index]
    return last


def _bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.AST, bool]]:
    """Name, what gives it its value, and whether that surely happens; for a module's statements, in order."""
    waiting = [(iter(body), True)]  # without calling itself: a branch may have a thousand ways
    while waiting:
        statements, surely = waiting[-1]
        node = next(statements, None)
        if node is None:
            waiting.pop()
            continue
        inner: list[ast.stmt] = []
        inner_surely = False
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node, surely
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name.partition(".")[0], alias, surely) for alias in node.names)
        elif isinstance(node, ast.If):
            inner = [*([] if _only_as_program(node.test) else node.body), *node.orelse]
        elif isinstance(node, (ast.For, ast.While)):
            if isinstance(node, ast.For):
                yield from ((name, node.iter, False) for name in _stored(node.target))
            inner = [*node.body, *node.orelse]
        elif isinstance(node, ast.With):
            for item in node.items:
                yield from ((name, item.context_expr, surely) for name in _stored(item.optional_vars))
            inner, inner_surely = node.body, surely
        elif isinstance(node, (ast.Try, ast.TryStar)):
            handled = [statement for handler in node.handlers for statement in handler.body]
            inner = [*node.body, *handled, *node.orelse, *node.finalbody]
        elif isinstance(node, ast.Match):
            inner = [statement for case in node.cases for statement in case.body]
        elif isinstance(node, ast.Expr):  # register(f) may change what f does
            yield from ((name_node.id, node, False) for name_node in nodes_of(node) if isinstance(name_node, ast.Name))
        else:
            plain = isinstance(node, (ast.Assign, ast.AnnAssign))
            yield from ((name, node, surely and plain) for name in _stored(node))
            for target in getattr(node, "targets", []):
                if isinstance(target, (ast.Attribute, ast.Subscript)) and root_of(target):
                    yield root_of(target), node, False
        if inner:
            waiting.append((iter(inner), inner_surely))


def _bound_within(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, bool]]:
    """As `_bindings`, the names that a part of a statement may give a value: (f := …), a pattern, `global f`."""
    if isinstance(statement, ast.If) and _only_as_program(statement.test):
        return
    for node in nodes_of(statement):
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
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _bound_by(node: ast.AST) -> list[str]:
    """The names that a node itself gives a value, in whatever scope."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def _stored(node: ast.AST | None) -> list[str]:
    names = [name_node for name_node in nodes_of(node) if isinstance(name_node, ast.Name)] if node else []
    return [name_node.id for name_node in names if isinstance(name_node.ctx, ast.Store)]


def root_of(node: ast.AST) -> str:
    """The name that a chain of attributes and items begins with; "" where it begins otherwise, or is very long."""
    for _ in range(MOST_PARTS):
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            break
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_taken(node: ast.AST) -> list[str]:
    """The names that a node takes from the module: those of a function's own are left out."""
    names: list[str] = []
    hidden: Counter[str] = Counter()  # how many of the functions around have a name of their own
    waiting: list[ast.AST | tuple[set[str], int]] = [node]  # parts, and names that are hidden (1) or no more (-1)
    while waiting:
        waiting_part = waiting.pop()
        if isinstance(waiting_part, tuple):
            for name in waiting_part[0]:
                hidden[name] += waiting_part[1]
        elif isinstance(waiting_part, ast.Name):
            if not hidden[waiting_part.id]:
                names.append(waiting_part.id)
        elif isinstance(waiting_part, FUNCTIONS):
            body = [waiting_part.body] if isinstance(waiting_part, ast.Lambda) else waiting_part.body
            outside = (waiting_part.args, *getattr(waiting_part, "decorator_list", []))
            own = _own_names(waiting_part)
            waiting += [(own, -1), *reversed(body), (own, 1), *reversed(outside)]
        elif isinstance(waiting_part, COMPREHENSIONS):
            own = {name for part in waiting_part.generators for name in _stored(part.target)}
            first = waiting_part.generators[0]  # whose source is taken outside, and once: they may nest
            inside = [*(part for part in parts_of(waiting_part) if part is not first), first.target, *first.ifs]
            waiting += [(own, -1), *reversed(inside), (own, 1), first.iter]
        else:
            waiting += reversed([*parts_of(waiting_part)])
    return names


def _own_names(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names that are a function's own: its arguments, and what it binds outside the functions within it."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own, shared = {argument.arg for argument in every if argument}, set()
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
            waiting.extend(parts_of(node))
    return own - shared
