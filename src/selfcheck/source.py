"""Reads a learner's source without running it."""

from __future__ import annotations

import ast
import codecs
import functools
import io
import threading
import tokenize
from collections.abc import Iterable, Iterator
from typing import Any

#: Encodings that people write in; what others turn a text into is not what stands there.
PLAIN_ENCODINGS = {
    *("utf-8", "utf-8-sig", "ascii", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030", "big5", "shift_jis", "cp932"),
    *("euc_jp", "euc_kr", "cp949", *(f"iso8859-{part}" for part in (1, 2, 5, 7, 9, 15))),
    *(f"cp125{part}" for part in range(8)),
}
MOST_PARTS = 64  # of a dotted name: no honest one has a tenth of them
MOST_NAME = 1000  # characters of a module's dotted name: no folder of one has so many
LONG_NAME = f"a name of more than {MOST_NAME} characters"  # in the place of such a one
#: Fields of nodes in which no node stands, or none that anybody asks for.
WITHOUT_NODES = {"ctx", "id", "attr", "kind", "type_comment", "module", "level", "asname", "simple", "is_async"}
_ONE_AT_A_TIME = threading.Lock()  # CPython 3.11 counts the depth of two parsing threads as one, and fails


def parse(source: str) -> ast.Module | None:
    """The tree of a module's text, not to be changed; None where Python cannot read it."""
    return _read(source)[0]


def too_deep(source: str) -> bool:
    """Whether Python gives up on the depth of a module's text, which need not mean that it cannot be imported."""
    return _read(source)[1]


def tree_of(text: str | bytes, mode: str = "exec") -> Any:
    """As ast.parse, for threads that parse at the same time; raises what that raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode=mode)


@functools.lru_cache(maxsize=64)
def _read(source: str) -> tuple[ast.Module | None, bool]:
    """The tree, None where there is none, and whether that is because of the depth."""
    try:
        return tree_of(source.removeprefix("\ufeff")), False  # some editors on Windows put this mark first
    except (RecursionError, MemoryError):
        return None, True
    except (SyntaxError, ValueError):
        return None, False


def encoding_of(data: bytes) -> str:
    """The encoding in which Python reads a module; "utf-8" where it knows none."""
    try:
        return codecs.lookup(tokenize.detect_encoding(io.BytesIO(_with_newlines(data)).readline)[0]).name
    except (SyntaxError, LookupError, ValueError):
        return "utf-8"


def text_of(data: bytes) -> str:
    """A module's text as Python reads it, as far as its encoding is a plain one; what does not fit becomes "\ufffd"."""
    name = encoding_of(data)
    return _with_newlines(data).decode(name if name in PLAIN_ENCODINGS else "utf-8", errors="replace")


def _with_newlines(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def text_of_node(source: str, node: ast.expr) -> str:
    """What stands in a source where one of its expressions is, on one line; `ast.unparse` is missing in Pyodide."""
    try:
        text = ast.get_source_segment(source.removeprefix("\ufeff"), node) or ""
    except IndexError:  # Python 3.11 does not know where the parts of an f-string are
        return ""
    return " ".join(text.split())


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Every node of a tree but load, store and delete, in the order of ast.walk, in two fifths of its time."""
    nodes: list[Any] = [tree]
    kind = ast.AST
    for node in nodes:  # as parts_of has it, without a generator for each node
        for field in _fields_of(node.__class__):
            value = getattr(node, field, None)
            if isinstance(value, kind):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [part for part in value if isinstance(part, kind)]
    return nodes


@functools.cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node in which nodes may stand, but load, store and delete."""
    return () if kind is ast.Constant else tuple(field for field in kind._fields if field not in WITHOUT_NODES)


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes right below a node, but load, store and delete."""
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            for part in value:
                if isinstance(part, ast.AST):
                    yield part
        elif isinstance(value, ast.AST) and field != "ctx":
            yield value


def imports_of(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What each imported name stands for, of all nodes of a module."""
    imports = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports[alias.asname or alias.name.partition(".")[0]] = (
                    of_bounded_length(alias.name) if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            module = module_of(node)
            for alias in node.names:
                imports[alias.asname or alias.name] = f"{module}.{of_bounded_length(alias.name)}"
    return imports


def imported_modules(node: ast.AST) -> list[str]:
    """The modules that a statement imports, or imports names from."""
    if isinstance(node, ast.ImportFrom):
        return [module_of(node)]
    return [of_bounded_length(alias.name) for alias in node.names] if isinstance(node, ast.Import) else []


def module_of(node: ast.ImportFrom) -> str:
    """The module that names are imported from, with its dots."""
    name = node.module or ""
    return LONG_NAME if node.level + len(name) > MOST_NAME else "." * node.level + name


def of_bounded_length(name: str) -> str:
    """A dotted name, or LONG_NAME: one that is written once and used everywhere would be read again at every use."""
    return LONG_NAME if len(name) > MOST_NAME else name


def dotted_name(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """What a name or a chain of attributes stands for, "torch.nn.functional.softmax"; None for anything else.

    aliases: as from imports_of
    A chain of more than MOST_PARTS is followed to no name: to read every part of it would take its length squared.
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([aliases.get(node.id, node.id), *reversed(parts)])


def is_long_chain(node: ast.AST) -> bool:
    """Whether a node is a chain of so many attributes that `dotted_name` does not follow it."""
    for _ in range(MOST_PARTS):
        if not isinstance(node, ast.Attribute):
            return False
        node = node.value
    return isinstance(node, ast.Attribute)
