"""Runs the parts of a study with several seeds and keeps what they find beside the machine that found it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from benchmarks import results
from benchmarks.environment import environment

__all__ = ["about", "load", "run", "spread"]

#: A part: what is run for a range of seeds, and how many seeds it gets.
Part = tuple[Callable[[range], dict[str, Any]], int]


def load(file: Path) -> dict[str, Any]:
    """What a committed file holds: part → {"environment": …, "seeds": …, "found": …}."""
    return json.loads(file.read_text("utf-8"))


def about(study: Mapping[str, Any]) -> str:
    """How many seeds a part has, and when and on what it ran, in a line."""
    on, seeds = study["environment"], len(study["seeds"])
    return f"{seeds} seeds, {on['date'][:10]}, {on['processor']}, {on['threads']} thread, torch {on['torch']}"


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over seeds; a single seed has no deviation."""
    return mean(values), stdev(values) if len(values) > 1 else 0.0


def run(file: Path, parts: Mapping[str, Part], names: Sequence[str]) -> None:
    """Run the named parts, all where none is named, and write them to the file; a part that is not named stays."""
    if unknown := set(names) - set(parts):
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    torch.set_num_threads(1)
    for name in names or parts:
        study, seeds = parts[name]
        found = {"environment": environment("cpu"), "seeds": list(range(seeds)), "found": study(range(seeds))}
        results.write((load(file) if file.exists() else {}) | {name: found}, file)
        print(f"{name}: written")
