"""Judges folders that hold an `attention` package, without a course, and prints the verdicts."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from selfcheck.catalogue import Exercise, exercises, in_problem_set, parts_of
from selfcheck.verdict import MOST_MESSAGE, PASSED

from ..answer_key import public
from ..answer_key.keys import PUBLIC_POLICY, AnswerKey
from ..console import console, plain, show
from ..course.printable import printable_line
from ..intake.archive import read_folder, read_package
from ..judge import cluster
from ..judge.judge import with_dependencies
from ..judge.result import ExerciseOutcome
from ..judge.sources import start_reading
from ..judge.task import Task
from ..release.moved import moved_away, what_has_moved
from ..sandbox.bubblewrap import open_sandbox
from .user_errors import user_errors

Chosen = Mapping[str, Sequence[Exercise]]  # by problem set, the exercises to judge
GRADE_ID = re.compile(rb'"grade_id" *: *"([\w-]+)"')


def judge_folders(
    packages: Mapping[str, Mapping[str, bytes]], chosen: Chosen, isolation: str
) -> dict[str, list[ExerciseOutcome]]:
    """The outcome of every chosen exercise for each package, by the same names; a package: its modules, by file name.

    A package for which the grader fails is left out. Raises what it failed for where that was so for all of them, as
    SandboxUnavailable where the isolation is not to be had.
    """

    def tasks() -> Iterator[tuple[tuple[str, str], Task]]:
        for problem_set, wanted in chosen.items():
            policy = PUBLIC_POLICY.of(problem_set).digest
            ids = tuple(exercise.id for exercise in wanted)
            for name, files in packages.items():
                yield (name, problem_set), Task(files, problem_set, policy, isolation, exercises=ids)

    def answer_key(problem_set: str) -> AnswerKey:
        ids = [exercise.id for exercise in chosen[problem_set]]
        return public.answer_key(problem_set, with_dependencies(in_problem_set(problem_set), ids))

    outcomes, failures = {}, []
    for place, outcome in cluster.judged(tasks(), answer_key):
        if isinstance(outcome, Exception):
            failures.append(outcome)
        elif not outcome.grader_error:
            outcomes[place] = outcome.exercises
    if failures and not outcomes:
        raise failures[0]
    return {
        name: [exercise for problem_set in chosen for exercise in outcomes[name, problem_set]]
        for name in packages
        if all((name, problem_set) in outcomes for problem_set in chosen)
    }


def chosen_exercises(ids: Sequence[str], sets: Sequence[str]) -> Chosen:
    """The exercises of these ids and problem sets, all where none are named; KeyError for one that is not there."""
    named = {exercise for name in ids for exercise in parts_of(name)}
    named |= {exercise for name in sets for exercise in in_problem_set(name)}
    chosen: dict[str, list[Exercise]] = {}
    for exercise in exercises():
        if exercise in named or not (ids or sets):
            chosen.setdefault(exercise.problem_set, []).append(exercise)
    return chosen


def made_for_others(folder: Path, sets: Sequence[str]) -> str:
    """What has moved, where the notebook of one of these sets in a folder is of a release that had other exercises."""
    for problem_set in sets:
        cells = {grade_id.decode() for grade_id in GRADE_ID.findall(read_folder(folder, problem_set).notebook or b"")}
        moved = moved_away(problem_set, cells)
        if moved:
            return f"{what_has_moved(problem_set, moved)}. Name the set that has these exercises now"
    return ""


def as_json(judged: Sequence[ExerciseOutcome]) -> dict[str, Any]:
    """The outcomes in the form of `judge --json`; the parts of one id are put together."""
    entries: dict[str, Any] = {}
    for exercise in judged:
        entry = entries.setdefault(exercise.id, {"points": 0, "max_points": 0, "checks": []})
        entry["points"] += exercise.points
        entry["max_points"] += exercise.max_points
        entry["checks"] += [
            {
                "check": check.check,
                "verdict": check.verdict,
                "message": check.message,
                "misconception": check.misconception,
            }
            for check in exercise.checks
        ]
    return {"exercises": entries}


def verdict_table(name: str, judged: Sequence[ExerciseOutcome]) -> Table:
    """One row per exercise: points, and what failed with the misconception that explains it."""
    points, most = sum(exercise.points for exercise in judged), sum(exercise.max_points for exercise in judged)
    table = Table(title=plain(f"{name}: {points} of {most} points"))
    table.add_column("exercise", no_wrap=True)
    table.add_column("points", justify="right")
    table.add_column("what did not pass")
    for exercise in judged:
        broken = [check for check in exercise.checks if check.verdict != PASSED]
        reasons = [
            f"{check.misconception}: {check.message}" if check.misconception else check.message for check in broken
        ]
        table.add_row(
            plain(f"{exercise.number} {exercise.id}"),
            f"{exercise.points}/{exercise.max_points}",
            Text("\n".join(printable_line(reason, MOST_MESSAGE) for reason in dict.fromkeys(reasons))),
        )
    return table


def judge_packages(
    folders: Sequence[str], ids: Sequence[str], sets: Sequence[str], target: Path | None, isolation: str
) -> None:
    """Judge the packages in some folders, and print the verdicts; exits with 1 where one is left out.

    ids, sets: of the exercises to judge; target: a file to write the verdicts to
    """
    try:
        chosen = chosen_exercises(ids, sets)
    except KeyError as error:
        show(f"judge: {error.args[0]}", style="red")
        sys.exit(1)
    moved = {folder: told for folder in folders if (told := made_for_others(Path(folder), sets))}
    for name, told in moved.items():
        show(f"judge: {name} is left out: {told}", style="red")
    if len(moved) == len(set(folders)):
        sys.exit(1)
    start_reading()
    with ThreadPoolExecutor(1) as beside:
        if any(map(public.needs_torch, chosen.values())):
            beside.submit(importlib.import_module, "torch")  # for the answer key, while the sandbox tests itself
        with user_errors("judge"):
            isolation = open_sandbox(isolation).level
    if isolation == "none":
        console.print("[bold red]No isolation: this code runs with your rights.[/]")
    with user_errors("judge", (OSError,)):
        received = {folder: read_package(Path(folder)) for folder in folders if folder not in moved}
        judged = judge_folders({folder: package.files for folder, package in received.items()}, chosen, isolation)
        if target:
            table = {name: as_json(outcomes) for name, outcomes in judged.items()}
            text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
            target.write_text(text, encoding="utf-8", errors="backslashreplace")  # a folder's name need not be text
    for name, outcomes in judged.items():
        console.print(verdict_table(name, outcomes))
        for remark in received[name].remarks:
            show(f"  {remark}")
    failed = [name for name in received if name not in judged]
    for name in failed:
        show(f"judge: {name} is not judged: the grader failed, not the answers. Run judge again", style="red")
    if moved or failed:
        sys.exit(1)
