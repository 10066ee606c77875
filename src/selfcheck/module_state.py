"""Reads and sets the parameters of a learner's module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .arrays import pack, revive

MAX_NAMED = 8  # parameters in a message
ROUNDING = 1e-6  # of a largest gradient in float32
BUILT = ":built"  # what a step builds, among the modules of its arguments


class StateMismatch(Exception):
    """A learner's module has not the parameters that the check gives it."""


def set_state(built: Any, state: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Give a module its parameters and their dtype; returns all it has, but for lazy ones that are not given.

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
        if is_lazy(own[name]):
            own[name].materialize(value.shape)  # as load_state_dict does
        if own[name].shape != value.shape:
            raise StateMismatch(wrong_shape(name, list(value.shape), list(own[name].shape)))
        own[name].data.copy_(value)  # `data`: autograd sees nothing of it, in a learner's buffers either
    return {name: value for name, value in own.items() if not is_lazy(value)}


def is_lazy(value: Any) -> bool:
    """Whether a parameter gets its shape from the first call alone, as that of nn.LazyLinear."""
    import torch

    return torch.nn.parameter.is_lazy(value)


def require_shapes(built: Any) -> None:
    """Raise StateMismatch where a parameter of a module has no shape yet."""
    for name, value in built.state_dict(keep_vars=True).items():
        if is_lazy(value):
            raise StateMismatch(
                f"the parameter {name} has no shape before the first call: give its layer all sizes in __init__, as "
                "nn.Linear takes them"
            )


def _require_numbers(built: Any, named: Iterable[str]) -> None:
    """Raise StateMismatch where a parameter is NaN or infinite: nobody could use or train the module as it is built.

    named: those that are given values; of the others, what is not learned may be infinite, as a mask is
    """
    for name, value in built.state_dict(keep_vars=True).items():
        counts = (value.requires_grad or name in named) and not is_lazy(value)
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


def packed_state(module: Any) -> dict[str, Any]:
    """The state dict of a module as a JSON tree."""
    return {name: pack(value) for name, value in module.state_dict().items()}


def learnt(module: Any) -> list[Any]:
    """What a module learns: its parameters, but for those that are frozen; one of two names counts once."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def stir(built: Any, deviation: float) -> None:
    """Add a normal number of this deviation to all parameters of a module."""
    import torch

    source = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.add_(deviation * torch.randn(parameter.shape, generator=source).to(parameter.dtype))


def reached(built: Any, output: Any) -> list[list[int]]:
    """For each parameter that is learnt its axes, its rows, and how many of these a gradient of the output reaches.

    Without a path -1; and -2 where it is of the last norm, `final_norm`, of a part. The gradient is that of a fixed sum
    of all entries, each with another weight. What is as small as a rounding of the largest gradient counts as 0: what
    cancels, as the gradient of a key's bias does, leaves other roundings on every machine.
    """
    import torch

    named = {name: parameter for name, parameter in built.named_parameters() if parameter.requires_grad}
    parameters = list(named.values())
    gradients: Sequence[Any] = [None] * len(parameters)
    if isinstance(output, torch.Tensor) and output.requires_grad:
        weights = torch.sin(torch.arange(1.0, output.numel() + 1)).reshape(output.shape)
        gradients = torch.autograd.grad((output * weights).sum(), parameters, allow_unused=True)

    largest = max(
        (float(gradient.abs().max()) for gradient in gradients if gradient is not None and gradient.numel()),
        default=0.0,
    )

    def rows_reached(name: str, gradient: Any, rows: int) -> int:
        if gradient is None:
            return -2 if ".final_norm." in name else -1
        if not gradient.numel():
            return 0
        return int((gradient.reshape(rows, -1).abs() > ROUNDING * largest).any(dim=1).sum())

    rows = [len(parameter) if parameter.dim() else 1 for parameter in parameters]
    return [
        [parameter.dim(), count, rows_reached(name, gradient, count)]
        for (name, parameter), count, gradient in zip(named.items(), rows, gradients, strict=True)
    ]
