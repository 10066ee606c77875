"""Finds the files of the repository that a Python file imports, and those that they import."""

from __future__ import annotations

import ast
import functools
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Closure:
    """Everything that some Python files import, themselves included.

    files: files of the repository; packages: top-level names of installed packages, without the standard library
    """

    files: frozenset[Path]
    packages: frozenset[str]


@dataclass(frozen=True)
class _Written:
    """What a text says that it imports.

    imports: level, dotted name and attributes of each import, those that are used of a module imported as such
    computed: whether it imports names that it computes; on_access: in a module-level `__getattr__` alone
    texts: what it may compute such names from
    """

    imports: tuple[tuple[int, str, tuple[str, ...]], ...] = ()
    computed: bool = False
    on_access: bool = False
    texts: frozenset[str] = frozenset()


class Repository:
    """The Python files below a root, and the folders in which an import looks for them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        self.pytest_settings = settings["tool"]["pytest"]["ini_options"]
        installed = settings.get("tool", {}).get("setuptools", {}).get("packages", {}).get("find", {}).get("where", [])
        folders = dict.fromkeys([*self.pytest_settings["pythonpath"], *installed])
        self.paths = [(root / folder).resolve() for folder in folders]
        self._direct = functools.cache(self._read)

    def closure(self, files: frozenset[Path]) -> Closure:
        """Everything that these files import: statically, by `import_module` with a text, or through a lazy package."""
        left, seen, packages = list(files), set(files), set()
        while left:
            path = left.pop()
            if path.suffix != ".py":
                continue
            imported = self._direct(path)
            packages |= imported.packages
            left += imported.files - seen
            seen |= imported.files
        return Closure(frozenset(seen), frozenset(packages))

    def _read(self, path: Path) -> Closure:
        """What a file itself imports, the packages that hold it included."""
        written = _written(path.read_bytes())
        files, packages = set(self._holders(path)), set()
        for level, name, attributes in written.imports:
            bases = [path.parents[level - 1]] if level else self.paths
            modules, is_ours = self._modules(bases, name, attributes)
            files |= modules
            if not is_ours and not level and name:
                packages.add(name.partition(".")[0])
        if written.computed and not written.on_access:
            for name in written.texts:
                files |= self._modules([path.parent], name.lstrip("."), ())[0]
        return Closure(frozenset(files - {path}), frozenset(packages - sys.stdlib_module_names))

    def _holders(self, path: Path) -> Iterator[Path]:
        """The `__init__.py` of each package that a file is in."""
        folder = path.parent
        while (folder / "__init__.py").exists() and folder != self.root:
            yield folder / "__init__.py"
            folder = folder.parent

    def _modules(self, bases: list[Path], name: str, attributes: tuple[str, ...]) -> tuple[set[Path], bool]:
        """The files of a dotted name, and whether it is the repository's; with those attributes that are modules.

        An empty tuple of attributes: the module itself is imported, and anything of a lazy package may be asked for.
        """
        parts = name.split(".") if name else []
        for base in bases:
            if parts and not _is_module(base / parts[0]):
                continue
            files, place = set(), base
            for part in parts:
                files |= _file_of(place / part)
                place = place / part
            files |= _file_of(place) if not parts else set()
            lazy = _lazily(place / "__init__.py")
            for attribute in attributes:
                files |= _file_of(place / attribute)
            if not all(_is_module(place / attribute) for attribute in attributes) or not attributes:
                files |= {file for text in lazy for file in _file_of(place / text)}
            return files, True
        return set(), False


def _is_module(place: Path) -> bool:
    return place.with_name(f"{place.name}.py").is_file() or _is_package(place)


def _is_package(place: Path) -> bool:
    return (place / "__init__.py").is_file() or (place.is_dir() and any(place.glob("*.py")))


def _file_of(place: Path) -> set[Path]:
    return {path for path in (place / "__init__.py", place.with_name(f"{place.name}.py")) if path.is_file()}


def _lazily(path: Path) -> frozenset[str]:
    """Names that a package imports once they are asked for as its attributes."""
    written = _written(path.read_bytes()) if path.is_file() else _Written()
    return written.texts if written.on_access else frozenset()


@functools.lru_cache(maxsize=2000)
def _written(text: bytes) -> _Written:
    try:
        tree = ast.parse(text)
    except SyntaxError:  # some files are broken on purpose; they import nothing
        return _Written()
    imports = tuple(_imports(tree))
    computed = {
        node for node in ast.walk(tree) if _computes_import(node) and not isinstance(node.args[0], ast.Constant)
    }
    if not computed:
        return _Written(imports)
    getters = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = {text for text in constants if isinstance(text, str) and text.lstrip(".").isidentifier()}
    return _Written(
        imports, True, computed <= {node for getter in getters for node in ast.walk(getter)}, frozenset(texts)
    )


def _imports(tree: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    used: dict[str, set[str]] = defaultdict(set)
    for node in uses:
        used[node.value.id].add(node.attr)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield 0, alias.name, tuple(used[alias.asname or alias.name])
                if not alias.asname:
                    yield 0, top, tuple(used[top])
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)
        elif _computes_import(node) and isinstance(node.args[0], ast.Constant):
            text = str(node.args[0].value)
            name = text.lstrip(".")
            yield len(text) - len(name), name, ()


def _computes_import(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")
