# Generated from the reference. Write your answers here: `build` overwrites only a file nobody has edited. 14f57bcc43df
"""Argument checks that the torch modules share: given to learners, no part of any exercise."""

import torch
from torch import Tensor


def check_floating(**tensors: Tensor) -> None:
    """TypeError unless all are floating-point tensors of one dtype."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}; try torch.tensor({name})")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must have a floating-point dtype, got {tensor.dtype}; try {name}.float()")
    dtypes = {name: tensor.dtype for name, tensor in tensors.items()}
    if len(set(dtypes.values())) > 1:
        listed = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        raise TypeError(f"all arguments must have one dtype, got {listed}; convert them with .to(dtype)")


def check_sequence(**tensors: Tensor) -> None:
    """ValueError unless each has at least the two axes (length, features)."""
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            raise ValueError(f"{name} must be (..., length, features), got shape {tuple(tensor.shape)}; unsqueeze(0)?")


def check_same_width(query: Tensor, key: Tensor) -> None:
    """ValueError unless query and key have the same, non-empty, last dimension."""
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(
            "query and key must have the same last dimension, at least 1, "
            f"got shapes {tuple(query.shape)} and {tuple(key.shape)}"
        )


def check_batch(**tensors: Tensor) -> torch.Size:
    """The common leading dimensions `...` of (..., length, features); ValueError where they do not broadcast."""
    try:
        return torch.broadcast_shapes(*(tensor.shape[:-2] for tensor in tensors.values()))
    except RuntimeError:
        listed = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"the leading dimensions must be equal or broadcast, got {listed}") from None


def check_mask(name: str, mask: Tensor, shape: tuple[int, ...]) -> None:
    """TypeError unless mask is boolean; ValueError unless it broadcasts to shape without enlarging it."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be a boolean tensor, True = attend, got {came}; an additive mask is not one")
    try:
        fits = torch.broadcast_shapes(mask.shape, shape) == torch.Size(shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name} must broadcast to {tuple(shape)}, got {tuple(mask.shape)}; transpose it, or add axes?"
        )


def check_integers(name: str, tensor: Tensor, dimensions: int) -> None:
    """TypeError unless tensor holds integers; ValueError unless it has that many axes."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be an integer tensor, got {type(tensor).__name__}; try torch.tensor({name})")
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise TypeError(f"{name} must have an integer dtype, got {tensor.dtype}; try {name}.long()")
    if tensor.dim() != dimensions:
        raise ValueError(f"{name} must have {dimensions} axes, got shape {tuple(tensor.shape)}")


def check_length(name: str, value: int, least: int = 0) -> None:
    """TypeError unless value is an int; ValueError where it is below least."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
