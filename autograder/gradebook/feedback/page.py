"""A learner's page of feedback, from its facts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from selfcheck.verdict import FAILED, PASSED, SKIPPED

from ..html_templates import environment
from .facts import Exercise, Facts, Question
from .formulas import Formulas, version
from .markdown import rendered
from .source import Line, Module
from .verdicts import NOT_STARTED, Place

SIGNS = {PASSED: "✓", FAILED: "✗", SKIPPED: "–", NOT_STARTED: "○"}
LABEL = re.compile(r"^#+ +(?P<title>.+?) *\n+(?:\*[^*\n]*\*\n+)?")  # a question's heading, and the line with its points
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Excerpt:
    """Lines of a module. title: what they are; is_open: whether they are unfolded"""

    title: str
    lines: Sequence[Line]
    is_open: bool = False


def digest_of(facts: Facts) -> str:
    """What a page is made of, in hexadecimal digits: a page that bears them needs not be written again."""
    return hashlib.sha256((_program() + json.dumps(asdict(facts))).encode()).hexdigest()[:32]


@cache
def _program() -> str:
    """A digest of whatever makes pages, and the version of KaTeX."""
    paths = [path for path in sorted(FOLDER.rglob("*")) if path.suffix in (".py", ".cjs", ".jinja", ".css")]
    paths += [FOLDER.parent / "html_templates.py", FOLDER.parent / "safe_html.py"]
    digest = hashlib.sha256(version().encode())
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _template() -> Template:
    made = environment(__package__)
    made.filters["points"] = points
    made.globals |= {"signs": SIGNS, "of": of}
    return made.get_template("page.html.jinja")


def page(facts: Facts, formulas: Formulas) -> str:
    """The page's text; everything in it that came from a learner is made printable and escaped, or sanitised."""
    modules = {name: Module(text) for name, text in facts.modules.items() if text is not None}
    told = told_before(facts.exercises)
    return _template().render(
        facts=facts,
        digest=digest_of(facts),
        told_before=told,
        excerpts={
            exercise.verdict.id: excerpts(exercise, modules, exercise.verdict.id in told)
            for exercise in facts.exercises
        },
        questions=[(question, _texts(question, formulas)) for question in facts.questions],
        modules={name: module.lines(range(1, len(module) + 1)) for name, module in modules.items()},
        checked=(
            sum(exercise.points for exercise in facts.exercises),
            sum(exercise.most for exercise in facts.exercises),
        ),
        written=(
            sum(question.points or 0 for question in facts.questions),
            sum(question.most for question in facts.questions),
        ),
        number=facts.problem_set.removeprefix("ps"),
    )


def points(value: float) -> str:
    """ "12", "0.5"; no more than two digits behind the point."""
    return f"{round(value, 2):g}".replace("-", "−")


def of(value: float, most: float) -> str:
    """ "12 of 13"."""
    return f"{points(value)} of {points(most)}"


def _texts(question: Question, formulas: Formulas) -> tuple[Markup, Markup, Markup]:
    """A question, its answer and the comment on it, as HTML."""
    head = LABEL.match(question.prompt)
    prompt = question.prompt[head.end() :] if head else question.prompt
    texts = [rendered(text, formulas) for text in (prompt, question.answer, question.comment)]
    return texts[0], texts[1], texts[2]


def told_before(exercises: Sequence[Exercise]) -> dict[str, str]:
    """By exercise, the number of an earlier one with the same single cause, as where a module cannot be imported."""
    first: dict[tuple[str, str], str] = {}
    earlier = {}
    for verdict in (exercise.verdict for exercise in exercises):
        if len(verdict.problems) == 1 and verdict.problems[0].every and verdict.state == FAILED:
            cause = (verdict.module, verdict.problems[0].cause)
            if cause in first:
                earlier[verdict.id] = first[cause]
            else:
                first[cause] = verdict.number
    return earlier


def excerpts(exercise: Exercise, modules: dict[str, Module], is_told: bool) -> list[Excerpt]:
    """What the learner wrote for an exercise, and whatever else a message names, the lines that it names marked.

    What has marks comes first. is_told: whether the cause stands with an earlier exercise, and its lines there
    """
    verdict = exercise.verdict
    places = [place for problem in verdict.problems for place in problem.places if _is_there(place, modules)]
    cut, shown = [], set()
    own = modules.get(verdict.module)
    defined = own.definition(verdict.symbol) if own else range(0)
    if own and defined:
        marked = {place.line for place in places if place.module == verdict.module and place.line in defined}
        shown = {(verdict.module, line) for line in defined}
        cut.append(_excerpt(verdict.module, own, defined, marked))
    for place in [] if is_told else places:
        if (place.module, place.line) not in shown:
            around = modules[place.module].around(place.line)
            cut.append(_excerpt(place.module, modules[place.module], around, {place.line}))
            shown |= {(place.module, line) for line in around}
    if verdict.state == FAILED and not any(excerpt.is_open for excerpt in cut) and not is_told:
        cut = [replace(excerpt, is_open=True) for excerpt in cut]
    return sorted(cut, key=lambda excerpt: not excerpt.is_open)


def _excerpt(name: str, module: Module, numbers: range, marked: set[int]) -> Excerpt:
    return Excerpt(f"attention/{name}.py, {_lines(numbers)}", module.lines(numbers, marked), bool(marked))


def _is_there(place: Place, modules: dict[str, Module]) -> bool:
    return place.module in modules and modules[place.module].holds(place.line, place.holds)


def _lines(numbers: range) -> str:
    return f"lines {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"
