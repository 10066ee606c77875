"""Reads one line of a learner's code for slips that an exception's words do not tell."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from .source import parse, text_of_node

EXCHANGES = ("transpose", "swapaxes", "movedim")
REDUCING = ("sum", "mean", "amax", "amin", "logsumexp", "std", "var", "norm", "any", "all")
#: Methods and functions that give a tuple.
GIVING_SEVERAL = ("chunk", "split", "tensor_split", "unbind", "size", "max", "min", "median", "topk", "sort")
#: Methods and functions that take one number along an axis.
ALONG = ("sum", "mean", "amax", "amin", "logsumexp", "std", "var", "norm", "max", "min")
#: Functions and methods that multiply matrices.
PRODUCTS = ("matmul", "mm", "bmm", "dot", "addmm", "baddbmm", "einsum", "mv", "inner", "tensordot")


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


def is_product(line: list[ast.AST]) -> bool:
    """Whether a matrix product is written out in a line; where none is, a layer has made it."""
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in PRODUCTS)
        for node in line
    )


def call_taken_apart(line: list[ast.AST]) -> str:
    """The call whose value a line assigns to several names; "" where it does not, or where a tuple comes of it."""
    for node in line:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            call = node.value
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") not in GIVING_SEVERAL:
                return written(call)[:60]
    return ""


def lost_axis(line: list[ast.AST]) -> str:
    """What a line takes of a tensor along an axis, without keepdim, to compute with that tensor: `x.sum(dim=-1)`."""
    for node in line:
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Sub, ast.Mult, ast.Add)):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if is_taken_along_an_axis(one, other):
                    return written(one)[:60]
    return ""


def reduced(line: list[ast.AST]) -> str:
    """What a line takes along an axis, without keepdim, as one side of an operator: `mask.any(-1)`; else ""."""
    for side in sides_of_operators(line):
        if not isinstance(side, ast.Call) or not isinstance(side.func, ast.Attribute):
            continue
        named = {word.arg for word in side.keywords}
        along = (side.args or named & {"dim", "axis"}) and not named & {"keepdim", "keepdims"}
        if along and side.func.attr in REDUCING and isinstance(side.func.value, ast.Name):
            return written(side)[:60]
    return ""


def fewer_axes(line: list[ast.AST], shapes: dict[str, tuple[int, ...]]) -> tuple[str, str] | None:
    """The side of the first operator that has fewer axes than the other, where both are known, and that other one.

    shapes: of each name
    """
    sides = list(sides_of_operators(line))[:2]
    counts = [_axes_of(side, shapes) for side in sides]
    if not all(counts) or len(set(counts)) < 2:
        return None
    fewer, more = sorted(sides, key=lambda side: counts[sides.index(side)])
    return written(fewer)[:60], written(more)[:60]


def _axes_of(node: ast.expr, shapes: dict[str, tuple[int, ...]]) -> int:
    """How many axes a name has, or what is taken of it along one axis; 0 for any other expression."""
    if written(node) in shapes:
        return len(shapes[written(node)])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in REDUCING:
        return 0
    named = {word.arg for word in node.keywords}
    along = (node.args or named & {"dim", "axis"}) and not named & {"keepdim", "keepdims"}
    return len(shapes.get(written(node.func.value), (0,))) - 1 if along else 0


def two_shapes(line: list[ast.AST], shapes: dict[str, tuple[int, ...]]) -> str:
    """The shapes of both sides of the first operator, where these are names: "x is (2, 3) and m is (3,)"; else ""."""
    names = [written(side) for side in list(sides_of_operators(line))[:2]]
    if not names or not all(name in shapes for name in names):
        return ""
    return " and ".join(f"`{name}` is {shapes[name]}" for name in names)


def indexed_row(line: list[ast.AST]) -> str:
    """One position of all in a line, `query[..., i, :]`, as one side of an operator: its axis is gone; else ""."""
    for side in sides_of_operators(line):
        places = side.slice.elts if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Tuple) else []
        if any(isinstance(place, ast.Name) for place in places):
            return written(side)[:60]
    return ""


def sides_of_operators(line: list[ast.AST]) -> Iterator[ast.expr]:
    """What stands on either side of each operator that works entry by entry."""
    for node in line:
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            yield from (node.left, node.right)


def turned(line: list[ast.AST]) -> str:
    """An exchange of axes that counts one of them from the front, `transpose(-1, 1)`; else ""."""
    calls = [node for node in line if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    for call in calls:
        counted = any(isinstance(place, ast.Constant) for place in call.args[-2:])
        if counted and getattr(call.func, "attr", "") in EXCHANGES:
            return f"{getattr(call.func, 'attr', '')}({', '.join(map(written, call.args))})"[:60]
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


def new_axis(line: list[ast.AST]) -> str:
    """Where a line puts an axis of length 1, counted from the front: `unsqueeze(1)`, not `unsqueeze(0)`; else ""."""
    for node in line:
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "unsqueeze":
            places = [*node.args[-1:], *(word.value for word in node.keywords)]
            if any(isinstance(place, ast.Constant) and place.value not in (0, None) for place in places):
                return written(places[-1])
    return ""


@functools.lru_cache(maxsize=256)
def nodes_in(line: str) -> tuple[ast.AST, ...]:
    """The nodes of one line of a program; none where it is a part of a longer statement."""
    line = re.sub(r"^elif\b", "if", line)
    for source in (f"def _():\n {line}\n", f"def _():\n {line} pass\n", f"({line})"):
        if tree := parse(source):
            nodes = tuple(ast.walk(tree))
            for node in nodes:
                if isinstance(node, ast.expr):
                    vars(node)["source"] = source
            return nodes
    return ()


def written(node: ast.AST) -> str:
    """A node of `nodes_in` as the learner wrote it; "" where it is no expression."""
    source = vars(node).get("source")
    return text_of_node(source, node) if source and isinstance(node, ast.expr) else ""
