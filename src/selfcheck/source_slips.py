"""Names slips that stand in a learner's text, where nothing about a wrong answer says what is amiss.

On the learner's own machine alone: a grader reads no stranger's text in its own process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from .slip_sections import section_of
from .source import nodes_of, parse, text_of_node
from .verdict import FAILED, ExerciseResult

#: Methods of tensors that give a new tensor and change none.
NEW_TENSOR = {
    *("masked_fill", "transpose", "permute", "reshape", "view", "flatten", "unflatten", "squeeze", "unsqueeze"),
    *("softmax", "clamp", "contiguous", "clone", "detach", "float", "double", "half", "to", "tril", "triu", "expand"),
    *("add", "sub", "mul", "div", "exp", "sqrt", "sum", "mean", "cumsum"),
}
KINDS = ("values", "facts", "nan", "state", "gradient", "structure", "shape")  # of failures that a text may explain

UNEXPLAINED = ("", "generic.factor", "generic.other_scores")  # causes that say by how much, and not why


def named_from_source(result: ExerciseResult, source: str) -> ExerciseResult:
    """The verdicts, where the first failure that nothing explains is explained by a line of the exercise's text."""
    open_ones = [
        check.verdict == FAILED and check.kind in KINDS and (check.misconception or "") in UNEXPLAINED
        for check in result.checks
    ]
    if not any(open_ones):
        return result
    place = open_ones.index(True)
    slip = next(slips_in(source, result.exercise.symbol), None)
    if slip is None:
        return result
    line, cause, text = slip
    checks = list(result.checks)
    told = f"line {line} of {result.exercise.module}.py: {text}. In detail: {checks[place].message}"
    cause = f"generic.{cause}"
    section = section_of(cause, checks[place].section)
    checks[place] = replace(checks[place], message=told, misconception=cause, section=section)
    return replace(result, checks=tuple(checks))


def slips_in(source: str, symbol: str) -> Iterator[tuple[int, str, str]]:
    """Line, cause (of generic_slips.py) and sentence of each slip in a function or class."""
    tree = parse(source)
    kinds = (ast.FunctionDef, ast.ClassDef)
    for defined in tree.body if tree else ():
        if not isinstance(defined, kinds) or defined.name != symbol:
            continue
        for node in nodes_of(defined):
            if isinstance(node, ast.Expr):
                yield from _thrown_away(source, node)
            elif isinstance(node, ast.BinOp) and _shares_rows(node):
                text = "`[[…] * n] * m` holds one row m times, so that what is written into one is in all of them"
                yield node.lineno, "shared_rows", text
            elif isinstance(node, ast.BinOp) and (power := _power_first(source, node)):
                yield node.lineno, "power_first", power


def _thrown_away(source: str, statement: ast.Expr) -> Iterator[tuple[int, str, str]]:
    """A statement whose value nobody gets, though it has nothing but a value."""
    value = statement.value
    if isinstance(value, ast.Attribute):
        text = f"`{text_of_node(source, value)[:60]}` names a method and does not call it: the brackets () are missing"
        yield statement.lineno, "not_called", text
    elif isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq):
        text = f"`{text_of_node(source, value)[:60]}` compares and changes nothing: = assigns"
        yield statement.lineno, "compared", text
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in NEW_TENSOR:
        text = f"{value.func.attr} gives a new tensor and changes none: what it gives is not used"
        yield statement.lineno, "result_unused", text


def _power_first(source: str, node: ast.BinOp) -> str:
    """What a power binds that a fraction was meant for: x ** 1 / 2 is (x ** 1) / 2; "" where nothing is amiss."""
    power = node if isinstance(node.op, ast.Pow) else node.left
    if isinstance(power, ast.BinOp) and isinstance(power.op, (ast.Mult, ast.Div)):  # a * x ** -1 / 2
        power = power.right
    if not isinstance(power, ast.BinOp) or not isinstance(power.op, ast.Pow):
        return ""
    exponent = text_of_node(source, power.right)
    divided = isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant)
    frequency = isinstance(node.op, (ast.Mult, ast.Div)) and text_of_node(source, power.left) == "base"
    if exponent == "1" or (exponent == "-1" and divided) or (frequency and exponent.lstrip("-").isdigit()):
        first = text_of_node(source, power)[:60]
        return f"`{first}` is taken by itself: ** binds more tightly than / and *, so what follows is outside"
    return ""


def _shares_rows(node: ast.BinOp) -> bool:
    """Whether lists are multiplied whose rows are lists: [[0] * d] * L."""
    outer = node.left if isinstance(node.left, ast.List) else node.right
    if not isinstance(node.op, ast.Mult) or not isinstance(outer, ast.List) or len(outer.elts) != 1:
        return False
    row = outer.elts[0]
    return isinstance(row, (ast.List, ast.ListComp)) or (
        isinstance(row, ast.BinOp) and isinstance(row.op, ast.Mult) and isinstance(row.left, ast.List)
    )
