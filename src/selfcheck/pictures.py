"""Draws an answer beside the expected one, as small HTML tables."""

from __future__ import annotations

import html
import math
import re
from typing import Any

from .arrays import Array, array, unpack

MOST_ROWS = 10


def pictures(called: str, expected: dict[str, Any], got: dict[str, Any]) -> str:
    """The call in words, and the first array of the learner's answer that differs, beside the expected one."""
    words = f'<div style="margin:.2em 0 .2em 1.4em"><code>{html.escape(called)}</code></div>'
    if "value" not in expected or "value" not in got:
        return words
    pairs = _pairs(unpack(expected["value"]), unpack(got["value"]))
    grids = next((_beside(want, came) for want, came in pairs if not _alike(want, came)), "")
    flex = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:1em;margin:.2em 0 .5em 1.4em"
    return f'{words}<div style="{flex}">{grids}</div>' if grids else words


def beside_text(expected: dict[str, Any], got: dict[str, Any]) -> str:
    """The first array that differs, yours and the expected one side by side as text; * marks what differs.

    "" where there are no two arrays to compare.
    """
    if "value" not in expected or "value" not in got:
        return ""
    pairs = _pairs(unpack(expected["value"]), unpack(got["value"]))
    different = next(((want, came) for want, came in pairs if not _alike(want, came)), None)
    if different is None:
        return ""
    want, came = different
    alike = want.shape == came.shape
    place = _first_different(want, came) if alike else 0
    blocks = []
    for title, values, other in (("yours", came, want), ("expected", want, came)):
        others = _matrix(other, place) if alike else None
        rows = _text_rows(_matrix(values, place), others if title == "yours" else None)
        heading = _caption(title, values, place)
        width = max(map(len, [heading, *rows]))
        blocks.append([line.ljust(width) for line in (heading, *rows)])
    height = max(map(len, blocks))
    left, right = ([*block, *[" " * len(block[0])] * (height - len(block))] for block in blocks)
    return "\n".join(f"{a}    {b}".rstrip() for a, b in zip(left, right, strict=True))


def _text_rows(rows: list[list[Any]], others: list[list[Any]] | None) -> list[str]:
    """A matrix as lines of text, its columns in line; a number that is not as in the other matrix has a star."""
    cells = [
        [
            _number(value) + ("*" if others is not None and not _same(value, others[i][j]) else " ")
            for j, value in enumerate(row[:MOST_ROWS])
        ]
        for i, row in enumerate(rows[:MOST_ROWS])
    ]
    width = max((len(cell) for row in cells for cell in row), default=0)
    lines = [
        "".join(cell.rjust(width + 1) for cell in row) + (" …" if len(rows[0]) > MOST_ROWS else "") for row in cells
    ]
    return [*lines, " …"] if len(rows) > MOST_ROWS else lines


def _pairs(want: Any, came: Any) -> list[tuple[Array, Array]]:
    if isinstance(want, (tuple, list)):
        if isinstance(came, (tuple, list)) and len(came) == len(want):
            return [pair for a, b in zip(want, came, strict=True) for pair in _pairs(a, b)]
        return []
    came = _arrayed(came)
    return [(want, came)] if isinstance(want, Array) and isinstance(came, Array) else []


def _arrayed(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(row, Array) for row in value):
        try:
            return array([row.nested() for row in value])
        except ValueError:
            return value
    return value


def _same(a: float, b: float) -> bool:
    return a == b or abs(a - b) < 1e-5 or (a != a and b != b)


def _alike(want: Array, came: Array) -> bool:
    return want.shape == came.shape and all(_same(a, b) for a, b in zip(want.values(), came.values(), strict=True))


def _beside(want: Array, came: Array) -> str:
    """Both arrays in one scale of colours; of more than two axes the first matrix that differs."""
    alike = want.shape == came.shape
    place = _first_different(want, came) if alike else 0
    mine, theirs = _matrix(came, place), _matrix(want, place)
    numbers = [float(x) for rows in (mine, theirs) for row in rows for x in row if math.isfinite(x)]
    scale = min(numbers, default=0.0), max(numbers, default=1.0)
    return "".join(
        _grid(_caption(title, values, place), rows, others if alike else None, scale)
        for title, values, rows, others in (("yours", came, mine, theirs), ("expected", want, theirs, mine))
    )


def _first_different(want: Array, came: Array) -> int:
    """The position, among the matrices of the last two axes, of the first that differs."""
    size = math.prod(want.shape[-2:])
    pairs = zip(want.values(), came.values(), strict=True)
    return next((place // size for place, (a, b) in enumerate(pairs) if not _same(a, b)), 0)


def _matrix(values: Array, place: int) -> list[list[Any]]:
    """The rows of the matrix at a position; a vector, or a number, is one row."""
    columns = values.shape[-1] if values.shape else 1
    size = math.prod(values.shape[-2:])
    flat = values.values()[place * size : (place + 1) * size]
    return [flat[start : start + columns] for start in range(0, len(flat), columns or 1)]


def _caption(title: str, values: Array, place: int) -> str:
    at = []
    for length in reversed(values.shape[:-2]):
        place, position = divmod(place, length or 1)
        at.append(str(position))
    return f"{title} {values.shape}" + (f" at [{', '.join(reversed(at))}]" if at else "")


def _grid(caption: str, rows: list[list[Any]], others: list[list[Any]] | None, scale: tuple[float, float]) -> str:
    """One matrix as a table; a number that differs from the other matrix, of the same shape, has a border."""
    body = ""
    for i, row in enumerate(rows[:MOST_ROWS]):
        body += "<tr>"
        for j, value in enumerate(row[:MOST_ROWS]):
            differs = others is not None and not _same(value, others[i][j])
            body += f'<td style="{_cell_style(value, *scale, differs)}">{_number(value)}</td>'
        body += "<td>…</td></tr>" if len(row) > MOST_ROWS else "</tr>"
    if len(rows) > MOST_ROWS:
        body += "<tr><td>…</td></tr>"
    head = f'<caption style="text-align:left;white-space:nowrap">{html.escape(caption)}</caption>'
    return f'<table style="border-collapse:collapse;font-size:85%;margin:0">{head}{body}</table>'


def _cell_style(value: float, low: float, high: float, differs: bool) -> str:
    share = (float(value) - low) / (high - low) if math.isfinite(value) and high > low else 0.0
    background = f"rgba(0,114,178,{0.08 + 0.5 * share:.2f})" if math.isfinite(value) else "rgba(213,94,0,0.35)"
    border = "2px solid #c9502f" if differs else "1px solid #999"
    weight = ";font-weight:bold" if differs else ""
    return f"background:{background};border:{border};padding:.1em .4em;text-align:right{weight}"


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "T" if value else "F"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


MODULES = {"network": "a small model", "writer": "a small language model"}
OBJECTS = {
    "iterator": "an iterator over {count} tensors",
    "triple": "a triple of tensors",
    "score": "{name} scores",
    "generator": "a generator",
    "loss": "{name}",
    "optimizer": "SGD(lr={rate})",
    "writing": "a function from ids to logits",
    "cache": "a cache for {max_length} positions",
    "made": "what {method}() gave",
}


def call_text(symbol: str, step: dict[str, Any]) -> str:
    """The step of a check: "in causal_mask(4, 6)", large arrays by kind and shape."""
    if "construct" not in step:
        return f"in {symbol}{_arguments(step)}"
    made = f"{symbol}{_arguments(step['construct'])}"
    mode = f" trained for {step['lessons']['steps']} steps" if step.get("lessons") else ""
    mode += ".train()" if step["training"] else ""
    uses = [_use_text(use) for use in step["uses"]]
    if len(uses) < 2:
        return f"in {made}{mode}{''.join(uses)}"
    # A class whose objects are called is a module; another's are named by the last word of its name: KeyValueCache.
    called = not all(use["method"] for use in step["uses"])
    name = "module" if called else re.split("(?=[A-Z])", symbol)[-1].lower()
    return f"in {name} = {made}{mode}; " + "; ".join(f"{name}{use}" for use in uses)


def _use_text(use: dict[str, Any]) -> str:
    if use["method"].startswith((".", ":")):
        return use["method"] if use["method"][0] == "." else ", its parameters counted"
    called = f"{'.' if use['method'] else ''}{use['method']}{_arguments(use)}"
    made = f" of another, made with {_arguments(use['construct'])}" if "construct" in use else ""
    return called + made + (" (to be refused)" if use.get("refused") else "")


def _arguments(call: dict[str, Any]) -> str:
    parts = [_argument_text(tree) for tree in call["args"]]
    parts += [f"{name}={_argument_text(tree)}" for name, tree in call["kwargs"].items()]
    return f"({', '.join(parts)})"


def _argument_text(tree: dict[str, Any]) -> str:
    if tree["kind"] == "dtype":
        return f"torch.{tree['value']}"
    if tree["kind"] == "text":
        return repr(tree["value"])
    if tree["kind"] == "module":
        return (
            f"a module with {', '.join(tree['names'])}" if "names" in tree else MODULES.get(tree["type"], tree["type"])
        )
    if tree["kind"] in OBJECTS:
        return OBJECTS[tree["kind"]].format(count=len(tree.get("items", [])), **tree)
    value = unpack(tree)
    if isinstance(value, tuple):
        return f"({', '.join(_argument_text(item) for item in tree['items'])})"
    if not isinstance(value, Array):
        return str(value)
    if math.prod(value.shape) <= 6 and len(value.shape) < 3:
        return _rounded(value.nested())
    return f"{value.kind} {value.shape}"


def _rounded(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_rounded(entry) for entry in value)}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
