"""Checks that an argument is of the kind that is due: given to learners, no part of any exercise."""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor, nn

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")


def check_callable(name: str, value: object, form: str) -> None:
    """TypeError unless value can be called; form: from what to what, for the message."""
    if not callable(value):
        raise TypeError(f"{name} must be callable, {form}, got {type(value).__name__}")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """ValueError unless value is one of some names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def check_vectors(x: Tensor) -> None:
    """TypeError unless x is a tensor, of whatever dtype; ValueError where it has no axis."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__}; try torch.tensor(x)")
    if x.dim() == 0:
        raise ValueError("x must be (..., d_head), got a single number")


def check_attention_layers(module: nn.Module, reference: nn.MultiheadAttention) -> None:
    """TypeError unless reference is torch's layer, and module has the linear layers that its weights go to."""
    if not isinstance(reference, nn.MultiheadAttention):
        raise TypeError(f"reference must be torch's nn.MultiheadAttention, got {type(reference).__name__}")
    for name in PROJECTIONS:
        layer = getattr(module, name, None)
        if not (hasattr(layer, "weight") and hasattr(layer, "bias")):
            raise TypeError(
                f"module must have the linear layers of MultiHeadAttention, got {type(module).__name__}, "
                f"whose {name} is {layer!r}"
            )


def check_training(model: object, batch: object, optimizer: object, loss_fn: object) -> None:
    """TypeError unless these are what a step of training needs."""
    if not (callable(model) and hasattr(model, "train")):
        raise TypeError(f"model must be an nn.Module, got {type(model).__name__}")
    if not (hasattr(optimizer, "zero_grad") and hasattr(optimizer, "step")):
        raise TypeError(f"optimizer must be one of torch.optim, got {type(optimizer).__name__}; make it with the model")
    check_callable("loss_fn", loss_fn, "from the model's answer and the target to one number")
    if not isinstance(batch, (Sequence, Tensor)) or (isinstance(batch, Tensor) and batch.dim() == 0):
        raise TypeError(f"batch must be a tuple (*inputs, target), got {type(batch).__name__} {batch!r}")


def check_generator(generator: object) -> None:
    """TypeError unless generator is None or torch's."""
    if generator is not None and not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator or None, got {type(generator).__name__} {generator!r}")
