"""Keeps a learner's code to torch's dispatcher, where call_watch.py sees which function runs.

Some things of torch pass it by: its static runtime, what TorchScript makes for oneDNN or fuses, which call functions
of C++ directly, and a kernel that somebody takes from the dispatcher. No exercise needs any. Each is there for those
of torch's modules alone that call it on nobody's behalf: many others call whatever they are given.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

KERNEL = "_dispatch_get_computed_kernel_for_dispatch_key"
#: By a name below torch._C, the modules of torch that may call it.
PASSING_BY: dict[str, tuple[str, ...]] = dict.fromkeys(
    (
        "_jit_to_static_module",
        "_fuse_to_static_module",
        # TorchScript fuses nothing on a processor unless somebody switches one of these on.
        "_jit_set_llga_enabled",
        "_jit_override_can_fuse_on_cpu",
        "_jit_override_can_fuse_on_cpu_legacy",
        "_jit_set_te_must_use_llvm_cpu",
        "_jit_pass_fuse",
        "_jit_pass_fuse_tensorexprs",
        "_jit_pass_convert_frozen_ops_to_mkldnn",
        "_jit_pass_optimize_for_inference",
        "_te.TensorExprKernel",
        "_te.construct_codegen",
        "parse_ir",
        "_create_function_from_graph",
    ),
    (),
)
PASSING_BY |= {
    "_jit_get_operation": ("torch._ops",),
    "_get_operation_overload": ("torch._ops", "torch._library.effects"),
    KERNEL: ("torch._library.custom_ops",),
}
#: What people reach by functions of these modules does nothing instead: its results are the same.
DOES_NOTHING = ("torch.jit._fuser", "torch.jit._freeze")
#: Methods, and what takes a kernel by its key; likewise.
OF_AN_OPERATOR: dict[str, tuple[str, ...]] = {
    "decompose": (),
    "redispatch": ("torch._library.autograd", "torch._library.custom_ops"),
    "_op_dk": (
        "torch._ops",
        "torch._dispatch.python",
        "torch._export.utils",
        "torch._subclasses.functional_tensor",
        "torch.nested._internal.nested_tensor",
    ),
}
#: Operators that are watched: none of torch's modules takes them apart, and each runs them instead.
WHOLE: set[str] = set()
_taken: dict[str, Callable[..., Any]] = {}


def keep_to_the_dispatcher() -> Callable[[], None]:
    """From now on what passes it by raises RuntimeError, but to those modules; what is returned undoes that."""
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
    return (module_of(frame) or "").startswith("torch.")


def module_of(frame: FrameType) -> str | None:
    """The name of the imported module that a frame is of: what calls itself so may be another's."""
    name = frame.f_globals.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return name if module is not None and getattr(module, "__dict__", None) is frame.f_globals else None


def _for_torch_alone(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def refused(*args: Any, **kwargs: Any) -> Any:
        caller = module_of(sys._getframe(1))
        if caller in PASSING_BY[name]:
            return function(*args, **kwargs)
        if caller in DOES_NOTHING:
            return None
        raise _refusal(f"torch._C.{name}")

    return refused


class _AttributeForTorchAlone:
    """A method, or an attribute that each object has of its own, that only some of torch's modules can read."""

    def __init__(self, name: str, method: Callable[..., Any] | None) -> None:
        self._name, self._method = name, method

    def __get__(self, operator: Any, kind: type) -> Any:
        frame = sys._getframe(1)
        takes_apart = self._name == "decompose" and is_of_torch(frame)
        if not takes_apart and module_of(frame) not in OF_AN_OPERATOR[self._name]:
            raise _refusal(self._name)
        if takes_apart and operator is not None and operator._name in WHOLE:
            return _has_no_parts
        if operator is None or self._method is not None:
            return self._method.__get__(operator, kind) if self._method else self
        return vars(operator)[self._name]

    def __set__(self, operator: Any, value: Any) -> None:
        vars(operator)[self._name] = value


def _has_no_parts(*args: Any, **kwargs: Any) -> Any:
    """What an operator says that cannot be taken apart; whoever wants its parts then runs it whole."""
    return NotImplemented


def _refusal(name: str) -> RuntimeError:
    return RuntimeError(f"{name} is not there while an answer is judged")
