"""Reads a submission's sources in a process of its own, within limits: what they call, build on and reach for."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from selfcheck import catalogue, reach
from selfcheck.catalogue import Exercise
from selfcheck.reach import builds_on, forbidden_call
from selfcheck.source import text_of, too_deep

from ..build.stubs import given_files
from ..course.paths import REFERENCE
from ..course.printable import printable_name
from ..intake import static_scan
from ..sandbox import limited
from ..sandbox.limited import LIMITS_TEXT, items_of

SUBMITTED = "_submitted_"  # before the name of a learner's module, where the reference stands in for it
MOST_KNOWN = 1000
FIRST_WALL_SECONDS = 0.5  # for which others wait for the first submission that is read
MOST_PROCESSES = 3  # for one submission: each but the last was ended at another module, or exercise
UNREAD = f"takes more than {LIMITS_TEXT} to read, or is nested too deep"


class TooDeep(Exception):
    """A source that cannot be read to its end: what it calls cannot be told."""


@dataclass(frozen=True)
class Finding:
    """What the source says of one exercise: a forbidden call with its line, and the exercises that it builds on."""

    forbidden: tuple[str, int] | None
    builds_on: frozenset[str]


@dataclass(frozen=True)
class Sources:
    """What the sources of a submission say.

    findings: by exercise; one whose source could not be read within the limits is left out
    remarks: lines for the instructor
    """

    findings: Mapping[Exercise, Finding] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def builds_on(self, exercise: Exercise, other: str) -> bool:
        """Whether an exercise's function builds on another exercise's, by its id."""
        return exercise in self.findings and other in self.findings[exercise].builds_on


class _Known:
    """Lines on modules that were scanned before: most of a class hand in what they handed in before."""

    def __init__(self) -> None:
        self._lines: dict[bytes, tuple[str, ...]] = {}
        self._first = threading.Lock()

    @contextmanager
    def of_the_first(self) -> Iterator[None]:
        """Within it, while nothing is known, one submission is read alone for a moment: the others then know it."""
        is_first = not self._lines and self._first.acquire(timeout=FIRST_WALL_SECONDS)
        if is_first and self._lines:  # another one was, meanwhile
            self._first.release()
            is_first = False
        try:
            yield
        finally:
            if is_first:
                self._first.release()

    def get(self, name: str, data: bytes) -> tuple[str, ...] | None:
        return self._lines.get(_digest(name, data))

    def keep(self, name: str, data: bytes, lines: tuple[str, ...]) -> tuple[str, ...]:
        if len(self._lines) >= MOST_KNOWN:
            self._lines = {}
        self._lines[_digest(name, data)] = lines
        return lines


_known = _Known()


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + data).digest()


def read_sources(files: Mapping[str, bytes], submitted: Collection[str], exercises: Sequence[Exercise]) -> Sources:
    """What the sources say, as far as they can be read within the limits.

    files: those of the package as it is staged, by name; submitted: the names of those that were handed in
    What a process was ended at is left out, and another reads the rest, a few times.
    Raises limited.LimitedFault where the grader is at fault.
    """
    with _known.of_the_first():
        return _sources_of(files, submitted, exercises)


def _sources_of(files: Mapping[str, bytes], submitted: Collection[str], exercises: Sequence[Exercise]) -> Sources:
    texts = {name: data for name, data in files.items() if name.endswith(".py")}
    scanned = {name: files.get(f"{SUBMITTED}{name}", files[name]) for name in submitted if name in files}
    lines = {name: known for name, data in scanned.items() if (known := _known.get(name, data)) is not None}
    modules = sorted(scanned.keys() - lines.keys(), key=lambda name: (len(scanned[name]), name))
    places = list(range(len(exercises)))
    findings: dict[Exercise, Finding] = {}
    unread: list[str] = []
    for _ in range(MOST_PROCESSES):
        reading = items_of(
            _read,
            texts,
            {name: scanned[name] for name in modules},
            {place: exercises[place] for place in places},
            unread,
        )
        for about, said in reading.items:
            if isinstance(said, Finding):
                findings[exercises[int(about)]] = said
            elif said is not None:
                lines[str(about)] = _known.keep(str(about), scanned[str(about)], said)
        if reading.complete:
            break
        done = {about for about, _ in reading.items}
        modules, places = (
            [module for module in modules if module not in done],
            [place for place in places if place not in done],
        )
        if modules:
            unread.append(modules.pop(0))
        else:
            places = places[1:]
    told = [line for name in sorted(lines) for line in lines[name]]
    missing = (name for name in sorted(scanned) if name not in lines)
    return Sources(
        findings, (*told, *(f"{printable_name(name)} {UNREAD}: nothing in it was looked at" for name in missing))
    )


def start_reading() -> None:
    """Start the process that reads: it imports what it needs meanwhile."""
    limited.start(_read)


def prepare() -> None:
    """Read once, before the first call, what is compared with every submission."""
    static_scan.prepare()
    reach.prepare((exercise.forbidden for exercise in catalogue.exercises()), map(text_of, given_sources().values()))


@functools.cache  # the reference is what it was when the grader started, see version.py
def given_sources() -> dict[str, bytes]:
    """The files of the package that learners are given, by name."""
    return {name: (REFERENCE / name).read_bytes() for name in given_files()}


def _read(
    files: dict[str, bytes], scanned: dict[str, bytes], exercises: dict[int, Exercise], unread: list[str]
) -> Iterator[tuple[int | str, Finding | tuple[str, ...] | None]]:
    """Lines for each module, by its name, and a finding for each exercise, by its place; None where it is too deep.

    unread: names of modules that are not to be read
    """
    for name, data in scanned.items():
        yield name, static_scan.scan_file(name, data)
    texts = _Texts(files, unread)
    for place, exercise in exercises.items():
        yield place, _finding(exercise, texts)


def _finding(exercise: Exercise, texts: _Texts) -> Finding | None:
    try:
        source = texts.of(exercise.module)
        if exercise.forbidden and too_deep(source):
            return None
        forbidden = forbidden_call(source, exercise.symbol, exercise.forbidden, texts.written)
    except TooDeep:
        return None
    used = (name for name in exercise.depends_on if builds_on(source, exercise.symbol, name.rpartition(".")[2]))
    return Finding(forbidden, frozenset(used))


class _Texts:
    """The texts of a package's modules."""

    def __init__(self, files: dict[str, bytes], unread: list[str]) -> None:
        self._files, self._unread = files, unread
        self._texts: dict[str, str] = {}

    def of(self, module: str) -> str:
        """What a module's file holds; raises TooDeep where it is not to be read."""
        if f"{module.removeprefix(SUBMITTED)}.py" in self._unread:
            raise TooDeep
        if module not in self._texts:
            self._texts[module] = text_of(self._files.get(f"{module}.py", b""))
        return self._texts[module]

    def written(self, module: str) -> str:
        """What a name of a module may come from; raises TooDeep where nobody can tell."""
        before = f"{SUBMITTED}{module}"  # what the reference that stands in for it defines comes later
        text = f"{self.of(before)}\n{self.of(module)}" if f"{before}.py" in self._files else self.of(module)
        if too_deep(text):
            raise TooDeep
        return text
