"""Measures a chapter as its reader meets it, from its source: `python -m tests.book.page_measures [04-masks …]`.

Counted are words (everything between blanks outside code: formulas, tables, labels and directives included), words of
prose (without those), visible lines of code, the longest of them, and headings.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import yaml

from autograder.course.paths import BOOK

HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}  # tags of a cell whose code is folded or left out
WORDS_A_MINUTE, LINES_A_MINUTE, SHOWN_A_MINUTE = 200, 15, 6  # of prose, of code, of formulas and figures
FENCE = re.compile(r"^(?P<ticks>`{3,}|:{3,})(?P<head>.*)$")
CELL = re.compile(r"(?ms)^```\{(?:code-cell|widget)\}.*?^```$")  # a widget's words are controls, made by its script
WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
#: A formula that begins on a line of its own, a figure that a cell draws, a figure from a file.
SHOWN = (r"(?ms)^\$\$$.*?^\$\$", r"(?m)^ +alt: ", r"(?m)^(?:```|:::)\{figure\}")
SILENT = ("widget", "exercise", "question-solution", "bibliography", "math", "list-table-options")


@dataclass(frozen=True)
class Measures:
    """What the limits speak of."""

    words: int  # all that stands between blanks outside code
    prose: int  # words of sentences, lists, tables, captions and folded answers
    code_lines: int  # that are visible and not blank
    longest_line: int  # characters of the longest of them
    headings: int
    shown: int  # formulas on their own lines, and figures
    stated_minutes: int | None

    @property
    def minutes(self) -> int:
        """Reading time in minutes, rounded to fives: 200 words, 15 lines of code, or 6 formulas or figures a minute."""
        exact = self.prose / WORDS_A_MINUTE + self.code_lines / LINES_A_MINUTE + self.shown / SHOWN_A_MINUTE
        return max(5, 5 * round(exact / 5))


def measure(source: str) -> Measures:
    """source: the text of a page in MyST."""
    body = re.sub(r"\A---\n.*?\n---\n", "", source, count=1, flags=re.DOTALL)
    prose, code = _split(body)
    visible = [line for line in code if line.strip()]
    stated = re.search(r"[Rr]eading takes about (\d+) minutes", source)
    return Measures(
        words=len(CELL.sub("", body).split()),
        prose=len(WORD.findall(_plain("\n".join(prose)))),
        code_lines=len(visible),
        longest_line=max(map(len, visible), default=0),
        headings=sum(bool(re.match(r"#{1,6} ", line)) for line in prose),
        shown=sum(len(re.findall(rule, source)) for rule in SHOWN),
        stated_minutes=int(stated[1]) if stated else None,
    )


def _split(text: str) -> tuple[list[str], list[str]]:
    """The lines of prose and the visible lines of code."""
    prose: list[str] = []
    code: list[str] = []
    fences: list[str] = []  # the open directives whose text is prose
    lines = iter(text.split("\n"))
    for line in lines:
        fence = FENCE.match(line.strip())
        if not fence:
            if not re.match(r"\s*:[\w-]+:", line):  # an option of a directive
                prose.append(line)
        elif fences and line.strip() == fences[-1]:
            fences.pop()
        else:
            ticks, head = fence["ticks"], fence["head"].strip()
            if head.startswith("{code-cell}") or not head.startswith("{"):
                body = _body(lines, ticks)
                tags, body = _options(body)
                if not tags & HIDDEN:
                    code += body
            elif head.startswith(tuple("{" + name for name in SILENT)):
                _body(lines, ticks)
            else:
                fences.append(ticks)
                prose.append(head.partition("}")[2])
    return prose, code


def _body(lines: object, ticks: str) -> list[str]:
    body = []
    for line in lines:  # type: ignore[attr-defined]
        if line.strip() == ticks:
            return body
        body.append(line)
    raise ValueError(f"a block that {ticks} opens is never closed")


def _options(body: list[str]) -> tuple[set[str], list[str]]:
    """A code cell's tags, and its code without the options above it."""
    if body and body[0].strip() == "---":
        end = body.index("---", 1)
        options = yaml.safe_load("\n".join(body[1:end])) or {}
        return set(options.get("tags", ())), body[end + 1 :]
    tags: set[str] = set()
    for is_option, group in groupby(body, key=lambda line: bool(re.match(r":[\w-]+:", line))):
        found = list(group)
        if not is_option:
            break
        for line in found:
            if line.startswith(":tags:"):
                tags |= set(re.findall(r"[\w-]+", line.removeprefix(":tags:")))
    return tags, [line for line in body if not re.match(r":[\w-]+:", line)]


def _plain(text: str) -> str:
    """Prose without formulas, labels, addresses and the names of roles."""
    text = re.sub(r"\$\$.*?\$\$(\s*\([\w-]+\))?", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\([\w-]+\)=$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\$[^$\n]+\$", " x ", text)  # a symbol in a sentence is read as a word
    text = re.sub(r"\{[\w:]+\}`([^`]*)`", r" \1 ", text)
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    return re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL)


def chapters() -> dict[str, Path]:
    """The main pages by their names."""
    return {path.stem: path for path in sorted((BOOK / "chapters").glob("*.md"))}


if __name__ == "__main__":
    for name in sys.argv[1:] or chapters():
        got = measure(chapters()[name].read_text("utf-8"))
        print(f"{name:26} {got} -> {got.minutes} minutes")
