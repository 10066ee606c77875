"""Reads and sets the parameters of a learner's module."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .arrays import pack, revive

MAX_NAMED = 8  # parameters in a message
ROUNDING = 1e-6  # of a largest gradient in float32
BUILT = ":built"  # what a step builds, among the modules of its arguments


class StateMismatch(Exception):
    """A learner's module has not the parameters that the check gives it."""


def made_with_shapes(make: Callable[[], Any], sizes: Iterable[Any]) -> Any:
    """What `make` builds; where that has lazy layers (nn.LazyLinear), they have seen an input and so have shapes.

    sizes: that it is built with, among them the width of its input
    """
    built = make()
    if not _has_lazy(built):
        return built
    import torch

    for inputs in _possible_inputs(sizes):
        with contextlib.suppress(Exception), torch.no_grad():  # whoever is built for another kind of input refuses it
            built.eval()(*inputs)
            built.train()
            if not _has_lazy(built):
                return built
        built = make()  # its layers may have the shapes of the input that was refused
    return built


def _has_lazy(built: Any) -> bool:
    if not hasattr(built, "state_dict"):
        return False
    from torch.nn.parameter import is_lazy

    return any(is_lazy(value) for value in (*built.parameters(), *built.buffers()))


def _possible_inputs(sizes: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """What a module of an exercise may be called with: ids, or vectors of one of the sizes, on each of several axes."""
    import torch

    ids = torch.zeros(1, 1, dtype=torch.int64)
    yield from ((ids,), (ids, ids))
    for width in dict.fromkeys(size for size in sizes if isinstance(size, int) and size > 0):
        x = torch.zeros(1, 1, width)
        yield from ((x,), (x, x), (x, x, x), (x[None],), (ids, x))


def set_state(built: Any, state: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Give a module its parameters and their dtype; returns all it has.

    Raises StateMismatch where it has not those, or where what it learns does not begin with numbers.
    """
    _require_numbers(built, state)
    values = {name: revive(tree) for name, tree in state.items()}
    if values:
        built.to(next(iter(values.values())).dtype)
    own = built.state_dict(keep_vars=True)
    for name, value in values.items():
        if name not in own:
            raise StateMismatch(missing_parameter(name, own))
        if own[name].shape != value.shape:
            raise StateMismatch(wrong_shape(name, list(value.shape), list(own[name].shape)))
        own[name].data.copy_(value)  # `data`: autograd sees nothing of it, in a learner's buffers either
    return own


def _require_numbers(built: Any, named: Iterable[str]) -> None:
    """Raise StateMismatch where a parameter is NaN or infinite: nobody could use or train the module as it is built.

    named: those that are given values; of the others, what is not learned may be infinite, as a mask is
    """
    for name, value in built.state_dict(keep_vars=True).items():
        counts = value.requires_grad or name in named
        if counts and value.is_floating_point() and not bool(value.detach().isfinite().all()):
            raise StateMismatch(f"the parameter {name} begins with NaN or infinite numbers")


def under_two_names(own: dict[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    """What an answer holds of parameters that are others under a second name, each with the first; {} without any."""
    first: dict[int, str] = {}
    doubled = {}
    for name, value in own.items():
        if value.numel() and first.setdefault(value.data_ptr(), name) != name:
            doubled[name] = first[value.data_ptr()]
    return {"lost": {BUILT: doubled}} if doubled else {}


def missing_parameter(name: str, came: Iterable[str]) -> str:
    """What a learner reads whose module lacks a parameter; came: the names that it has."""
    first = name.partition(".")[0]
    if any(str(other).startswith(f"{name}.") for other in came):
        why = f": self.{first} is a module here, with parameters of its own"
    elif any(str(other).partition(".")[0] == first for other in came):
        why = ""
    else:
        why = f": torch finds no layer or parameter in self.{first}"
    return f"the parameter {name} is missing{why}; the module has {listed(came)}"


def wrong_shape(name: str, wanted: Any, came: Any) -> str:
    """What a learner reads whose parameter has another shape."""
    return f"the parameter {name} should have shape {_shape(wanted)}, got {_shape(came)}"


def listed(names: Iterable[str]) -> str:
    """Names of parameters in a row, the first of them where they are many."""
    texts = [str(name)[:60] for name in names]
    return (", ".join(texts[:MAX_NAMED]) + (", …" if len(texts) > MAX_NAMED else "")) or "nothing"


def _shape(shape: Any) -> str:
    return str(tuple(shape))[:60] if isinstance(shape, list) else str(shape)[:60]


def parameters_of(module: Any) -> dict[str, Any]:
    """The parameters of a module by name; one that has two names comes under both."""
    return dict(module.named_parameters(remove_duplicate=False))


def shares_memory(parameter: Any, others: Iterable[Any]) -> bool:
    """Whether a parameter lies in memory of others, by whatever way it came there: torch knows of its own views."""
    begin, end = _place(parameter)
    return any(begin < last and first < end for first, last in map(_place, others))


def _place(tensor: Any) -> tuple[int, int]:
    """Where the memory that holds a tensor begins and ends."""
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def packed_state(module: Any) -> dict[str, Any]:
    """The state dict of a module as a JSON tree."""
    return {name: pack(value) for name, value in module.state_dict().items()}


def learnt(module: Any) -> list[Any]:
    """What a module learns: its parameters, but for those that are frozen; one of two names counts once."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def learnt_entries(built: Any, *outputs: Any) -> int:
    """How many numbers a module learns; with an output, those of the parameters that it depends on alone."""
    parameters = learnt(built)
    for output in outputs:
        gradients = _gradients_of(output, parameters)
        least = ROUNDING * _largest(gradients)
        pairs = zip(parameters, gradients, strict=True)
        parameters = [one for one, gradient in pairs if gradient is not None and bool((gradient.abs() > least).any())]
    return sum(parameter.numel() for parameter in parameters)


def stir(built: Any, deviation: float) -> None:
    """Add a normal number of this deviation to what a module learns; what is frozen may be positions, or a mask."""
    import torch

    source = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in learnt(built):
            parameter.add_(deviation * torch.randn(parameter.shape, generator=source).to(parameter.dtype))


def buffers_of(built: Any) -> dict[str, Any]:
    """Copies of a module's buffers by name."""
    return {name: buffer.detach().clone() for name, buffer in built.named_buffers()}


def put_back(built: Any, buffers: dict[str, Any]) -> None:
    """Give a module's buffers these numbers again."""
    for name, buffer in built.named_buffers():
        if name in buffers and buffer.shape == buffers[name].shape:
            buffer.data.copy_(buffers[name])


def reached(built: Any, output: Any) -> list[list[int]]:
    """For each parameter that is learnt its axes, its rows, and how many of these a gradient of the output reaches.

    A bias has one axis, though those of several layers be stacked, and axes of one entry do not count. Without a path
    -1; and -2 where it is of the last norm, `final_norm`, of a part. The gradient is that of a fixed sum of all
    entries, each with another weight. What is as small as a rounding of the largest gradient counts as 0: what cancels,
    as the gradient of a key's bias does, leaves other roundings on every machine.
    """
    named = {name: parameter for name, parameter in built.named_parameters() if parameter.requires_grad}
    parameters = list(named.values())
    gradients = _gradients_of(output, parameters)
    largest = _largest(gradients)

    def rows_reached(name: str, gradient: Any, rows: int) -> int:
        if gradient is None:
            return -2 if ".final_norm." in name else -1
        if not gradient.numel():
            return 0
        return int((gradient.reshape(rows, -1).abs() > ROUNDING * largest).any(dim=1).sum())

    def axes(name: str, shape: Iterable[int]) -> int:
        long = sum(length > 1 for length in shape)
        return min(long, 1) if name.endswith("bias") else long

    rows = [len(parameter) if parameter.dim() else 1 for parameter in parameters]
    return [
        [axes(name, parameter.shape), count, rows_reached(name, gradient, count)]
        for (name, parameter), count, gradient in zip(named.items(), rows, gradients, strict=True)
    ]


def _gradients_of(output: Any, parameters: list[Any]) -> list[Any]:
    """The gradients of a fixed sum of an output, each entry with another weight; None where none arrives."""
    import torch

    for parameter in parameters:
        parameter.grad = None
    if isinstance(output, torch.Tensor) and output.requires_grad:
        weights = torch.sin(torch.arange(1.0, output.numel() + 1)).reshape(output.shape)
        (output * weights).sum().backward()  # as in training: a checkpoint of the older kind knows no autograd.grad
    return [None if each.grad is None else each.grad.to_dense() for each in parameters]  # of a sparse embedding


def _largest(gradients: list[Any]) -> float:
    return max((float(each.abs().max()) for each in gradients if each is not None and each.numel()), default=0.0)
