"""Tells from a model's logits whether a norm stands before its output layer."""

from selfcheck.arrays import array

from ._decoder_views import SAME, logits_by_position, unlike

NEAR = 1e-3  # of the largest distance: what rounding, and the small number in a norm's denominator, may move
TERMS = 5  # of a conic: a·x² + b·xy + c·y² + d·x + e·y = 1


def on_a_line_or_ellipse(step, answer):
    """1 where the logits of all positions of a model with two features lie on one line, or on one ellipse.

    A layer norm leaves one number per position, and RMSNorm a vector of constant length; the output layer makes a line
    of the first and an ellipse of the second. What nothing normalises fills a plane. -1 where some logit is not finite.
    """
    rows = logits_by_position(answer)
    if rows is None:
        return unlike(answer)
    steps = _from_mean(rows)
    if not max(abs(part) for step in steps for part in step) < 1e30:
        return array(-1)
    longest = max(steps, key=_size)
    off = [_without(step, longest) for step in steps]
    apart = max(off, key=_size)
    if _size(apart) <= NEAR * _size(longest) + SAME:  # all may lie on one side of the norm, and be equal
        return array(1)
    points = [(_along(step, longest), _along(step, apart)) for step in steps]
    return array(int(_lie_on_a_conic(points)))


def _from_mean(rows):
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return [[value - middle for value, middle in zip(row, mean, strict=True)] for row in rows]


def _size(step):
    return max(map(abs, step))


def _along(step, direction):
    """The part of a step that goes along a direction, as a multiple of that."""
    return sum(a * b for a, b in zip(step, direction, strict=True)) / sum(a * a for a in direction)


def _without(step, direction):
    """A step without what goes along a direction."""
    if not any(direction):
        return step
    share = _along(step, direction)
    return [a - share * b for a, b in zip(step, direction, strict=True)]


def _lie_on_a_conic(points):
    """Whether one conic that does not go through the origin, fitted by least squares, goes through all points."""
    rows = [[x * x, x * y, y * y, x, y] for x, y in points]
    normal = [[sum(row[i] * row[j] for row in rows) for j in range(TERMS)] for i in range(TERMS)]
    factors = _solution(normal, [sum(row[i] for row in rows) for i in range(TERMS)])
    left = [abs(sum(a * b for a, b in zip(row, factors, strict=True)) - 1) for row in rows]
    return max(left) <= 10 * NEAR


def _solution(matrix, right):
    """The solution of a linear system, by elimination; zeros where it has none."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = max(range(column, len(rows)), key=lambda i: abs(rows[i][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        if rows[column][column] == 0:
            return [0.0] * len(rows)
        for i in range(len(rows)):
            if i != column:
                share = rows[i][column] / rows[column][column]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[column], strict=True)]
    return [row[-1] / row[column] for column, row in enumerate(rows)]
