"""Judges right and wrong answers to the exercises of the page; it runs in CPython with NumPy, and in the page's Python.

Standard library, `selfcheck` and `autograder.answer_key` only, whichever Python runs it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def functions(problem_set: str) -> dict[str, Any]:
    """The runnable answers to the exercises of a problem set: "2.1 wrong keys_first", "2.1 right loops"."""
    from autograder.answer_key.misconceptions import misconceptions_of
    from selfcheck.catalogue import in_problem_set
    from tests.alternatives import alternatives_of

    found = {}
    for exercise in in_problem_set(problem_set):
        for kind, some in (("wrong", misconceptions_of(exercise.id)), ("right", alternatives_of(exercise.id))):
            found |= {f"{exercise.number} {kind} {name}": (exercise, function) for name, function in some.items()}
    return found


def verdicts(problem_set: str, names: list[str]) -> dict[str, list[str]]:
    """By name of an answer, what a learner reads of it as text and as HTML, and the misconceptions that are named."""
    return {name: _verdict(*one) for name, one in functions(problem_set).items() if not names or name in names}


def _verdict(exercise: Any, function: Any) -> list[str]:
    from selfcheck.recorded import plans_of, visible_keys
    from selfcheck.runner import answer
    from selfcheck.show import Report
    from selfcheck.verdict import judge

    keys = visible_keys(exercise)
    plans = plans_of(keys)
    answers = [answer(function, plans[str(at)]["calls"], plans[str(at)]["gradient"]) for at in range(len(keys))]
    result = judge(exercise, keys, answers)
    report = Report([result])
    return [repr(report), report._repr_html_(), " ".join(result.misconceptions)]


def told(course: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the page's own check answers to whole texts; course: the folder with selfcheck and a package to write to."""
    import in_the_page

    in_the_page.COURSE, in_the_page.PACKAGE = Path(course), Path(course) / "attention"
    return [json.loads(in_the_page.check(json.dumps(one))) for one in requests]


def changed(whole: str) -> dict[str, bool]:
    """Of each file of Python's library that the page has: whether its code is another than Pyodide's own.

    whole: the path of a JSON file with Pyodide's texts by name
    """
    import zipimport

    library = next(path for path in sys.path if path.endswith(".zip"))
    here = zipimport.zipimporter(library)
    theirs = json.loads(Path(whole).read_text("utf-8"))

    def code(text: str | bytes, name: str) -> Any:  # it has the lines and columns of every instruction
        return compile(text, name, "exec", dont_inherit=True)

    return {name: code(here.get_data(f"{library}/{name}"), name) != code(text, name) for name, text in theirs.items()}


def run(asked: str) -> str:
    """asked: JSON with "problem_set", "names", "course", "requests", and in the page "whole", see `changed`"""
    given = json.loads(asked)
    found = {"verdicts": verdicts(given["problem_set"], given["names"]) if given["names"] is not None else {}}
    found["told"] = told(given["course"], given["requests"])
    found["changed"] = changed(given["whole"]) if given.get("whole") else {}
    return json.dumps(found)


if __name__ == "__main__":
    print(run(sys.stdin.read()))
