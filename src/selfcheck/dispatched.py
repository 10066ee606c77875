"""Keeps a learner's code to torch's dispatcher, where call_watch.py sees which function runs.

Two things of torch pass it by: its static runtime, which calls functions of C++ directly, and a kernel that somebody
has taken from the dispatcher before it was watched. No exercise needs either.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

KERNEL = "_dispatch_get_computed_kernel_for_dispatch_key"
PASSING_BY = ("_jit_to_static_module", "_fuse_to_static_module", KERNEL)
_taken: dict[str, Callable[..., Any]] = {}


def keep_to_the_dispatcher() -> Callable[[], None]:
    """From now on what passes it by raises RuntimeError, but to torch's own modules; what is returned undoes that."""
    torch: Any = sys.modules.get("torch")
    if torch is None or _taken:
        return lambda: None
    for name in PASSING_BY:
        if hasattr(torch._C, name):
            _taken[name] = getattr(torch._C, name)
            setattr(torch._C, name, _for_torch_alone(name, _taken[name]))

    def undo() -> None:
        for name in list(_taken):
            setattr(torch._C, name, _taken.pop(name))

    return undo


def kernel_of(operator: str, key: Any) -> Any:
    """The kernel that the dispatcher has for an operator, whoever asks."""
    import torch

    return (_taken.get(KERNEL) or getattr(torch._C, KERNEL))(operator, key)


def is_of_torch(frame: FrameType) -> bool:
    """Whether a frame is one of torch's own modules."""
    return str(frame.f_globals.get("__name__")).startswith("torch.")


def _for_torch_alone(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def refused(*args: Any, **kwargs: Any) -> Any:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in ("torch.library", "torch.testing"):
            frame = frame.f_back  # what anybody may call
        if frame is not None and is_of_torch(frame):
            return function(*args, **kwargs)
        raise RuntimeError(f"torch._C.{name} is not there while an answer is judged")

    return refused
