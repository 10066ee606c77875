"""Adds parts to existing files: names to `__all__`, imports to modules, sections to pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from .names import Refused

ENDINGS = re.compile(r"^(?:\([\w-]+\)=\n)?## (?:Summary|Further reading)$", re.MULTILINE)


def top_level_names(source: str) -> set[str]:
    """The names of a module's top-level functions and classes."""
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _all_of(source: str) -> ast.Assign:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return node
    raise Refused("the module has no __all__, in which its names are listed")


def listed_names(source: str) -> list[str]:
    """The names in a module's `__all__`."""
    return ast.literal_eval(_all_of(source).value)


def with_name_listed(source: str, name: str) -> str:
    """The source with a name added to its `__all__`, which stays sorted."""
    node, lines = _all_of(source), source.splitlines(keepends=True)
    names = sorted({*listed_names(source), name})
    inside = "".join(f'    "{entry}",\n' for entry in names)
    text = f"__all__ = [\n{inside}]\n" if len(names) > 1 else f'__all__ = ["{name}"]\n'
    return "".join([*lines[: node.lineno - 1], text, *lines[node.end_lineno :]])


def with_imports(source: str, needs: dict[str, tuple[str, ...]]) -> str:
    """The source with the imports that it lacks added after its docstring; ruff sorts them later."""
    body = ast.parse(source).body
    known = {
        alias.asname or alias.name
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    added = [line for place, names in needs.items() for line in _imports(place, [n for n in names if n not in known])]
    heads: list[ast.stmt] = [node for node in body[:1] if isinstance(node, ast.Expr)]
    heads += [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    place, lines = max((node.end_lineno or 0 for node in heads), default=0), source.splitlines(keepends=True)
    return "".join([*lines[:place], *(["\n", *added, "\n"] if added else []), *lines[place:]])


def _imports(place: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"from {place} import {', '.join(names)}\n" if place else f"import {names[0]}\n"


def with_continuation(source: str, name: str) -> str:
    """The source with a module beside it imported, for what that registers; ruff sorts the names later."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and not node.module and not any(alias.asname for alias in node.names):
            break
    else:
        return with_imports(source, {".": (f"{name}  # noqa: F401",)})
    lines = source.splitlines(keepends=True)
    end = node.end_lineno or node.lineno
    first = lines[node.lineno - 1]
    covered = "noqa: F401" in first  # the remark of an import's first line holds for all its names
    added = f"    {name},\n" if covered else f"    {name},  # noqa: F401\n"
    if end > node.lineno:
        return "".join([*lines[: end - 1], added, *lines[end - 1 :]])
    remark = first.partition("#")[2].strip()
    head = f"from . import (  # {remark}\n" if remark else "from . import (\n"
    names = [f"    {alias.name},\n" for alias in node.names]
    return "".join([*lines[: node.lineno - 1], head, *names, added, ")\n", *lines[end:]])


def with_part_inserted(path: Path, part: str, place_in: Callable[[str], int]) -> str:
    """A page with a part inserted at the place that `place_in` finds in its text."""
    text = path.read_text("utf-8")
    place = place_in(text)
    return f"{text[:place].rstrip()}\n\n{part}\n{text[place:]}".rstrip() + "\n"


def before_questions(text: str) -> int:
    """Where the section with the first question begins; the end of a page without one."""
    question = text.find("\n```{question}")
    heading = text.rfind("\n## ", 0, question) if question >= 0 else -1
    return heading + 1 if heading >= 0 else len(text) if question < 0 else question + 1


def before_summary(text: str) -> int:
    ending = ENDINGS.search(text)
    return ending.start() if ending else len(text)
