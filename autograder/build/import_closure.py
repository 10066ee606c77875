"""Computes which files of the repository a piece of code depends on, from its source, without running it.

Followed are `import` statements wherever they stand, `importlib.import_module` and `python -m` with a name that is
written out, modules that a lazy package hands out as attributes, and data files whose names stand in the code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..course.paths import BOOK, ROOT, SELFCHECK, SOLUTIONS
from .imported_names import Named, named_in, text_of_constant

__all__ = ["SEARCH", "Closure", "ImportGraph", "closure_of", "closure_of_code"]

#: Where a module of the repository is looked for, in this order: as a page of the book and the tests find it.
SEARCH = (SOLUTIONS, BOOK, SELFCHECK.parent, ROOT)
IGNORED = {"__pycache__", "_build", ".ipynb_checkpoints", "notebooks"}


@dataclass(frozen=True)
class Closure:
    """What some code depends on."""

    files: frozenset[Path]  # of the repository: modules, and data files that they name
    packages: frozenset[str]  # top-level modules from elsewhere, the standard library included
    unresolved: frozenset[str] = frozenset()  # "module.py:12" of imports whose names are computed at run time


class ImportGraph:
    """What files of a repository depend on, as it stands now: each file is read once."""

    def __init__(self, search: Sequence[Path] = SEARCH, written_out: bool = False) -> None:
        """search: the folders in which modules are looked for

        written_out: whether to follow only what the code says itself: no data files; of the modules that a computed
        name may mean, those that a text of the same file names. A file that is not Python then imports nothing.
        """
        self._search, self._written_out = tuple(search), written_out
        self._direct = cache(self._of_file)
        self._modules = cache(_modules)

    def closure(self, files: Iterable[Path]) -> Closure:
        """The closure of files of the repository, these included."""
        reached = set(files)
        waiting = list(reached)
        packages: frozenset[str] = frozenset()
        unresolved: frozenset[str] = frozenset()
        while waiting:
            direct = self._direct(waiting.pop())
            waiting += direct.files - reached
            reached |= direct.files
            packages |= direct.packages
            unresolved |= direct.unresolved
        return Closure(frozenset(reached), packages, unresolved)

    def closure_of_code(self, code: str, folder: Path) -> Closure:
        """The closure of code that is run in a folder; the code itself is no file of it.

        Raises SyntaxError where the code is not Python.
        """
        direct = self._of_names(named_in(ast.parse(code), folder.resolve(), "<code>"))
        rest = self.closure(direct.files)
        return Closure(rest.files, direct.packages | rest.packages, direct.unresolved | rest.unresolved)

    def _of_file(self, file: Path) -> Closure:
        """What a file itself depends on, the packages that hold it included."""
        if file.suffix != ".py":
            return Closure(frozenset(), frozenset())
        stat = file.stat()
        direct = self._of_names(_named_in_version(file, stat.st_mtime_ns, stat.st_size, self._written_out))
        beside = () if self._written_out else _beside(file)
        return Closure(direct.files.union(_holders(file), beside), direct.packages, direct.unresolved)

    def _of_names(self, named: Named) -> Closure:
        files: set[Path] = set()
        packages: set[str] = set()
        for base, name in named.modules | (named.texts if self._written_out else named.computed):
            modules = self._modules(name, (base,) if base else self._search)
            files |= modules
            if not modules and not base:
                packages.add(name.partition(".")[0])
        if not self._written_out:
            files.update(path for place in named.reads for path in _data_files(*place))
        return Closure(frozenset(files), frozenset(packages - {""}), named.unresolved)


def closure_of(files: Iterable[Path], search: Sequence[Path] = SEARCH, written_out: bool = False) -> Closure:
    """The closure of files of the repository, these included (see ImportGraph)."""
    return ImportGraph(search, written_out).closure(file.resolve() for file in files)


def closure_of_code(code: str, folder: Path, search: Sequence[Path] = SEARCH) -> Closure:
    """The closure of code that is run in a folder (see ImportGraph)."""
    return ImportGraph(search).closure_of_code(code, folder)


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


@cache
def _named_in_version(file: Path, changed: int, size: int, written_out: bool) -> Named:
    try:
        return named_in(ast.parse(file.read_bytes()), file.parent, file.name)
    except SyntaxError:
        if written_out:  # some files are broken on purpose
            return Named()
        raise


def _holders(file: Path) -> Iterator[Path]:
    """The `__init__.py` of each package that a file is in."""
    folder = file.parent
    while (folder / "__init__.py").is_file():
        yield folder / "__init__.py"
        folder = folder.parent


def _modules(name: str, roots: Sequence[Path]) -> set[Path]:
    """The files that importing a dotted name runs: of the name, the part that leads to modules of the repository."""
    parts = [part for part in name.split(".") if part]
    for root in roots:
        if parts and parts[0] != "*" and not _is_module(root / parts[0]):
            continue
        modules: set[Path] = {root / "__init__.py"} if not parts and (root / "__init__.py").is_file() else set()
        folder = root
        for part in parts:
            if part == "*":
                return modules | set(folder.glob("*.py"))
            if _is_package(folder / part):
                folder = folder / part
                modules |= {folder / "__init__.py"} if (folder / "__init__.py").is_file() else set()
            elif (folder / f"{part}.py").is_file():
                return modules | {folder / f"{part}.py"}
            else:
                return modules | (_handed_out(folder / "__init__.py", part) if folder != root else set())
        return modules
    return set()


def _is_module(place: Path) -> bool:
    return place.with_name(f"{place.name}.py").is_file() or _is_package(place)


def _is_package(place: Path) -> bool:
    return (place / "__init__.py").is_file() or (place.is_dir() and any(place.glob("*.py")))


def _handed_out(package: Path, name: str) -> set[Path]:
    """The modules that a package may take a name from in a `__getattr__` that imports.

    These are the modules that the package's own texts name, or all of them.
    """
    if not package.is_file():
        return set()
    defined, lazy, texts = _top_level(package, package.stat().st_mtime_ns)
    if not lazy or name in defined:
        return set()
    named = {package.with_name(f"{text}.py") for text in texts if package.with_name(f"{text}.py").is_file()}
    return named or set(package.parent.glob("*.py"))


@cache
def _top_level(package: Path, changed: int) -> tuple[frozenset[str], bool, frozenset[str]]:
    """The names that a package defines, whether one is `__getattr__`, and the texts in it."""
    tree = ast.parse(package.read_bytes())
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        defined |= {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name for alias in node.names}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = frozenset(text for node in constants if (text := text_of_constant(node).lstrip(".")).isidentifier())
    return (
        frozenset(defined | {"__name__", "__doc__", "__file__", "__all__", "__path__"}),
        "__getattr__" in defined,
        texts,
    )


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
