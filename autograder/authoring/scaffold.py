"""Writes everything that a new exercise consists of, into the places that the repository has for it."""

from __future__ import annotations

import ast
import keyword
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from . import templates as texts

LONGEST_ID = 50
LONGEST = 400  # lines of a file that a person reads; tests/repository insists
MARK = "Yours to write"
MODULE = re.compile(r"[a-z]+(_[a-z]+)*")  # as grade cells, test names and learners' files spell it
FUNCTION, CLASS = re.compile(r"[a-z]\w*", re.ASCII), re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z]")
PLACES = {
    "solutions": "solutions/attention/{}.py",
    "catalogue": "src/selfcheck/catalogue/{}.toml",
    "checks": "src/selfcheck/checks/{}.py",
    "hidden": "autograder/answer_key/hidden/{}.py",
    "misconceptions": "autograder/answer_key/misconceptions/{}.py",
    "alternatives": "tests/alternatives/{}.py",
}
PACKAGE = "solutions/attention/__init__.py"
OWN = ["--config", 'lint.isort.known-first-party = ["attention"]']  # ruff looks for a module that is yet to be written
ENDINGS = re.compile(r"^(?:\([\w-]+\)=\n)?## (?:Summary|Further reading)$", re.MULTILINE)


class Refused(ValueError):
    """An exercise that cannot be made as asked: the text says why, and what to do."""


@dataclass(frozen=True)
class Wish:
    """What an author asks for; number and title are found where they are None."""

    id: str
    problem_set: str
    number: str | None = None
    title: str | None = None


def write(root: Path, wish: Wish) -> list[Path]:
    """Write a new exercise into the repository at `root`, all of it or nothing; returns the files, relative to it.

    Raises Refused, having written nothing.
    """
    found = Scaffold(root, wish).files()
    before = {path: path.read_bytes() if path.exists() else None for path in found}
    try:
        for path, text in found.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        for path, content in before.items():
            with suppress(OSError):
                path.unlink(missing_ok=True) if content is None else path.write_bytes(content)
        raise Refused(f"{error.filename}: {error.strerror}; nothing is written") from error
    return [path.relative_to(root) for path in found]


def left_to_write(root: Path, exercise: str) -> list[str]:
    """Each place of an exercise that stands as the scaffold wrote it: file, line, what belongs there."""
    mark = f"{MARK}, {exercise}: "
    return [
        f"{path.relative_to(root)}:{number}: {line.split(mark)[1]}"
        for path, number, line in _marked(root)
        if mark in line
    ]


@lru_cache(maxsize=4)
def _marked(root: Path) -> tuple[tuple[Path, int, str], ...]:
    paths = [path for place in PLACES.values() for path in sorted(root.glob(place.format("*")))]
    paths += sorted([*root.glob("tests/reference/*.py"), *root.glob("book/chapters/*.md")])
    lines = ((path, place) for path in paths for place in enumerate(path.read_text("utf-8").splitlines(), start=1))
    return tuple((path, number, line) for path, (number, line) in lines if MARK in line)


class Scaffold:
    """The texts of one new exercise, by file: new ones, and those that it is added to."""

    def __init__(self, root: Path, wish: Wish) -> None:
        self.root, self.wish = root, wish
        self.module, self.symbol = _names(wish.id)
        self.is_class = self.symbol[0].isupper()
        self._check_free()
        self.title = _sound_title(wish.title or _spaced(self.symbol).capitalize())

    def files(self) -> dict[Path, str]:
        """The text of every file; Refused where one of them could not be as the repository wants it."""
        parts = texts.CLASS if self.is_class else texts.FUNCTION
        found = {}
        for kind, place in PLACES.items():
            path = self.root / place.format(self.module)
            old = path.read_text("utf-8") if path.exists() else self._filled(texts.HEADS[kind])
            found[path] = self._joined(path, old, self._filled(parts[kind]), texts.NEEDS.get(kind, {}))
        path = self.root / "tests" / "reference" / f"test_{self.module}_{_spaced(self.symbol, '_')}.py"
        if path.exists():
            raise Refused(f"{path.relative_to(self.root)} is there already: move it, or choose another name")
        found[path] = self._ruffed(path, self._filled(parts["reference"]))
        found |= self._with_package(found)
        page = self.root / "book" / "problem-sets" / f"{self.wish.problem_set}.md"
        found[page] = _inserted(page, self._filled(texts.PROBLEM_SET), _before_the_questions)
        chapter = self._chapter_page
        found[chapter] = _inserted(chapter, self._filled(texts.PAGE), _before_the_summary)
        return found

    # What is asked for

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
        source = self.root / PLACES["solutions"].format(self.module)
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
        """The next one in the chapter that is asked for; else in the module's, or in that of the problem set."""
        entries = [entry for table in self._catalogue.values() for entry in table["exercise"]]
        same = [entry for entry in entries if entry["id"].startswith(f"{self.module}.")]
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
        return f"{self.module}-{_spaced(self.symbol, '-')}".replace("_", "-")

    # The texts

    def _filled(self, text: str) -> str:
        return text.format(
            id=self.wish.id,
            module=self.module,
            symbol=self.symbol,
            name=_spaced(self.symbol, "_"),
            number=self._number,
            title=self.title,
            problem_set=self.wish.problem_set,
            chapter=self._chapter_page.stem,
            slug=self._slug,
            mark=f"{MARK}, {self.wish.id}",
            by=" by a weight of its feature" if self.is_class else " by one factor",
        )

    def _joined(self, path: Path, old: str, new: str, needs: dict[str, tuple[str, ...]]) -> str:
        """A file's text with a part added at its end."""
        if path.suffix == ".toml":
            text = f"{old.rstrip()}\n{new}"
            tomllib.loads(text)
            return text
        taken = _top_level(old) & _top_level(new)
        if taken:
            raise Refused(f"{path.relative_to(self.root)} has a {sorted(taken)[0]} already: choose another name")
        if "__all__" in old:
            old = _listed(old, self.symbol)
        return self._ruffed(path, f"{_with_imports(old, needs).rstrip()}\n\n{new}")

    def _with_package(self, found: dict[Path, str]) -> dict[Path, str]:
        """The package's own file, where the module is new to it."""
        path = self.root / PACKAGE
        text = path.read_text("utf-8")
        if self.module in _names_listed(text):
            return {}
        return {path: self._ruffed(path, _listed(text, self.module))}

    def _ruffed(self, path: Path, text: str) -> str:
        """The text with its imports in order, and laid out; Refused for what ruff or the repository's rules refuse."""
        name = str(path.relative_to(self.root))
        for arguments in (["check", "--select", "I001,F401", "--fix"], ["format"], ["check"]):
            command = [sys.executable, "-m", "ruff", *arguments, *OWN, "-q", "--stdin-filename", name, "-"]
            done = subprocess.run(command, cwd=self.root, input=text, capture_output=True, text=True, encoding="utf-8")
            if done.returncode:
                raise Refused(f"{name} would not be in order: {(done.stdout + done.stderr).strip()[-500:]}")
            text = done.stdout if arguments != ["check"] else text
        lines = len(text.splitlines())
        if lines > LONGEST:
            raise Refused(
                f"{name} would have {lines} lines, and {LONGEST} are the most: move something out of it first, into a "
                "file beside it whose name begins with an underscore, or choose a new module"
            )
        return text


def _names(exercise: str) -> tuple[str, str]:
    """Module and symbol of an id; Refused, with the rule that it breaks."""
    module, dot, symbol = exercise.partition(".")
    if not dot or "." in symbol or not module or not symbol:
        raise Refused(f"an exercise is named module.symbol, such as masks.causal_mask; got {exercise!r}")
    if len(exercise) > LONGEST_ID:
        raise Refused(f"an exercise's name has up to {LONGEST_ID} letters, got {len(exercise)}: choose a shorter one")
    for part in (module, symbol):
        if keyword.iskeyword(part) or keyword.issoftkeyword(part):
            raise Refused(f"{part} is a word of Python's own: choose another name")
    if not MODULE.fullmatch(module):
        raise Refused(f"a module is small letters, with single underscores between words; got {module!r}")
    if not FUNCTION.fullmatch(symbol) and not CLASS.fullmatch(symbol):
        raise Refused(
            f"a function is named in small_letters and a class in CapitalisedWords, without underscores; got {symbol!r}"
        )
    if symbol[0].islower() and symbol != symbol.lower():
        raise Refused(f"a function is named in small_letters; got {symbol!r}; a class begins with a capital")
    return module, symbol


def _sound_title(title: str) -> str:
    if not title.strip() or not title.isprintable() or set(title) & set("\"'\\{}`$") or len(title) > 60:
        raise Refused(f"a title is up to 60 letters without quotes, braces, ` $ or a backslash; got {title!r}")
    return title.strip()


def _spaced(symbol: str, between: str = " ") -> str:
    """ "MultiHead" and "multi_head" as "multi head"."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", symbol)
    return parts.strip("_").lower().replace("_", between)


def _by_number(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def _top_level(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _all_of(source: str) -> ast.Assign:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return node
    raise Refused("the module has no __all__, in which its names are listed")


def _names_listed(source: str) -> list[str]:
    return ast.literal_eval(_all_of(source).value)


def _listed(source: str, name: str) -> str:
    """The source with one name more in its `__all__`, in order."""
    node, lines = _all_of(source), source.splitlines(keepends=True)
    names = sorted({*_names_listed(source), name})
    inside = "".join(f'    "{one}",\n' for one in names)
    text = f"__all__ = [\n{inside}]\n" if len(names) > 1 else f'__all__ = ["{name}"]\n'
    return "".join([*lines[: node.lineno - 1], text, *lines[node.end_lineno :]])


def _with_imports(source: str, needs: dict[str, tuple[str, ...]]) -> str:
    """The source with imports of what it does not import yet, after its docstring; ruff puts them into their places."""
    body = ast.parse(source).body
    known = {
        alias.asname or alias.name
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    added = [line for place, names in needs.items() for line in _imports(place, [n for n in names if n not in known])]
    heads = [node for node in body[:1] if isinstance(node, ast.Expr)]
    heads += [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    place, lines = max((node.end_lineno for node in heads), default=0), source.splitlines(keepends=True)
    return "".join([*lines[:place], *(["\n", *added, "\n"] if added else []), *lines[place:]])


def _imports(place: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"from {place} import {', '.join(names)}\n" if place else f"import {names[0]}\n"


def _inserted(path: Path, part: str, place_in: Any) -> str:
    text = path.read_text("utf-8")
    place = place_in(text)
    return f"{text[:place].rstrip()}\n\n{part}\n{text[place:]}".rstrip() + "\n"


def _before_the_questions(text: str) -> int:
    """Where the section with the first question begins; the end of a page without one."""
    question = text.find("\n```{question}")
    heading = text.rfind("\n## ", 0, question) if question >= 0 else -1
    return heading + 1 if heading >= 0 else len(text) if question < 0 else question + 1


def _before_the_summary(text: str) -> int:
    found = ENDINGS.search(text)
    return found.start() if found else len(text)
