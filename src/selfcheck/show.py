"""Shows verdicts: text in a terminal, a table with small pictures in a notebook."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from .pictures import call_text, pictures
from .sections import address_of, title_of
from .slip_sections import section_to_reread
from .verdict import FAILED, PASSED, SKIPPED, CheckResult, ExerciseResult

MARKS = {PASSED: "✓", FAILED: "✗", SKIPPED: "–"}
MOST_PRINTED_LINES, MOST_PRINTED_WIDTH = 12, 160  # of what a learner's code prints, under one check
#: As legible on white as on black.
COLOURS = {PASSED: "#008a64", FAILED: "#c9502f", SKIPPED: "#757575"}


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
        modules = (_box(COLOURS[FAILED], _with_code(text), "") for text in broken)
        return "".join((*modules, *(_exercise_html(result) for result in rest)))


def report_text(results: Sequence[ExerciseResult], in_terminal: bool = False) -> str:
    """The verdicts of some exercises as plain text; a module that cannot be imported is named once.

    in_terminal: whether what to do next is named as a command, and not as a function of a notebook
    """
    broken, rest = _broken_modules(results)
    return "\n\n".join((*broken, *(exercise_text(result, in_terminal) for result in rest)))


def _broken_modules(results: Sequence[ExerciseResult]) -> tuple[list[str], list[ExerciseResult]]:
    """A line per module that several exercises need and that cannot be imported, and the other results."""
    messages: dict[tuple[str, str], list[ExerciseResult]] = {}
    for result in results:
        if all(check.kind == "import" for check in result.checks):
            messages.setdefault((result.exercise.module, result.checks[0].message), []).append(result)
    lines, told = [], []
    for (module, message), group in messages.items():
        if len(group) > 1:
            numbers = f"{group[0].exercise.number} to {group[-1].exercise.number}"
            lines.append(f"{numbers} ({module}): no check can run\n  {MARKS[FAILED]} {message}")
            told += [result.exercise for result in group]
    return lines, [result for result in results if result.exercise not in told]


def exercise_text(result: ExerciseResult, in_terminal: bool = False, whole: bool = False) -> str:
    """The verdicts of one exercise as plain text, each message once.

    whole: whether remedies are told, as in graded feedback, and not left to the next hint
    """
    lines = [headline(result)]
    if not result.started:
        begin = _where_to_begin(result, in_terminal)
        return f"{lines[0]}\n  write your answer in attention/{result.exercise.module}.py; {begin}"
    shared = _shared(result)
    if shared:
        called = (
            f"\n      {call_text(result.exercise.symbol, shared.shown[0])}"
            if shared.shown and _needs_its_call(shared)
            else ""
        )
        printed = "".join(_printed_lines(shared))
        text = shared.whole_message if whole else shared.message
        if shared.remedy and not whole:
            text += f"\n      {_where_to_mend(result, in_terminal)}"
        reread = _reread(_section_of(shared))
        return f"{lines[0]}\n  {MARKS[shared.verdict]} every check\n      {text}{reread}{called}{printed}"
    told: dict[str, str] = {}
    sections = _sections(result)
    above, offered = "", False
    for check in result.checks:
        line = f"  {MARKS.get(check.verdict, '!')} {_label(check)}"
        if check.message:
            line += _reference(check, told, above) or f"\n      {check.whole_message if whole else check.message}"
            told.setdefault(_cause(check), _label(check))
            if check.remedy and not whole and not offered:
                line += f"\n      {_where_to_mend(result, in_terminal)}"
                offered = True
            if f"\n      {check.message}" in line:
                line += _reread(sections.get(check.check, ""))
                if check.verdict == FAILED and check.shown and not _is_named(check):
                    line += f"\n      {call_text(result.exercise.symbol, check.shown[0])}"
        lines.append(line + "".join(_printed_lines(check)))
        above = _cause(check)
    return "\n".join(lines)


def headline(result: ExerciseResult) -> str:
    """One line: number, title, and how far it is."""
    exercise = result.exercise
    passed = sum(check.verdict == PASSED for check in result.checks)
    which = "check" if any(check.hidden for check in result.checks) else "visible check"
    state = f"passes every {which}" if result.passed else f"{passed} of {len(result.checks)} {which}s pass"
    if not result.started:
        state = "not started yet"
    return f"{exercise.number} {exercise.title} ({exercise.id}): {state}"


def _sections(result: ExerciseResult) -> dict[str, str]:
    """The labels of the sections to reread, each by the first check that leads there."""
    led: dict[str, str] = {}
    for check in result.checks:
        label = _section_of(check)
        if label and label not in led.values():
            led[check.check] = label
    return led


def _section_of(check: CheckResult) -> str:
    """The label of the section to reread, "" for none."""
    return section_to_reread(check.misconception, check.section)


def _reread(label: str) -> str:
    return f"\n      Reread: {title_of(label)}\n      {address_of(label)}".rstrip() if label else ""


def _shared(result: ExerciseResult) -> CheckResult | None:
    """The first check, where all checks that are not given have its message, and that names no misconception."""
    earned = [check for check in result.checks if check.kind or check.verdict != SKIPPED]
    texts = {(check.verdict, _cause(check) if check.kind == "parameters" else check.message) for check in earned}
    alike = len(earned) > 1 and len(texts) == 1
    return earned[0] if alike and earned[0].verdict in (FAILED, SKIPPED) and not _is_named(earned[0]) else None


def _is_named(check: CheckResult) -> bool:
    """Whether a misconception of the exercise explains a failure, which a section of the book treats."""
    return bool(check.misconception) and not str(check.misconception).startswith("generic.")


def _needs_its_call(check: CheckResult) -> bool:
    """Whether a message speaks of shapes that only the call explains, as those of a module's parameters."""
    return check.kind == "parameters" and check.shown is not None


def _cause(check: CheckResult) -> str:
    """What two checks share if one message will do for both: of an exception the line, whatever its numbers."""
    if check.kind == "parameters":  # its name, whatever the shapes
        return check.message.partition("; the module has")[0].partition(" should have shape")[0]
    if (
        check.misconception and not _is_named(check) and " In detail: " in check.message
    ):  # its numbers are another check's
        return check.message.partition(" In detail: ")[0]
    before, comma, line = check.message.partition(", in line ")
    return f"{before.partition(': ')[0]}{comma}{line}" if check.kind == "raised" and comma else check.message


def _reference(check: CheckResult, told: dict[str, str], above: str) -> str:
    """What stands in place of a message that has been read already; "" where it has not."""
    if _cause(check) not in told:
        return ""
    return ": the same" if _cause(check) == above else f": as for “{told[_cause(check)]}”"


def _label(check: CheckResult) -> str:
    return "a check that is not shown" if check.hidden else check.sees


def _where_to_begin(result: ExerciseResult, in_terminal: bool = False) -> str:
    exercise = result.exercise
    if in_terminal:
        command = f"python -m selfcheck {{}} {exercise.number}"
        return f"{command.format('edit')} opens it, {command.format('hint')} helps"
    return f'edit("{exercise.module}") opens it, hint("{exercise.number}") helps'


def _where_to_mend(result: ExerciseResult, in_terminal: bool = False) -> str:
    number = result.exercise.number
    command = f"python -m selfcheck hint {number}" if in_terminal else f'hint("{number}")'
    return f"{command} says how to mend it"


def _printed_lines(check: CheckResult) -> list[str]:
    """What a learner's code printed during a check, each line behind a bar, the first of them where they are many."""
    lines = check.printed.rstrip("\n").split("\n") if check.printed.strip() else []
    more = [f"… {len(lines) - MOST_PRINTED_LINES} more lines"] if len(lines) > MOST_PRINTED_LINES else []
    return [f"\n      │ {line[:MOST_PRINTED_WIDTH]}" for line in lines[:MOST_PRINTED_LINES] + more]


def _exercise_html(result: ExerciseResult) -> str:
    symbol = result.exercise.symbol
    rows: list[str] = []
    told: dict[str, str] = {}
    if not result.started:
        rows.append(f"<li>{html.escape(_where_to_begin(result))}</li>")
    shared = _shared(result) if result.started else None
    if shared:
        shown = shared.shown if _needs_its_call(shared) else None
        every = replace(shared, sees="every check", hidden=False, shown=shown)
        mend = _where_to_mend(result) if shared.remedy else ""
        rows.append(_check_html(symbol, every, _section_of(shared), mend=mend))
    above, sections = "", _sections(result)
    first = next((check for check in result.checks if check.remedy), None)
    for check in result.checks if result.started and not shared else ():
        mend = _where_to_mend(result) if check is first else ""
        section = sections.get(check.check, "")
        rows.append(_check_html(symbol, check, section, _reference(check, told, above), mend))
        if check.message:
            told.setdefault(_cause(check), _label(check))
        above = _cause(check)
    colour = COLOURS[PASSED] if result.passed else COLOURS[SKIPPED if not result.started else FAILED]
    return _box(colour, html.escape(headline(result)), "".join(rows))


def _box(colour: str, title: str, rows: str) -> str:
    style = f"border-left:4px solid {colour};padding:.2em .8em;margin:.4em 0"
    items = f'<ul style="list-style:none;padding-left:.3em;margin:.3em 0">{rows}</ul>' if rows else ""
    return f'<div style="{style}"><strong style="white-space:pre-line">{title}</strong>{items}</div>'


def _check_html(symbol: str, check: CheckResult, section: str, told: str = "", mend: str = "") -> str:
    colour = COLOURS.get(check.verdict, COLOURS[FAILED])
    mark = f'<span style="color:{colour};font-weight:bold">{MARKS.get(check.verdict, "!")}</span>'
    body = f'<li style="margin:.25em 0">{mark} {_with_code(_label(check))}'
    if check.message and told:
        body += html.escape(told, quote=False)
    elif check.message:
        body += f'<div style="margin:.2em 0 .2em 1.4em">{_with_code(check.message)}'
        if mend:
            body += f"<br><code>{html.escape(mend.split(' ')[0], quote=False)}</code> {mend.partition(' ')[2]}"
        if section:
            link = f'<a href="{html.escape(address_of(section))}">{html.escape(title_of(section))}</a>'
            body += f"<br><em>Reread {link}.</em>"
        body += "</div>"
    if printed := "".join(_printed_lines(check)):
        body += f'<pre style="margin:.2em 0 .2em 1.4em">{html.escape(textwrap.dedent(printed).strip())}</pre>'
    if check.verdict == FAILED and check.shown and not told:
        answers = ({}, {}) if check.kind == "facts" else check.shown[1:]  # numbers there need not agree
        body += pictures(call_text(symbol, check.shown[0]), *answers)
    return body + "</li>"


def _with_code(message: str) -> str:
    """A message as HTML: what stands between backticks is code, words between asterisks are stressed."""
    parts = re.split("`([^`]+)`", html.escape(message))
    stressed = [re.sub(r"(?<![\w(*])\*([^\W\d_][\w -]*)\*(?!\w)", r"<em>\1</em>", part) for part in parts[::2]]
    code = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(part for pair in zip(stressed, [*code, ""], strict=True) for part in pair)
