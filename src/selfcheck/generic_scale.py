"""Finds how an answer's numbers differ: by a factor, by a constant, by rounding, by zeros, by an overflow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from .arrays import Array, unpack
from .generic_pairs import FEWEST, Found, Pair, booleans
from .trees import close
from .words import argument_name, index_text, number_text

EXACT = 1e-4  # relative difference of a factor from what explains it
LEAST_SIZE = 5  # of an axis, to explain a factor that is as large
USUAL_SHARES = (0.1, 0.5)  # of dropout, written into the code


def overflow(pair: Pair, call: dict[str, Any]) -> Found | None:
    """NaN or an infinity from inputs so large that their exponentials overflow."""
    bad = [
        place
        for place, (a, b) in enumerate(zip(pair.due, pair.given, strict=True))
        if math.isfinite(a) > math.isfinite(b)
    ]
    if not bad:
        return None
    given = [array for array in _arrays_in(call) if array.floating]
    where = index_text(bad[0], pair.want.shape)
    if any(math.isnan(number) for each in given for number in each.values()):
        return Found("nan_given", f"No number came at {where}: a NaN of the input reaches it, and NaN times 0 is NaN")
    if math.isinf(pair.given[bad[0]]):
        if given and all(array.dtype == "float16" for array in given):
            text = f"Infinity came at {where}: a sum or product on the way is larger than 65504, where float16 ends"
            return Found("half_sum", text)
        return None
    largest = max((abs(number) for each in given for number in each.values() if math.isfinite(number)), default=0.0)
    if largest < (80 if all(array.dtype != "float64" for array in given) else 700):
        return None
    return Found(
        "overflow",
        f"No number came at {where}: the input reaches {number_text(largest)}. The exponential of such a score is "
        "infinite, or 0 below zero, and infinity / infinity and 0 / 0 are NaN",
    )


def factor(pair: Pair, call: dict[str, Any]) -> Found | None:
    """The answer is the expected one times a constant, which a size may explain."""
    ratios = [b / a for a, b in zip(pair.due, pair.given, strict=True) if abs(a) > 1e-3 and math.isfinite(a)]
    if len(ratios) < FEWEST or not ratios[0] or not math.isfinite(ratios[0]):
        return None
    ratio = sorted(ratios)[len(ratios) // 2]
    if not ratio or len({round(abs(a), 6) for a in pair.due if a}) < 3:
        return None
    if not pair.same([a * ratio for a in pair.due], pair.given):
        return None
    if close(-1.0, ratio, pair.tolerance):
        return Found("sign", "Every entry has the opposite sign")
    if number_text(ratio) == "1":
        return None
    why = explained(ratio, call) or _by_a_norm(ratio, call) or _by_its_own_size(pair)
    return Found("factor", f"Every entry is the expected one times {number_text(ratio)}{why}")


def _by_a_norm(ratio: float, call: dict[str, Any]) -> str:
    """The arguments whose norm over all their entries, or whose norms' product, divides the answer."""
    norms = {name: math.hypot(*array.values()) for name, array in named_arrays(call, "") if array.floating}
    for some in (*itertools.combinations(norms, 1), *itertools.combinations(norms, 2)):
        if abs(math.prod(norms[name] for name in some) * ratio - 1) < EXACT:
            named = " and ".join(map(argument_name, some))
            return f": it is divided by the norm of {named}, over all entries; one over the last axis has dim=-1"
    return ""


def _by_its_own_size(pair: Pair) -> str:
    """The measure of the whole answer that is 1, as after a division by its own."""
    numbers, count = pair.given, len(pair.given)
    mean = math.fsum(numbers) / count
    apart = math.fsum((number - mean) ** 2 for number in numbers)
    measures = {
        "standard deviation": math.sqrt(apart / (count - 1)),
        "standard deviation (with correction=0)": math.sqrt(apart / count),
        "sum of squares": math.fsum(number * number for number in numbers),
        "largest absolute value": max(map(abs, numbers)),
        "sum": math.fsum(numbers),
    }
    name = next((name for name, size in measures.items() if abs(size - 1) < EXACT), "")
    return f": the {name} of your whole answer is 1, as after a division by its own" if name else ""


def explained(ratio: float, call: dict[str, Any]) -> str:
    """The size of an argument whose power a factor is, as ", which is √5, and 5 is the length of axis -1 of query".

    Or two sizes, of which one's root stands where the other's is due: ", which is √(5/11): 5 is …, and 11 is …".
    """
    forms: tuple[tuple[str, Callable[[float], float]], ...] = (
        ("√{}", math.sqrt),
        ("1/√{}", lambda size: 1 / math.sqrt(size)),
        ("{}", float),
        ("1/{}", lambda size: 1 / size),
    )
    sizes = {size: role for size, role in reversed(list(_sizes_in(call))) if size > 1}
    for size, role in reversed(sizes.items()):
        for form, function in forms:
            chance = "√" in form and math.isqrt(size) ** 2 == size  # a factor such as 0.5 or 2 may be anything
            chance = chance or ("√" not in form and size < LEAST_SIZE)
            if not chance and abs(function(size) - ratio) < EXACT * abs(ratio):
                return f", which is {form.format(size)}, and {size} is {role}"
    for (one, role), (other, whose) in itertools.permutations(reversed(sizes.items()), 2):
        rational = math.isqrt(one * other) ** 2 == one * other
        if not rational and abs(math.sqrt(one / other) - ratio) < EXACT * abs(ratio):
            return f", which is √({one}/{other}): {one} is {role}, and {other} is {whose}"
    return ""


def offset(pair: Pair, call: dict[str, Any]) -> Found | None:
    """A constant was added to every entry."""
    if len(pair.due) < FEWEST or len(set(pair.due)) < 3 or not all(map(math.isfinite, (*pair.due, *pair.given))):
        return None
    shift = pair.given[0] - pair.due[0]
    if abs(shift) > 10 * pair.tolerance and pair.same([number + shift for number in pair.due], pair.given):
        return Found("offset", f"Every entry is the expected one plus {number_text(shift)}")
    return None


def dropped(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Some entries are zero where none is due, and the others have one factor."""
    both = [(a, b) for a, b in zip(pair.due, pair.given, strict=True) if abs(a) > 1e-3]
    kept = [b / a for a, b in both if b]
    if any(abs(a) <= 1e-3 and abs(b) > 1e-2 for a, b in zip(pair.due, pair.given, strict=True)):
        return None
    if len({abs(a) for a, _ in both}) < 3:  # a mask: there, zeros are an answer like another
        return None
    if len(kept) < FEWEST or len(both) - len(kept) < 2 or not all(map(math.isfinite, kept)):
        return None
    if not all(close(kept[0], number, 10 * pair.tolerance) for number in kept):
        return None
    gone = f"{len(both) - len(kept)} of {len(both)} entries are zero"
    if close(1.0, kept[0], 10 * pair.tolerance):
        return Found("zeros", f"{gone} where a number is due, and all others are right")
    shares = [share for share in (*_shares_in(call), *USUAL_SHARES) if close(1 / (1 - share), kept[0], 1e-4)]
    if shares:
        return Found(
            "dropped",
            f"{gone} and the others are divided by 1 - {number_text(shares[0])}, as dropout leaves them",
        )
    return None


def nothing_dropped(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Dropout is due, and sets entries of the expected answer to zero; no entry of this one is."""
    rate = dropout_of(call)
    if not rate or pair.due.count(0) < FEWEST or not all(number and math.isfinite(number) for number in pair.given):
        return None
    return Found(
        "not_dropped",
        f"No entry of your answer is 0: dropout of {number_text(rate)} sets some of them to 0, "
        f"{pair.due.count(0)} of {len(pair.due)} here",
    )


def dropout_of(call: dict[str, Any]) -> float:
    """The rate of dropout that a packed call asks for by name, or an object in training is built with; 0 without."""
    named = call.get("construct", call)["kwargs"] if call.get("training", True) else {}
    rates = [named[name] for name in ("dropout", "dropout_p") if name in named]
    return next((float(rate["value"]) for rate in rates if rate["kind"] == "number" and float(rate["value"]) > 0), 0.0)


def _shares_in(tree: Any) -> Iterator[float]:
    """The numbers between 0 and 1 in a packed call."""
    if isinstance(tree, dict) and tree.get("kind") == "number" and tree.get("type") == "float":
        if 0 < float(tree["value"]) < 1:
            yield float(tree["value"])
    elif isinstance(tree, dict) and "data" not in tree:
        for part in tree.values():
            yield from _shares_in(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _shares_in(part)


def clipped(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Zero stands for every negative number, and all others are right."""
    below = sum(number < -10 * pair.tolerance for number in pair.due)
    if below < 2 or below == len(pair.due) or not all(map(math.isfinite, pair.due)):
        return None
    if pair.same([max(number, 0.0) for number in pair.due], pair.given):
        return Found(
            "clipped", "Your answer is right but for its negative numbers, which have become 0: a ReLU too many?"
        )
    return None


def whole(pair: Pair, call: dict[str, Any]) -> Found | None:
    """The fractions are cut off, or rounded away."""
    if len(pair.due) < FEWEST or booleans(pair) or not all(map(math.isfinite, (*pair.due, *pair.given))):
        return None
    if len(set(pair.given)) < 2 or all(number == int(number) for number in pair.due):
        return None
    several = len({math.trunc(number) for number in pair.due}) > 1
    if several and all(math.trunc(a) == b for a, b in zip(pair.due, pair.given, strict=True)):
        return Found(
            "truncated",
            "Every number is cut to a whole one: were they written into a tensor or list of whole numbers?",
        )
    for digits in range(0 if several else 1, 5):
        if all(abs(round(a, digits) - b) < 1e-6 for a, b in zip(pair.due, pair.given, strict=True)):
            return Found("rounded", f"Every number is rounded to {digits} decimals")
    return None


def imprecise(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Near the expected numbers everywhere, and nowhere equal to them: a lower precision, or an eps elsewhere."""
    both = [(a, b) for a, b in zip(pair.due, pair.given, strict=True) if abs(a) > 1e-3]
    if len(both) < FEWEST or not all(map(math.isfinite, (*pair.due, *pair.given))):
        return None
    worst = max(abs(a - b) / abs(a) for a, b in both)
    if worst > 5e-3 or any(abs(a - b) > 5e-3 for a, b in zip(pair.due, pair.given, strict=True)):
        return None
    digits = math.floor(-math.log10(worst))
    return Found(
        "imprecise",
        f"Your numbers agree with the expected ones to {digits} digits: is something rounded on the way, computed in a "
        "lower precision, or a small constant (an eps) in another place?",
    )


def _arrays_in(tree: Any) -> Iterator[Array]:
    """The arrays of a packed call."""
    for _, array in named_arrays(tree, ""):
        yield array


def named_arrays(tree: Any, name: str) -> Iterator[tuple[str, Array]]:
    if isinstance(tree, dict) and "shape" in tree and "data" in tree:
        yield name, unpack(tree)
    elif isinstance(tree, dict) and "uses" in tree:
        for part in ("construct", "state"):
            yield from named_arrays(tree.get(part), name)
        for number, use in enumerate(tree["uses"]):
            for inner, array in named_arrays(use, ""):
                yield (f"{number}.{inner}" if len(tree["uses"]) > 1 else inner), array
    elif isinstance(tree, dict):
        for key, part in tree.items():
            yield from named_arrays(
                part, name if key in ("args", "kwargs", "uses", "state", "construct") else name or key
            )
    elif isinstance(tree, list):
        for number, part in enumerate(tree):
            yield from named_arrays(part, name or str(number))


def _sizes_in(call: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The sizes of a call's arrays, each with what it is; the last axis, which scales have to do with, comes first."""
    arrays = list(named_arrays(call, ""))
    for back in (1, 2, 3):
        for name, array in arrays:
            if len(array.shape) >= back:
                axis = "the last axis" if back == 1 else f"axis -{back}"
                yield array.shape[-back], f"the length of {axis} of {argument_name(name)}"
