"""Reads one line of a learner's code for slips that an exception's words do not tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .source import parse

#: Methods and functions that take one number along an axis.
ALONG = ("sum", "mean", "amax", "amin", "logsumexp", "std", "var", "norm", "max", "min")


def compared(line: list[ast.AST]) -> str:
    """What is amiss with the comparisons in a line: & between them without "brackets", or "chained"; else ""."""
    comparisons = [node for node in line if isinstance(node, ast.Compare)]
    for node in comparisons:
        sides = [side for side in (node.left, *node.comparators) if isinstance(side, ast.BinOp)]
        if any(isinstance(side.op, (ast.BitAnd, ast.BitOr)) for side in sides):
            return "brackets"
    return "chained" if any(len(node.ops) > 1 for node in comparisons) else ""


def is_indexed_product(line: list[ast.AST]) -> bool:
    """Whether a line multiplies what one plain index takes: a row, as long as nothing stands in front."""
    for node in line:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            operands: list[ast.AST] = [node.left, node.right]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("dot", "matmul"):
            operands = [*node.args, getattr(node.func, "value", node.func)]
        else:
            continue
        if any(
            isinstance(operand, ast.Subscript) and isinstance(operand.slice, (ast.Name, ast.Constant))
            for operand in operands
        ):
            return True
    return False


def lost_axis(line: list[ast.AST]) -> str:
    """What a line takes of a tensor along an axis, without keepdim, to compute with that tensor: `x.sum(dim=-1)`."""
    for node in line:
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Sub, ast.Mult, ast.Add)):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if is_taken_along_an_axis(one, other):
                    return ast.unparse(one)[:60]
    return ""


def is_taken_along_an_axis(node: ast.AST, of: ast.AST) -> bool:
    """Whether an expression is a sum or the like of another one along one axis, which it then loses."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in ALONG:
        return False
    arguments = [node.func.value, *node.args]
    if isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "np", "numpy"):
        arguments = arguments[1:]
    named = {word.arg for word in node.keywords}
    along = len(arguments) == 2 or named & {"dim", "axis"}
    return bool(along) and not named & {"keepdim", "keepdims"} and ast.dump(arguments[0]) == ast.dump(of)


def is_product_of_two(line: list[ast.AST]) -> bool:
    """Whether the only operator between two expressions in a line is one asterisk."""
    operators = [node.op for node in line if isinstance(node, ast.BinOp)]
    return len(operators) == 1 and isinstance(operators[0], ast.Mult)


def nodes_in(line: str) -> Iterator[ast.AST]:
    """The nodes of one line of a program; none where it is a part of a longer statement."""
    line = re.sub(r"^elif\b", "if", line)
    tree = parse(f"def _():\n {line}\n") or parse(f"def _():\n {line} pass\n") or parse(f"({line})")
    yield from ast.walk(tree) if tree else ()
