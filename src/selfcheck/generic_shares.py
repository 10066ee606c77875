"""Finds what became of shares, rows that sum to 1: which other scores they are a softmax of, and what is hidden."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .generic_pairs import FEWEST, Found, Pair
from .generic_scale import explained
from .words import index_text, number_text

LEAST = 0.02  # by which logarithms of shares differ in a row, where scores can be told from one another
CLOSE = 1e-3  # of logarithms, relative to the largest in the row
NEAR = 0.01  # of 1, where a factor of scores may come of rounded numbers
MOST_LISTED = 4
Row = list[tuple[float, float]]


def other_shares(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Rows of shares that a softmax makes of other scores, or of the right ones of other entries."""
    width = pair.want.shape[-1] if pair.want.shape else 0
    if width < 2 or not pair.want.floating or pair.want.shape != pair.part.shape or len(pair.due) < FEWEST:
        return None
    if not all(map(math.isfinite, pair.given)):
        return None
    both = list(zip(pair.due, pair.given, strict=True))
    rows = [both[start : start + width] for start in range(0, len(both), width)]
    rows = [row for row in rows if any(due or came for due, came in row)]  # where nothing may be attended, and is not
    if not rows or not all(_is_share(row, 0) for row in rows):
        return None
    if not all(_is_share(row, 1) for row in rows):
        return _other_sums(rows)
    if any((due > 0) != (came > 0) for row in rows for due, came in row):
        return _hidden(pair, rows)
    return _other_scores(pair, rows, call)


def _is_share(row: Row, side: int) -> bool:
    numbers = [both[side] for both in row]
    return min(numbers) >= 0 and abs(sum(numbers) - 1) < CLOSE


def _other_sums(rows: list[Row]) -> Found | None:
    """Each row is the right one times a number, so that it sums to this number."""
    for row in rows:
        total = math.fsum(came for _, came in row)
        if not total or any(abs(due * total - came) > CLOSE * abs(total) * due for due, came in row):
            return None
    sums = [math.fsum(came for _, came in row) for row in rows]
    if max(sums) - min(sums) < CLOSE * max(map(abs, sums)) and len(sums) > 1:
        return None  # one factor
    listed = ", ".join(map(number_text, sums[:MOST_LISTED])) + (", …" if len(sums) > MOST_LISTED else "")
    why = "is a constant (an eps) added to the sum?" if 0.8 < min(sums) <= max(sums) < 1 else "what is it divided by?"
    return Found("line_factor", f"Each row of shares is right but for what it sums to, {listed} where 1 is due: {why}")


def _other_scores(pair: Pair, rows: list[Row], call: dict[str, Any]) -> Found | None:
    """The right scores times a factor, of all rows or of each, or with something added to those of each column."""
    logs = [_logarithms(row) for row in rows]
    told = [(due, came) for due, came in logs if len(due) > 1 and max(map(abs, due)) > LEAST]
    if sum(len(due) - 1 for due, _ in told) < FEWEST - 1 or len(told) < len(logs):
        return None
    if all(abs(number) < LEAST * CLOSE for _, came in told for number in came):
        return Found("other_scores", "In each row all your shares are equal, as those of equal scores are")
    factors = [_factor(due, came) for due, came in told]
    if all(factor is not None for factor in factors):
        known = [factor for factor in factors if factor is not None]
        if all(abs(factor - 1) < NEAR for factor in known):
            return None  # a rounding on the way
        if max(known) - min(known) < CLOSE * max(map(abs, known)):
            middle = sorted(known)[len(known) // 2]
            how = "with the opposite sign" if abs(middle + 1) < CLOSE else f"times {number_text(middle)}"
            two = abs(middle - math.log(2)) < CLOSE
            why = ", which is ln 2: powers of 2 in place of e have that" if two else explained(middle, call)
            return Found("other_scores", f"Your shares are those of the right scores {how}{why}")
        if pair.same(sorted(pair.due), sorted(pair.given)):
            return None  # right rows in other places, of scores that happen to be each other's multiples
        listed = ", ".join(map(number_text, known[:MOST_LISTED])) + (", …" if len(known) > MOST_LISTED else "")
        return Found(
            "other_scores", f"In each row your shares are those of the right scores times a factor of its own: {listed}"
        )
    added = [[b - a for a, b in zip(due, came, strict=True)] for due, came in logs]
    if len(added) > 2 and len({len(one) for one in added}) == 1 and len(added[0]) > 2:
        size = max(abs(number) for one in added for number in one)
        if all(abs(a - b) < CLOSE * size for one in added[1:] for a, b in zip(added[0], one, strict=True)):
            listed = ", ".join(number_text(number - added[0][0]) for number in added[0][:MOST_LISTED])
            more = ", …" if len(added[0]) > MOST_LISTED else ""
            text = f"Your shares are those of the right scores with a number added for each column: {listed}{more}"
            return Found("other_scores", f"{text}, beside one for all")
    return None


def _logarithms(row: Row) -> tuple[list[float], list[float]]:
    """Those of the shares above 0, less their mean: scores but for a constant, which no softmax shows."""
    centred = []
    for side in (0, 1):
        numbers = [math.log(both[side]) for both in row if both[0] > 0]
        mean = math.fsum(numbers) / len(numbers)
        centred.append([number - mean for number in numbers])
    return centred[0], centred[1]


def _factor(due: list[float], came: list[float]) -> float | None:
    """By which all differences of scores are too large; None where it is not one."""
    place = max(range(len(due)), key=lambda at: abs(due[at]))
    factor = came[place] / due[place]
    size = max(map(abs, came))
    return factor if all(abs(factor * a - b) <= CLOSE * size for a, b in zip(due, came, strict=True)) else None


def _hidden(pair: Pair, rows: list[Row]) -> Found | None:
    """Other entries are 0 than should be, and the others of each row share out what that leaves, as a softmax does."""
    for row in rows:
        ratios = [came / due for due, came in row if due > 0 and came > 0]
        if not ratios or max(ratios) - min(ratios) > CLOSE * max(ratios):
            return None
    more = sum(due > 0 and not came for row in rows for due, came in row)
    fewer = sum(came > 0 and not due for row in rows for due, came in row)
    place = next(at for at, (due, came) in enumerate(zip(pair.due, pair.given, strict=True)) if (due > 0) != (came > 0))
    where = f"first at {index_text(place, pair.want.shape)}"
    if more and not fewer:
        how = ", namely all behind the diagonal, as a causal mask has it" if _is_causal(pair) else f", {where}"
        text = f"{more} shares are 0 that should not be{how}, and the others of a row share out what that leaves"
        return Found("hidden_otherwise", text)
    text = f"{fewer} entries have a share that should be 0, {where}"
    return Found("hidden_otherwise", text + (f"; and {more} are 0 that should not be" if more else ""))


def _is_causal(pair: Pair) -> bool:
    """Whether exactly what stands behind the diagonal has no share."""
    if len(pair.want.shape) < 2 or pair.want.shape[-2] < 3:
        return False
    queries, keys = pair.want.shape[-2:]
    return all((came > 0) == (j <= i) for i, j, came in _placed(pair.given, queries, keys))


def _placed(numbers: list[float], queries: int, keys: int) -> Iterator[tuple[int, int, float]]:
    for place, number in enumerate(numbers):
        yield place // keys % queries, place % keys, number
