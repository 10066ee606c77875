"""Makes the calls of a check on somebody's function, next to that somebody's code.

It knows the calls and nothing else: no expected value, no check, no catalogue. What it returns are plain JSON trees.
"""

from __future__ import annotations

import collections
import contextlib
import difflib
import importlib
import io
import linecache
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from .arrays import pack, revive

MOST_PRINTED = 2_000


class Printed(io.StringIO):
    """Collects what is printed, up to a limit."""

    def write(self, text: str) -> int:
        if self.tell() < MOST_PRINTED:
            super().write(text[: MOST_PRINTED - self.tell()])
        return len(text)


@contextlib.contextmanager
def fresh_package(folder: str, name: str = "attention") -> Iterator[None]:
    """Within it, `name` is the package in `folder`, freshly imported; afterwards the modules are as they were."""

    def belongs(module: str) -> bool:
        return module == name or module.startswith(name + ".")

    before = {module: sys.modules.pop(module) for module in list(sys.modules) if belongs(module)}
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
        for module in [module for module in sys.modules if belongs(module)]:
            del sys.modules[module]
        sys.modules.update(before)


def find(exercise: str) -> Callable:
    """The function that an id "module.symbol" names in the package `attention`; AttributeError where there is none."""
    module_name, _, symbol = exercise.partition(".")
    module: ModuleType = importlib.import_module(f"attention.{module_name}")
    if not hasattr(module, symbol):
        near = difflib.get_close_matches(symbol, [name for name in vars(module) if not name.startswith("_")], n=1)
        meant = f"; is {near[0]} meant to be it? Give it the name {symbol}" if near else ""
        raise AttributeError(f"{module_name}.py has no {symbol}{meant}")
    return getattr(module, symbol)


def answer_exercise(exercise: str, plans: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The answers to plans, {key: {"calls": [...], "gradient": bool}}; an import that fails answers them all."""
    printed = Printed()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function = find(exercise)
    except (Exception, SystemExit) as error:
        failed = {"error": describe(error) | {"importing": True}, "printed": printed.getvalue()}
        return {key: [failed for _ in plan["calls"]] for key, plan in plans.items()}
    return {key: answer(function, plan["calls"], plan.get("gradient", False)) for key, plan in plans.items()}


def answer(function: Callable, calls: list[dict[str, Any]], gradient: bool = False) -> list[dict[str, Any]]:
    """What the function answers to each call: value, gradients, changed arguments, or the error it raised."""
    return [_answer_one(function, one, gradient) for one in calls]


def _answer_one(function: Callable, one: dict[str, Any], gradient: bool) -> dict[str, Any]:
    args = [revive(tree) for tree in one["args"]]
    kwargs = {name: revive(tree) for name, tree in one["kwargs"].items()}
    named = {str(position): (tree, args[position]) for position, tree in enumerate(one["args"])}
    named |= {name: (tree, kwargs[name]) for name, tree in one["kwargs"].items()}
    floating = {name: value for name, (tree, value) in named.items() if _is_floating_tensor(tree)}
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)  # torch.manual_seed takes a millisecond more
    printed = Printed()
    found: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if gradient:
                for value in floating.values():
                    value.requires_grad_(True)
            returned = function(*args, **kwargs)
            found["value"] = pack(returned)
            if gradient:
                found["gradients"] = _gradients(returned, floating)
    except (Exception, SystemExit) as error:
        found["error"] = describe(error)
    found["changed"] = [name for name, (tree, value) in named.items() if pack(value) != tree]
    if printed.getvalue():
        found["printed"] = printed.getvalue()
    return found


def _is_floating_tensor(tree: dict[str, Any]) -> bool:
    return tree["kind"] == "tensor" and "float" in tree["dtype"]


def _gradients(returned: Any, floating: dict[str, Any]) -> dict[str, Any]:
    """The gradients of a fixed weighted sum of every floating output; None where none arrives."""
    import torch

    outputs = returned if isinstance(returned, (tuple, list)) else [returned]
    outputs = [
        out for out in outputs if isinstance(out, torch.Tensor) and out.is_floating_point() and out.requires_grad
    ]
    if not outputs:
        return {name: pack(None) for name in floating}
    total = sum((out.double() * _weights(out)).sum() for out in outputs)
    grads = torch.autograd.grad(total, list(floating.values()), allow_unused=True)
    return {name: pack(gradient) for name, gradient in zip(floating, grads, strict=True)}


def _weights(out: Any) -> Any:
    """Weights of both signs, no two neighbours alike, so that no gradient cancels by symmetry."""
    import torch

    return ((torch.arange(out.numel()) * 7 + 3) % 11 - 5).double().reshape(out.shape) / 5


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as plain text: its kinds, what it says, and where in the learner's file it arose."""
    found: dict[str, Any] = {
        "type": type(error).__name__,
        "kinds": [kind.__name__ for kind in type(error).__mro__],
        "text": str(error)[:500],
    }
    if isinstance(error, SyntaxError):
        source = (error.text or "").strip()[:200]
        return found | {"text": str(error.msg), "file": str(error.filename), "line": error.lineno, "source": source}
    lines = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _is_learners(frame)
    ]
    if not lines:
        return found
    # The innermost line, or, where calls go round in circles, the one that was passed most often.
    circular = isinstance(error, RecursionError)
    file, line = collections.Counter(lines).most_common(1)[0][0] if circular else lines[-1]
    return found | {"file": file, "line": line, "source": linecache.getline(file, line).strip()[:200]}


def _is_learners(frame: Any) -> bool:
    """Whether a frame runs in a module of the package, those given to learners (`_arguments`) left out."""
    module = frame.f_globals.get("__name__", "")
    return isinstance(module, str) and module.startswith("attention.") and not module.startswith("attention._")
