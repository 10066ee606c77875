"""Has a package take a branch that it took before, while a function that it calls makes something else.

Code may look at what a function made, and raise where that is not what it knows of it: a comparison with the learner's
own answer does, and so may code that returns what the function made. To tell them apart, one run records which branches
are taken and what raises. In others, in which the function makes something else, what did not raise before does not end
the code; and where a branch is taken after which no answer comes, the next run takes it as before. What comes at last
shows whether the answer depends on the function. All are runs of processes of their own: code could keep an answer of
one for the next.

A branch is what a test decides, or an `and`, an `or`, an `int(…)` that is 0 or 1, an index that is True or False.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from .source import tree_of

NAME = "__branches__"  # in each module of the package
RECORD = "record"  # in place of a record: make one
MOST_KEPT_BACK = 100_000  # exceptions of a call: what goes on beyond these, such as `while not same: raise`, never ends
MOST_TIMES = 2**14  # that a branch is recorded in one call; of what comes later nothing is known
MOST_ASKED = 2**22  # branches of a run; later ones cost and tell nothing, so that nobody need wait for them
MOST = 2**22  # characters of a record
#: In place of the names of branches: all that were recorded, and those of the import.
ALL, OF_IMPORT = "all", "import"


@dataclass(frozen=True)
class Record:
    """What one run records for others. It comes out of a learner's process, and may be anything.

    outcomes: by call and place, 1 for each time that the branch was taken, and 0 for each other
    raised: the places where an exception went its way
    """

    outcomes: dict[str, bytearray] = field(default_factory=dict)
    raised: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, text: str) -> Record:
        """The record that a text holds; an empty one where it holds none."""
        try:
            outcomes, raised = json.loads(text)
            return cls({name: bytearray(map(int, times)) for name, times in outcomes.items()}, set(raised))
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return cls()

    def text(self) -> str:
        """The record as a text; of what is too long, the first times that each branch was taken."""
        text, most = "", MOST_TIMES
        while not text or len(text) > MOST and most:
            outcomes = {name: "".join(map(str, times[:most])) for name, times in self.outcomes.items()}
            text = json.dumps([outcomes if most else {}, sorted(self.raised)], separators=(",", ":"))
            most //= 8
        return text


class Branches:
    """The branches of one run. A branch has a name: the number of the call, its place in the text, how often before.

    record: the text of another run's; RECORD for the first
    forced: the branches that are taken as in that, by their names; see ALL, OF_IMPORT
    """

    error = (Exception, SystemExit)  # whatever the module itself calls by these names

    def __init__(self, record: str, forced: Iterable[str] = ()) -> None:
        self._is_first = record == RECORD
        self.record = Record() if self._is_first else Record.read(record)
        self._forced, self._times, self._kept_back, self._asked = set(forced), dict[str, int](), 0, 0
        self._call, self._guard = 0, ""  # what runs before the first call is an import

    def begin_call(self) -> None:
        """What runs from now on belongs to the next call."""
        self._call += 1
        self._times, self._kept_back, self._guard = {}, 0, ""

    def guard(self) -> str:
        """The last branch of this call that was taken otherwise than before, "" without one."""
        return self._guard

    def taken(self, place: str, test: Any) -> bool:
        """Whether the branch is taken behind a test."""
        times = self._times[place] = self._times.get(place, -1) + 1
        self._asked += 1
        if times >= MOST_TIMES or self._asked > MOST_ASKED:
            return bool(test)
        name = f"{self._call} {place}"
        branch, recorded = f"{name} {times}", self.record.outcomes.get(name, b"")
        if times < len(recorded) and self._is_forced(branch):
            return bool(recorded[times])
        outcome = bool(test)
        if self._is_first:
            self.record.outcomes.setdefault(name, bytearray()).append(outcome)
        elif recorded[times : times + 1] != bytes([outcome]):
            self._guard = branch
        return outcome

    def _is_forced(self, branch: str) -> bool:
        return branch in self._forced or ALL in self._forced or (self._call == 0 and OF_IMPORT in self._forced)

    def chosen(self, place: str, value: Any) -> Any:
        """A value of which the truth decides: another one with the truth that is to be taken, where that differs."""
        taken = self.taken(place, value)
        return value if bool(value) == taken else taken

    def index(self, place: str, value: Any) -> Any:
        """What stands for a truth, as an index does that is True or 1; everything else as it is."""
        return self.chosen(place, value) if type(value) is bool else value

    def number(self, place: str, value: Any) -> Any:
        """What `int` or `bool` makes, likewise."""
        return type(value)(self.chosen(place, value)) if type(value) in (bool, int) and value in (0, 1) else value

    def raises(self, place: str) -> bool:
        """Whether an exception may go its way."""
        if self._is_first:
            self.record.raised.add(place)
        if place in self.record.raised:
            return True
        self._kept_back += 1
        return self._kept_back > MOST_KEPT_BACK


@contextlib.contextmanager
def taking(branches: Branches, package: str) -> Iterator[None]:
    """Within it, a package that is imported asks these branches."""
    finder = _Finder(package, branches)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    def __init__(self, package: str, branches: Branches) -> None:
        self._package, self._branches = package, branches

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname.partition(".")[0] != self._package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(fullname, spec.loader.path, self._branches)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, branches: Branches) -> None:
        super().__init__(fullname, path)
        self._branches = branches

    def get_code(self, fullname: str) -> Any:
        tree = _Asking(fullname).visit(tree_of(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[NAME] = self._branches
        super().exec_module(module)


class _Asking(ast.NodeTransformer):
    """Has the text of a module ask which branch to take, and whether to raise."""

    def __init__(self, module: str) -> None:
        self._module, self._places = module, 0

    def _ask(self, method: str, *more: ast.expr) -> ast.expr:
        self._places += 1
        function = ast.Attribute(ast.Name(NAME, ast.Load()), method, ast.Load())
        return ast.Call(function, [ast.Constant(f"{self._module} {self._places}"), *more], [])

    def _with_test(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = self._ask("taken", node.test)
        return node

    visit_If = visit_While = visit_IfExp = _with_test

    def visit_Assert(self, node: ast.Assert) -> Any:  # what it asks may raise, as torch.testing.assert_close does
        return self._going_on(self._with_test(node), ast.Pass())

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        self.generic_visit(node)
        node.ifs = [self._ask("taken", test) for test in node.ifs]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        *deciding, last = node.values
        node.values = [*(self._ask("chosen", value) for value in deciding), last]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        is_one = not isinstance(node.slice, (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.BinOp))
        node.slice = self._ask("index", node.slice) if is_one else node.slice
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        is_truth = isinstance(node.func, ast.Name) and node.func.id in ("bool", "int")
        return self._ask("number", node) if is_truth else node

    def visit_match_case(self, node: ast.match_case) -> Any:
        self.generic_visit(node)
        node.guard = self._ask("taken", node.guard) if node.guard else None
        return node

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ast.If(self._ask("raises"), [node], []), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        return node if isinstance(node.value, ast.Constant) else self._going_on(node, ast.Pass())

    def visit_Return(self, node: ast.Return) -> Any:  # of a function that compares
        self.generic_visit(node)
        return self._going_on(node, ast.Return(None)) if isinstance(node.value, ast.Call) else node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        names = all(isinstance(target, ast.Name) for target in node.targets)
        nothing = ast.Assign(node.targets, ast.Constant(None))
        return self._going_on(node, nothing) if names and isinstance(node.value, ast.Call) else node

    def _going_on(self, statement: ast.stmt, otherwise: ast.stmt) -> ast.stmt:
        """A statement, and another in place of its exception, unless that is to go its way."""
        away: ast.stmt = ast.If(self._ask("raises"), [ast.Raise()], [])
        error = ast.Attribute(ast.Name(NAME, ast.Load()), "error", ast.Load())
        handler = ast.ExceptHandler(error, None, [away, otherwise])
        return ast.copy_location(ast.Try([statement], [handler], [], []), statement)
