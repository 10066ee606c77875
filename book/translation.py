"""Two toy translations whose right alignment is known, for chapter 9."""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["LONGEST", "PAD", "START", "SYMBOLS", "Batch", "dates", "sorting", "swaps", "text"]

PAD, START = 0, 1
SYMBOLS = ("", "^", *"0123456789-., ", *"ADFJMNOSabceglnoprtuvy")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LONGEST = 12  # "Nov 21, 2026"
FIRST, DAYS = datetime.date(1900, 1, 1), 73_049  # to 2099-12-31
_IDS = {symbol: index for index, symbol in enumerate(SYMBOLS)}


@dataclass(frozen=True)
class Batch:
    """Sources, targets and where each target symbol comes from.

    source: integers (B, S), padded with PAD; real: bool (B, S), True at real symbols
    target: integers (B, T), padded with PAD
    right: bool (B, T, S), True at the source positions that decide this target symbol; a row of False has none
    """

    source: Tensor
    real: Tensor
    target: Tensor
    right: Tensor

    def __getitem__(self, rows: Tensor | slice) -> Batch:
        return Batch(self.source[rows], self.real[rows], self.target[rows], self.right[rows])


def text(ids: Tensor) -> str:
    """The symbols of one row of ids, padding left out."""
    return "".join(SYMBOLS[index] for index in ids.tolist())


def _written(day: datetime.date, form: int) -> tuple[str, dict[str, tuple[int, int]]]:
    """A date in one of four forms, with the span of its year, month and day."""
    name = MONTHS[day.month - 1]
    parts = {
        0: (("day", day.day), ("", " "), ("month", name), ("", " "), ("year", day.year)),
        1: (("month", name), ("", " "), ("day", day.day), ("", ", "), ("year", day.year)),
        2: (("day", day.day), ("", "."), ("month", day.month), ("", "."), ("year", day.year)),
        3: (("year", day.year), ("", ", "), ("day", day.day), ("", " "), ("month", name)),
    }[form]
    written, spans = "", {}
    for part, value in parts:
        if part:
            spans[part] = (len(written), len(written) + len(str(value)))
        written += str(value)
    return written, spans


def _decides(spans: dict[str, tuple[int, int]], written: str) -> list[range]:
    """For each of the ten symbols of YYYY-MM-DD the source positions that decide it."""
    year, (month, month_end), (day, day_end) = spans["year"][0], spans["month"], spans["day"]
    named = written[month].isalpha()
    months = [range(month, month_end)] * 2 if named else [range(month, month + 1), range(month_end - 1, month_end)]
    days = [range(day, day + 1), range(day_end - 1, day_end)]
    return [*(range(year + k, year + k + 1) for k in range(4)), range(0), *months, range(0), *days]


def dates(size: int, seed: int, sundays: bool = False) -> Batch:
    """Dates of 1900 to 2099 in four forms, such as "21 Nov 2026", and as target "2026-11-21".

    size: how many; sundays: all of them Sundays, otherwise none, so that the two never share a day
    """
    rng = random.Random(seed)
    days: list[datetime.date] = []
    while len(days) < size:
        day = FIRST + datetime.timedelta(days=rng.randrange(DAYS))
        if (day.isoweekday() == 7) == sundays:
            days.append(day)
    rows = [_written(day, rng.randrange(4)) for day in days]
    source = torch.full((size, LONGEST), PAD)
    right = torch.zeros(size, 10, LONGEST, dtype=torch.bool)
    target = torch.tensor([[_IDS[symbol] for symbol in day.isoformat()] for day in days])
    for b, (written, spans) in enumerate(rows):
        source[b, : len(written)] = torch.tensor([_IDS[symbol] for symbol in written])
        for t, positions in enumerate(_decides(spans, written)):
            right[b, t, list(positions)] = True
    return Batch(source, source != PAD, target, right)


def swaps(size: int, length: int, generator: torch.Generator) -> Batch:
    """Rows of `length` random digits; the target is the row with each pair of neighbours exchanged: 1234 → 2143."""
    source = torch.randint(_IDS["0"], _IDS["9"] + 1, (size, length), generator=generator)
    order = torch.arange(length)
    order[: length // 2 * 2] = order[: length // 2 * 2].view(-1, 2).flip(1).flatten()
    right = torch.eye(length, dtype=torch.bool)[order].expand(size, -1, -1)
    return Batch(source, torch.ones(size, length, dtype=torch.bool), source[:, order], right)


def sorting(size: int, length: int, generator: torch.Generator) -> Batch:
    """Rows of `length` different digits; the target is the row in ascending order."""
    source = _IDS["0"] + torch.rand(size, 10, generator=generator).argsort(dim=-1)[:, :length]
    target, order = source.sort(dim=-1)
    right = torch.nn.functional.one_hot(order, length).bool()
    return Batch(source, torch.ones(size, length, dtype=torch.bool), target, right)
