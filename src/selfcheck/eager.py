"""Has a learner's torch.compile and torch.jit.script give back what they are given, so that nothing is compiled.

Nor is the compiler imported, which takes seconds in each process, by what torch itself keeps from it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .dispatched import is_of_torch

FASTER = ("freeze", "optimize_for_inference")  # of torch.jit


def leave_uncompiled() -> Callable[[], None]:
    """From now on torch.compile gives back what it is given, but to torch's own modules; what is returned undoes that.

    The results are the same: a compiler takes seconds, and minutes on a busy machine, which no exercise has.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compile"):
        return lambda: None
    was, method = torch.compile, torch.nn.Module.compile

    def compile(model: Any = None, **settings: Any) -> Any:
        if is_of_torch(sys._getframe(1)):
            return was(model, **settings)
        return as_compiled if model is None else as_compiled(model)

    def as_compiled(model: Any) -> Any:
        if isinstance(model, torch.nn.Module) and not hasattr(model, "_orig_mod"):
            kind: Any = type(model)
            try:
                model.__class__ = _compiled(kind)
            except Exception:  # a class that has no such subclass, or instances of another layout
                vars(model)["_orig_mod"] = model
        return model

    def do_nothing(self: Any, *args: Any, **kwargs: Any) -> None:
        """Torch's own compiles the module's call."""

    def undo() -> None:
        torch.compile, torch.nn.Module.compile = was, method

    torch.compile, torch.nn.Module.compile = compile, do_nothing
    return undo


@functools.cache
def _compiled(kind: Any) -> Any:
    """The class of a "compiled" module: `_orig_mod` is what was given to torch, and has no `_orig_mod` itself."""

    class Compiled(kind):  # type: ignore[misc]
        @property
        def _orig_mod(self) -> Any:
            inner = object.__new__(kind)
            inner.__dict__ = self.__dict__  # one state for both: parameters, hooks, the mode
            return inner

        def __reduce_ex__(self, protocol: Any) -> Any:
            return _compiled_again, (kind,), vars(self)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(Compiled, name, getattr(kind, name))
    return Compiled


def _compiled_again(kind: Any) -> Any:
    return object.__new__(_compiled(kind))


def leave_compiler_out() -> None:
    """Have each function that torch keeps from its compiler run as it is.

    The first call of any, torch.manual_seed among them, would import the compiler. Only functions that
    are there by now are meant.
    """
    torch: Any = sys.modules["torch"]
    if not hasattr(torch, "_disable_dynamo"):
        return
    wrapper = torch._disable_dynamo(lambda: None).__code__
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__ is wrapper:
            kept = vars(function)["__wrapped__"]
            vars(kept).setdefault("__dynamo_disable", kept)  # where torch puts what it has the compiler make of it


@contextlib.contextmanager
def nothing_compiled() -> Iterator[None]:
    """Within it, torch.compile and torch.jit.script give back what they are given, but to torch's own modules.

    So do the functions that make scripts faster, of what is then no script.
    """
    undo = leave_uncompiled()
    torch: Any = sys.modules.get("torch")
    scripts = torch.jit._state._enabled if torch else None
    faster = {name: getattr(torch.jit, name) for name in FASTER} if torch else {}
    kind = type(scripts)

    class ForTorchAlone(kind):  # type: ignore[misc,valid-type]
        def __bool__(self) -> bool:
            frame = sys._getframe(1)
            while frame.f_back and str(frame.f_globals.get("__name__")).startswith("torch.jit"):
                frame = frame.f_back
            return bool(self.enabled and is_of_torch(frame))

    try:
        if scripts is not None:
            scripts.__class__ = ForTorchAlone
        for name, function in faster.items():
            setattr(torch.jit, name, _of_scripts_alone(function))
        yield
    finally:
        undo()
        if scripts is not None:
            scripts.__class__ = kind
        for name, function in faster.items():
            setattr(torch.jit, name, function)


def _of_scripts_alone(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a script that gives back whatever else it is given."""

    @functools.wraps(function)
    def faster(model: Any, *args: Any, **kwargs: Any) -> Any:
        import torch

        return function(model, *args, **kwargs) if isinstance(model, torch.jit.ScriptModule) else model

    return faster
