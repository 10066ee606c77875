"""Reads a submission's sources in a process of its own, within limits: what they call, build on and reach for."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selfcheck.catalogue import Exercise
from selfcheck.reach import builds_on, forbidden_call
from selfcheck.source import text_of, too_deep

from ..course.printable import printable_name
from ..intake import static_scan
from ..sandbox.limited import LIMITS_TEXT, items_of

MOST_KNOWN = 1000
UNREAD = f"takes more than {LIMITS_TEXT} to read, or is nested too deep"


class TooDeep(Exception):
    """A source of which Python's parser sees no end: what it calls cannot be told."""


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
    """What the sources say, as far as they can be read within the limits, the smallest first.

    files: those of the package as it is staged, by name; submitted: the names of those that were handed in
    Raises limited.LimitedFault where the grader is at fault.
    """
    scanned = {name: files.get(f"_submitted_{name}", files[name]) for name in submitted}
    lines = {name: known for name, data in scanned.items() if (known := _known.get(name, data)) is not None}
    unknown = {name: data for name, data in scanned.items() if name not in lines}
    findings: dict[Exercise, Finding] = {}
    for about, said in items_of(_read, dict(files), unknown, list(exercises)).items:
        if isinstance(said, Finding):
            findings[exercises[int(about)]] = said
        else:
            lines[str(about)] = _known.keep(str(about), unknown[str(about)], said)
    unread = (f"{printable_name(name)} {UNREAD}: nothing in it was looked at" for name in scanned if name not in lines)
    told = (line for name in sorted(lines) for line in lines[name])
    return Sources(findings, (*told, *sorted(unread)))


def prepare() -> None:
    """Read once, before the first call, what is compared with every submission."""
    static_scan.prepare()


def _read(
    files: dict[str, bytes], scanned: dict[str, bytes], exercises: list[Exercise]
) -> Iterator[tuple[int | str, Finding | tuple[str, ...]]]:
    """A finding for each exercise, by its place, and lines for each module, by its name."""
    texts: dict[str, str] = {}

    def source_of(module: str) -> str:
        if module not in texts:
            texts[module] = text_of(files.get(f"{module}.py", b""))
        return texts[module]

    def written(module: str) -> str:
        before = f"_submitted_{module}"  # what the reference that stands in for it defines comes later
        text = f"{source_of(before)}\n{source_of(module)}" if f"{before}.py" in files else source_of(module)
        if too_deep(text):
            raise TooDeep
        return text

    for place, exercise in sorted(
        enumerate(exercises), key=lambda numbered: len(files.get(f"{numbered[1].module}.py", b""))
    ):
        source = source_of(exercise.module)
        if exercise.forbidden and too_deep(source):
            continue
        try:
            forbidden = forbidden_call(source, exercise.symbol, exercise.forbidden, written)
        except TooDeep:
            continue
        used = (name for name in exercise.depends_on if builds_on(source, exercise.symbol, name.rpartition(".")[2]))
        yield place, Finding(forbidden, frozenset(used))
    for name, data in sorted(scanned.items(), key=lambda item: len(item[1])):
        yield name, static_scan.scan_file(name, data)
