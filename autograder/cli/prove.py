"""The command that proves the checks and writes the figures down."""

from __future__ import annotations

import multiprocessing
import platform
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress

from selfcheck.catalogue import Exercise, exercises

from ..answer_key.keys import trains_a_model
from ..authoring import mutation, proofs
from ..console import console, plain
from ..cores import cores

MIN_SHARE = 0.97  # of a module's mutants that are not equivalent


@dataclass(frozen=True)
class Extent:
    """How much is proven; None: everything."""

    exercises: int | None
    secrets: int
    pairs: int
    mutants: int | None


FULL = Extent(exercises=None, secrets=200, pairs=500, mutants=None)
QUICK = Extent(exercises=6, secrets=2, pairs=12, mutants=10)


@dataclass
class Proof:
    """The outcome of one proof: how many cases it has, and a line for each that fails."""

    what: str
    cases: int
    failures: list[str] = field(default_factory=list)
    note: str = ""


def checks_proven(extent: Extent, seed: int, modules: Sequence[str]) -> Iterator[Proof]:
    """The proofs about misconceptions, alternatives, secrets and pairs, each as it ends."""
    chosen: Sequence[Exercise] = [exercise for exercise in exercises() if exercise.module in modules]
    if extent.exercises is not None:
        quick = [exercise for exercise in chosen if not trains_a_model(exercise)]
        chosen = random.Random(seed).sample(quick, min(extent.exercises, len(quick)))
    wrong = sum(len(exercise.misconceptions) for exercise in chosen)
    yield _proven(
        "misconceptions fail a visible check and are named",
        wrong,
        [(proofs.misconceptions_fail, exercise) for exercise in chosen],
    )
    yield _proven(
        "right answers in other styles get full marks, and nothing is named",
        sum(len(proofs.alternatives_here(exercise)) for exercise in chosen),
        [(proofs.alternatives_pass, exercise, f"course {seed}".encode()) for exercise in chosen],
    )
    secrets = [f"course {seed}/{number}".encode() for number in range(extent.secrets)]
    yield _proven(
        f"the reference gets full marks: {len(chosen)} exercises, {len(secrets)} course secrets",
        len(chosen) * len(secrets),
        [(proofs.reference_passes, exercise, secret) for exercise in chosen for secret in secrets],
    )
    pairs = proofs.pairs_of(chosen, extent.pairs, seed)
    yield _proven(
        "random pairs of misconceptions, on random secrets, are each named and not the other",
        len(pairs),
        [(proofs.misconceptions_are_named, *pair) for pair in pairs],
    )


def _proven(what: str, cases: int, tasks: list[tuple[Any, ...]]) -> Proof:
    proof = Proof(what, cases)
    spawn = multiprocessing.get_context("spawn")  # a process that has used torch must not fork
    with ProcessPoolExecutor(cores(), mp_context=spawn) as pool, _progress() as progress:
        bar = progress.add_task(what, total=len(tasks))
        for done in as_completed([pool.submit(*task) for task in tasks]):
            progress.advance(bar)
            proof.failures += done.result()
    return proof


def mutants_killed(extent: Extent, seed: int, modules: Sequence[str]) -> Iterator[Proof]:
    """For each module the proof that its mutants fail some check."""
    listed = {module: mutation.survivors(module) for module in modules}
    chosen: dict[str, list[mutation.Mutant]] = {}
    for module, known in listed.items():
        meant = [mutant for mutant in mutation.mutants_of(module) if mutant.name not in known.equivalent]
        chosen[module] = meant if extent.mutants is None else random.Random(seed).sample(meant, extent.mutants)
    every = [mutant for some in chosen.values() for mutant in some]
    with _progress() as progress:
        outcomes = list(progress.track(mutation.judged(every), len(every), description="mutants of the reference"))
    for module, some in chosen.items():
        alive = [outcome.name for outcome in outcomes if outcome.survives_in(module)]
        share = 1 - len(alive) / len(some)
        proof = Proof(f"mutants of `{module}` fail a check", len(some))
        proof.note = f"{share:.1%}; {len(listed[module].equivalent)} more change nothing"
        proof.failures = [f"{module}: no check sees {name}" for name in alive if name not in listed[module].unseen]
        seen = {mutant.name for mutant in some} - set(alive)
        proof.failures += [
            f"{module}: a check sees {name}, which is listed as unseen"
            for name in listed[module].unseen
            if name in seen
        ]
        if extent.mutants is None and share < MIN_SHARE:
            proof.failures.append(f"{module}: checks see {share:.1%} of the mutants, not {MIN_SHARE:.0%}")
        yield proof


def _progress() -> Progress:
    return Progress(console=console, transient=True)


def as_markdown(proofs_done: list[Proof], command: str, seconds: float) -> str:
    """The figures, in the form of the instructor's guide."""
    rows = [f"| {proof.what} | {proof.cases:,} | {proof.note or 'all'} |" for proof in proofs_done]
    where = f"Python {platform.python_version()}, torch {version('torch')}, {cores()} cores"
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    return "\n".join(
        [
            f"`{command}`: {when}, {where}, {seconds / 60:.0f} minutes.",
            "",
            "| what was proven | cases | held |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


@click.command()
@click.option("--quick", is_flag=True, help="A random part of it, in about a minute.")
@click.option("--module", "modules", multiple=True, help="The exercises of this module alone; can be repeated.")
@click.option("--seed", default=0, show_default=True, help="Chooses the part, the secrets and the pairs.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there, as Markdown.")
def prove(quick: bool, modules: tuple[str, ...], seed: int, out: Path | None) -> None:
    """Prove the checks.

    Wrong answers fail and are named, right ones pass, and small mistakes in the reference are seen.
    """
    try:
        proofs.alternatives_here(exercises()[0])
    except proofs.NotACheckout as missing:
        raise click.ClickException(str(missing)) from None
    known = mutation.modules()
    if unknown := [module for module in modules if module not in known]:
        raise click.BadParameter(
            f"there is no module {unknown[0]}; there are {', '.join(known)}", param_hint="--module"
        )
    extent, begun, proofs_done = QUICK if quick else FULL, time.monotonic(), []
    for proven in (checks_proven, mutants_killed):
        for proof in proven(extent, seed, modules or known):
            proofs_done.append(proof)
            console.print(
                plain(f"{'fails' if proof.failures else 'holds'}  {proof.what}: {proof.cases:,} {proof.note}")
            )
            for line in proof.failures:
                console.print(plain(f"       {line}"))
    seconds = time.monotonic() - begun
    console.print(
        f"{sum(bool(proof.failures) for proof in proofs_done)} of {len(proofs_done)} proofs fail, {seconds:.0f} s"
    )
    if any(proof.failures for proof in proofs_done):
        sys.exit(1)
    if out:
        options = [*(["--quick"] if quick else []), *(f"--module {module}" for module in modules), f"--seed {seed}"]
        command = " ".join(["python -m autograder prove", *options])
        out.write_text(as_markdown(proofs_done, command, seconds), encoding="utf-8")
