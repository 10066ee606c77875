"""Answers that do nothing of what is asked: none of them is worth a point."""

import math

from selfcheck.arrays import Array, array, pack, unpack


def _first(arguments):
    return next((one for one in arguments if hasattr(one, "shape") or isinstance(one, list)), None)


def _like(arguments, number):
    """An array like the first argument, filled with a number; None where there is none."""
    import torch

    first = _first(arguments)
    if isinstance(first, torch.Tensor):
        return torch.full_like(first, number, dtype=first.dtype if first.is_floating_point() else torch.float64)
    return None if first is None else [[number for _ in row] if isinstance(row, list) else number for row in first]


def _scalar(value):
    import torch

    return torch.tensor(value)


def _raises(kind):
    raise kind("no")


ANSWERS = {
    "the first argument": lambda *a, **k: _first(a),
    "the last argument": lambda *a, **k: a[-1] if a else None,
    "zeros": lambda *a, **k: _like(a, 0.0),
    "NaN": lambda *a, **k: _like(a, math.nan),
    "infinity": lambda *a, **k: _like(a, math.inf),
    "nothing": lambda *a, **k: None,
    "the number 0": lambda *a, **k: 0,
    "the number 1": lambda *a, **k: 1,
    "a scalar 0": lambda *a, **k: _scalar(0.0),
    "True": lambda *a, **k: _scalar(True),
    "the first argument twice": lambda *a, **k: (_first(a), _first(a)),
    "zeros twice": lambda *a, **k: (_like(a, 0.0), _like(a, 0.0)),
    "ValueError": lambda *a, **k: _raises(ValueError),
    "TypeError": lambda *a, **k: _raises(TypeError),
}


def as_class(answer):
    """A module whose every use gives that answer."""
    import torch

    class Lazy(torch.nn.Module):
        def __init__(self, *arguments, **options):
            super().__init__()

        def forward(self, *arguments, **options):
            return answer(*arguments, **options)

        append = forward

    return Lazy


def of_one_number(due, number):
    """An answer of the form that is due, each of whose numbers is the same one; what is to be refused is refused.

    It says nothing of parameters, modules or gradients: that takes more than a number.
    """
    if "error" in due:
        return due
    rest = {name: fact for name, fact in due.items() if name not in ("parameters", "states")}
    gradients = {name: pack(_filled(unpack(tree), 0)) for name, tree in due.get("gradients", {}).items()}
    return rest | {"value": pack(_filled(unpack(due["value"]), number)), "gradients": gradients}


def _filled(value, number):
    if isinstance(value, Array):
        kind = bool if value.dtype == "bool" else float if value.floating else int
        filled = array([kind(number)] * len(value.values()), value.kind, value.dtype)
        return Array(value.kind, value.dtype, value.shape, filled.data)
    if isinstance(value, (tuple, list)):
        return type(value)(_filled(part, number) for part in value)
    return type(value)(number) if isinstance(value, (bool, int, float)) else value
