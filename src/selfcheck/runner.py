"""Has somebody's package answer the plans of an exercise, next to that somebody's code.

It knows the plans and nothing else: no expected value, no check, no catalogue. What it returns are plain JSON trees.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from .call_watch import BEFORE, watching
from .leftovers import Leftovers
from .named_functions import is_named
from .printed import Printed, quiet
from .same_branches import RECORD, Branches, taking
from .steps import Tell, carry_out
from .traces import describe

_RAN_AT_IMPORT: dict[str, None] = {}  # what was watched and ran while some module of the package was imported


@contextlib.contextmanager
def fresh_package(folder: str, name: str = "attention") -> Iterator[None]:
    """Within it, `name` is the package in `folder`, freshly imported; afterwards the modules are as they were."""
    before = _forget(name)
    _RAN_AT_IMPORT.clear()
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    linecache.checkcache()
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
        _forget(name)
        sys.modules.update(before)


def _forget(package: str = "attention") -> dict[str, ModuleType]:
    """Take the modules of a package from those that are imported."""
    names = [name for name in sys.modules if name.partition(".")[0] == package]
    return {name: sys.modules.pop(name) for name in names}


def hand_over(text: str) -> None:
    """Have `handed.py` importable, whose text comes with an exercise: no file of a sandbox holds it."""
    name = f"{__package__}.handed"
    module = sys.modules[name] = ModuleType(name)
    vars(module)["__package__"] = __package__
    exec(compile(text, f"{__package__}/handed.py", "exec"), vars(module))


def find(exercise: str) -> Callable[..., Any]:
    """The function or class that an id "module.symbol" names in `attention`; AttributeError where there is none."""
    module_name, _, symbol = exercise.partition(".")
    module: ModuleType = importlib.import_module(f"attention.{module_name}")
    if not hasattr(module, symbol):
        near = difflib.get_close_matches(symbol, [name for name in vars(module) if not name.startswith("_")], n=1)
        meant = f"; is {near[0]} meant to be it?" if near else ""
        raise AttributeError(f"{module_name}.py has no {symbol}{meant}")
    return getattr(module, symbol)


def answer_exercise(
    exercise: str,
    plans: dict[str, dict[str, Any]],
    watch: dict[str, Any] | None = None,
    memory: Any = None,
    ran_before: Iterable[str] = (),
    answers: dict[str, list[dict[str, Any]]] | None = None,
    branches: Branches | None = None,
    tell: Tell | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The answers to plans, {key: {"calls": [...], "gradient": bool}}; an import that fails answers them all.

    watch: {"forbidden": patterns, "importing": the patterns of the whole package, "bend": see `call_watch.watching`,
        "branches": the record of those that it took, or RECORD, which is then in the first answer that is one,
        "forced": of the recorded ones those that the code is to take (see same_branches.py)};
        of the forbidden functions, those that ran are named in every answer, under "ran"
    memory: of the grader's own, for the arguments that a step has there (see held.py)
    ran_before: what was watched and has run in this process; where it is forbidden here, BEFORE is named too
    answers: where they are put as they come, for whoever may end this halfway
    tell: see `steps.carry_out`
    """
    answers = {} if answers is None else answers
    watch = watch or {}
    if watch.get("branches") and branches is None:
        return _taking_branches(exercise, plans, watch, memory, tell)
    printed, bend = Printed(), watch.get("bend")
    is_imported = f"attention.{exercise.partition('.')[0]}" in sys.modules
    try:
        with quiet(printed), watching(() if is_imported else watch.get("importing", ()), bend) as at_import:
            symbol = find(exercise)
    except (Exception, SystemExit) as error:
        failed = {"error": (tell or describe)(error) | {"importing": True}, "printed": printed.getvalue()}
        answers.update({key: [failed for _ in plan["calls"]] for key, plan in plans.items()})
        return answers
    _RAN_AT_IMPORT.update(dict.fromkeys(at_import.names()))
    leftovers = Leftovers(sys.modules.get(f"attention.{exercise.partition('.')[0]}"))
    with watching(watch.get("forbidden", ()), bend) as noticed:
        for key, plan in plans.items():
            answers[key] = answer(symbol, plan["calls"], plan.get("gradient", False), True, memory, branches, tell)
        _tell_leftovers(symbol, plans, answers, leftovers, memory)
    first = next((given[0] for given in answers.values() if given), {})
    if printed.getvalue():  # by the module itself, while it was imported
        first["printed"] = printed.getvalue() + first.get("printed", "")
    ran = list(dict.fromkeys([*noticed.names(), *_RAN_AT_IMPORT])) if watch.get("forbidden") else []
    if any(is_named(name, watch.get("forbidden", ())) for name in ran_before):
        ran.append(BEFORE)
    for answered in (answer for to_plan in answers.values() for answer in to_plan if ran):
        answered["ran"] = ran
    return answers


def _taking_branches(
    exercise: str, plans: dict[str, dict[str, Any]], watch: dict[str, Any], memory: Any, tell: Tell | None
) -> dict[str, list[dict[str, Any]]]:
    _forget()
    branches = Branches(watch["branches"], watch.get("forced", ()))
    with taking(branches, "attention"):
        answers = answer_exercise(exercise, plans, watch, memory, branches=branches, tell=tell)
    first = next((one for to_plan in answers.values() for one in to_plan if "value" in one), {})
    if watch["branches"] == RECORD:
        first["branches"] = branches.record.text()
    return answers


def _tell_leftovers(
    symbol: Callable[..., Any],
    plans: dict[str, dict[str, Any]],
    answers: dict[str, list[dict[str, Any]]],
    leftovers: Leftovers,
    memory: Any,
) -> None:
    """Name in an answer, under "leftover", what earlier calls left in the module, where another comes without it."""
    names = leftovers.left()
    if not names:
        return
    for key, plan in plans.items():
        for step, answered in zip(plan["calls"], answers[key], strict=True):
            if step.get("lessons") or "value" not in answered:  # training takes the time of all else
                continue
            leftovers.put_back()
            afresh = carry_out(symbol, step, plan.get("gradient", False), memory=memory)
            if afresh.get("value") != answered["value"]:
                answered["leftover"] = names


def answer(
    symbol: Callable[..., Any],
    calls: list[dict[str, Any]],
    gradient: bool = False,
    contained: bool = True,
    memory: Any = None,
    branches: Branches | None = None,
    tell: Tell | None = None,
) -> list[dict[str, Any]]:
    """What the function or class answers to each step: value, gradients, changed arguments, or the error it raised.

    contained, memory, tell: see `steps.carry_out`; False for trusted code in a program that goes on printing meanwhile
    branches: that are taken meanwhile: an answer then has, under "guard", the last that was taken otherwise than before
    """
    answers = []
    for step in calls:
        if branches:
            branches.begin_call()
        answers.append(carry_out(symbol, step, gradient, contained, memory, tell))
        if branches:
            answers[-1]["guard"] = branches.guard()
    return answers
