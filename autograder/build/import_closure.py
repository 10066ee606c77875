"""Computes which files of the repository a piece of code depends on, from its source, without running it.

Followed are `import` statements wherever they stand, `importlib.import_module` and `python -m` with a name that is
written out, modules that a lazy package hands out as attributes, and data files whose names stand in the code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..course.paths import BOOK, ROOT, SELFCHECK, SOLUTIONS

__all__ = ["SEARCH", "Closure", "closure_of", "closure_of_code"]

#: Where a module of the repository is looked for, in this order: as a page of the book and the tests find it.
SEARCH = (SOLUTIONS, BOOK, SELFCHECK.parent, ROOT)
IGNORED = {"__pycache__", "_build", ".ipynb_checkpoints", "notebooks"}


@dataclass(frozen=True)
class Closure:
    """What some code depends on."""

    files: frozenset[Path]  # of the repository: modules, and data files that they name
    packages: frozenset[str]  # top-level modules from elsewhere, the standard library included
    unresolved: frozenset[str] = frozenset()  # "module.py:12" of imports whose names are computed at run time


def closure_of(files: Iterable[Path], search: Sequence[Path] = SEARCH) -> Closure:
    """The closure of modules of the repository, these included."""
    return _follow([file.resolve() for file in files], [], tuple(search))


def closure_of_code(code: str, folder: Path, search: Sequence[Path] = SEARCH) -> Closure:
    """The closure of code that is run in a folder; the code itself is no file of it.

    Raises SyntaxError where the code is not Python.
    """
    return _follow([], [_scan(ast.parse(code), "", folder.resolve(), "<code>")], tuple(search))


@dataclass(frozen=True)
class _Scan:
    """What one module names: modules (every prefix of a dotted name too), and data files."""

    modules: frozenset[str]
    data: frozenset[Path] = frozenset()
    unresolved: frozenset[str] = frozenset()


@dataclass
class _Names(ast.NodeVisitor):
    """Collects from a syntax tree what a module imports."""

    package: str  # what a relative import starts from: "attention"
    where: str
    modules: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    unresolved: set[str] = field(default_factory=set)
    bound: dict[str, str] = field(default_factory=dict)  # a name of the module: the module that it stands for
    lazily: bool = False  # inside a package's __getattr__, whose imports are followed where they are used

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules.add(alias.name)
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.bound[alias.asname or name] = name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._absolute("." * node.level + (node.module or ""))
        self.modules.add(base)
        for alias in node.names:
            self.modules.add(f"{base}.{alias.name}")
            self.bound[alias.asname or alias.name] = f"{base}.{alias.name}"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self.lazily = self.lazily, self.lazily or node.name == "__getattr__"
        self.generic_visit(node)
        self.lazily = before

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.bound:
            self.modules.add(".".join([self.bound[inner.id], *reversed(parts)]))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if function in ("import_module", "__import__") and node.args and not self.lazily:
            self._import_by_name(node.args[0])
        self.generic_visit(node)

    def visit_List(self, node: ast.List | ast.Tuple) -> None:
        for flag, name in zip(node.elts, node.elts[1:], strict=False):
            if _text(flag) == "-m" and _text(name):
                self.modules |= {_text(name), f"{_text(name)}.__main__"}
        self.generic_visit(node)

    visit_Tuple = visit_List

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and 2 < len(node.value) < 80 and "." in node.value:
            self.strings.add(node.value)

    def _import_by_name(self, name: ast.expr) -> None:
        if _text(name):
            self.modules.add(self._absolute(_text(name)))
            return
        first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else None
        prefix = _text(first)
        if isinstance(first, ast.FormattedValue) and getattr(first.value, "id", "") in ("__name__", "__package__"):
            self.modules.add(f"{self.package}.*")
        elif prefix.startswith("."):
            self.modules.add(self._absolute(prefix.rpartition(".")[0] + ".") + ".*")
        elif "." in prefix:
            self.modules.add(f"{prefix.rpartition('.')[0]}.*")
        else:
            self.unresolved.add(f"{self.where}:{name.lineno}")

    def _absolute(self, name: str) -> str:
        level = len(name) - len(name.lstrip("."))
        if not level:
            return name
        parts = self.package.split(".")
        return ".".join(filter(None, [*parts[: len(parts) - level + 1], name.lstrip(".")]))


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _scan(tree: ast.Module, package: str, folder: Path, where: str) -> _Scan:
    names = _Names(package, where)
    names.visit(tree)
    beside = frozenset(path for text in names.strings for path in _data_files(folder, Path(text).name))
    return _Scan(frozenset(names.modules), beside, frozenset(names.unresolved))


@cache
def _files_below(folder: Path) -> dict[str, tuple[Path, ...]]:
    """The files below a folder by their names, modules and generated files left out."""
    by_name: dict[str, tuple[Path, ...]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".py", ".pyc") and not IGNORED & set(path.relative_to(folder).parts) and path.is_file():
            by_name[path.name] = (*by_name.get(path.name, ()), path)
    return by_name


def _data_files(folder: Path, name: str) -> tuple[Path, ...]:
    """Files of that name below the folder of a module; the repository's root holds too much that is no data."""
    return () if folder == ROOT else _files_below(folder).get(name, ())


def _scan_file(file: Path, search: tuple[Path, ...]) -> _Scan:
    stat = file.stat()
    return _scan_version(file, stat.st_mtime_ns, stat.st_size, search)


@cache
def _scan_version(file: Path, changed: int, size: int, search: tuple[Path, ...]) -> _Scan:
    return _scan(ast.parse(file.read_text("utf-8")), _package(file, search), file.parent, file.name)


def _package(file: Path, search: tuple[Path, ...]) -> str:
    """The package that a file's relative imports start from; "" for a module that lies in no package."""
    folder, parts = file.parent, []
    while (folder / "__init__.py").is_file() and folder not in search:
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts))


def _follow(files: Sequence[Path], scans: list[_Scan], search: tuple[Path, ...]) -> Closure:
    reached = set(files)
    packages: set[str] = set()
    unresolved: set[str] = set()
    data: set[Path] = set()
    waiting = list(files)
    while scans or waiting:
        if not scans:
            file = waiting.pop()
            data.update(_beside(file))
            scans.append(_scan_file(file, search))
        scan = scans.pop()
        data |= scan.data
        unresolved |= scan.unresolved
        for name in scan.modules:
            modules = _modules(name, search)
            if not modules:
                packages.add(name.partition(".")[0])
            waiting += modules - reached
            reached |= modules
    return Closure(frozenset(reached | data), frozenset(packages - {""}), frozenset(unresolved))


def _modules(name: str, search: tuple[Path, ...]) -> set[Path]:
    """The files that importing a dotted name runs: of the name, the part that leads to modules of the repository."""
    parts = name.split(".")
    for root in search:
        if not ((root / parts[0] / "__init__.py").is_file() or (root / f"{parts[0]}.py").is_file()):
            continue
        found: set[Path] = set()
        folder = root
        for part in parts:
            if part == "*":
                return found | set(folder.glob("*.py"))
            if (folder / part / "__init__.py").is_file():
                folder = folder / part
                found.add(folder / "__init__.py")
            elif (folder / f"{part}.py").is_file():
                return found | {folder / f"{part}.py"}
            else:
                handed_out = folder != root and _hands_out(folder / "__init__.py", part)
                return found | set(folder.glob("*.py")) if handed_out else found
        return found
    return set()


def _hands_out(package: Path, name: str) -> bool:
    """Whether a package gives this name from a `__getattr__` that imports; then any of its modules may be meant."""
    defined, lazy = _top_level(package, package.stat().st_mtime_ns)
    return lazy and name not in defined


@cache
def _top_level(package: Path, changed: int) -> tuple[frozenset[str], bool]:
    tree = ast.parse(package.read_text("utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        defined |= {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name for alias in node.names}
    return frozenset(defined | {"__name__", "__doc__", "__file__", "__all__", "__path__"}), "__getattr__" in defined


def _beside(file: Path) -> Iterator[Path]:
    """The data of a package: files in its folder, and in folders below it that hold no code."""
    if file.name != "__init__.py":
        return
    for path in sorted(file.parent.iterdir()):
        if path.name in IGNORED:
            continue
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path
        elif path.is_dir() and not any(path.rglob("*.py")):
            yield from (inner for files in _files_below(path).values() for inner in files)
