"""Checks the exercises of the page: the learner's texts become a package, which `selfcheck` judges as elsewhere."""

from __future__ import annotations

import ast
import json
import linecache
import re
import sys
import types
from pathlib import Path
from typing import Any

COURSE = Path("/course")
PACKAGE = COURSE / "attention"
#: What Python 3.14 says otherwise. It no longer tells numbers with a point from whole ones, which nobody divides here.
WORDS = (
    ("ZeroDivisionError", re.compile("division by zero$"), "float division by zero"),
    ("ValueError", re.compile("expected a .*(input|number), got "), "math domain error"),
    ("ValueError", re.compile("expected a .*input$"), "math domain error"),
)
LIMIT = 10.0  # seconds that a check may take before the page stops it


def prepare() -> None:
    """Make `selfcheck` importable where no thread can be started: the page's own clock ends what takes too long."""
    supervision: Any = types.ModuleType("selfcheck.supervision")
    supervision.TIME_LIMIT, supervision.OutOfTime, supervision.LeftDebugger = LIMIT, _OutOfTime, _LeftDebugger
    supervision.supervised = lambda run: run()
    sys.modules["selfcheck.supervision"] = supervision
    sys.path.insert(0, str(COURSE))
    sys.meta_path.append(NotHere)  # type: ignore[arg-type]
    from selfcheck import runner, steps

    runner.describe = steps.describe = as_before(steps.describe)


def as_before(describe: Any) -> Any:
    """A description of exceptions in the words of Python 3.11 to 3.13, in which mistakes are on record."""

    def described(error: BaseException) -> dict[str, Any]:
        found = describe(error)
        for kind, pattern, words in WORDS:
            if found["type"] == kind and pattern.match(found["text"]):
                return found | {"text": words}
        return found

    return described


class NotHere:
    """Refuses, by name, the libraries that the course uses elsewhere: `import torch` says what the page has instead."""

    NAMES = ("torch", "scipy", "pandas", "jax", "tensorflow", "keras", "matplotlib", "sklearn", "numba")

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> None:
        if name in cls.NAMES:
            raise ImportError(
                f"{name} is not in the page, which has Python's own library and a small stand-in for NumPy; write it "
                "with these, or take the exercise to Colab or to your own machine",
                name=name,
            )


class _LeftDebugger(KeyboardInterrupt):
    """Is not raised: a page has no debugger."""


class _OutOfTime(BaseException):
    """Never raised here."""


def warm_up() -> None:
    """Import what a check imports, and check a stub once."""
    import numpy  # noqa: F401

    from selfcheck.catalogue import exercises
    from selfcheck.recorded import is_recorded

    first = next(exercise for exercise in exercises() if is_recorded(exercise))
    check(json.dumps({"number": first.number, "answers": {}}))


def check(request: str) -> str:
    """The verdicts of one exercise.

    request: JSON, {"number": "2.3", "answers": {"2.1": text, …}}: what stands in the editors
    Returns JSON; see `_told`.
    """
    from selfcheck.catalogue import exercises
    from selfcheck.learner import Learner, Stopped, stoppable
    from selfcheck.memory import Memory

    asked = json.loads(request)
    exercise = next(one for one in exercises() if one.number == asked["number"])
    begins, left_out = write_module(exercise.module, asked["answers"], exercise.number)
    Memory(COURSE).path.unlink(missing_ok=True)
    try:
        with stoppable(), Learner().imported() as learner:
            result = learner.result(exercise)
    except Stopped as stopped:
        return json.dumps({"state": "stopped", "text": str(stopped)})
    return json.dumps(_told(result) | {"left_out": left_out, "begins": begins})


def _told(result: Any) -> dict[str, Any]:
    """What the page shows of an exercise's verdicts.

    state: "passed", "failed", "error" (the module cannot be imported, or the code raised), "idle" (not started)
    """
    from selfcheck.show import Report

    report = Report([result])
    checks = [
        {"sees": one.sees, "verdict": one.verdict, "message": one.message, "remedy": one.remedy}
        for one in result.checks
    ]
    failed = [one for one in result.checks if one.verdict == "failed"]
    state = "passed" if result.passed else "failed"
    if failed and all(one.kind in ("import", "raised", "missing") for one in failed):
        state = "error"
    if not result.started:
        state = "idle"
    return {
        "state": state,
        "passed": sum(one.verdict == "passed" for one in result.checks),
        "count": len(result.checks),
        "checks": checks,
        "text": repr(report),
        "html": report._repr_html_(),
        "remedy": next((one.remedy for one in result.checks if one.remedy), ""),
        "misconceptions": result.misconceptions,
    }


def write_module(module: str, answers: dict[str, str], asked: str) -> tuple[dict[str, int], list[str]]:
    """Write attention/<module>.py: the stub, each of its functions replaced by the text of its editor.

    Returns, by exercise number, the line of the file that its text begins in, and the numbers of the exercises, other
    than the one asked for, whose text is no Python: their stub stands in.
    """
    from selfcheck.catalogue import exercises

    source = (COURSE / "selfcheck" / "stubs" / f"{module}.txt").read_text("utf-8")
    lines, places = source.splitlines(keepends=True), _places(source)
    begins, left_out, written, done = {}, [], "", 0
    for first, last, symbol in places:
        exercise = next((one for one in exercises() if one.id == f"{module}.{symbol}"), None)
        text = answers.get(exercise.number) if exercise else None
        if text is not None and exercise.number != asked and not _is_python(text):
            left_out.append(exercise.number)
            text = None
        written += "".join(lines[done:first])
        if exercise:
            begins[exercise.number] = written.count("\n") + 1
        written += "".join(lines[first:last]) if text is None else text.rstrip() + "\n"
        done = last
    (PACKAGE / f"{module}.py").write_text(written + "".join(lines[done:]), "utf-8")
    linecache.clearcache()
    return begins, left_out


def _is_python(text: str) -> bool:
    try:
        compile(text, "answer", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _places(source: str) -> list[tuple[int, int, str]]:
    """Of each function and class of a source, the line before its first, its last, and its name."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            found.append((first, node.end_lineno or node.lineno, node.name))
    return found
