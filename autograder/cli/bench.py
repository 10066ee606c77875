"""`bench`: how fast a class is graded, beside stock nbgrader in the same run, and what the ratio holds for."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from selfcheck.catalogue import in_problem_set

from ..bench import rounds
from ..bench.rounds import OURS, STOCK, TWO
from ..console import console, plain, show

QUICK = 6  # submissions
MOST_SLOWER = 10.0  # seconds: more than this and a submission meets the grader's limits
MOST_TOLD = 20  # differences


@click.command()
@click.option("--class-size", default=60, show_default=True, type=click.IntRange(2), help="How many submissions.")
@click.option("--problem-set", default="ps3", show_default=True, metavar="PS")
@click.option(
    "--slower",
    multiple=True,
    type=click.FloatRange(0, MOST_SLOWER, min_open=True),
    metavar="SECONDS",
    help="Once more with submissions whose code takes about so much longer; may be given several times.",
)
@click.option("--alone", is_flag=True, help="This grader alone: for a class that stock nbgrader would need hours for.")
@click.option("--quick", is_flag=True, help=f"A class of {QUICK}: to see that it works, not how fast.")
@click.option("--seed", default=0, show_default=True, help="Chooses what the class hands in.")
@click.option("--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there.")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep the courses there, in a new folder."
)
def bench(
    class_size: int,
    problem_set: str,
    slower: tuple[float, ...],
    alone: bool,
    quick: bool,
    seed: int,
    target: Path | None,
    keep: Path | None,
) -> None:
    """Measure the grader against stock nbgrader on a made class, and compare their scores."""
    try:
        in_problem_set(problem_set)
        if alone and slower:
            raise ValueError("--slower is for what the ratio becomes, and --alone has none: give one of them")
        if keep and keep.exists():
            raise FileExistsError(f"{keep} is there already: name a folder that is not")
    except (KeyError, ValueError, FileExistsError) as error:
        raise click.ClickException(error.args[0]) from None
    load, size = os.getloadavg()[0], QUICK if quick else class_size
    measure = _alone if alone else _beside_stock
    with _place(keep) as folder:
        try:
            found = measure(folder, problem_set, size, slower, seed, load)
        except RuntimeError as error:
            show(str(error), style="red")
            sys.exit(1)
    if target:
        target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (show_figures_alone if alone else show_figures)(found)
    if not found["same_scores"]:
        sys.exit(1)


def _beside_stock(
    folder: Path, problem_set: str, size: int, slower: tuple[float, ...], seed: int, load: float
) -> dict[str, Any]:
    graded = []
    for number, more in enumerate((0.0, *slower)):
        room = rounds.furnish(folder / f"class-{number}", problem_set, size, seed, more)
        _say(f"made: {size} submissions to {problem_set}" + (f", {more:g} s slower" if more else ""))
        graded.append(rounds.grade_class(room, _say))
    return rounds.figures(problem_set, graded, load, _command(size, problem_set, slower, seed))


def _alone(
    folder: Path, problem_set: str, size: int, slower: tuple[float, ...], seed: int, load: float
) -> dict[str, Any]:
    room = rounds.furnish(folder / "class-0", problem_set, size, seed, 0.0, beside=False)
    _say(f"made: {size} submissions to {problem_set}")
    run, wrong = rounds.grade_alone(room, _say)
    command = _command(size, problem_set, slower, seed) + " --alone"
    return rounds.figures_alone(room, run, wrong, load, command)


def _say(text: str) -> None:
    console.print(plain(text))


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep:
        keep.mkdir(parents=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="attention-bench-") as folder:
        yield Path(folder).resolve()


def _command(size: int, problem_set: str, slower: tuple[float, ...], seed: int) -> str:
    more = "".join(f" --slower {seconds:g}" for seconds in slower)
    return f"python -m autograder bench --class-size {size} --problem-set {problem_set}{more} --seed {seed}"


def show_figures(found: dict[str, Any]) -> None:
    """Print the figures, each with what it holds for."""
    console.print(_runs_table(found))
    if not found["same_scores"]:
        show("The gradebooks do not agree, so there is no ratio:", style="red")
        for line in found["wrong"][:MOST_TOLD]:
            show(f"  {line}")
        show(f"  {len(found['wrong'])} differences in all")
        return
    show("Scores: the same in every gradebook, cell by cell, and those the class deserves where the bank knows them.")
    show(
        f"Ratio: {found['ratio']:.1f}x stock, {found['ratio_two_stock']:.1f}x two stock processes, for "
        f"{found['test_seconds']:.2f} s of test code per submission, {found['cores']} cores, class of "
        f"{found['class_size']}."
    )
    _show_time(found)
    console.print(_regimes_table(found))
    _show_provisional(found)


def _show_release(found: dict[str, Any]) -> None:
    show(
        f"Not in it: the release before, {found['release_s']:.1f} s, which finds out what is to be answered to the "
        "hidden draws."
    )


def _show_provisional(found: dict[str, Any]) -> None:
    if found["provisional"]:
        load = f"{found['load_before']:.1f} processes wanted to run when this began"
        show(f"Provisional: {load}, so that the machine was busy with something else.", style="yellow")


def show_figures_alone(found: dict[str, Any]) -> None:
    """Print what was measured of this grader alone."""
    show(
        f"{found['class_size']} submissions to {found['problem_set']} in {found['seconds']:.1f} s, start-up included: "
        f"{found['ours_per_s']:.2f} per second, {found['cpu_s_per_submission_ours']:.2f} s of the processor each, the "
        f"first mark after {found['first_mark_s']:.1f} s."
    )
    _show_release(found)
    quarters = ", ".join(f"{one:.0f}" for one in found["quarters_mib"])
    show(
        f"Memory: {found['peak_mib_ours']:.0f} MiB at most ({found['memory']}); in each quarter of the time, shared "
        f"pages counted for each process, {quarters} MiB."
    )
    if not found["same_scores"]:
        show("Not every score is the one that the class deserves:", style="red")
        for line in found["wrong"][:MOST_TOLD]:
            show(f"  {line}")
    _show_provisional(found)


def _runs_table(found: dict[str, Any]) -> Table:
    table = Table(title=plain(f"{found['class_size']} submissions to {found['problem_set']}, start-up included"))
    for name in ("", "s", "submissions/s", "CPU s each", f"peak MiB ({found['memory']})"):
        table.add_column(name, justify="right" if name else "left")
    for name in (STOCK, TWO, OURS):
        run = found["runs"][name]
        table.add_row(
            name,
            f"{run['seconds']:.1f}",
            f"{found['class_size'] / run['seconds']:.2f}",
            f"{run['cpu'] / found['class_size']:.2f}",
            f"{run['peak_mib']:.0f}",
        )
    return table


def _show_time(found: dict[str, Any]) -> None:
    goes = found["where_time_goes"]
    texts = {
        "until_first_mark_s": "until the first mark",
        "each_further_s": "each further one",
        "after_last_mark_s": "after the last",
        "cpu_s_own_process": "of the processor, each: its own process (keys, comparison, notebooks, gradebook)",
        "cpu_s_started": "of the processor, each: what it started (sandboxes, torch, learners' code)",
        "floor_s": "the floor, which is the test code alone on all cores, each",
        "stock_until_first_s": "stock: until it begins with the first submission",
        "stock_each_further_s": "stock: each further one",
    }
    show("Where the time goes, by the clock where nothing else is said:")
    for name, text in texts.items():
        if goes[name] is not None:
            show(f"  {text}: {goes[name]:.3f} s")
    _show_release(found)
    show("Stock's course holds the same answers before it begins.")


def _regimes_table(found: dict[str, Any]) -> Table:
    """How the ratio falls as test code takes longer."""
    table = Table(
        title="The ratio, by seconds of test code per submission",
        caption="formula: (stock + x / its processes) / (ours + x / our workers), x being the seconds in addition",
    )
    for name in ("test code, s", "measured", "formula", "two stock, measured", "two stock, formula"):
        table.add_column(name, justify="right")
    rows = [(one["test_seconds"], one) for one in found["regimes"]]
    rows += [
        (one["test_seconds"], {"formula": one["ratio"], "formula_two_stock": one["ratio_two_stock"]})
        for one in found["formula"]
    ]
    for seconds, one in sorted(rows, key=lambda row: row[0]):
        told = [one.get(name) for name in ("ratio", "formula", "ratio_two_stock", "formula_two_stock")]
        table.add_row(f"{seconds:.2f}", *(f"{ratio:.1f}" if ratio else "" for ratio in told))
    return table
