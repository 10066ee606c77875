"""The questions that a chapter asks between its sections: book/questions/*.toml, one file per chapter."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..course.paths import BOOK

__all__ = [
    "FOLDER",
    "KINDS",
    "Option",
    "Question",
    "find",
    "in_chapter",
    "name_of",
    "named_parts",
    "near",
    "path_of",
    "plain",
]

FOLDER = BOOK / "questions"
#: What stands above a question of each kind.
KINDS = {
    "number": "predict a number",
    "mask": "choose the mask",
    "order": "order the steps",
    "mistake": "find the mistake",
    "shape": "read a shape",
}
#: The key of an option that says what is chosen.
CHOSEN = {"number": "value", "mask": "mask", "order": "first", "mistake": "line", "shape": "shape"}
#: How the answer that is right is marked among the others.
RIGHT = {"mistake": "the wrong one"}


@dataclass(frozen=True)
class Option:
    """One answer that a learner may give, and the sentence that it gets."""

    says: str
    right: bool
    chosen: (
        Any  # number: a float; mask: rows of 0 and 1; mistake: a line of code; shape: its text; order: (first, then)
    )
    proof: dict[str, Any]  # what the tests recompute it from


@dataclass(frozen=True)
class Question:
    """One question; of the kind "order", `lines` are right as they stand, and options are pairs that must keep it."""

    id: str  # chapter.name, as in masks.first-row
    kind: str
    prompt: str
    options: tuple[Option, ...]
    says: str  # order: the sentence for the right order
    otherwise: str  # number: the sentence for a number that no option names
    tolerance: float  # number: how far an answer may lie from a value
    lines: tuple[str, ...]
    proof: dict[str, Any]

    @property
    def anchor(self) -> str:
        return "q-" + self.id.replace(".", "-")

    @property
    def shown(self) -> list[int]:
        """The order in which options, or lines to be ordered, stand on the page: the same on every build."""
        count = len(self.lines or self.options)
        order, draw = list(range(count)), random.Random(self.id)
        if self.kind == "mistake":
            return order
        while True:
            draw.shuffle(order)
            if self.kind != "order" or not self.keeps_order(order):
                return order

    def keeps_order(self, order: list[int]) -> bool:
        """Whether lines in this order keep every pair that must."""
        return all(order.index(first) < order.index(then) for first, then in (pair.chosen for pair in self.options))


@cache
def in_chapter(chapter: str) -> tuple[Question, ...]:
    """The questions of a chapter, by its name without the number ("masks").

    Raises ValueError for a question that lacks what its kind needs.
    """
    path = FOLDER / f"{chapter}.toml"
    return tuple(_question(chapter, table) for table in tomllib.loads(path.read_text("utf-8"))["question"])


def find(name: str) -> Question:
    """The question "chapter.name"; LookupError for none."""
    chapter = name.partition(".")[0]
    known = in_chapter(chapter) if (FOLDER / f"{chapter}.toml").is_file() else ()
    for question in known:
        if question.id == name:
            return question
    names = ", ".join(question.id for question in known) or f"none: there is no book/questions/{chapter}.toml"
    raise LookupError(f"no question {name!r}; known: {names}")


def path_of(name: str) -> Path:
    """The file that holds the question "chapter.name"."""
    return FOLDER / f"{name.partition('.')[0]}.toml"


def _question(chapter: str, table: dict[str, Any]) -> Question:
    name, kind = f"{chapter}.{table.get('id')}", str(table.get("kind"))
    if kind not in KINDS:
        raise ValueError(f"question {name}: kind must be one of {', '.join(KINDS)}, got {kind!r}")
    needs = {"id", "prompt", "option"} | {"number": {"tolerance", "otherwise"}, "order": {"lines", "says"}}.get(
        kind, set()
    )
    if missing := sorted(needs - table.keys()):
        raise ValueError(f"question {name} of kind {kind} needs {', '.join(missing)}")
    return Question(
        id=name,
        kind=kind,
        prompt=table["prompt"].strip(),
        options=tuple(_option(name, kind, option) for option in table["option"]),
        says=table.get("says", "").strip(),
        otherwise=table.get("otherwise", "").strip(),
        tolerance=float(table.get("tolerance", 0.0)),
        lines=tuple(table.get("lines", ())),
        proof={key: table[key] for key in ("setup", "result", "expected", "claims", "given") if key in table},
    )


def _option(name: str, kind: str, table: dict[str, Any]) -> Option:
    key = CHOSEN[kind]
    if not {key, "says"} <= table.keys():
        raise ValueError(f"question {name}: each option of kind {kind} needs {key} and says, got {sorted(table)}")
    chosen: Any = table[key]
    if kind == "order":
        chosen = (table["first"], table["then"])
    elif kind == "mask":
        chosen = tuple(chosen)
    proof: dict[str, Any] = {key: table[key] for key in ("expression", "fixed", "claims") if key in table}
    return Option(table["says"].strip(), bool(table.get("right", False)), chosen, proof)


def named_parts(question: Question) -> Iterator[tuple[str, str]]:
    """What stands in the folded answer: the plain name of each answer, and its sentence."""
    if question.kind == "order":
        yield "In this order", question.says
        for option in question.options:
            first, then = (question.lines[at].strip() for at in option.chosen)
            yield f"`{then}` before `{first}`", option.says
        return
    for at in question.shown:
        option = question.options[at]
        mark = f", {RIGHT.get(question.kind, 'right')}" if option.right else ""
        yield name_of(question, at) + mark, option.says
    if question.otherwise:
        yield "Another number", question.otherwise


def name_of(question: Question, at: int) -> str:
    """What an option is called in words: its number or shape or line, or the letter of its mask."""
    chosen = question.options[at].chosen
    if question.kind == "mask":
        return "ABCDEFGH"[question.shown.index(at)]
    if question.kind == "mistake":
        return f"Line {at + 1}"
    return f"{chosen:g}" if question.kind == "number" else str(chosen)


def plain(question: Question) -> str:
    """The question as Markdown for a notebook: what is asked, then the answers folded."""
    parts = [f"**Question: {KINDS[question.kind]}.** {question.prompt}", *_plain_choices(question)]
    answers = [f"- {name}: {says}" for name, says in named_parts(question)]
    if question.kind == "order":
        answers = ["```python", *question.lines, "```", "", *answers]
    parts += ["<details>\n<summary>Answer</summary>", "\n".join(answers), "</details>"]
    return "\n\n".join(parts)


def near(question: Question) -> str:
    """How exact a number has to be, in words."""
    return f"To within {question.tolerance:g}." if question.tolerance else "A whole number."


def _plain_choices(question: Question) -> list[str]:
    if question.kind == "number":
        return [f"({near(question)})"]
    if question.kind == "order":
        return ["```text\n" + "\n".join(question.lines[at] for at in question.shown) + "\n```"]
    if question.kind == "mistake":
        return ["```python\n" + "\n".join(option.chosen for option in question.options) + "\n```"]
    if question.kind == "shape":
        return ["\n".join(f"- {question.options[at].chosen}" for at in question.shown)]
    drawn = [f"{name_of(question, at)}:\n" + "\n".join(question.options[at].chosen) for at in question.shown]
    return ["```text\n" + "\n\n".join(drawn) + "\n```"]
