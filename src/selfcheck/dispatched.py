"""Keeps a learner's code to torch's dispatcher, where call_watch.py sees which function runs.

Four things of torch pass it by: its static runtime and what TorchScript makes for oneDNN, which call functions of C++
directly, what TorchScript fuses, and a kernel that somebody takes from the dispatcher. No exercise needs any.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

KERNEL = "_dispatch_get_computed_kernel_for_dispatch_key"
PASSING_BY: tuple[str, ...] = (
    "_jit_to_static_module",
    "_fuse_to_static_module",
    "_jit_set_llga_enabled",
    "_jit_get_operation",
)
#: TorchScript fuses nothing on a processor unless somebody switches one of these on.
PASSING_BY += ("_jit_override_can_fuse_on_cpu", "_jit_override_can_fuse_on_cpu_legacy", "_jit_set_te_must_use_llvm_cpu")
PASSING_BY += ("_jit_pass_fuse", "_jit_pass_fuse_tensorexprs", "_te.TensorExprKernel")
PASSING_BY += ("_get_operation_overload", "parse_ir", "_create_function_from_graph", KERNEL)
OF_AN_OPERATOR = ("decompose", "redispatch", "_op_dk")  # methods, and what takes a kernel by its key
PUBLIC = ("torch.library", "torch.testing", "torch.jit")  # modules that anybody may call
_taken: dict[str, Callable[..., Any]] = {}


def keep_to_the_dispatcher() -> Callable[[], None]:
    """From now on what passes it by raises RuntimeError, but to torch's own modules; what is returned undoes that."""
    torch: Any = sys.modules.get("torch")
    if torch is None or _taken:
        return lambda: None
    for name in PASSING_BY:
        holder, word = _place_of(name)
        if hasattr(holder, word):
            _taken[name] = getattr(holder, word)
            setattr(holder, word, _for_torch_alone(name, _taken[name]))
    kind = torch._ops.OpOverload
    before = {name: vars(kind).get(name) for name in OF_AN_OPERATOR}
    for name in OF_AN_OPERATOR:
        setattr(kind, name, _AttributeForTorchAlone(name, before[name]))

    def undo() -> None:
        for name in list(_taken):
            setattr(*_place_of(name), _taken.pop(name))
        for name, method in before.items():
            if method is None:
                delattr(kind, name)
            else:
                setattr(kind, name, method)

    return undo


def _place_of(name: str) -> tuple[Any, str]:
    """What holds a name below torch._C, and the last word of that name."""
    import torch

    folder, _, word = name.rpartition(".")
    return (getattr(torch._C, folder, None) if folder else torch._C), word


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
        _refuse_learners(f"torch._C.{name}", sys._getframe(1))
        return function(*args, **kwargs)

    return refused


class _AttributeForTorchAlone:
    """A method, or an attribute that each object has of its own, that only torch's own modules can read."""

    def __init__(self, name: str, method: Callable[..., Any] | None) -> None:
        self._name, self._method = name, method

    def __get__(self, operator: Any, kind: type) -> Any:
        _refuse_learners(self._name, sys._getframe(1))
        if operator is None or self._method is not None:
            return self._method.__get__(operator, kind) if self._method else self
        return vars(operator)[self._name]

    def __set__(self, operator: Any, value: Any) -> None:
        vars(operator)[self._name] = value


def _refuse_learners(name: str, frame: FrameType | None) -> None:
    """RuntimeError where the code that asks is none of torch's own."""
    while frame is not None and frame.f_globals.get("__name__") in PUBLIC:
        frame = frame.f_back
    if frame is None or not is_of_torch(frame):
        raise RuntimeError(f"{name} is not there while an answer is judged")
