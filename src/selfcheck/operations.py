"""Names what an expression does, so that one mistake is the same however it is written."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence

from .source import tree_of

RAISED = "raise"  # whoever writes such a statement chooses its words
#: Ways to write one operation, by the name that stands for all of them.
NAMES = {
    **dict.fromkeys(
        ("MatMult", "matmul", "mm", "bmm", "mv", "dot", "einsum", "inner", "linear", "tensordot"), "product"
    ),
    **dict.fromkeys(("Add", "add", "add_", "Sub", "sub", "subtract"), "sum of two"),
    **dict.fromkeys(
        ("Mult", "mul", "mul_", "multiply", "Div", "div", "div_", "divide", "true_divide"), "product of two"
    ),
    **dict.fromkeys(("BitAnd", "logical_and", "BitOr", "logical_or"), "both or either"),
    **dict.fromkeys(("masked_fill", "masked_fill_", "where"), "masking"),
    **dict.fromkeys(("reshape", "view", "unflatten", "flatten"), "reshape"),
    **dict.fromkeys(("transpose", "swapaxes", "permute", "movedim"), "transpose"),
    **dict.fromkeys(("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"), "comparison"),
}


Position = tuple[int | None, int | None, int | None, int | None]


def operation_at(lines: Sequence[str], position: Position) -> str:
    """The operation of the expression at a position of a file, as `code.co_positions()` gives it; "" for none.

    Functions and methods go by their names, where they are not written otherwise as well: "masking", "softmax". A
    statement that raises is RAISED.
    """
    text = text_at(lines, position)
    return RAISED if text.startswith("raise ") else _operation(text)


def text_at(lines: Sequence[str], position: Position) -> str:
    """What stands at a position of a file; "" where it is none."""
    first, last, begin, end = position
    if first is None or last is None or begin is None or end is None or not 0 < first <= last <= len(lines):
        return ""
    pieces = [line.encode() for line in lines[first - 1 : last]]  # columns count bytes
    pieces[-1] = pieces[-1][:end]
    pieces[0] = pieces[0][begin:]
    return b"".join(pieces).decode(errors="replace")


@functools.lru_cache(maxsize=256)
def _operation(text: str) -> str:
    """That of an expression; "" where it is none."""
    try:
        node: ast.AST = tree_of("(" + text + ")", "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if isinstance(node, ast.BinOp):
        name = type(node.op).__name__
    elif isinstance(node, ast.Compare):
        name = type(node.ops[0]).__name__
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    else:
        name = type(node).__name__
    return NAMES.get(name, name)[:60]
