"""Compares the modules of a class: whose code is nearly the same once names, comments and layout are taken away.

A module becomes rows of tokens (see normal_form.py). Runs of `RUN` tokens are hashed and thinned out by winnowing
(Schleimer, Wilkerson and Aiken 2003, "Winnowing: local algorithms for document fingerprinting"). What the stub or the
reference has is nobody's own, and what many in the class have is common. Each module is looked up by its fingerprints,
so that time and memory grow with the class and not with its pairs. (copydetect compares every pair; compare50 scores
every pair that shares a fingerprint, however common, and requires attrs < 21, older than nbgrader's dependencies do.)
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TypeVar

from selfcheck.source import text_of

from ..build.stubs import stub
from ..course.paths import REFERENCE
from ..sandbox.limited import items_of
from .normal_form import normal_form

RUN = 12  # tokens: shorter passages that agree count for nothing
WINDOW = 4  # of so many runs one is kept: whatever agrees over RUN + WINDOW - 1 tokens is found
LEAST = 15  # fingerprints of its own that a module must have: about 50 tokens; shorter answers are often alike
ALIKE = 0.7  # share of the smaller module's own fingerprints
PUBLISHED = 0.9  # share of what a module adds to the stub
TOGETHER = 16  # learners whose modules one process reads
MOST_READ = 60_000  # bytes of a module, five times the longest of the reference's
MODULUS, BASE = 2**61 - 1, 1_000_003

Name = TypeVar("Name")


@dataclass(frozen=True)
class Group:
    """Learners whose code for one module is alike.

    share: 1 where it is the same but for names, comments and layout; else of the smaller module's own code, for the
    least alike of the pairs that made the group
    """

    module: str
    students: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Similarities:
    """What is alike in one problem set.

    published: (module, learners) whose answers are those of the published reference
    unread: learners with a module that Python cannot read or that is too long
    common: what more learners than this have is common
    """

    groups: tuple[Group, ...]
    published: tuple[tuple[str, tuple[str, ...]], ...]
    unread: tuple[str, ...]
    common: int


def similarities(
    students: Iterable[str], modules: Iterable[str], files_of: Callable[[str], dict[str, bytes]]
) -> Similarities:
    """Compare everybody's modules with everybody's.

    files_of: the files of a student's submission, by name; read once each and not kept
    """
    students = list(students)
    common = max(4, min(40, len(students) // 10))
    classes = {module: _Class(module, common) for module in modules}
    unread = []
    for first in range(0, len(students), TOGETHER):
        texts: dict[tuple[str, str], bytes] = {}
        for student in students[first : first + TOGETHER]:
            files = files_of(student)
            texts |= {(student, module): files[f"{module}.py"] for module in classes if f"{module}.py" in files}
        forms = _normal_forms(texts)
        for student, module in texts:
            if (rows := forms[student, module]) is None:
                unread.append(student)
            else:
                classes[module].take(student, rows)
    groups = [group for known in classes.values() for group in known.groups()]
    groups.sort(key=lambda group: (-group.share, -len(group.students), group.module, group.students))
    published = [(module, tuple(known.published)) for module, known in classes.items() if known.published]
    return Similarities(tuple(groups), tuple(published), tuple(dict.fromkeys(unread)), common)


class _Class:
    """Everybody's answers to one module, each different one once."""

    def __init__(self, module: str, common: int) -> None:
        self.module, self.common = module, common
        self.same: dict[bytes, list[str]] = {}  # digest of the tokens → whose they are
        self.prints: dict[bytes, array[int]] = {}  # the fingerprints that are neither the stub's nor the reference's
        self.published: list[str] = []
        self._is_published: dict[bytes, bool] = {}

    def take(self, student: str, rows: list[list[str]]) -> None:
        """Keep a learner's module, in its normal form."""
        form = blake2b("\0".join(sorted("\1".join(row) for row in rows)).encode(), digest_size=16).digest()
        if form not in self.same:
            self._index(form, rows)
        self.same.setdefault(form, []).append(student)
        if self._is_published[form]:
            self.published.append(student)

    def _index(self, form: bytes, rows: list[list[str]]) -> None:
        given, reference = _known_runs(self.module)
        added = {run for row in rows for run in winnowed(row)} - given
        own = added - reference
        self._is_published[form] = len(added) >= LEAST and len(own) <= (1 - PUBLISHED) * len(added)
        self.prints[form] = array("Q", own)

    def groups(self) -> Iterator[Group]:
        """Who is alike: the same first, then those nearly so, each with all who have the same as one of them."""
        alike = _Joined(self.prints)
        for first, second, share in self._pairs():
            alike.join(first, second, share)
        for forms, share in alike.groups():
            members = tuple(sorted(student for form in forms for student in self.same[form]))
            if len(members) > 1 and len(self.prints[forms[0]]) >= LEAST:
                yield Group(self.module, members, share)

    def _pairs(self) -> Iterator[tuple[bytes, bytes, float]]:
        """Pairs of different forms that are nearly the same: looked up by what not too many have."""
        holders: Counter[int] = Counter()
        for form, prints in self.prints.items():
            for run in prints:
                holders[run] += len(self.same[form])
        index: dict[int, list[bytes]] = defaultdict(list)
        sizes: dict[bytes, int] = {}
        for form, prints in self.prints.items():
            rare = [run for run in prints if holders[run] <= self.common]
            shared = Counter(other for run in rare for other in index[run])
            sizes[form] = len(rare)
            for other, count in shared.items():
                smaller = min(len(rare), sizes[other])
                if smaller >= LEAST and count >= ALIKE * smaller:
                    yield form, other, count / smaller
            for run in rare:
                index[run].append(form)


class _Joined:
    """Things put together pair by pair, and how close the loosest of those pairs is."""

    def __init__(self, things: Iterable[bytes]) -> None:
        self._parent = {thing: thing for thing in things}
        self._share = dict.fromkeys(self._parent, 1.0)

    def _root(self, thing: bytes) -> bytes:
        while self._parent[thing] != thing:
            self._parent[thing] = self._parent[self._parent[thing]]
            thing = self._parent[thing]
        return thing

    def join(self, first: bytes, second: bytes, share: float) -> None:
        """Put two together. A pair of different things is never quite the same."""
        root, other = self._root(first), self._root(second)
        self._parent[other] = root
        self._share[root] = min(self._share[root], self._share[other], share, 0.99)

    def groups(self) -> Iterator[tuple[list[bytes], float]]:
        members_of = defaultdict(list)
        for thing in self._parent:
            members_of[self._root(thing)].append(thing)
        for root, members in members_of.items():
            yield members, self._share[root]


@cache
def _known_runs(module: str) -> tuple[frozenset[int], frozenset[int]]:
    """Every run of the module's stub, and every one of the reference's."""
    path = REFERENCE / f"{module}.py"
    texts = (stub(path), path.read_text(encoding="utf-8"))
    given, reference = (frozenset(run for row in normal_form(text) or [] for run in runs(row)) for text in texts)
    return given, reference


def _normal_forms(texts: dict[Name, bytes]) -> dict[Name, list[list[str]] | None]:
    """The normal form of each module; None for one that is too long, or that cannot be read within the limits."""
    forms: dict[Name, list[list[str]] | None] = dict.fromkeys(texts)
    waiting = {name: data for name, data in texts.items() if len(data) <= MOST_READ}
    while waiting:
        reading = items_of(_read, list(waiting.values()))
        forms |= zip(waiting, reading.items, strict=False)
        waiting = dict(list(waiting.items())[len(reading.items) + 1 :])  # without the one that ended the process
    return forms


def _read(modules: list[bytes]) -> Iterator[list[list[str]] | None]:
    for data in modules:
        try:
            yield normal_form(text_of(data))
        except Exception:  # whatever somebody has written stops nobody else's: it counts as unread
            yield None


def runs(row: list[str]) -> list[int]:
    """The hash of every run of RUN tokens, from one to the next in constant time (Karp and Rabin 1987)."""
    numbers = [zlib.crc32(token.encode()) + 1 for token in row]
    if len(numbers) < RUN:
        return []
    lead, value = pow(BASE, RUN, MODULUS), 0
    hashes = []
    for place, number in enumerate(numbers):
        value = (value * BASE + number) % MODULUS
        if place >= RUN:
            value = (value - numbers[place - RUN] * lead) % MODULUS
        if place >= RUN - 1:
            hashes.append(value)
    return hashes


def winnowed(row: list[str]) -> set[int]:
    """The least hash of every WINDOW runs in a row."""
    hashes = runs(row)
    if not hashes:
        return set()
    return {min(hashes[place : place + WINDOW]) for place in range(max(1, len(hashes) - WINDOW + 1))}
