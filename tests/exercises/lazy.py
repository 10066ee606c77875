"""Answers that do nothing of what is asked: none of them is worth a point."""

import math
import random

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


def _noise(count, width):
    rng = random.Random(count)
    return [rng.gauss(0, 1) for _ in range(count)]


def _shares(count, width):
    """Numbers by chance, of which those of a row sum to 1."""
    numbers = [math.exp(number) for number in _noise(count, width)]
    sums = [sum(numbers[at : at + width]) for at in range(0, count, width)]
    return [number / sums[at // width] for at, number in enumerate(numbers)]


#: Numbers of an answer that looks at nothing but its form: of `count` numbers in rows of `width`.
NUMBERS = {
    **{f"{number} throughout": lambda count, width, number=number: [number] * count for number in (0, 1, -1, 0.37)},
    "equal shares": lambda count, width: [1 / width] * count,
    "the first of each row alone": lambda count, width: [float(at % width == 0) for at in range(count)],
    "counted": lambda count, width: list(map(float, range(count))),
    "by chance": _noise,
    "large, by chance": lambda count, width: [1000 * number for number in _noise(count, width)],
    "shares by chance": _shares,
}


def of_the_form(due, numbers):
    """An answer of the form that is due, with other numbers; what is to be refused is refused.

    numbers: numbers(count, width) makes those of an array
    It says nothing of parameters, modules or gradients: that takes more than numbers.
    """
    if "error" in due:
        return due
    rest = {name: fact for name, fact in due.items() if name not in ("parameters", "states")}
    gradients = {
        name: pack(_filled(unpack(tree), lambda count, _: [0] * count))
        for name, tree in due.get("gradients", {}).items()
    }
    return rest | {"value": pack(_filled(unpack(due["value"]), numbers)), "gradients": gradients}


def _filled(value, numbers):
    if isinstance(value, Array):
        kind = bool if value.dtype == "bool" else float if value.floating else int
        count = len(value.values())
        drawn = numbers(count, value.shape[-1] if value.shape and count else 1)
        filled = array([kind(number) for number in drawn], value.kind, value.dtype)
        return Array(value.kind, value.dtype, value.shape, filled.data)
    if isinstance(value, (tuple, list)):
        return type(value)(_filled(part, numbers) for part in value)
    return type(value)(numbers(1, 1)[0]) if isinstance(value, (bool, int, float)) else value
