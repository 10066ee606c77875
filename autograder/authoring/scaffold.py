"""Writes the files of a new exercise."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from . import templates
from .names import Refused, checked_title, module_and_symbol, spaced
from .source_text import (
    before_questions,
    before_summary,
    listed_names,
    top_level_names,
    with_continuation,
    with_imports,
    with_name_listed,
    with_part_inserted,
)

MAX_LINES, MAX_LINES_OF_TESTS = 300, 400  # of a file; tests/repository insists
MARK = "Yours to write"  # of each place that an author has to fill in
FILES = {
    "solutions": "solutions/attention/{}.py",
    "catalogue": "src/selfcheck/catalogue/{}.toml",
    "checks": "src/selfcheck/checks/{}.py",
    "hidden": "autograder/answer_key/hidden/{}.py",
    "misconceptions": "autograder/answer_key/misconceptions/{}.py",
    "alternatives": "tests/alternatives/{}.py",
}
BANKS = ("checks", "hidden", "misconceptions", "alternatives")  # a full one continues in files beside it
PACKAGE = "solutions/attention/__init__.py"
OWN = ["--config", 'lint.isort.known-first-party = ["attention"]']  # the module may not exist yet


@dataclass(frozen=True)
class Wish:
    """The exercise that an author asks for; where number or title is None, it is derived."""

    id: str
    problem_set: str
    number: str | None = None
    title: str | None = None


def write(root: Path, wish: Wish) -> list[Path]:
    """Write a new exercise into the repository at `root`; returns the files, relative to it.

    Raises Refused, in which case nothing is written.
    """
    texts = Scaffold(root, wish).files()
    before = {path: path.read_bytes() if path.exists() else None for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        for path, content in before.items():
            with suppress(OSError):
                path.unlink(missing_ok=True) if content is None else path.write_bytes(content)
        raise Refused(f"{error.filename}: {error.strerror}; nothing is written") from error
    return [path.relative_to(root) for path in texts]


def left_to_write(root: Path, exercise: str) -> list[str]:
    """A line for each place of an exercise that its author has not filled in: file, line, what belongs there."""
    mark = f"{MARK}, {exercise}: "
    return [
        f"{path.relative_to(root)}:{number}: {line.split(mark)[1]}"
        for path, number, line in _marked(root)
        if mark in line
    ]


@lru_cache(maxsize=4)
def _marked(root: Path) -> tuple[tuple[Path, int, str], ...]:
    paths = [path for place in FILES.values() for path in sorted(root.glob(place.format("*")))]
    paths += sorted([*root.glob("tests/reference/*.py"), *root.glob("book/chapters/*.md")])
    lines = ((path, place) for path in paths for place in enumerate(path.read_text("utf-8").splitlines(), start=1))
    return tuple((path, number, line) for path, (number, line) in lines if MARK in line)


class Scaffold:
    """The texts of the files of one new exercise, of which some exist already."""

    def __init__(self, root: Path, wish: Wish) -> None:
        self.root, self.wish = root, wish
        self.module, self.symbol = module_and_symbol(wish.id)
        self.is_class = self.symbol[0].isupper()
        self._check_free()
        self.title = checked_title(wish.title or spaced(self.symbol).capitalize())

    def files(self) -> dict[Path, str]:
        """The text of every file; Refused where one of them would break a rule of the repository."""
        parts = templates.CLASS if self.is_class else templates.FUNCTION
        texts: dict[Path, str] = {}
        chapter = self._chapter_page
        for kind, place in FILES.items():
            texts |= self._with_part(kind, self.root / place.format(self.module), self._filled(parts[kind]))
        path = self.root / "tests" / "reference" / f"test_{self.module}_{spaced(self.symbol, '_')}.py"
        if path.exists():
            raise Refused(f"{path.relative_to(self.root)} is there already: move it, or choose another name")
        texts[path] = self._formatted(path, self._filled(parts["reference"]))
        texts |= self._with_package(texts)
        page = self.root / "book" / "problem-sets" / f"{self.wish.problem_set}.md"
        texts[page] = with_part_inserted(page, self._filled(templates.PROBLEM_SET), before_questions)
        texts[chapter] = with_part_inserted(chapter, self._filled(templates.PAGE), before_summary)
        return texts

    def _check_free(self) -> None:
        entries = [entry for table in self._catalogue.values() for entry in table["exercise"]]
        if any(entry["id"] == self.wish.id for entry in entries):
            raise Refused(f"{self.wish.id} is an exercise already: choose another name, or edit what is there")
        sets = sorted({entry["problem_set"] for entry in entries}, key=lambda name: int(name.removeprefix("ps")))
        if self.wish.problem_set not in sets:
            raise Refused(f"there is no problem set {self.wish.problem_set}; there are {', '.join(sets)}")
        if any(entry["number"] == self._number for entry in entries):
            raise Refused(f"there is an exercise {self._number} already; the next free number is {self._next_number()}")
        label = f"(sec-{self._slug})="
        pages = [path for path in (self.root / "book").rglob("*.md") if "_build" not in path.parts]
        for path in pages:
            if label in path.read_text("utf-8"):
                raise Refused(f"{path.relative_to(self.root)} has a section labelled {label[1:-2]} already")
        source = self.root / FILES["solutions"].format(self.module)
        if source.exists() and "import torch" not in source.read_text("utf-8"):
            raise Refused(
                f"{self.module} does without torch, and what is written here needs it: choose another module, or write "
                "this exercise by hand as CONTRIBUTING.md says"
            )

    @cached_property
    def _catalogue(self) -> dict[str, dict[str, Any]]:
        files = sorted((self.root / "src" / "selfcheck" / "catalogue").glob("*.toml"))
        return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in files}

    @cached_property
    def _number(self) -> str:
        number = self.wish.number or self._next_number()
        if not re.fullmatch(r"[1-9]\d?\.[1-9]\d?", number):
            raise Refused(f"a number is that of a chapter and one in it, such as 3.9; got {number!r}")
        return number

    def _next_number(self) -> str:
        """The next number in the chapter asked for; by default the module's in that set, its last, or the set's."""
        entries = [entry for table in self._catalogue.values() for entry in table["exercise"]]
        same = [entry for entry in entries if entry["id"].startswith(f"{self.module}.")]
        same = [entry for entry in same if entry["problem_set"] == self.wish.problem_set] or same
        same = same or [entry for entry in entries if entry["problem_set"] == self.wish.problem_set]
        chapter = self.wish.number or max((entry["number"] for entry in same), key=_by_number)
        chapter = chapter.partition(".")[0]
        taken = [_by_number(entry["number"])[1] for entry in entries if entry["number"].startswith(f"{chapter}.")]
        return f"{chapter}.{max(taken, default=0) + 1}"

    @cached_property
    def _chapter_page(self) -> Path:
        chapter = int(self._number.partition(".")[0])
        for path in sorted((self.root / "book" / "chapters").glob(f"{chapter:02d}-*.md")):
            return path
        raise Refused(f"exercise {self._number} belongs to chapter {chapter}, which the book does not have")

    @property
    def _slug(self) -> str:
        return f"{self.module}-{spaced(self.symbol, '-')}".replace("_", "-")

    def _filled(self, text: str) -> str:
        return text.format(
            id=self.wish.id,
            module=self.module,
            symbol=self.symbol,
            name=spaced(self.symbol, "_"),
            number=self._number,
            title=self.title,
            problem_set=self.wish.problem_set,
            slug=self._slug,
            mark=f"{MARK}, {self.wish.id}",
            by=" by a weight of its feature" if self.is_class else " by one factor",
        )

    def _with_part(self, kind: str, path: Path, part: str) -> dict[Path, str]:
        """A file with a part added at its end; where a bank has no room for it, the part's own file, and its import."""
        head = self._filled(templates.HEADS[kind])
        old = path.read_text("utf-8") if path.exists() else head
        if path.suffix == ".toml":
            text = f"{old.rstrip()}\n{part}"
            tomllib.loads(text)
            return {path: text}
        text = self._extended(kind, path, old, part)
        if kind not in BANKS or not self._excess(path, text):
            return {path: self._short(path, text)}
        beside = path.with_name(f"_{self.module}_{spaced(self.symbol, '_')}.py")
        if beside.exists():
            raise Refused(f"{beside.relative_to(self.root)} is there already: move it, or choose another name")
        importing = self._formatted(path, with_continuation(old, beside.stem))
        return {path: self._short(path, importing), beside: self._extended(kind, beside, head, part)}

    def _extended(self, kind: str, path: Path, old: str, new: str) -> str:
        """A module's text with a part added at its end; only in the reference does it define the exercise's name."""
        taken = top_level_names(old) & top_level_names(new)
        if taken:
            raise Refused(f"{path.relative_to(self.root)} has a {sorted(taken)[0]} already: choose another name")
        if kind == "solutions" and "__all__" in old:
            old = with_name_listed(old, self.symbol)
        return self._formatted(path, f"{with_imports(old, templates.NEEDS.get(kind, {})).rstrip()}\n\n{new}")

    def _with_package(self, texts: dict[Path, str]) -> dict[Path, str]:
        """The package's `__init__.py`, where the module is new to it."""
        path = self.root / PACKAGE
        text = path.read_text("utf-8")
        if self.module in listed_names(text):
            return {}
        return {path: self._formatted(path, with_name_listed(text, self.module))}

    def _formatted(self, path: Path, text: str) -> str:
        """The text, formatted and with sorted imports; Refused where ruff refuses it."""
        name = str(path.relative_to(self.root))
        for arguments in (["check", "--select", "I001,F401", "--fix"], ["format"], ["check"]):
            command = [sys.executable, "-m", "ruff", *arguments, *OWN, "-q", "--stdin-filename", name, "-"]
            done = subprocess.run(command, cwd=self.root, input=text, capture_output=True, text=True, encoding="utf-8")
            if done.returncode:
                raise Refused(f"{name} would not be in order: {(done.stdout + done.stderr).strip()[-500:]}")
            text = done.stdout if arguments != ["check"] else text
        return text

    def _excess(self, path: Path, text: str) -> str:
        """How many lines a file would have and how many it may have, where these are too many; else ""."""
        lines = len(text.splitlines())
        most = MAX_LINES_OF_TESTS if self.root / "tests" in path.parents else MAX_LINES
        return f"would have {lines} lines, and {most} are the most" if lines > most else ""

    def _short(self, path: Path, text: str) -> str:
        """The text; Refused where it is too long."""
        if excess := self._excess(path, text):
            raise Refused(
                f"{path.relative_to(self.root)} {excess}: split it first, into "
                f"files beside it named _{self.module}_….py that it imports, or choose a new module"
            )
        return text


def _by_number(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]
