"""Runs an exercise's checks in the kernel of the notebook: the grade cells of the stock course call it.

It is installed with selfcheck and the hidden checks; the keys lie beside the notebook, and no reference is needed. As
in any course whose tests run in the kernel, a submission could read all of it, and forge its score.
As a program, `checks.py FOLDER ...`, started where `keys` is, it prints the seconds of the processor that the checks of
each submission take.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

from selfcheck.catalogue.names import exercises_named
from selfcheck.diagnose import Key
from selfcheck.plan import checks_in
from selfcheck.reach import forbidden_call
from selfcheck.recorded import plans_of
from selfcheck.runner import answer_exercise, fresh_package
from selfcheck.source import text_of
from selfcheck.verdict import judge

KEYS = Path("keys")


def points(number: str, package: Path = Path("attention")) -> float:
    """The points of the package beside the notebook for an exercise, "4.2": a grade cell's last expression."""
    exercise = exercises_named(number)[0]
    keys = _keys(number)
    if exercise.module != "worked_example":
        importlib.import_module("torch").set_num_threads(1)  # a first exp by several threads may be off by 1e-4
    answers = answer_exercise(exercise.id, plans_of(keys))
    ordered = [answers[str(place)] for place in range(len(keys))]

    def source_of(module: str) -> str:
        path = package / f"{module}.py"
        return text_of(path.read_bytes()) if path.exists() else ""

    forbidden = forbidden_call(source_of(exercise.module), exercise.symbol, exercise.forbidden, source_of)
    return float(judge(exercise, keys, ordered, forbidden).points)


def _keys(number: str) -> list[Key]:
    keys = []
    for entry in json.loads((KEYS / f"{number}.json").read_text(encoding="utf-8")):
        check = next(known for known in checks_in(entry["module"]) if known.name == entry["check"])
        keys.append(Key(check, entry["calls"], entry["expected"], {}, entry["reveal"]))
    return keys


def main(folders: list[str]) -> None:
    """Print a JSON list: the seconds that the checks of each submission take, imports of libraries left out."""
    numbers = [path.stem for path in sorted(KEYS.glob("*.json"))]
    seconds = []
    for folder in [folders[0], *folders]:  # the first time, whatever is imported is imported
        begun = time.process_time()
        with fresh_package(folder):
            for number in numbers:
                points(number, Path(folder) / "attention")
        seconds.append(time.process_time() - begun)
    print(json.dumps(seconds[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
