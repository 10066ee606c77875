"""Runs the parts of a chapter's experiments with several seeds, and keeps what they find in a committed file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from benchmarks import results
from benchmarks.environment import environment

__all__ = ["Part", "Record", "spread"]

FOLDER = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Part:
    """An experiment: what runs it for a range of seeds, and how many seeds it needs."""

    run: Callable[[range], Any]
    seeds: int


class Record:
    """The committed file of one chapter's experiments: part → {"environment": …, "seeds": […], "found": …}."""

    def __init__(self, name: str) -> None:
        """name: of a file in book/studies/results, as a literal: so a page is known to depend on it."""
        self.file = FOLDER / name

    def load(self) -> dict[str, Any]:
        return json.loads(self.file.read_text("utf-8"))

    def found(self, part: str) -> Any:
        """What a part of the experiments found."""
        return self.load()[part]["found"]

    def machine(self, part: str) -> str:
        """Where and when a part was measured, and with how many seeds, in a line."""
        study = self.load()[part]
        about, seeds = study["environment"], study["seeds"]
        times = f"{len(seeds)} seeds" if len(seeds) > 1 else "medians of five runs"
        where = f"{about['date'][:10]}, {about['processor']}, {about['threads']} thread, torch {about['torch']}"
        return f"{times}, {where}"

    def run(self, parts: Mapping[str, Part], names: Sequence[str]) -> None:
        """Runs the named parts on one thread, all where none is named; the results of the others stay."""
        if unknown := set(names) - set(parts):
            raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
        torch.set_num_threads(1)
        for name in names or parts:
            seeds = range(parts[name].seeds)
            study = {"environment": environment("cpu"), "seeds": list(seeds), "found": parts[name].run(seeds)}
            results.write((self.load() if self.file.exists() else {}) | {name: study}, self.file)
            print(f"{name}: written")


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over seeds; a single seed has no deviation."""
    return mean(values), stdev(values) if len(values) > 1 else 0.0
