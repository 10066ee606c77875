"""Tells what exec(…) has run, so that a library's file that is run once more is known for it.

A reload, a loader of importlib, runpy, torch.package and a rewriter of torch.fx or Triton all call exec, or eval with
code that is compiled.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

EXEC, EVAL = RUN = builtins.exec, builtins.eval  # of which nobody is told
Look = Callable[[str, Any, bool], None]
_told: list[Look] = []


@contextlib.contextmanager
def telling(look: Look) -> Iterator[None]:
    """Within it, `look` is told of each text or code that was run, whether it ended or raised.

    look: is given its file, "" for a text; the names that stand where it ran; whether it was an import
    """
    _told.append(look)
    if len(_told) == 1:
        builtins.exec, builtins.eval = map(_telling, RUN)
    try:
        yield
    finally:
        _told.remove(look)
        if not _told:
            builtins.exec, builtins.eval = RUN


def _names_of(frame: FrameType) -> Any:
    """The names where a frame is; of a function from Python 3.13 on a copy, as exec takes, since they write through."""
    names = frame.f_locals
    return dict(names) if type(names).__name__ == "FrameLocalsProxy" else names


def _telling(run: Callable[..., Any]) -> Callable[..., Any]:
    def runs(source: Any, globals: Any = None, locals: Any = None, /, **closure: Any) -> Any:
        caller = sys._getframe(1)
        if globals is None:
            globals, locals = caller.f_globals, _names_of(caller) if locals is None else locals
        try:
            return run(source, globals, locals, **closure)
        finally:
            if run.__name__ == "exec" or type(source) is CodeType:
                file = source.co_filename if type(source) is CodeType else ""
                is_import = caller.f_globals.get("__name__") == "importlib._bootstrap"
                for look in list(_told):
                    look(file, globals if locals is None else locals, is_import)

    runs.__name__ = runs.__qualname__ = run.__name__
    return runs
