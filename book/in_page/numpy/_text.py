"""Writes numbers and arrays as NumPy prints them."""

from __future__ import annotations

import math
from array import array as machine_array

MOST = 1000  # entries, beyond which an array is printed with its middle left out
EDGE = 3


def number_text(value, kind) -> str:
    """One number, in the fewest digits that tell it from its neighbours."""
    if kind.kind != "f" or not math.isfinite(value):
        return str(value)
    if kind.name == "float64":
        return repr(value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if machine_array("f", [float(text)])[0] == value:
            break
    return repr(float(text))


def array_text(array, separator: str = " ", prefix: str = "") -> str:
    """An array as `print` shows it; prefix: what stands before its first line."""
    if not array.shape:
        return number_text(array.item(), array.dtype)
    if array.size == 0:
        return "[]"
    short = array.size > MOST
    cells = _cells(array, short)
    return _rows(cells, array.shape, separator, " " * (len(prefix) + 1), short)


def _rows(cells: dict, shape: tuple, separator: str, indent: str, short: bool, at: tuple = ()) -> str:
    length = shape[len(at)]
    places = list(range(length))
    cut = short and length > 2 * EDGE
    if cut:
        places = [*places[:EDGE], None, *places[-EDGE:]]
    if len(at) == len(shape) - 1:
        line, lines = "", []
        for number, place in enumerate(places):
            text = "..." if place is None else cells[(*at, place)]
            text += separator.rstrip() if number < len(places) - 1 else ""
            if line and len(indent) + len(at) + len(line) + 1 + len(text) > 74:
                lines.append(line)
                line = text
            else:
                line += (" " if line else "") + text
        return "[" + ("\n" + indent + " " * len(at)).join([*lines, line]) + "]"
    gap = separator.rstrip() + "\n" * (len(shape) - len(at) - 1) + indent + " " * len(at)
    return (
        "["
        + gap.join("..." if p is None else _rows(cells, shape, separator, indent, short, (*at, p)) for p in places)
        + "]"
    )


def _cells(array, short: bool) -> dict:
    """The texts of the entries by position, all of one width."""
    positions = [()]
    for length in array.shape:
        kept = range(length)
        kept = [*kept[:EDGE], *kept[-EDGE:]] if short and length > 2 * EDGE else kept
        positions = [(*before, place) for before in positions for place in kept]
    numbers = [array[place].item() for place in positions]
    texts = _float_texts(numbers, array.dtype) if array.dtype.kind == "f" else [str(one) for one in numbers]
    width = max(map(len, texts), default=0) if array.dtype.kind != "b" else 5
    return dict(zip(positions, (text.rjust(width) for text in texts), strict=True))


def _float_texts(numbers: list, kind) -> list:
    finite = [abs(one) for one in numbers if math.isfinite(one) and one]
    large = bool(finite) and (max(finite) >= 1e16 or min(finite) < 1e-4 or max(finite) / min(finite) > 1000)
    return _scientific(numbers, kind) if large else _fixed(numbers, kind)


def _fixed(numbers: list, kind) -> list:
    texts = [_plain(one, kind) for one in numbers]
    behind = max((len(text.partition(".")[2]) for text in texts if "." in text), default=0)
    pairs = zip(numbers, texts, strict=True)
    return [text.ljust(len(text.partition(".")[0]) + 1 + behind) if math.isfinite(one) else text for one, text in pairs]


def _plain(one: float, kind) -> str:
    if not math.isfinite(one):
        return str(one)
    exact = float(number_text(one, kind))
    for digits in range(9):
        text = f"{one:.{digits}f}"
        if float(text) == exact:
            break
    return text.rstrip("0") if "." in text else text + "."


def _scientific(numbers: list, kind) -> list:
    digits = 0
    for one in numbers:
        if math.isfinite(one):
            exact = float(number_text(one, kind))
            digits = max(digits, next((n for n in range(8) if float(f"{one:.{n}e}") == exact), 8))
    texts = [f"{one:.{digits}e}" if math.isfinite(one) else str(one) for one in numbers]
    return [
        text if digits or not math.isfinite(one) else text.replace("e", ".e")
        for text, one in zip(texts, numbers, strict=True)
    ]
