"""Collects from the source of a Python file what it names: modules that it imports, and data files."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Name", "Named", "named_in", "text_of_constant"]

Name = tuple[Path | None, str]  # a dotted name, and the folder that it starts from where the import is relative


@dataclass(frozen=True)
class Named:
    """What the code of one file names."""

    modules: frozenset[Name] = frozenset()  # dotted ones with each attribute that is used of them
    computed: frozenset[Name] = frozenset()  # "package.*" for a name that is computed at run time
    texts: frozenset[Name] = frozenset()  # what such a name may be, as the file's texts go
    reads: frozenset[tuple[Path, str]] = frozenset()  # names of data files, and the folder below which they lie
    unresolved: frozenset[str] = frozenset()


@dataclass
class _Names(ast.NodeVisitor):
    """Collects from a syntax tree what a module names."""

    folder: Path  # what a relative import starts from
    where: str
    modules: set[Name] = field(default_factory=set)
    computed: set[Name] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    unresolved: set[str] = field(default_factory=set)
    bound: dict[str, Name] = field(default_factory=dict)  # a name of the module: the module that it stands for
    lazily: bool = False  # inside a package's __getattr__, whose imports are followed where they are used

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules.add((None, alias.name))
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.bound[alias.asname or name] = None, name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base, name = self._found_from("." * node.level + (node.module or ""))
        self.modules.add((base, name))
        for alias in node.names:
            inner = base, ".".join(filter(None, [name, alias.name]))
            self.modules.add(inner)
            self.bound[alias.asname or alias.name] = inner

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
            base, name = self.bound[inner.id]
            self.modules.add((base, ".".join([name, *reversed(parts)])))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if function in ("import_module", "__import__") and node.args and not self.lazily:
            self._import_by_name(node.args[0])
        self.generic_visit(node)

    def visit_List(self, node: ast.List | ast.Tuple) -> None:
        for flag, name in zip(node.elts, node.elts[1:], strict=False):
            if text_of_constant(flag) == "-m" and text_of_constant(name):
                self.modules |= {(None, text_of_constant(name)), (None, f"{text_of_constant(name)}.__main__")}
        self.generic_visit(node)

    visit_Tuple = visit_List

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and 2 < len(node.value) < 80:
            self.strings.add(node.value)

    def _import_by_name(self, name: ast.expr) -> None:
        if text_of_constant(name):
            self.modules.add(self._found_from(text_of_constant(name)))
            return
        first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else None
        prefix = text_of_constant(first)
        if isinstance(first, ast.FormattedValue) and getattr(first.value, "id", "") in ("__name__", "__package__"):
            self.computed.add((self.folder, "*"))
        elif "." in prefix:
            base, inner = self._found_from(prefix.rpartition(".")[0] + "." * prefix.startswith("."))
            self.computed.add((base, ".".join(filter(None, [inner, "*"]))))
        else:
            self.unresolved.add(f"{self.where}:{name.lineno}")

    def _found_from(self, name: str) -> Name:
        """A name as an import states it: "..pack.module" starts two folders above the file's own name."""
        level = len(name) - len(name.lstrip("."))
        return (self.folder, *self.folder.parents)[level - 1] if level else None, name.strip(".")


def text_of_constant(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def named_in(tree: ast.Module, folder: Path, where: str) -> Named:
    names = _Names(folder, where)
    names.visit(tree)
    is_computed = names.computed or names.unresolved
    texts = {(folder, text.lstrip(".")) for text in names.strings if is_computed and text.lstrip(".").isidentifier()}
    reads = {(folder, Path(text).name) for text in names.strings if "." in text}
    modules, computed = frozenset(names.modules), frozenset(names.computed)
    return Named(modules, computed, frozenset(texts), frozenset(reads), frozenset(names.unresolved))
