"""`judge`: grades folders that hold an `attention` package, without a course."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from selfcheck.verdict import ExerciseResult

from ..answer_key.keys import PUBLIC_TERMS, keys_of
from ..intake.archive import read_package
from ..intake.submission import Submission
from ..judge.cores import count
from ..judge.judge import as_json, judge_everything
from ..sandbox.bubblewrap import Sandbox, open_sandbox


def judge_folders(submissions: dict[str, Submission], sandbox: Sandbox) -> dict[str, list[ExerciseResult]]:
    """The verdicts of every exercise for each submission, by the same names."""
    from selfcheck.catalogue import exercises

    for exercise in exercises():
        keys_of(exercise, PUBLIC_TERMS)  # computed once, before the workers start
    with ThreadPoolExecutor(count()) as pool:
        waiting = {
            name: pool.submit(judge_everything, submission, PUBLIC_TERMS, sandbox)
            for name, submission in submissions.items()
        }
        return {name: future.result() for name, future in waiting.items()}


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write the verdicts here.")
@click.option("--isolation", default="bubblewrap", type=click.Choice(["bubblewrap", "auto", "none"]), show_default=True)
def judge(folders: tuple[str, ...], target: Path | None, isolation: str) -> None:
    """Grade FOLDERS that hold an `attention` package, in the sandbox, as `grade` would but without a course."""
    from ..console import console, show, verdict_table

    sandbox = open_sandbox(isolation)
    if sandbox.level == "none":
        console.print("[bold red]No isolation: this code runs with your rights.[/]")
    received = {folder: read_package(Path(folder)) for folder in folders}
    submissions = {folder: Submission(found.files) for folder, found in received.items()}
    results = judge_folders(submissions, sandbox)
    if target:
        table = {name: as_json(found) for name, found in results.items()}
        target.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, found in results.items():
        console.print(verdict_table(name, found))
        for remark in received[name].remarks:
            show(f"  {remark}")
