"""Emulates a second device, so that a machine with a CPU alone shows whose code works on one device only.

It is asked about one thing: whether a function makes its tensors where its arguments lie. What it cannot emulate raises
errors of its own, which tell nothing of a learner's code: they are dropped. What a `raise` or `assert` of the learner's
code refuses there, and on the CPU not, counts.
"""

from __future__ import annotations

import contextlib
import dis
import functools
from collections.abc import Callable
from typing import Any

from .dispatch import dispatch_mode

MIXED = "Expected all tensors to be on the same device, but the arguments lie on another device than the CPU, and "

OTHERWISE = "The answer is {} of shape {}; with the tensors on another device than the CPU, it is {} of shape {}"
REFUSED = "With its tensors on another device than the CPU, the function raises {}"

#: The second device as torch has it, which it knows wherever it runs, and as a learner's code sees it: that of meta
#: tensors, which torch itself has no numbers of, may be refused.
WITHIN, SEEN = "meta", "xla"
COPIES = ("_to_copy", "copy_")  # operations that join devices
LIBRARIES = ("torch", "numpy")
POSITIONS = ("index", "index_put", "index_put_", "_index_put_impl_")


class OnTheCpu(Exception):
    """Somebody's code joins a tensor on the CPU with one on the second device."""


def ask(symbol: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
    """Call a function with its tensors on a second device.

    Raises RuntimeError where it mixes both devices, answers on the CPU or otherwise than there, or refuses the second.
    """
    import torch

    kind, modes = _device()
    with modes():
        answer, error = _asked(symbol, args, kwargs, kind)
    if isinstance(error, OnTheCpu):
        raise RuntimeError(str(error)).with_traceback(error.__traceback__)
    if error and _is_raised_by_statement(error):
        if _asked(symbol, args, kwargs, lambda tensor: tensor.as_subclass(_another_class()))[1]:
            return  # it refuses the class, not the device
        raise RuntimeError(REFUSED.format(type(error).__name__)).with_traceback(error.__traceback__)
    if type(answer) is torch.Tensor and answer.device.type == "cpu":
        raise RuntimeError(MIXED + "the answer lies on the CPU")
    due, refused = _asked(symbol, args, kwargs, lambda tensor: tensor)
    if error or refused or not isinstance(due, torch.Tensor):
        return
    if _form(answer) != _form(due):  # its numbers may be others: those of positions in a list are lost there
        raise RuntimeError(OTHERWISE.format(*_form(due), *_form(answer)))


def _form(answer: Any) -> tuple[str, str]:
    """What an answer is, and of which shape."""
    kind = str(getattr(answer, "dtype", type(answer).__name__)).removeprefix("torch.")
    return kind, str(tuple(getattr(answer, "shape", ())))


def _asked(
    symbol: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], kind: Callable[[Any], Any]
) -> tuple[Any, Exception | None]:
    """What a function answers to copies of its tensors that are of a kind, and what it raises."""
    import torch

    def moved(value: Any) -> Any:
        return kind(value.clone()) if isinstance(value, torch.Tensor) else value

    try:
        return symbol(*map(moved, args), **{name: moved(argument) for name, argument in kwargs.items()}), None
    except Exception as error:
        return None, error


@functools.cache
def _another_class() -> Any:
    """A class of tensors on the CPU that is not torch.Tensor itself, as that on the second device is not."""
    import torch

    class OfAnotherClass(torch.Tensor):
        pass

    return OfAnotherClass


def _is_raised_by_statement(error: Exception) -> bool:
    """Whether a `raise` or `assert` raised an exception, and no function of C, and none of a library."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if trace is None or str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] in LIBRARIES:
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


@functools.cache
def _device() -> tuple[Any, Any]:
    """The class of the tensors on the second device, and what lets functions make such tensors.

    Their numbers are held on the CPU.
    """
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._pytree import tree_leaves, tree_map

    class Elsewhere(torch.Tensor):
        held: torch.Tensor
        device, is_meta = torch.device(SEEN), False
        __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

        @staticmethod
        def __new__(cls: Any, held: Any) -> Any:
            about = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
            made = torch.Tensor._make_wrapper_subclass(cls, held.shape, **about, device=torch.device(WITHIN))
            made.held = held
            return made

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
            return carried_out(function, args, kwargs or {})

        def tolist(self) -> Any:
            return self.held.tolist()

        def numpy(self, *, force: bool = False) -> Any:
            if not force:
                raise OnTheCpu(MIXED + "NumPy reads what lies on the CPU")
            return self.held.numpy()

        def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
            return repr(self.held)

    def is_held(value: Any) -> bool:
        return isinstance(value, Elsewhere)

    def held(value: Any) -> Any:
        return value.held if is_held(value) else value

    def is_there(device: Any) -> bool:
        return device is not None and torch.device(device).type == WITHIN

    def carried_out(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        there = any(map(is_held, tensors))
        operation = function._schema.name.removeprefix("aten::")
        joined = tensors
        if operation in POSITIONS and is_held(args[0]):  # positions may lie on the CPU
            joined = [leaf for leaf in tree_leaves((args[2:], kwargs)) if isinstance(leaf, torch.Tensor)]
        if there and operation not in COPIES and not all(leaf.dim() == 0 or is_held(leaf) for leaf in joined):
            raise OnTheCpu(MIXED + "a tensor was made on the CPU")
        if kwargs.get("device") is not None:
            there, kwargs = is_there(kwargs["device"]), {**kwargs, "device": torch.device("cpu")}
        made = function(*tree_map(held, args), **tree_map(held, kwargs))
        if operation.endswith("_") or "out" in kwargs:
            return kwargs.get("out", args[0])
        return tree_map(lambda leaf: Elsewhere(leaf) if there and isinstance(leaf, torch.Tensor) else leaf, made)

    class Made(dispatch_mode()):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return carried_out(function, args, kwargs or {})

    def within(value: Any) -> Any:
        named = isinstance(value, (str, torch.device)) and str(value).partition(":")[0] == SEEN
        return torch.device(WITHIN) if named else value

    class Named(TorchFunctionMode):  # of lists torch makes a tensor without numbers there
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            args, kwargs = tree_map(within, (args, kwargs or {}))
            if function in (torch.tensor, torch.as_tensor, torch.asarray) and is_there(kwargs.get("device")):
                return Elsewhere(function(*args, **{**kwargs, "device": "cpu"}))
            if function is torch.Tensor.new_tensor and is_held(args[0]):
                return Elsewhere(args[0].held.new_tensor(*args[1:], **kwargs))
            return function(*args, **kwargs)

    @contextlib.contextmanager
    def modes() -> Any:
        with Made(), Named():
            yield

    return Elsewhere, modes
