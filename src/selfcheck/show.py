"""Shows verdicts: text in a terminal, a table with small pictures in a notebook."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .arrays import Array, array, unpack
from .verdict import FAILED, PASSED, SKIPPED, CheckResult, ExerciseResult

MARKS = {PASSED: "✓", FAILED: "✗", SKIPPED: "–"}
COLOURS = {PASSED: "#00795a", FAILED: "#b5472c", SKIPPED: "#6b6b6b"}
MOST_ROWS = 10


class Report:
    """The verdicts of one or more exercises."""

    def __init__(self, results: Sequence[ExerciseResult]) -> None:
        self.results = list(results)

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    def __repr__(self) -> str:
        return report_text(self.results)

    def _repr_html_(self) -> str:
        broken, rest = _broken_modules(self.results)
        modules = (_box(COLOURS[FAILED], html.escape(text), "") for text in broken)
        return "".join((*modules, *(_exercise_html(result) for result in rest)))


def report_text(results: Sequence[ExerciseResult]) -> str:
    """The verdicts of some exercises as plain text; a module that cannot be imported is named once."""
    broken, rest = _broken_modules(results)
    return "\n\n".join((*broken, *(exercise_text(result) for result in rest)))


def _broken_modules(results: Sequence[ExerciseResult]) -> tuple[list[str], list[ExerciseResult]]:
    """A line per module that several exercises need and that cannot be imported, and the other results."""
    messages: dict[tuple[str, str], list[ExerciseResult]] = {}
    for result in results:
        if all(one.kind == "import" for one in result.checks):
            messages.setdefault((result.exercise.module, result.checks[0].message), []).append(result)
    lines, told = [], []
    for (module, message), group in messages.items():
        if len(group) > 1:
            numbers = f"{group[0].exercise.number} to {group[-1].exercise.number}"
            lines.append(f"{numbers} ({module}): no check can run\n  {MARKS[FAILED]} {message}")
            told += [result.exercise for result in group]
    return lines, [result for result in results if result.exercise not in told]


def exercise_text(result: ExerciseResult) -> str:
    """The verdicts of one exercise as plain text, each message once."""
    lines = [headline(result)]
    if not result.started:
        return f"{lines[0]}\n  write your answer in attention/{result.exercise.module}.py; {_where_to_begin(result)}"
    shared = _shared(result)
    if shared:
        return f"{lines[0]}\n  {MARKS[shared.verdict]} every check\n      {shared.message}"
    told: dict[str, str] = {}
    for one in result.checks:
        line = f"  {MARKS.get(one.verdict, '!')} {_label(one)}"
        if one.message:
            line += f": {told[one.message]}" if one.message in told else f"\n      {one.message}"
            told.setdefault(one.message, f"as for “{_label(one)}”")
            if one.misconception and f"\n      {one.message}" in line:
                line += f"\n      Reread: {section_name(one.section)}"
            elif one.verdict == FAILED and one.shown and f"\n      {one.message}" in line:
                line += f"\n      {_call_text(result.exercise.symbol, one.shown[0])}"
        lines.append(line)
    return "\n".join(lines)


def headline(result: ExerciseResult) -> str:
    """One line: number, title, and how far it is."""
    exercise = result.exercise
    passed = sum(one.verdict == PASSED for one in result.checks)
    which = "check" if any(one.hidden for one in result.checks) else "visible check"
    state = f"passes every {which}" if result.passed else f"{passed} of {len(result.checks)} {which}s pass"
    if not result.started:
        state = "not started yet"
    return f"{exercise.number} {exercise.title} ({exercise.id}): {state}"


def _shared(result: ExerciseResult) -> CheckResult | None:
    """The first check, where all checks that are not given have its message, and that names no misconception."""
    earned = [one for one in result.checks if one.kind or one.verdict != SKIPPED]
    alike = len(earned) > 1 and len({(one.verdict, one.message) for one in earned}) == 1
    return earned[0] if alike and earned[0].verdict in (FAILED, SKIPPED) and not earned[0].misconception else None


def _label(one: CheckResult) -> str:
    return "a check that is not shown" if one.hidden else one.sees


def _where_to_begin(result: ExerciseResult) -> str:
    exercise = result.exercise
    return f'edit("{exercise.module}") opens it, hint("{exercise.number}") helps'


def section_name(label: str) -> str:
    """A section label as words: "sec-causal-alignment" → "causal alignment"."""
    return "the section on " + label.removeprefix("sec-").replace("-", " ")


def _exercise_html(result: ExerciseResult) -> str:
    symbol = result.exercise.symbol
    rows: list[str] = []
    told: dict[str, str] = {}
    if not result.started:
        rows.append(f"<li>{html.escape(_where_to_begin(result))}</li>")
    shared = _shared(result) if result.started else None
    if shared:
        rows.append(_check_html(symbol, replace(shared, sees="every check", hidden=False, shown=None)))
    for one in result.checks if result.started and not shared else ():
        rows.append(_check_html(symbol, one, told.get(one.message, "")))
        if one.message:
            told.setdefault(one.message, _label(one))
    colour = COLOURS[PASSED] if result.passed else COLOURS[SKIPPED if not result.started else FAILED]
    return _box(colour, html.escape(headline(result)), "".join(rows))


def _box(colour: str, title: str, rows: str) -> str:
    style = f"border-left:4px solid {colour};padding:.2em .8em;margin:.4em 0"
    items = f'<ul style="list-style:none;padding-left:.3em;margin:.3em 0">{rows}</ul>' if rows else ""
    return f'<div style="{style}"><strong style="white-space:pre-line">{title}</strong>{items}</div>'


def _check_html(symbol: str, one: CheckResult, told: str = "") -> str:
    colour = COLOURS.get(one.verdict, "#b5472c")
    mark = f'<span style="color:{colour};font-weight:bold">{MARKS.get(one.verdict, "!")}</span>'
    body = f'<li style="margin:.25em 0">{mark} {html.escape(_label(one))}'
    if one.message and told:
        body += f": as for “{html.escape(told)}”"
    elif one.message:
        body += f'<div style="margin:.2em 0 .2em 1.4em">{html.escape(one.message)}'
        if one.misconception:
            body += f"<br><em>Reread {html.escape(section_name(one.section))}.</em>"
        body += "</div>"
    if one.verdict == FAILED and one.shown:
        body += _pictures(symbol, one)
    return body + "</li>"


def _pictures(symbol: str, one: CheckResult) -> str:
    """The call's arguments in words, and the learner's answer beside the expected one where both are arrays."""
    call, expected, got = one.shown
    called = f'<div style="margin:.2em 0 .2em 1.4em"><code>{html.escape(_call_text(symbol, call))}</code></div>'
    if "value" not in expected or "value" not in got:
        return called
    grids = []
    for want, came in _pairs(unpack(expected["value"]), unpack(got["value"])):
        if not _alike(want, came):
            grids.append(_grid("yours", came, want) + _grid("expected", want, came))
    if not grids:
        return called
    flex = "display:flex;flex-wrap:wrap;gap:1em;margin:.2em 0 .5em 1.4em"
    return f'{called}<div style="{flex}">{grids[0]}</div>'


def _pairs(want: Any, came: Any) -> list[tuple[Any, Any]]:
    if isinstance(want, (tuple, list)):
        if isinstance(came, (tuple, list)) and len(came) == len(want):
            return [pair for a, b in zip(want, came, strict=True) for pair in _pairs(a, b)]
        return []
    return [(want, came)] if isinstance(want, Array) and isinstance(_arrayed(came), Array) else []


def _arrayed(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(row, Array) for row in value):
        try:
            return array([row.nested() for row in value])
        except ValueError:
            return value
    return value


def _alike(want: Array, came: Any) -> bool:
    came = _arrayed(came)
    return want.shape == came.shape and all(
        a == b or abs(a - b) < 1e-5 for a, b in zip(want.values(), came.values(), strict=True)
    )


def _grid(title: str, values: Any, other: Any) -> str:
    """One matrix as a table; a number that differs from the other matrix is in bold with a border."""
    values, other = _arrayed(values), _arrayed(other)
    shape, rows = _first_matrix(values)
    _, others = _first_matrix(other)
    numbers = [float(x) for row in rows for x in row if math.isfinite(x)]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    body = ""
    for i, row in enumerate(rows[:MOST_ROWS]):
        body += "<tr>"
        for j, value in enumerate(row[:MOST_ROWS]):
            twin = others[i][j] if i < len(others) and j < len(others[i]) else None
            differs = twin is None or not (value == twin or abs(value - twin) < 1e-5)
            body += f'<td style="{_cell_style(value, low, high, differs)}">{_number(value)}</td>'
        body += "<td>…</td></tr>" if len(row) > MOST_ROWS else "</tr>"
    if len(rows) > MOST_ROWS:
        body += "<tr><td>…</td></tr>"
    caption = f"{title} {shape}"
    return (
        f'<table style="border-collapse:collapse;font-size:85%"><caption style="text-align:left">{html.escape(caption)}'
        f"</caption>{body}</table>"
    )


def _first_matrix(values: Array) -> tuple[tuple[int, ...], list[list]]:
    """The shape, and the first (rows, columns) slice of an array of any number of axes."""
    if math.prod(values.shape) == 0:
        return values.shape, []
    nested = values.nested()
    if not values.shape:
        return values.shape, [[nested]]
    for _ in range(len(values.shape) - 2):
        nested = nested[0]
    return values.shape, nested if len(values.shape) > 1 else [nested]


def _cell_style(value: float, low: float, high: float, differs: bool) -> str:
    share = (float(value) - low) / (high - low) if math.isfinite(value) and high > low else 0.0
    background = f"rgba(0,114,178,{0.08 + 0.5 * share:.2f})" if math.isfinite(value) else "rgba(213,94,0,0.35)"
    border = "2px solid #b5472c" if differs else "1px solid #bbb"
    return f"background:{background};border:{border};padding:.1em .4em;text-align:right" + (
        ";font-weight:bold" if differs else ""
    )


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "T" if value else "F"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _call_text(symbol: str, call: dict[str, Any]) -> str:
    """The call of a check: "in causal_mask(4, 6)", large arrays by kind and shape."""
    parts = [_argument_text(tree) for tree in call["args"]]
    parts += [f"{name}={_argument_text(tree)}" for name, tree in call["kwargs"].items()]
    return f"in {symbol}({', '.join(parts)})"


def _argument_text(tree: dict[str, Any]) -> str:
    if tree["kind"] == "dtype":
        return f"torch.{tree['value']}"
    if tree["kind"] == "text":
        return repr(tree["value"])
    value = unpack(tree)
    if not isinstance(value, Array):
        return str(value)
    if math.prod(value.shape) <= 6 and len(value.shape) < 3:
        return str(value.nested())
    return f"{value.kind} {value.shape}"
