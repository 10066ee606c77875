"""Which part of a formula of positions a wrong answer has otherwise: frequencies, slopes or distances.

Each function returns a sentence, "" where more is wrong; where it cannot read an answer it raises, which says as much.
"""

import cmath
import math

from selfcheck.arrays import unpack
from selfcheck.words import number_text

CLOSE = 2e-3  # of angles in radians and of numbers, relative to their size: what float32 makes of some dozens
SHOWN = 4  # numbers of a list that a sentence shows


def other_frequencies(step, due, given):
    """Of the sinusoidal table: sines and cosines in their places, of other angles."""
    turned = [[[complex(one.imag, one.real) for one in row] for row in _pairs(answer)] for answer in (due, given)]
    return _frequencies("Sines and cosines stand in their places, but are of", *turned)


def other_rotation(step, due, given):
    """Of the matrix that shifts: a rotation for each pair in its place, by another angle."""
    _finite(given)
    angles = []
    for matrix in (due.nested(), given.nested()):
        found = []
        for at in range(0, len(matrix), 2):
            (a, b), (c, d) = (matrix[row][at : at + 2] for row in (at, at + 1))
            if abs(a - d) > CLOSE or abs(b + c) > CLOSE or abs(math.hypot(a, c) - 1) > CLOSE:
                return ""
            found.append(math.atan2(c, a))
        angles.append(found)
    outside = [
        number
        for row, numbers in enumerate(given.nested())
        for column, number in enumerate(numbers)
        if row // 2 != column // 2
    ]
    if due.shape != given.shape or any(abs(number) > CLOSE for number in outside):
        return ""
    want, came = angles
    if all(_same_angle(a, b) for a, b in zip(want, came, strict=True)):
        return ""
    return (
        f"Each pair has its rotation in its place, but by another angle: {_list(came)} radians from pair to pair "
        f"where {_list(want)} are due, whole turns aside"
    )


def other_angles(step, due, given):
    """Of rotary positions: each pair is turned, by other angles."""
    x = _pairs(unpack(step["args"][0]))
    turned = []
    for answer in (due, given):
        if answer.shape != due.shape:
            return ""
        length, found = due.shape[-2], {}
        for row, (before, after) in enumerate(zip(x, _pairs(answer), strict=True)):
            for pair, (a, b) in enumerate(zip(before, after, strict=True)):
                ratio = b / a
                if abs(found.setdefault((row % length, pair), ratio) - ratio) > CLOSE * 5:
                    return ""
        turned.append([[found[row, pair] for pair in range(due.shape[-1] // 2)] for row in range(length)])
    return _frequencies("Each pair is turned, but by", *turned)


def other_slopes_or_distances(step, due, given):
    """Of ALiBi's bias: slopes times distances, of which one is another."""
    if due.shape != given.shape or 0 in due.shape:
        return ""
    _finite(given)
    want, came = ([[number for row in head for number in row] for head in one.nested()] for one in (due, given))
    slopes = [min((abs(number) for number in head if number), default=0.0) for head in want]  # one step away
    if not all(slopes):
        return ""
    distances = [-number / slopes[0] for number in want[0]]
    own = [-head[distances.index(max(distances))] / max(distances) for head in came]
    rows = list(zip(came, own, strict=True))
    if all(
        _near(-slope * distance, number)
        for head, slope in rows
        for distance, number in zip(distances, head, strict=True)
    ):
        return f"The distances are right, the slopes are not: {_list(own)} where {_list(slopes)} are due"
    found = [[-number / slope for number in head] for head, slope in zip(came, slopes, strict=True)]
    keys = due.shape[-1]
    if len(found) > 1 and all(_near(a, b) for head in found[1:] for a, b in zip(found[0], head, strict=True)):
        wrong = [at for at, (a, b) in enumerate(zip(distances, found[0], strict=True)) if not _near(a, b)]
        row = slice(wrong[0] // keys * keys, wrong[0] // keys * keys + keys)
        return (
            "From head to head the slopes fall as they should. With the slopes that are due, what they are multiplied "
            f"with is for query {wrong[0] // keys} {_list(found[0][row])} where the distances {_list(distances[row])} "
            "are due"
        )
    return ""


def _pairs(answer):
    """Each row's neighbouring columns as complex numbers; ValueError where one is not finite."""
    _finite(answer)
    width, flat = answer.shape[-1], answer.values()
    rows = [flat[start : start + width] for start in range(0, len(flat), width)]
    return [[complex(row[at], row[at + 1]) for at in range(0, width, 2)] for row in rows]


def _frequencies(begin, due, given):
    """A sentence on numbers of length 1 whose angles grow by the same from row to row, but not by what is due."""
    found = []
    for rows in (due, given):
        if len(rows) < 3 or any(abs(abs(number) - 1) > CLOSE for row in rows for number in row):
            return ""
        steps = [cmath.phase(b / a) for a, b in zip(rows[0], rows[1], strict=True)]
        for one, (first, step) in enumerate(zip(rows[0], steps, strict=True)):
            if any(abs(row[one] / first - cmath.exp(1j * step * at)) > CLOSE * (1 + at) for at, row in enumerate(rows)):
                return ""
        found.append(([cmath.phase(number) for number in rows[0]], steps))
    (starts, steps), (own_starts, own_steps) = found
    if not all(map(_same_angle, steps, own_steps)):
        text = (
            f"other angles: from row to row the pairs turn by {_list(own_steps)} radians where {_list(steps)} are due"
        )
        return f"{begin} {text}, whole turns aside"
    if not all(map(_same_angle, starts, own_starts)):
        return f"{begin} other angles: those of the first row are {_list(own_starts)} where {_list(starts)} are due"
    return ""


def _finite(answer):
    if not all(map(math.isfinite, answer.values())):
        raise ValueError("an angle or a slope is a finite number")


def _same_angle(a, b):
    return abs(cmath.exp(1j * a) - cmath.exp(1j * b)) < CLOSE


def _near(a, b):
    return abs(a - b) <= CLOSE * max(abs(a), abs(b)) + 1e-6


def _list(numbers):
    shown = ", ".join(number_text(round(float(number), 4) + 0.0) for number in numbers[:SHOWN])
    return shown + (", …" if len(numbers) > SHOWN else "")
