"""Runs the visible checks on the learner's own package, with recorded answers and no solution."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .aspects import Answer
from .call_effect import MOVES, Answers, Bend, as_watched, best_name, effect, functions_that_ran
from .catalogue import Exercise, parts_of
from .catalogue.names import exercises_named
from .diagnose import Key
from .known_outcomes import States, as_not_started, as_passed
from .memory import Memory, remember
from .reach import builds_on, forbidden_call
from .recorded import is_recorded, plans_of, visible_keys
from .runner import answer_exercise, fresh_package
from .source_slips import named_from_source
from .supervision import TIME_LIMIT, LeftDebugger, OutOfTime, supervised
from .traces import describe, trace_text
from .verdict import FAILED, ExerciseResult, judge, skip_where_dependencies_fail

LEFT_BELOW = "delete it, your answer stands above"
LEFT_TO_SOME = "others get their answer before; give this one its own, and delete the line"


def package_folder() -> Path:
    """The learner's `attention` folder: here, in src, or in a folder above; FileNotFoundError where there is none."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        for place in (folder / "attention", folder / "src" / "attention"):
            if (place / "__init__.py").is_file() and folder.name != "solutions":
                return place
    spec = importlib.util.find_spec("attention")
    if spec and spec.origin:
        return Path(spec.origin).parent
    raise FileNotFoundError(
        f"no folder `attention` with your modules in {here} or above it; change to its folder first"
    )


def available(chosen: Iterable[Exercise]) -> list[Exercise]:
    """Those whose recorded answers are here: a released bundle holds its own and earlier problem sets."""
    return [exercise for exercise in chosen if is_recorded(exercise)]


class Learner:
    """The learner's package, freshly imported; each exercise is judged at most once.

    recalls: True for an overview: what has passed, and is as it was then, is not run again, nor is a module run that
        is as it was handed out
    """

    def __init__(self, recalls: bool = False) -> None:
        self.folder = package_folder()
        self._recalls = recalls
        self._passed = Memory(self.folder.parent).passed if recalls else {}
        self._known = States(self.folder)
        self._states: dict[str, str] = {}
        self._results: dict[str, ExerciseResult] = {}
        self._told: dict[str, ExerciseResult] = {}  # those that somebody asked for

    @contextlib.contextmanager
    def imported(self) -> Iterator[Learner]:
        """Within it the package is imported anew, so that an edited file counts at once."""
        with fresh_package(str(self.folder.parent)), _one_thread():
            yield self
        remember(self.folder.parent, self._told.values(), self._states)

    def result(self, exercise: Exercise) -> ExerciseResult:
        """The verdicts of one exercise; failures that come from another exercise are marked as skipped."""
        told = self._own_result(exercise)
        if not told.passed:
            told = skip_where_dependencies_fail([told], self._passes, self._builds_on)[0]
        self._told[exercise.number] = told
        return told

    def _builds_on(self, exercise: Exercise, other: str) -> bool:
        return builds_on(self._source(exercise.module), exercise.symbol, other.rpartition(".")[2])

    def _passes(self, exercise_id: str) -> bool:
        # The earliest part counts: what is taught later is nothing to build on.
        return self._own_result(parts_of(exercise_id)[0]).passed

    def _own_result(self, exercise: Exercise) -> ExerciseResult:
        state = self._states[exercise.number] = self._known.of(exercise.module)
        if self._passed.get(exercise.number) == state:
            return as_passed(exercise)
        if self._recalls and self._is_as_handed_out(exercise.module):
            return as_not_started(exercise)
        if exercise.number not in self._results:
            keys = visible_keys(exercise)
            plans = plans_of(keys)
            answers: Answers = {}
            try:
                supervised(lambda: answer_exercise(exercise.id, plans, _watch(exercise), answers=answers))
            except OutOfTime as end:
                answers = _stopped(plans, str(end)) | answers
            ordered = [answers[str(place)] for place in range(len(keys))]
            forbidden = self._forbidden(exercise, plans, answers)
            result = judge(exercise, keys, ordered, forbidden)
            result = self._left_over(result, keys, ordered)
            result = named_from_source(result, self._source(exercise.module))
            self._results[exercise.number] = _with_prints(result, keys, ordered)
        return self._results[exercise.number]

    def _is_as_handed_out(self, module: str) -> bool:
        from .resetting import handed_out  # which imports this module

        return self._source(module) == handed_out(module) != ""

    def _left_over(
        self, result: ExerciseResult, keys: Sequence[Key], answers: Sequence[list[Answer]]
    ) -> ExerciseResult:
        """The verdicts, where an answer was written and the stub's last line still stands below it."""
        from .resetting import is_changed

        exercise = result.exercise
        lines: dict[str, int] = {}
        for key, given in zip(keys, answers, strict=True):
            errors = [answer["error"] for answer in given if "error" in answer]
            if line := next((one.get("line") for one in errors if one["type"] == "NotImplementedError"), None):
                lines.setdefault(key.check.name, line)
        if not lines or not is_changed(exercise, self._source(exercise.module)):
            return result
        checks = []
        for check in result.checks:
            if not result.started:
                line = lines.get(check.check) or next(iter(lines.values()))
                text = f"line {line} of {exercise.module}.py still raises NotImplementedError: {LEFT_BELOW}"
                check = replace(check, verdict=FAILED, message=text, kind="left over")
            elif check.kind == "not started" and check.check in lines:
                line = lines[check.check]
                text = f"this call comes to line {line} of {exercise.module}.py, NotImplementedError: {LEFT_TO_SOME}"
                check = replace(check, message=text, kind="left over")
            checks.append(check)
        return replace(result, checks=tuple(checks))

    def _forbidden(self, exercise: Exercise, plans: dict[str, Any], answers: Answers) -> tuple[str, int] | None:
        """The forbidden function that the answers come from, and its line, 0 where the text does not show it."""

        def ask(bends: Sequence[Bend | None]) -> list[Answers]:
            answers = []
            for bend in bends:
                with fresh_package(str(self.folder.parent)):
                    answers.append(answer_exercise(exercise.id, plans, _watch(exercise) | as_watched(bend)))
            return answers

        ran = functions_that_ran(answers.values())
        try:
            if not ran or supervised(lambda: effect(ask, answers), debugs=False) != MOVES:
                return None
        except OutOfTime:  # nobody can tell
            return None
        source = self._source(exercise.module)
        spot = forbidden_call(source, exercise.symbol, exercise.forbidden, self._source)
        return spot or (best_name(ran, exercise.forbidden), 0)

    def _source(self, module: str) -> str:
        try:
            return (self.folder / f"{module}.py").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""  # the import says what is wrong with the file


def _stopped(plans: dict[str, Any], where: str) -> Answers:
    """The answers of code that was ended at its time limit."""
    text = f"your code was ended after {TIME_LIMIT:.0f} s{where}. Does a loop never end?"
    error = {"type": "Stopped", "kinds": ["Stopped"], "text": text}
    return {key: [{"error": error} for _ in plan["calls"]] for key, plan in plans.items()}


def _with_prints(result: ExerciseResult, keys: Sequence[Key], answers: Sequence[list[Answer]]) -> ExerciseResult:
    """The verdicts, each with what the learner's code printed during the check, and how it came to an exception."""
    printed: dict[str, str] = {}
    traces: dict[str, str] = {}
    for key, given in zip(keys, answers, strict=True):
        name = key.check.name
        printed[name] = printed.get(name, "") + "".join(answer.get("printed", "") for answer in given)
        raised: dict[str, Any] = next((answer["error"] for answer in given if "error" in answer), {})
        traces[name] = traces.get(name) or trace_text(raised)
    checks, told = [], set()
    for check in result.checks:
        text, trace = printed[check.check], traces[check.check]
        places = "".join(line for line in trace.split("\n") if line[:1] != " ")
        if check.verdict == FAILED and check.kind == "raised" and places not in told:
            text += trace
            told.add(places)
        checks.append(replace(check, printed=text))
    return replace(result, checks=tuple(checks))


def _watch(exercise: Exercise) -> dict[str, Any]:
    return {"forbidden": exercise.forbidden, "importing": exercise.forbidden}


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """One torch thread: the first multi-threaded exp of a process can be off by 1e-4."""
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(threads)


class Stopped(KeyboardInterrupt):
    """A check that its user has stopped; a notebook shows one line where it was, and goes on."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Within it, Ctrl-C or a notebook's stop button ends with a line that says where the learner's code was."""
    try:
        yield
    except KeyboardInterrupt as error:
        place = describe(error)
        where = (
            f", in line {place['line']} of {Path(place['file']).name}: `{place['source']}`" if "line" in place else ""
        )
        if isinstance(error, LeftDebugger):
            text = f"you left the debugger{where}: the checks end there"
        else:
            text = f"stopped while your code ran{where}. Does a loop never end?" if where else "stopped"
        raise Stopped(text) from None


def check(exercise_id: str) -> Any:
    """Check one exercise, "masks.causal_mask", and show a verdict per check; a number, "4.2", or a module will do too.

    Returns a report that a notebook shows richly. Under nbgrader's own execution (validate) it prints the report and
    returns the points, so that nbgrader understands the cell.
    Raises KeyError, with the nearest names, for an exercise that does not exist.
    """
    from .show import Report

    chosen = available(exercises_named(exercise_id))
    with stoppable(), Learner().imported() as learner:
        report = Report([learner.result(exercise) for exercise in chosen])
    if os.environ.get("NBGRADER_EXECUTION"):
        print(report)
        last = report.results[-1]  # of an id with two parts, the one that this problem set asks for
        return float(last.exercise.max_points if last.passed else last.points)
    for exercise in {exercise.id: exercise for exercise in chosen if _is_in_notebook(exercise.symbol)}.values():
        print(f"you defined {exercise.symbol} in this notebook; the check reads attention/{exercise.module}.py")
    return report


def _is_in_notebook(symbol: str) -> bool:
    """Whether a function or class of this name was defined in the notebook, and not imported into it."""
    value = vars(sys.modules["__main__"]).get(symbol)
    return callable(value) and getattr(value, "__module__", None) == "__main__"
