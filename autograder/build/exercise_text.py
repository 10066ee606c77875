"""Derives what pages show of an exercise beyond its catalogue entry: names, stub and solution."""

from __future__ import annotations

import ast
import textwrap

from selfcheck.catalogue import Exercise, parts_of

from ..course.paths import BOOK, REFERENCE
from .solution_marks import without_marks
from .stubs import strip

__all__ = [
    "chapter_page",
    "definition",
    "label",
    "points_text",
    "slug",
    "solution_text",
    "stub_text",
]


def slug(exercise: Exercise) -> str:
    """The id in a form that HTML and nbgrader accept: "masks-causal_mask"."""
    return exercise.id.replace(".", "-")


def label(exercise: Exercise) -> str:
    """The label of an exercise's place in the book: ex-masks-causal_mask; a second part ends in its problem set."""
    first = parts_of(exercise.id)[0]
    return f"ex-{slug(exercise)}" + ("" if first.problem_set == exercise.problem_set else f"-{exercise.problem_set}")


def chapter_page(exercise: Exercise) -> str:
    """The page that shows an exercise: its number begins with its chapter's ("4.8" is in chapters/04-masks)."""
    number = int(exercise.number.partition(".")[0])
    for file in BOOK.glob(f"chapters/{number:02d}-*.md"):
        return f"chapters/{file.stem}"
    raise LookupError(f"exercise {exercise.number} belongs to chapter {number}, which the book does not have")


def points_text(points: int) -> str:
    """ "1 point" or "4 points"."""
    return "1 point" if points == 1 else f"{points} points"


def stub_text(exercise: Exercise) -> str:
    """The function as the learner gets it, whatever a learner has written into src since."""
    path = REFERENCE / f"{exercise.module}.py"
    return definition(strip(path.read_text("utf-8"), exercise.module), exercise.symbol)


def solution_text(exercise: Exercise) -> str:
    """The reference's function without its docstring, which the stub shows already."""
    path = REFERENCE / f"{exercise.module}.py"
    return definition(path.read_text("utf-8"), exercise.symbol, docstring=False)


def definition(source: str, symbol: str, docstring: bool = True) -> str:
    """A function or class of a module's source, without the marks around solutions.

    Raises LookupError where the source does not define it at its top level.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == symbol:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            kept = lines[first : node.end_lineno]
            if not docstring and ast.get_docstring(node) is not None:
                text = node.body[0]
                del kept[text.lineno - 1 - first : (text.end_lineno or text.lineno) - first]
            return without_marks(textwrap.dedent("".join(kept))).rstrip() + "\n"
    raise LookupError(f"the source defines no {symbol}")
