"""The command that measures grading against stock nbgrader."""

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

from ..bench import figures, rounds
from ..bench.rounds import OURS, STOCK, TWO_STOCK
from ..console import console, plain, show

QUICK_CLASS = 6  # submissions
MAX_SLOWER = 10.0  # seconds; beyond it a submission meets the grader's limits
MAX_DIFFERENCES = 20  # printed


@click.command()
@click.option("--class-size", default=60, show_default=True, type=click.IntRange(2), help="How many submissions.")
@click.option("--problem-set", default="ps3", show_default=True, metavar="PS")
@click.option(
    "--slower",
    multiple=True,
    type=click.FloatRange(0, MAX_SLOWER, min_open=True),
    metavar="SECONDS",
    help="Once more with submissions whose code takes about so much longer; may be given several times.",
)
@click.option("--alone", is_flag=True, help="This grader alone: for a class that stock nbgrader would need hours for.")
@click.option("--quick", is_flag=True, help=f"A class of {QUICK_CLASS}: to see that it works, not how fast.")
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
    """Measure grading against stock nbgrader.

    Both grade a synthetic class, and their scores are compared.
    """
    try:
        in_problem_set(problem_set)
        if alone and slower:
            raise ValueError("--slower is for what the ratio becomes, and --alone has none: give one of them")
        if keep and keep.exists():
            raise FileExistsError(f"{keep} is there already: name a folder that is not")
    except (KeyError, ValueError, FileExistsError) as error:
        raise click.ClickException(error.args[0]) from None
    load, size = os.getloadavg()[0], QUICK_CLASS if quick else class_size
    measure = _alone if alone else _beside_stock
    with _place(keep) as folder:
        try:
            measured = measure(folder, problem_set, size, slower, seed, load)
        except RuntimeError as error:
            show(str(error), style="red")
            sys.exit(1)
    if target:
        target.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    (show_figures_alone if alone else show_figures)(measured)
    if not measured["same_scores"]:
        sys.exit(1)


def _beside_stock(
    folder: Path, problem_set: str, size: int, slower: tuple[float, ...], seed: int, load: float
) -> dict[str, Any]:
    graded = []
    for number, more in enumerate((0.0, *slower)):
        courses = rounds.prepare(folder / f"class-{number}", problem_set, size, seed, more)
        _report(f"made: {size} submissions to {problem_set}" + (f", {more:g} s slower" if more else ""))
        graded.append(rounds.grade_class(courses, _report))
    return figures.of_rounds(problem_set, graded, load, _command(size, problem_set, slower, seed))


def _alone(
    folder: Path, problem_set: str, size: int, slower: tuple[float, ...], seed: int, load: float
) -> dict[str, Any]:
    courses = rounds.prepare(folder / "class-0", problem_set, size, seed, 0.0, beside=False)
    _report(f"made: {size} submissions to {problem_set}")
    run, wrong = rounds.grade_alone(courses, _report)
    command = _command(size, problem_set, slower, seed) + " --alone"
    return figures.of_one_grader(courses, run, wrong, load, command)


def _report(text: str) -> None:
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


def show_figures(measured: dict[str, Any]) -> None:
    """Print the figures of a comparison with stock nbgrader."""
    console.print(_runs_table(measured))
    if not measured["same_scores"]:
        show("The gradebooks do not agree, so there is no ratio:", style="red")
        for line in measured["wrong"][:MAX_DIFFERENCES]:
            show(f"  {line}")
        show(f"  {len(measured['wrong'])} differences in all")
        return
    show("Scores: the same in every gradebook, cell by cell, and those the class deserves where the bank knows them.")
    show(
        f"Ratio: {measured['ratio']:.1f}x stock, {measured['ratio_two_stock']:.1f}x two stock processes, for "
        f"{measured['test_seconds']:.2f} s of test code per submission, {measured['cores']} cores, class of "
        f"{measured['class_size']}."
    )
    _show_time(measured)
    console.print(_regimes_table(measured))
    _show_provisional(measured)


def _show_release(measured: dict[str, Any]) -> None:
    show(f"Not in it: the release before, {measured['release_s']:.1f} s, which computes the answer key.")


def _show_provisional(measured: dict[str, Any]) -> None:
    if measured["provisional"]:
        load = f"{measured['load_before']:.1f} was the load average when this began"
        show(f"Provisional: {load}, so the machine was busy with something else.", style="yellow")


def show_figures_alone(measured: dict[str, Any]) -> None:
    """Print the figures of this grader alone."""
    show(
        f"{measured['class_size']} submissions to {measured['problem_set']} in {measured['seconds']:.1f} s, "
        f"start-up included: {measured['ours_per_s']:.2f} per second, "
        f"{measured['cpu_s_per_submission_ours']:.2f} s of processor time each, the first mark after "
        f"{measured['first_mark_s']:.1f} s."
    )
    _show_release(measured)
    quarters = ", ".join(f"{quarter:.0f}" for quarter in measured["quarters_mib"])
    show(
        f"Memory: {measured['peak_mib_ours']:.0f} MiB at most ({measured['memory']}); in each quarter of the time, "
        f"shared pages counted for each process, {quarters} MiB."
    )
    if not measured["same_scores"]:
        show("Not every score is the one that the class deserves:", style="red")
        for line in measured["wrong"][:MAX_DIFFERENCES]:
            show(f"  {line}")
    _show_provisional(measured)


def _runs_table(measured: dict[str, Any]) -> Table:
    table = Table(title=plain(f"{measured['class_size']} submissions to {measured['problem_set']}, start-up included"))
    for name in ("", "s", "submissions/s", "CPU s each", f"peak MiB ({measured['memory']})"):
        table.add_column(name, justify="right" if name else "left")
    for name in (STOCK, TWO_STOCK, OURS):
        run = measured["runs"][name]
        table.add_row(
            name,
            f"{run['seconds']:.1f}",
            f"{measured['class_size'] / run['seconds']:.2f}",
            f"{run['cpu'] / measured['class_size']:.2f}",
            f"{run['peak_mib']:.0f}",
        )
    return table


def _show_time(measured: dict[str, Any]) -> None:
    time_spent = measured["where_time_goes"]
    texts = {
        "until_first_mark_s": "until the first mark",
        "each_further_s": "each further one",
        "after_last_mark_s": "after the last",
        "cpu_s_own_process": "processor time, each: its own process (keys, comparison, notebooks, gradebook)",
        "cpu_s_started": "processor time, each: what it started (sandboxes, torch, learners' code)",
        "floor_s": "the lower bound, which is the test code alone on all cores, each",
        "stock_until_first_s": "stock: until it begins with the first submission",
        "stock_each_further_s": "stock: each further one",
    }
    show("Where the time goes (wall time where nothing else is said):")
    for name, text in texts.items():
        if time_spent[name] is not None:
            show(f"  {text}: {time_spent[name]:.3f} s")
    _show_release(measured)
    show("Stock's course holds the same answers before it begins.")


def _regimes_table(measured: dict[str, Any]) -> Table:
    """The ratio by the time that test code takes."""
    table = Table(
        title="The ratio, by seconds of test code per submission",
        caption="formula: (stock + x / its processes) / (ours + x / our workers), x being the seconds in addition",
    )
    for name in ("test code, s", "measured", "formula", "two stock, measured", "two stock, formula"):
        table.add_column(name, justify="right")
    rows = [(regime["test_seconds"], regime) for regime in measured["regimes"]]
    rows += [
        (regime["test_seconds"], {"formula": regime["ratio"], "formula_two_stock": regime["ratio_two_stock"]})
        for regime in measured["formula"]
    ]
    for seconds, regime in sorted(rows, key=lambda row: row[0]):
        ratios = [regime.get(name) for name in ("ratio", "formula", "ratio_two_stock", "formula_two_stock")]
        table.add_row(f"{seconds:.2f}", *(f"{ratio:.1f}" if ratio else "" for ratio in ratios))
    return table
