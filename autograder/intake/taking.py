"""Gathers the parts of a submission from its entries: modules, the notebook, nbgrader's ticket; remarks on the rest."""

from __future__ import annotations

import re
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selfcheck.catalogue import exercises, in_problem_set, modules_of, problem_sets
from selfcheck.untouched import is_untouched

from ..course.printable import printable_name
from .layout import PACKAGE, Layout, Parts, expected, find_layout, is_dropping, listing, parts_of
from .safe_files import MOST_LEVELS, NotTaken

MOST_FILE_BYTES = 2**20
MOST_FILES = 50
MOST_PACKAGE_BYTES = 2**21  # what is read of it takes the grader seconds per MiB
MOST_NAME = 100  # characters of a module's file
MOST_TOLD = 5  # things of which one reason is told, each by its name
MOST_NOTEBOOK_BYTES = 20 * 2**20
MOST_READ_BYTES = 64 * 2**20  # of all that is read, taken or not
HAND_IN = "Hand in the folder, or the zip that pack() makes"
MOST_WHY = 3  # remarks in a refusal
STAMP = "timestamp.txt"
TICKET = "submission_secret.txt"  # by it nbgrader's exchange hands the feedback back to whoever submitted
TICKET_BYTES = 64
HANDED_OUT = {("README.md",), ("requirements.txt",)}  # beside the notebook, as release/handout.py writes them
GRADE_ID = re.compile(rb'"grade_id": *"([a-z0-9_-]{1,100})"')
TWICE = "is there twice: the first counts"
NOT_A_PART = "is no part of the problem set: left out"
UNREADABLE = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
    struct.error,
)


@dataclass(frozen=True)
class Received:
    """The parts of a submission that are taken: module texts, the notebook's bytes, and remarks on the rest.

    ticket: nbgrader's submission secret, "" for a submission that did not come through its exchange
    refusal: why this is no submission to the problem set, with what was found and what was expected; "" where it is one
    """

    files: dict[str, bytes]
    notebook: bytes | None
    remarks: tuple[str, ...]
    ticket: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class Entry:
    """One thing that was handed in: its name, and how to read so many of its bytes; None for what is no plain file."""

    name: str
    read: Callable[[int], bytes] | None


def take(entries: Sequence[Entry], problem_set: str, more: Sequence[str] = ()) -> Received:
    """The parts of a problem set's submission among these; more: remarks on what is not among them.

    problem_set: "" for a package alone, which is never refused
    """
    names = [entry.name for entry in entries]
    layout = find_layout(names, problem_set)
    taken = _Taken(problem_set, layout)
    for entry in entries:
        taken.take(entry)
    refusal = taken.refusal() if problem_set else ""
    if refusal:
        why = [f"{text}. " for text in taken.remarks() if NOT_A_PART not in text][:MOST_WHY]
        refusal = f"{refusal}. Found: {listing(names)}. {''.join(why)}Expected: {expected(problem_set)}"
    return Received(taken.files, taken.notebook, (*taken.remarks(), *more), taken.ticket, refusal)


class _Taken:
    """Gathers the parts of a submission, one entry at a time."""

    def __init__(self, problem_set: str, layout: Layout) -> None:
        self.problem_set, self.layout = problem_set, layout
        self.files: dict[str, bytes] = {}
        self.notebook: bytes | None = None
        self.ticket = ""
        self.told: list[str] = []
        self.left_out: dict[str, list[str]] = {}  # why → what
        self.left_to_read = MOST_READ_BYTES
        self.asked_for = {f"{exercise.module}.py" for exercise in exercises()}

    def remarks(self) -> tuple[str, ...]:
        """A line on each thing that was left out; where there are many for one reason, on the first of them."""
        lines = list(self.told)
        for reason, names in self.left_out.items():
            lines += [f"{name} {reason}" for name in names[:MOST_TOLD]] or [reason]
            if len(names) > MOST_TOLD:
                lines.append(f"and {len(names) - MOST_TOLD} more: each {reason}")
        return tuple(lines)

    def refusal(self) -> str:
        """Why this is no submission to the problem set; "" where it is one."""
        own = {f"{module}.py" for module in modules_of(self.problem_set)}
        if self.layout.refusal:
            return self.layout.refusal
        if self.notebook is not None:
            return ""
        for other, notebook in self.layout.others.items():
            shared = {f"{module}.py" for module in modules_of(other)}
            if not any(name in self.files and not is_untouched(self.files[name]) for name in own - shared):
                return f"this is {other}'s, by {printable_name(notebook[-1])}, and has nothing of {self.problem_set}"
        if own & self.files.keys():
            return ""
        sets = [name for name in problem_sets() if any(f"{module}.py" in self.files for module in modules_of(name))]
        if sets:
            return f"there is nothing of {self.problem_set} in it, but modules of {', '.join(sets)}"
        return f"there is nothing of {self.problem_set} in it"

    def take(self, entry: Entry) -> None:
        """Read an entry if it can be part of a submission, and remark on what it is otherwise."""
        shown = printable_name(entry.name) or "what has no name"
        try:
            self._take(parts_of(entry.name), entry.read)
        except NotTaken as reason:
            self.left_out.setdefault(str(reason), []).append(shown)
        except UNREADABLE as error:
            trouble = f"cannot be read ({type(error).__name__}): left out"
            self.left_out.setdefault(trouble, []).append(shown)

    def _take(self, parts: Parts, read: Callable[[int], bytes] | None) -> None:
        top = self.layout.top
        inside = parts[len(top) :] if parts[: len(top)] == top else parts
        if read is None:
            raise NotTaken(f"is no plain file, nor a folder that is looked into, {MOST_LEVELS} deep at most: left out")
        if parts and self.layout.package == parts[:-1] and parts[-1].casefold().endswith(".py"):
            self._take_named(parts[-1], read)
        elif self.layout.notebook is not None and parts == self.layout.notebook:
            self._take_notebook(read)
            if parts[-1] != f"{self.problem_set}.ipynb":
                self.told.append(f"{printable_name(parts[-1])} is taken for {self.problem_set}.ipynb")
        elif self.layout.notebook is None and parts in self.layout.unknown and self.problem_set:
            self._take_if_own(parts[-1], read)
        elif inside == (TICKET,):
            ticket = read(2 * TICKET_BYTES + 1)
            if len(ticket) == 2 * TICKET_BYTES and set(ticket) <= set(b"0123456789abcdef"):
                self.ticket = ticket.decode()
        elif inside != (STAMP,) and not _comes_with_release(inside):
            again = parts[-2:-1] == (PACKAGE,) and parts[-1] in self.files and ".." not in parts
            raise NotTaken(TWICE if again else NOT_A_PART)

    def _take_named(self, name: str, read: Callable[[int], bytes]) -> None:
        if len(name) > 3 * MOST_NAME:  # to order its accents would take its length squared
            raise NotTaken("has no name that can be imported: left out")
        meant = self.layout.modules.get(name)
        self._take_module(unicodedata.normalize("NFC", meant or name), read)  # macOS writes letter and accent apart
        if meant:
            self.told.append(f"{printable_name(name)} is taken for {meant}")

    def _take_module(self, name: str, read: Callable[[int], bytes]) -> None:
        # `import` looks for the NFKC form of a name: no other can be found by it.
        can_be_imported = name.removesuffix(".py").isidentifier() and unicodedata.normalize("NFKC", name) == name
        if not can_be_imported or len(name) > MOST_NAME:
            raise NotTaken("has no name that can be imported: left out")
        twin = next((file for file in self.files if file.casefold() == name.casefold()), None)
        asked_for = name in self.asked_for and twin not in self.asked_for
        if twin and not asked_for:
            raise NotTaken(TWICE)
        if len(self.files) >= MOST_FILES and not asked_for:
            raise NotTaken("is one file too many: left out")
        data = read(MOST_FILE_BYTES + 1) if asked_for else self._read(read, MOST_FILE_BYTES + 1)
        in_all = len(data) + sum(map(len, self.files.values()))
        if len(data) > MOST_FILE_BYTES or (in_all > MOST_PACKAGE_BYTES and not asked_for):
            raise NotTaken("is too large: left out")
        self.files[name] = data
        if twin:
            del self.files[twin]
            raise NotTaken(f"counts, and {printable_name(twin)} does not: their names differ in case alone")

    def _read(self, read: Callable[[int], bytes], most: int) -> bytes:
        """So many bytes of what nobody asks for, while there is not too much of that."""
        if self.left_to_read <= 0:
            raise NotTaken(f"comes after {MOST_READ_BYTES // 2**20} MiB that are none of its parts: left out")
        data = read(most)
        self.left_to_read -= len(data)
        return data

    def _take_notebook(self, read: Callable[[int], bytes]) -> None:
        if self.notebook is not None:
            raise NotTaken(TWICE)
        data = read(MOST_NOTEBOOK_BYTES + 1)
        if len(data) > MOST_NOTEBOOK_BYTES:
            raise NotTaken("is too large: left out")
        self.notebook = data

    def _take_if_own(self, name: str, read: Callable[[int], bytes]) -> None:
        """Take a notebook whose name says nothing where its cells are those of the problem set."""
        if self.notebook is not None:
            raise NotTaken(NOT_A_PART)
        data = self._read(read, MOST_NOTEBOOK_BYTES + 1)
        cells = {cell.decode().replace("-", ".", 1) for cell in GRADE_ID.findall(data)}
        own = {exercise.id for exercise in in_problem_set(self.problem_set)}
        if len(data) > MOST_NOTEBOOK_BYTES or own.isdisjoint(cells):
            raise NotTaken(NOT_A_PART)
        self.notebook = data
        self.told.append(f"{printable_name(name)} is taken for {self.problem_set}.ipynb, by its cells")


def _comes_with_release(parts: Parts) -> bool:
    return bool(parts) and (parts[0] == "selfcheck" or parts in HANDED_OUT or is_dropping(parts))
