"""Packs what a check passes to a learner's code: arrays, and modules, optimizers and functions by their description."""

from __future__ import annotations

from typing import Any

from .arrays import Array, array, pack
from .objects import KINDS, LOSSES

__all__ = [
    "cache",
    "dtype",
    "generator",
    "iterator",
    "lessons",
    "linears",
    "loss",
    "made",
    "ndarray",
    "network",
    "optimizer",
    "pack_argument",
    "score",
    "tensor",
    "torch_attention",
    "triple",
    "writer",
    "writing",
]


def linears(names: tuple[str, ...], d_in: int, d_out: int, bias: bool, state: dict[str, Array]) -> dict[str, Any]:
    """A module argument that holds linear layers d_in → d_out under the names, with their parameters."""
    packed = {name: pack(value) for name, value in state.items()}
    return {
        "kind": "module",
        "type": "linears",
        "names": list(names),
        "widths": [d_in, d_out],
        "bias": bias,
        "state": packed,
    }


def torch_attention(bias: bool, state: dict[str, Array], **sizes: int) -> dict[str, Any]:
    """A module argument that is torch's nn.MultiheadAttention; sizes: embed_dim, num_heads, and kdim or vdim."""
    packed = {name: pack(value) for name, value in state.items()}
    return {"kind": "module", "type": "nn.MultiheadAttention", "sizes": sizes, "bias": bias, "state": packed}


def network(
    inputs: tuple[int, ...],
    hidden: int,
    outputs: int,
    state: dict[str, Array],
    dropout: float = 0.0,
    stale: bool = False,
    training: bool = True,
    shows_mode: bool = False,
) -> dict[str, Any]:
    """A module argument that takes as many tensors as `inputs` has widths: output(dropout(tanh(Σ inputs[i](x_i)))).

    state: inputs.0.weight (hidden, inputs[0]), inputs.0.bias, …, output.weight (outputs, hidden), output.bias
    stale: whether its parameters have gradients already, all 1; training: its mode
    shows_mode: whether its state shows the mode as well
    """
    more = {"shows_mode": True} if shows_mode else {}
    return {
        "kind": "module",
        "type": "network",
        "inputs": list(inputs),
        "hidden": hidden,
        "outputs": outputs,
        "dropout": dropout,
        "stale": stale,
        "training": training,
        "state": {name: pack(value) for name, value in state.items()},
        **more,
    }


def writer(table: Array, training: bool = True) -> dict[str, Any]:
    """A module argument that is a language model from ids (B, L) to logits (B, L, V), see `objects.module`.

    table: (V, V), its only parameter; training: its mode
    """
    return {
        "kind": "module",
        "type": "writer",
        "vocab_size": table.shape[0],
        "training": training,
        "state": {"table": pack(table)},
    }


def writing(table: Array, newest: bool = False) -> dict[str, Any]:
    """An argument that is a plain function, no module, and answers as `writer` does in evaluation.

    newest: it gives the logits of the newest token alone
    """
    return {"kind": "writing", "items": [pack(table)]} | ({"newest": True} if newest else {})


def cache(max_length: int, name: str = "") -> dict[str, Any]:
    """An argument that is a cache of keys and values; within a step, those of one name are one and the same."""
    return {"kind": "cache", "max_length": max_length, "name": name}


def made(method: str, name: str = "") -> dict[str, Any]:
    """An argument that a method of the built object makes, without arguments; of one name, it is made once."""
    return {"kind": "made", "method": method, "name": name}


def optimizer(of: str, rate: float, decay: float = 0.0) -> dict[str, Any]:
    """An argument that is torch.optim.SGD for the module argument named `of`: "0" by position, or its keyword."""
    return {"kind": "optimizer", "of": of, "rate": rate} | ({"decay": decay} if decay else {})


def loss(name: str) -> dict[str, Any]:
    """An argument that is a loss function of torch.nn.functional."""
    _require_known("loss", name, LOSSES)
    return {"kind": "loss", "name": name}


def score(name: str, *weights: Array) -> dict[str, Any]:
    """An argument that is a score function: "dot", "scaled", "bilinear" (weight), "additive" (w1, w2)."""
    _require_known("score", name, ("dot", "scaled", "bilinear", "additive"))
    return {"kind": "score", "name": name, "items": [pack(weight) for weight in weights]}


def generator(seed: int) -> dict[str, Any]:
    """An argument that is a torch.Generator with this seed."""
    return {"kind": "generator", "seed": seed}


def iterator(*items: Array) -> dict[str, Any]:
    """An argument that gives the tensors one after the other, once."""
    return {"kind": "iterator", "items": [pack(item) for item in items]}


def triple(maximum: Array, total: Array, summed: Array) -> dict[str, Any]:
    """An argument that is what attention over a part of the keys has come to: a tuple of three tensors."""
    return {"kind": "triple", "items": [pack(part) for part in (maximum, total, summed)]}


def tensor(values: Any, dtype: str | None = None) -> Array:
    """A torch tensor argument from nested lists."""
    return array(values, "tensor", dtype)


def ndarray(values: Any, dtype: str | None = None) -> Array:
    """A NumPy array argument from nested lists."""
    return array(values, "ndarray", dtype)


def dtype(name: str) -> dict[str, str]:
    """A torch dtype argument, by its name: dtype("float16")."""
    return {"kind": "dtype", "value": name}


def lessons(*inputs: Array, target: Array, loss: str, steps: int, rate: float, tries: int = 1) -> dict[str, Any]:
    """Training of a built module: that many steps of Adam with learning rate `rate` on one batch (*inputs, target).

    tries: how often it is built anew and trained, until it has learnt every row: parameters are drawn at random, and a
        few draws are stuck for long. From the second on it has more steps, at a lower rate
    """
    _require_known("loss", loss, LOSSES)
    packed = [pack(value) for value in inputs]
    training = {"inputs": packed, "target": pack(target), "loss": loss, "steps": steps, "rate": rate}
    return training | ({"tries": tries} if tries > 1 else {})


def pack_argument(argument: Any) -> dict[str, Any]:
    """An argument as a JSON tree for the runner."""
    if isinstance(argument, dict) and argument.get("kind") in ("dtype", "module", *KINDS):
        return argument
    return pack(argument)


def _require_known(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise ValueError(f"{what} must be one of {', '.join(names)}, got {name!r}")
