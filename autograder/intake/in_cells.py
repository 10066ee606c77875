"""Finds code that a learner has written into the notebook's cells in place of the module, where no grader looks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from selfcheck.catalogue import Exercise, in_problem_set
from selfcheck.source import parse

from ..sandbox.limited import items_of
from .notebook import cells_of, source_of

MAGIC = re.compile(r"(?m)^[^\S\n]*[%!?].*$")  # lines that Jupyter reads, and Python does not
#: In the JSON of a notebook, where a cell is a list of lines or one text whose lines end in the two characters "\\n".
DEFINES = rb"(?:\\[nrt]|\b)(?:(?:def|class)(?:\s|\\t)+(?:%s)\b|(?:%s)(?:\s|\\t)*=(?:\s|\\t)*lambda\b)"
MOST_NAMED = 5


def written_in_cells(
    notebook: bytes | None, problem_set: str, files: Mapping[str, bytes]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the exercises that a notebook's cells define and the modules do not, and a line for each module.

    files: the modules that were handed in, by name
    Raises limited.LimitedFault where the notebook cannot be read for no reason that lies in it.
    """
    missing = [exercise for exercise in in_problem_set(problem_set) if not _is_written(exercise, files)]
    named = {exercise.symbol for exercise in missing}
    if not notebook or not named:  # without a name the pattern would begin at every sign
        return (), ()
    if not re.search(DEFINES.replace(b"%s", "|".join(sorted(named)).encode()), notebook):
        return (), ()
    defined = set(items_of(_defined, notebook, sorted(named)).items)
    answered = [exercise for exercise in missing if exercise.symbol in defined]
    modules: dict[str, list[str]] = {}
    for exercise in answered:
        modules.setdefault(exercise.module, []).append(exercise.symbol)
    return tuple(exercise.id for exercise in answered), tuple(_told(*item) for item in modules.items())


def _told(module: str, symbols: list[str]) -> str:
    more = [f"{len(symbols) - MOST_NAMED} more"] if len(symbols) > MOST_NAMED else []
    return (
        f"the code of {', '.join([*symbols[:MOST_NAMED], *more])} is in the notebook's cells and not in "
        f"attention/{module}.py, which is what is graded: it has to be moved there and handed in again"
    )


def _is_written(exercise: Exercise, files: Mapping[str, bytes]) -> bool:
    """Whether the module is there and does not raise any more what the exercise's stub raises."""
    stub = rb"NotImplementedError\(\s*[\"']exercise " + re.escape(exercise.number).encode() + rb"\b"
    data = files.get(f"{exercise.module}.py")
    return data is not None and not re.search(stub, data)


def _defined(notebook: bytes, names: list[str]) -> Iterator[str]:
    """Those of the names that a function or a class in a cell has."""
    cells, _ = cells_of(notebook)
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        text = source_of(cell)
        tree = parse(MAGIC.sub("", text))
        if tree is None:  # a mistake elsewhere in the cell
            names_defined = set(re.findall(r"(?m)^[ \t]*(?:async +)?(?:def|class) +(\w{1,100})", text))
        else:
            names_defined = set(_names_bound(tree.body))
        yield from names_defined.intersection(names)


def _names_bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements, those within `if`, `try` or `with` too, give to functions and classes."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from names if isinstance(node.value, ast.Lambda) else ()
        elif not isinstance(node, ast.expr):
            waiting += ast.iter_child_nodes(node)
