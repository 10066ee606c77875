"""Judges mutants of the reference by the checks, visible and hidden."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import resource
import signal
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from selfcheck import runner
from selfcheck.catalogue import Exercise, exercises
from selfcheck.diagnose import Key, first_difference
from selfcheck.reach import builds_on

from ...answer_key.checks import hidden_checks, hidden_seeds, visible_checks
from ...answer_key.keys import PUBLIC_POLICY
from ...answer_key.live import live_key, recorded_key
from ...answer_key.reference_package import NAME, reference
from ...cores import cores
from ...course.paths import REFERENCE
from .mutants import Mutant, mutants

CPU_SECONDS = 40  # for one mutant: the checks of the slowest exercise take half of it
ADDRESS_SPACE = 12 * 2**30  # bytes


@dataclass(frozen=True)
class Outcome:
    """The verdict on a mutant.

    seen_by: the check that fails, "time", "memory" or "killed"; "" for a mutant that survives
    """

    module: str
    name: str
    seen_by: str

    def survives_in(self, module: str) -> bool:
        """Whether it is a mutant of that module that no check sees."""
        return self.module == module and not self.seen_by


@dataclass(frozen=True)
class Survivors:
    """Mutants that no check sees, by name, with the reason.

    equivalent: those that answer as the reference does to every call that the interface allows
    unseen: those that do not, accepted for the reason given
    """

    equivalent: dict[str, str]
    unseen: dict[str, str]


def survivors(module: str) -> Survivors:
    """The listed survivors of a module."""
    path = Path(__file__).with_name("survivors") / f"{module}.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return Survivors(table.get("equivalent", {}), table.get("unseen", {}))


def modules() -> list[str]:
    """The modules that hold exercises, in the course's order."""
    return list(dict.fromkeys(exercise.module for exercise in exercises()))


def mutants_of(module: str) -> list[Mutant]:
    """The mutants of a module of the reference that some exercise reaches."""
    return [mutant for mutant in mutants(module, _text(module)) if _judges(module, mutant.where)]


def judged(chosen: Sequence[Mutant], processes: int | None = None) -> Iterator[Outcome]:
    """The outcome of each mutant, as each is known; processes: how many judge them, by default one per core.

    Raises BrokenProcessPool where one of these ends, or does not start: a multiprocessing.Pool would wait for ever.
    """
    spawn = multiprocessing.get_context("spawn")  # a process that has used torch must not fork
    with ProcessPoolExecutor(processes or cores(), mp_context=spawn) as pool:
        for done in as_completed([pool.submit(_outcome, mutant) for mutant in chosen]):
            yield done.result()


def _outcome(mutant: Mutant) -> Outcome:
    keys = _keys(mutant.module, mutant.where)  # computed here, so that the child inherits them
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            signal.alarm(5 * CPU_SECONDS)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 2)
            os.write(writing, _first_that_sees(mutant, keys).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        seen_by = file.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM)
        seen_by = "time" if late else "killed"
    return Outcome(mutant.module, mutant.name, "" if seen_by == "survived" else seen_by or "killed")


def _first_that_sees(mutant: Mutant, keys: Sequence[Key]) -> str:
    try:
        module = _module(mutant)
    except Exception:
        return "import"
    for key in keys:
        symbol = getattr(module, key.check.exercise.rpartition(".")[2])
        got = runner.answer(symbol, key.calls, "gradient" in key.check.compares)
        if first_difference(key, key.expected, got):
            return key.check.name
    return "survived"


def _module(mutant: Mutant) -> ModuleType:
    name = f"{NAME}.{mutant.module}"
    module = ModuleType(name)
    module.__package__, module.__file__ = NAME, f"{mutant.module}.py"
    sys.modules[name] = module
    exec(compile(mutant.source, module.__file__, "exec"), module.__dict__)
    return module


@functools.cache
def _judges(module: str, where: str) -> tuple[Exercise, ...]:
    """The exercises of a module whose function is the one named `where` or calls it."""
    text = _text(module)
    own = [exercise for exercise in exercises() if exercise.module == module]
    return tuple(exercise for exercise in own if exercise.symbol == where or builds_on(text, exercise.symbol, where))


@functools.cache
def _keys(module: str, where: str) -> tuple[Key, ...]:
    """Every draw that judges a function of a module, the fastest first."""
    timed = [pair for exercise in _judges(module, where) for pair in _timed_keys(exercise)]
    return tuple(key for _, key in sorted(timed, key=lambda pair: pair[0]))


@functools.cache
def _timed_keys(exercise: Exercise) -> list[tuple[float, Key]]:
    reference(exercise.id)
    timed = []
    visible = visible_checks(exercise)
    for check in visible + hidden_checks(exercise):
        begun = time.process_time()
        for seed in hidden_seeds(PUBLIC_POLICY.secret, check):
            key = live_key(check, seed, names=False)
            timed.append((time.process_time() - begun, key))
            begun = time.process_time()
    first = {key.check.name: seconds for seconds, key in reversed(timed)}
    return timed + [(first[check.name], recorded_key(check)) for check in visible]


@functools.cache
def _text(module: str) -> str:
    return (REFERENCE / f"{module}.py").read_text(encoding="utf-8")
