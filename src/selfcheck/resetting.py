"""Knows each module as it was handed out: puts it back, and tells whether an exercise has been worked on."""

from __future__ import annotations

import ast
from pathlib import Path

from .atomic_files import write_atomically
from .catalogue import Exercise
from .catalogue.names import exercises_named
from .learner import available, package_folder
from .source import parse

__all__ = ["handed_out", "is_changed", "reset"]

FOLDER = Path(__file__).parent / "stubs"


def handed_out(module: str) -> str:
    """A module's text as learners get it; "" where it is not here."""
    path = FOLDER / f"{module}.txt"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def is_changed(exercise: Exercise, source: str) -> bool:
    """Whether the exercise's function or class in a module's source is another than the one that was handed out."""
    was, now = (_definition(text, exercise.symbol) for text in (handed_out(exercise.module), source))
    return was is not None and now is not None and ast.dump(was) != ast.dump(now)


def reset(name: str | float) -> list[Path]:
    """Put exercises back as they were handed out; a copy of your module stays beside it, as masks.py.before-reset.

    name: an exercise, "4.2", or what names several: a module, "masks", or a problem set, "ps3"
    Returns the files that were changed. Raises KeyError for a name that means nothing, ValueError where a module of
    yours is no Python and only the whole of it can be put back.
    """
    chosen = available(exercises_named(name))
    written = []
    for module in dict.fromkeys(exercise.module for exercise in chosen):
        path = package_folder() / f"{module}.py"
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        all_of_it = {exercise.symbol for exercise in available(exercises_named(module))}
        wanted = {exercise.symbol for exercise in chosen if exercise.module == module}
        after = handed_out(module) if wanted == all_of_it else _put_back(module, before, sorted(wanted))
        if after == before:
            continue
        write_atomically(path.with_name(f"{path.name}.before-reset"), before)
        write_atomically(path, after)
        written.append(path)
    return written


def _put_back(module: str, source: str, symbols: list[str]) -> str:
    """A module's source with these functions and classes as they were handed out."""
    original = handed_out(module)
    for symbol in symbols:
        was, now = _definition(original, symbol), _definition(source, symbol)
        if parse(source) is None:
            raise ValueError(f"{module}.py is no Python now; to put the whole module back, reset {module!r}")
        lines, text = source.splitlines(keepends=True), _lines_of(original, was)
        if now is None:  # it was deleted or renamed
            source = source.rstrip("\n") + "\n\n\n" + text
        else:
            source = "".join(lines[: _first_line(now) - 1]) + text + "".join(lines[now.end_lineno :])
    return source


def _definition(source: str, symbol: str) -> ast.FunctionDef | ast.ClassDef | None:
    """The last definition of a name at the top of a module, which is the one that counts."""
    tree = parse(source)
    definitions = [
        node
        for node in (tree.body if tree else ())
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == symbol
    ]
    return definitions[-1] if definitions else None


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _lines_of(source: str, node: ast.FunctionDef | ast.ClassDef | None) -> str:
    if node is None:
        return ""
    return "".join(source.splitlines(keepends=True)[_first_line(node) - 1 : node.end_lineno])
