"""What a learner reads of the verdicts on one exercise: each cause once, with the checks that it concerns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from selfcheck.catalogue import Exercise, exercises
from selfcheck.sections import address_of, title_of
from selfcheck.slip_sections import section_to_reread
from selfcheck.verdict import FAILED, PASSED, SKIPPED

from ...judge.result import CheckOutcome, ExerciseOutcome

NOT_STARTED = "not started"
IN_NOTEBOOK = "your code is in the notebook"  # of whose exercises intake leaves a note before the verdict
HEADLINE = re.compile(r"^(?P<number>\S+) (?P<title>.*) \((?P<id>[\w.]+)\): (?P<state>.*)$", re.MULTILINE)
IDS = re.compile(r"\b[a-z_]+\.\w+\b")
LINE = re.compile(
    r"\b(?:line|Line) (?P<line>\d{1,6})\b(?: of (?P<module>\w{1,100})\.py)?"
    r"(?: calls [\w.]{0,200}?\b(?P<called>\w{1,100}):)?"
)
SHOWN_SOURCE = re.compile(r": `(?P<source>[^`]+)`")
FILE_AT_FAULT = re.compile(r"the module cannot be imported|\b\w+\.py is missing from the submission", re.IGNORECASE)
MOST_CALL = 600  # characters


@dataclass(frozen=True)
class Place:
    """A line of the learner's code that a message names. holds: part of what stands there, "" where it is not told"""

    module: str
    line: int
    holds: str = ""


@dataclass(frozen=True)
class Problem:
    """One cause, and the checks that do not pass for it.

    cause, remedy: what happened, and what to do about it; title, address: of the section to reread, "" for none
    sees: what those of the checks see that learners can run; hidden: how many there are that they cannot
    every: whether it is the cause of all checks; call: an example; places: lines of the code that the cause names
    """

    verdict: str
    cause: str
    remedy: str
    title: str
    address: str
    sees: tuple[str, ...]
    hidden: int
    every: bool
    call: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Verdict:
    """An exercise as its learner reads it.

    state: "passed", "failed", "skipped" or "not started"; told: that in words
    points: by the checks; note: what is to be read first, "" for nothing
    passed: what the checks see that pass, and passed_hidden how many more there are that are not shown
    """

    id: str
    number: str
    symbol: str
    module: str
    title: str
    points: int
    most: int
    state: str
    told: str
    note: str
    problems: tuple[Problem, ...]
    passed: tuple[str, ...]
    passed_hidden: int


def verdict_of(outcome: ExerciseOutcome) -> Verdict:
    """What the outcome of an exercise says to its learner; nothing of it is what a hidden check sees or was given."""
    module, _, symbol = outcome.id.partition(".")
    head = HEADLINE.search(outcome.text)
    title, words = (head["title"], head["state"]) if head else (symbol, "")
    note = outcome.text[: head.start()].strip() if head else ""
    state = NOT_STARTED if words.startswith(NOT_STARTED) else _state(outcome)
    passed = [check for check in outcome.checks if check.verdict == PASSED]
    shown = [check.sees for check in passed if not _is_hidden(outcome.id, check)]
    problems = () if state == NOT_STARTED else tuple(_problems(outcome, module, symbol))
    problems = _with_section(outcome.id, problems)
    return Verdict(
        outcome.id,
        outcome.number,
        symbol,
        module,
        title,
        outcome.points,
        outcome.max_points,
        state,
        IN_NOTEBOOK if note and state == NOT_STARTED else _told(state, len(passed), len(outcome.checks)),
        note,
        problems,
        tuple(shown),
        len(passed) - len(shown),
    )


def _state(outcome: ExerciseOutcome) -> str:
    verdicts = {check.verdict for check in outcome.checks}
    return PASSED if verdicts <= {PASSED} else FAILED if FAILED in verdicts else SKIPPED


def _told(state: str, passed: int, of: int) -> str:
    if state == PASSED:
        return f"passes all {of} checks" if of > 1 else "passes its check"
    if state == NOT_STARTED:
        return NOT_STARTED
    share = f"{passed} of {of} checks pass"
    return f"{share}, the rest is skipped" if state == SKIPPED else share


@cache
def _known() -> Mapping[str, tuple[Exercise, ...]]:
    """The parts of each exercise of the catalogue, by its id."""
    by_id: dict[str, tuple[Exercise, ...]] = {}
    for exercise in exercises():
        by_id[exercise.id] = (*by_id.get(exercise.id, ()), exercise)
    return by_id


def _is_hidden(exercise: str, check: CheckOutcome) -> bool:
    return all(check.check not in part.points for part in _known().get(exercise, ()))


def _problems(outcome: ExerciseOutcome, module: str, symbol: str) -> Iterator[Problem]:
    """Each cause once: of what a learner can run first, then of what is not shown, last what is skipped for these."""
    groups: dict[tuple[str, str], list[CheckOutcome]] = {}
    for check in outcome.checks:
        if check.verdict != PASSED:
            groups.setdefault((check.verdict, _same(check.message)), []).append(check)

    def rank(verdict: str, checks: list[CheckOutcome]) -> tuple[bool, bool]:
        return verdict == SKIPPED, all(_is_hidden(outcome.id, check) for check in checks)

    for (verdict, _), checks in sorted(groups.items(), key=lambda group: rank(group[0][0], group[1])):
        first = next((check for check in checks if not _is_hidden(outcome.id, check)), checks[0])
        cause, remedy = _parted(outcome.id, first)
        sees = tuple(check.sees for check in checks if not _is_hidden(outcome.id, check))
        named = bool(first.misconception) and not str(first.misconception).startswith("generic.")
        label = section_to_reread(first.misconception, first.section)
        yield Problem(
            verdict,
            _sentence(_with_numbers(cause) if verdict == SKIPPED else cause),
            remedy,
            title_of(label) if label else "",
            address_of(label) if label else "",
            sees,
            len(checks) - len(sees),
            len(checks) == len(outcome.checks),
            "" if named or verdict != FAILED else _call(outcome.text, first, symbol),
            tuple(_places(cause, module)),
        )


def _with_section(exercise: str, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Problems of which one at least names a section to reread: the exercise's own where no cause has another.

    None where the file is at fault, which no section explains.
    """
    failed = next((place for place, problem in enumerate(problems) if problem.verdict == FAILED), None)
    known = _known().get(exercise)
    if failed is None or not known or any(problem.title or FILE_AT_FAULT.match(problem.cause) for problem in problems):
        return problems
    section = known[0].section
    told = replace(problems[failed], title=title_of(section), address=address_of(section))
    return (*problems[:failed], told, *problems[failed + 1 :])


def _sentence(message: str) -> str:
    """A message with a capital and a full stop; a name of Python's at its beginning stays as it is."""
    first, _, rest = message.partition(" ")
    capital = f"{first.capitalize()} {rest}" if rest and first.isalpha() and first.islower() else message
    return capital if capital.endswith((".", "?", "!", ":")) else f"{capital}."


def _same(message: str) -> str:
    """What two messages share if one will do for both.

    Of an exception its kind and the line, whatever its numbers; of a wrong shape everything but the numbers.
    """
    if message.startswith("expected shape"):
        return re.sub(r"\([\d, ]*\)|\d+", "…", message)
    before, comma, line = message.partition(", in line ")
    return f"{before.partition(': ')[0]}{comma}{line}" if comma else message


def _parted(exercise: str, check: CheckOutcome) -> tuple[str, str]:
    """A message's cause and its remedy; a record has them in one."""
    known = _known().get(exercise)
    try:
        entry = known[0].message_of(check.misconception) if known and check.misconception else None
    except KeyError:  # graded before the catalogue changed
        entry = None
    if entry and entry.remedy and check.message == f"{entry.message} {entry.remedy}".strip():
        return entry.message, entry.remedy
    return check.message, ""


def _with_numbers(message: str) -> str:
    """A message that names exercises by their ids, with the numbers that the book gives them."""
    known = _known()
    return IDS.sub(lambda match: _named(known[match[0]]) if match[0] in known else match[0], message)


def _named(parts: tuple[Exercise, ...]) -> str:
    number = f"Exercise {parts[0].number} " if len(parts) == 1 else ""
    return f"{number}`{parts[0].symbol}`"


def _call(text: str, check: CheckOutcome, symbol: str) -> str:
    """The call that a verdict's text gives as an example for a check, below its message; "" where it gives none."""
    lines = text.splitlines()
    place = next((place for place, line in enumerate(lines) if line[4:] == check.sees and line[:2] == "  "), None)
    if place is None:
        return ""
    block = list(itertools.takewhile(lambda line: line.startswith("      "), lines[place + 1 :]))
    call_line = block[-1].strip() if len(block) > 1 else ""
    if not call_line.startswith("in ") or symbol not in call_line:
        return ""
    call = call_line.removeprefix("in ")
    return call if len(call) <= MOST_CALL else f"{call[:MOST_CALL]} …"


def _places(message: str, module: str) -> Iterator[Place]:
    for match in LINE.finditer(message):
        source = SHOWN_SOURCE.match(message, match.end())
        yield Place(
            match["module"] or module, int(match["line"]), source["source"] if source else match["called"] or ""
        )
