"""Rewrites the text of right answers so that they mean the same: other names, another order, other constructs."""

from __future__ import annotations

import ast
import copy
import random
from collections import Counter
from collections.abc import Callable, Iterable

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: Behind these an expression means something else when it moves into a function of its own.
BOUND_TO_PLACE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)

WRAPPED = """
import functools


def _passed_on(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


{name} = _passed_on({name})
"""
PARTIAL = "\nimport functools\n\n{name} = functools.partial({name})\n"
CALLABLE = """

class _Callable_{name}:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


{name} = _Callable_{name}({name})
"""
SUBCLASS = '\n\nclass {name}({name}):\n    """The same, one step further down."""\n'


def rewritten(source: str, names: Iterable[str], rng: random.Random) -> str:
    """A module's text, rewritten by a choice of the ways below; names: of the exercises' functions and classes."""
    tree = ast.parse(source)
    kept = [(node, copy.deepcopy(vars(node))) for node in _compiled(tree)]
    for way in rng.sample(WAYS, rng.randint(3, len(WAYS))):
        way(tree, rng)
    for node, was in kept:
        vars(node).update(was)
    text = ast.unparse(ast.fix_missing_locations(tree))
    kinds = {node.name: type(node) for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for name in names:
        forms = (SUBCLASS, "") if kinds[name] is ast.ClassDef else (WRAPPED, PARTIAL, CALLABLE, "")
        text += rng.choice(forms).format(name=name)
    return text + "\n"


def rename_locals(tree: ast.Module, rng: random.Random) -> None:
    """Give the names that a function binds for itself another ending."""
    for function in _functions(tree):
        names = _own_names(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in names:
                node.id += "_here"


def document(tree: ast.Module, rng: random.Random) -> None:
    """Write docstrings and annotations where there are none."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is None:
            node.body.insert(0, ast.Expr(ast.Constant("As torch.softmax, nn.LayerNorm or nn.Transformer would do.")))
        if isinstance(node, ast.FunctionDef):
            node.returns = node.returns or ast.Constant("object")
            for one in node.args.args[1:]:
                one.annotation = one.annotation or ast.Constant("torch.nn.MultiheadAttention | object")


def reorder(tree: ast.Module, rng: random.Random) -> None:
    """Put the plain functions of the module in another order: each finds the others when it is called.

    One that is called while the module is imported stays, and so does one whose defaults or annotations name something
    that the module binds behind the first of them.
    """
    places = [place for place, node in enumerate(tree.body) if _is_plain(node)]
    called = {one.id for node in tree.body if not _is_plain(node) for one in _names_in(node)}
    bound = {name for node in tree.body[places[0] :] for name in _bound_by(node)} if places else set()
    needed = {place: {one.id for one in _names_in(tree.body[place], at_definition=True)} for place in places}
    places = [place for place in places if tree.body[place].name not in called and not needed[place] & bound]
    moved = [tree.body[place] for place in rng.sample(places, len(places))]
    for place, node in zip(places, moved, strict=True):
        tree.body[place] = node


def name_results(tree: ast.Module, rng: random.Random) -> None:
    """`return f(x)` becomes `result = f(x); return result`."""

    class Named(ast.NodeTransformer):
        def visit_Return(self, node):
            if node.value is None or isinstance(node.value, ast.Constant):
                return node
            result = ast.Assign([ast.Name("_result", ast.Store())], node.value)
            return [result, ast.Return(ast.Name("_result", ast.Load()))]

    Named().visit(tree)


def extract_helpers(tree: ast.Module, rng: random.Random) -> None:
    """`return f(x)` becomes a function within the function, which is called at once."""

    class Extracted(ast.NodeTransformer):
        def visit_Return(self, node):
            if node.value is None or not _can_move(node.value):
                return node
            nothing = ast.arguments([], [], None, [], [], None, [])
            helper = ast.FunctionDef("_helper", nothing, [ast.Return(node.value)], [], type_params=[])
            return [helper, ast.Return(ast.Call(ast.Name("_helper", ast.Load()), [], []))]

    Extracted().visit(tree)


def inline(tree: ast.Module, rng: random.Random) -> None:
    """`y = x[0]; return f(y)` becomes `return f(x[0])`, and a call of a function of one line becomes that line."""
    lines = {node.name: node for node in tree.body if _is_plain(node) and _only_line(node) is not None}
    for function in _functions(tree):
        bound = set().union(*_bound_in(function))
        for node in ast.walk(function):
            if isinstance(node, FUNCTIONS[:2]):
                node.body = _without_steps(node.body, function)
        usable = {name: line for name, line in lines.items() if line is not function and name not in bound}
        function.body = [_Inlined(usable, bound).visit(node) for node in function.body]


class _Inlined(ast.NodeTransformer):
    """Puts a function's only line where it is called with names and constants alone."""

    def __init__(self, lines: dict[str, ast.FunctionDef], bound: set[str]) -> None:
        """bound: the names of whoever calls, which mean something else in the line"""
        self.lines, self.bound = lines, bound

    def visit_Call(self, node):
        self.generic_visit(node)
        called = self.lines.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if called is None or node.keywords or not all(isinstance(one, (ast.Name, ast.Constant)) for one in node.args):
            return node
        names = [one.arg for one in called.args.args]
        line = copy.deepcopy(_only_line(called))
        free = {one.id for one in ast.walk(line) if isinstance(one, ast.Name)} - set(names)
        if len(names) != len(node.args) or free & self.bound:
            return node
        return _Put(dict(zip(names, node.args, strict=True))).visit(line)


class _Put(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node):
        return copy.deepcopy(self.given.get(node.id, node))


def _only_line(function: ast.FunctionDef) -> ast.expr | None:
    """What a function of nothing but one `return` gives back, from plain arguments; None for any other."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    given = function.args
    others = (given.posonlyargs, given.kwonlyargs, given.defaults, given.vararg, given.kwarg)
    if len(body) != 1 or not isinstance(body[0], ast.Return) or any(others):
        return None
    value = body[0].value
    scopes = (*BOUND_TO_PLACE, *FUNCTIONS, ast.comprehension)
    return None if value is None or any(isinstance(one, scopes) for one in ast.walk(value)) else value


def _without_steps(body: list[ast.stmt], function: ast.FunctionDef) -> list[ast.stmt]:
    """Statements without those that give a name, used once and at once, to what calls nothing."""
    counts = Counter(one.id for one in ast.walk(function) if isinstance(one, ast.Name))
    left: list[ast.stmt] = []
    for node in body:
        before = left[-1] if left else None
        if isinstance(before, ast.Assign) and isinstance(node, ast.Return) and node.value and _is_step(before, counts):
            name = before.targets[0].id
            if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node)) and _can_move(node.value):
                left[-1] = ast.Return(_Put({name: before.value}).visit(node.value))
                continue
        left.append(node)
    return left


def _is_step(node: ast.Assign, counts: Counter[str]) -> bool:
    is_name = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    moves = not any(isinstance(one, (ast.Call, *BOUND_TO_PLACE)) for one in ast.walk(node.value))
    return is_name and moves and counts[node.targets[0].id] == 2


def map_over(tree: ast.Module, rng: random.Random) -> None:
    """A list comprehension becomes list(map(…))."""

    class Mapped(ast.NodeTransformer):
        def visit_ListComp(self, node):
            self.generic_visit(node)
            (first, *more), target = node.generators, node.generators[0].target
            if more or first.ifs or not isinstance(target, ast.Name) or not _can_move(node):
                return node
            step = ast.Lambda(ast.arguments([], [ast.arg(target.id)], None, [], [], None, []), node.elt)
            mapped = ast.Call(ast.Name("map", ast.Load()), [step, first.iter], [])
            return ast.Call(ast.Name("list", ast.Load()), [mapped], [])

    Mapped().visit(tree)


def add_self_test(tree: ast.Module, rng: random.Random) -> None:
    """Add what people leave at the end of a file: imports without use, and a test below `if __name__`."""
    tail = "import math as _math\nimport typing as _typing\nif __name__ == '__main__':\n    import torch\n"
    tree.body += ast.parse(tail + "    print(torch.softmax(torch.zeros(3), 0))\n").body


WAYS: list[Callable[[ast.Module, random.Random], None]] = [
    *(rename_locals, document, reorder, name_results, extract_helpers, inline, map_over, add_self_test),
]


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """The functions that stand in no other, methods among them."""
    found = []
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef):
            found.append(node)
        elif isinstance(node, ast.ClassDef):
            found += _functions(node)
    return found


def _own_names(function: ast.FunctionDef) -> set[str]:
    """The names that a function binds, without those that something else in it binds or declares as well."""
    stored, taken = _bound_in(function)
    return stored - taken


def _bound_in(function: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """The names that are given something in a function, and those that it binds or declares in another way."""
    nodes = list(ast.walk(function))
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    taken = {one.arg for one in nodes if isinstance(one, ast.arg)}
    for one in nodes:
        if isinstance(one, (ast.Global, ast.Nonlocal)):
            taken |= set(one.names)
        elif isinstance(one, (ast.ExceptHandler, ast.MatchAs, ast.FunctionDef, ast.ClassDef)) and one.name:
            taken.add(one.name)
        elif isinstance(one, ast.alias):
            taken.add(one.asname or one.name.partition(".")[0])
    return stored, taken


def _is_plain(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and not node.decorator_list


def _names_in(node: ast.stmt, at_definition: bool = False) -> list[ast.Name]:
    """The names that stand in a statement; at_definition: in a function's defaults and annotations alone."""
    parts = [node.args, *([node.returns] if node.returns else [])] if at_definition else [node]
    return [one for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)]


def _bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement of a module gives something to."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return {node.name}
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    aliases = [one for one in ast.walk(node) if isinstance(one, ast.alias)]
    return names | {one.asname or one.name.partition(".")[0] for one in aliases}


def _compiled(tree: ast.Module) -> list[ast.stmt]:
    """The functions and classes that TorchScript reads the text of, and those that they name: it knows few constructs.

    They keep their text: an inner function or an annotation `object` makes them no right answer.
    """
    known = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    waiting = [name for name, node in known.items() if any(map(_is_script, node.decorator_list))]
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and _is_script(one.func)]
    waiting += [one.id for call in calls for one in ast.walk(call) if isinstance(one, ast.Name)]
    found: dict[str, ast.stmt] = {}
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found[name] = known[name]
            waiting += [one.id for one in _names_in(known[name])]
    return list(found.values())


def _is_script(node: ast.expr) -> bool:
    return ast.unparse(node).startswith("torch.jit.script")


def _can_move(node: ast.expr) -> bool:
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return not names & {"super", "__class__"} and not any(isinstance(one, BOUND_TO_PLACE) for one in ast.walk(node))
