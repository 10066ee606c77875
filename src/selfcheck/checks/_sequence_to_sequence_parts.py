"""Which part of a formula of attention before Transformers a wrong answer has otherwise, read from its numbers.

Each function returns a sentence, "" where more is wrong; where it cannot read an answer it raises, which says as much.
"""

import math

from selfcheck.arrays import unpack
from selfcheck.words import number_text

from ._numbers import rows_of

CLOSE = 1e-3  # of numbers, relative to their size
SHOWN = 4  # numbers of a list that a sentence shows


def other_fall(step, due, given):
    """Of local attention: the softmax within the window is right, and falls off otherwise with the distance."""
    scores, center, window = (unpack(part) for part in step["args"])
    if due.shape != given.shape:
        return ""
    found = []
    for row, p, wanted, came in zip(rows_of(scores), center.values(), rows_of(due), rows_of(given), strict=True):
        if any((a > 0) != (b > 0) for a, b in zip(wanted, came, strict=True)):
            return ""
        near = [at for at, number in enumerate(wanted) if number > 0]
        total = sum(math.exp(row[at]) for at in near)
        found += [(at - p, came[at] * total / math.exp(row[at])) for at in near]
    for distance, name in ((abs, "at the distances"), (float, "at s - p =")):
        falling = sorted((distance(d), d, factor) for d, factor in found)
        factors = [factor for _, _, factor in falling]
        if not _is_one_function([(at, factor) for at, _, factor in falling]):
            continue
        if _is_falling(factors) or (_is_falling(factors[::-1]) and len(set(map(_rounded, factors))) > 1):
            some = falling[:: max(1, len(falling) // SHOWN)][:SHOWN]
            right = [math.exp(-2 * (d / window) ** 2) for _, d, _ in some]
            return (
                f"The softmax within the window is right, what you multiply it with is not: {name} "
                f"{_list(d for d, _, _ in some)} it is {_list(factor for _, _, factor in some)} where the Gaussian is "
                f"{_list(right)}"
            )
    return ""


def other_weights(step, due, given):
    """Of one level of hierarchical attention: a mean of the right vectors, with other weights."""
    x, shares = unpack(step["uses"][0]["args"][0]), []
    count = max(x.shape[1:3])
    vectors = rows_of(x)
    for at, pair in enumerate(zip(rows_of(due), rows_of(given), strict=True)):
        of_this = vectors[at * count : (at + 1) * count]
        table = [*([row[j] for row in of_this] for j in range(len(of_this[0]))), [1.0] * count]
        shares.append([_nearest(table, [*row, 1.0]) for row in pair])
        mixed = [[_dot(line, found) for line in table[:-1]] for found in shares[-1]]
        if any(_apart(row, vector) for row, vector in zip(pair, mixed, strict=True)):
            return ""  # no mean of the right vectors
    if any(not 0 < number < 1 for pair in shares for row in pair for number in row):
        return ""
    (right, own), *_ = shares
    text = f"You mix the right vectors with other weights: {_list(own)} where {_list(right)} are due"
    factors = [_factor(*pair) for pair in shares]
    if all(factor is not None and abs(factor - factors[0]) < CLOSE * abs(factors[0]) for factor in factors):
        return f"{text}. That is the softmax of the right scores times {number_text(factors[0])}"
    return f"{text}. So their scores are others"


def other_states(step, due, given):
    """Of the decoder on a source of zeros: which of output, tanh, combine and GRU the logits are wrong from."""
    state = {name: unpack(tree) for name, tree in step["state"].items()}
    table, bias = state["output.weight"].nested(), state["output.bias"].values()
    handed = []
    for answer in (due[0], given[0]):
        for row in rows_of(answer):
            left = [a - b for a, b in zip(row, bias, strict=True)]
            found = _nearest(table, left)
            if any(abs(_dot(line, found) - number) > CLOSE for line, number in zip(table, left, strict=True)):
                return "Your logits are not what `output` makes of any vector: is it used, with nothing behind it?"
            handed.append(found)
    right, own = handed[: len(handed) // 2], handed[len(handed) // 2 :]
    at = next(at for at, (a, b) in enumerate(zip(right, own, strict=True)) if _apart(a, b))
    steps = due[0].shape[1]
    where = f"at step {at % steps} of sequence {at // steps}"
    text = f"`output` is right: what you hand to it is, {where}, {_list(own[at])} where {_list(right[at])} are due"
    if any(abs(number) >= 1 for row in own for number in row):
        return f"{text}, and a tanh would keep it between -1 and 1"
    width = len(right[0])
    half = [row[width:] for row in state["combine.weight"].nested()]
    first = state["combine.bias"].values()
    read = [[math.atanh(z) - b for z, b in zip(row, first, strict=True)] for row in (own[at], right[at])]
    own_state, right_state = (_solved(half, row) for row in read)
    if any(abs(number) >= 1 for number in own_state):
        return f"{text}. No state of a GRU gives that: look at tanh, at `combine` and at what stands around them"
    return (
        f"`output`, tanh and `combine` fit a GRU's state that is, {where}, {_list(own_state)} where "
        f"{_list(right_state)} are due: look at what the GRU reads and where it starts"
    )


def _is_one_function(pairs):
    """Whether a number has one other, wherever it comes, and there are some of them."""
    found = {}
    return all(abs(found.setdefault(_rounded(a), b) - b) <= CLOSE * abs(b) for a, b in pairs) and len(found) > 2


def _is_falling(numbers):
    return all(b <= a * (1 + CLOSE) for a, b in zip(numbers, numbers[1:], strict=False))


def _rounded(number):
    return round(number, 3)


def _factor(right, own):
    """By which the logarithms of shares are too large, but for a constant in each; None where it is not one."""
    logs = [[math.log(number) for number in row] for row in (right, own)]
    due, came = ([number - sum(row) / len(row) for number in row] for row in logs)
    place = max(range(len(due)), key=lambda at: abs(due[at]))
    factor = came[place] / due[place]
    size = max(map(abs, came))
    return factor if all(abs(factor * a - b) < CLOSE * size for a, b in zip(due, came, strict=True)) else None


def _solved(table, numbers):
    """x with table x = numbers, by elimination; ZeroDivisionError where there is no single one."""
    rows = [[*row, number] for row, number in zip(table, numbers, strict=True)]
    for at in range(len(rows)):
        best = max(range(at, len(rows)), key=lambda one: abs(rows[one][at]))
        rows[at], rows[best] = rows[best], rows[at]
        rows[at] = [number / rows[at][at] for number in rows[at]]
        for one in range(len(rows)):
            if one != at:
                rows[one] = [a - rows[one][at] * b for a, b in zip(rows[one], rows[at], strict=True)]
    return [row[-1] for row in rows]


def _nearest(table, numbers):
    """x for which table x is nearest to the numbers."""
    columns = list(zip(*table, strict=True))
    return _solved([[_dot(a, b) for b in columns] for a in columns], [_dot(column, numbers) for column in columns])


def _dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _apart(a, b):
    return any(abs(x - y) > CLOSE for x, y in zip(a, b, strict=True))


def _list(numbers):
    numbers = list(numbers)
    shown = ", ".join(number_text(round(float(number), 4) + 0.0) for number in numbers[:SHOWN])
    return shown + (", …" if len(numbers) > SHOWN else "")
