"""Result files: how they are completed, written, read and searched."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from .cost import Shape, flops, operations, predicted_seconds

FORMAT = 1
FOLDER = Path(__file__).resolve().parent / "results"


def complete(row: dict[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """The row with what follows from its time and the machine's peaks."""
    work = dict.fromkeys(("flops", "flop_per_s", "share_of_peak", "predicted_seconds", "bytes", "exponentials"))
    if row["what"] == "attention":
        shape = Shape(row["batch"], row["heads"], row["length"], row["width"])
        peaks, device = environment["peaks"], environment["device"]
        work["flops"] = flops(shape, row["causal"], row["pass"])
        if row["seconds"]:
            work["flop_per_s"] = work["flops"] / row["seconds"]["median"]
            peak = peaks["flop_per_s"].get(row["dtype"])
            work["share_of_peak"] = work["flop_per_s"] / peak if peak else None
        if row["pass"] == "forward":
            itemsize = getattr(torch, row["dtype"]).itemsize
            fused = "SDPA math" if row["backend"] == "math" else row["variant"]
            parts = operations(fused, shape, row["causal"], itemsize)
            work |= {name: sum(part[name] for part in parts) for name in ("bytes", "exponentials")}
            work["predicted_seconds"] = predicted_seconds(parts, peaks, row["dtype"], device)
    return row | work


def write(found: Mapping[str, Any], path: Path) -> None:
    """The whole file or none: whoever interrupts leaves what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(found, indent=1) + "\n")
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def machines() -> list[str]:
    """The machines that were measured: the names of the files in `results`."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(machine: str | Path) -> dict[str, Any]:
    """A machine's results, or those in a file.

    Raises ValueError for another format, FileNotFoundError where there are none.
    """
    path = machine if isinstance(machine, Path) else FOLDER / f"{machine}.json"
    if not path.exists():
        raise FileNotFoundError(f"no results of {machine}; there are: {', '.join(machines()) or 'none'}")
    found = json.loads(path.read_text(encoding="utf-8"))
    if found.get("format") != FORMAT:
        raise ValueError(f"{path.name} has format {found.get('format')}, expected {FORMAT}; measure again")
    return found


def says(found: Mapping[str, Any]) -> str:
    """One line: on what, with what and when it was measured."""
    one = found["environment"]
    where = f"{one['processor']}, {one['cores']} cores, {one['threads']} threads"
    if one["device"] == "cuda":
        where = f"{one['device_name']}, driver {one['driver']}"
    quick = ", a quick run that means little" if found.get("quick") else ""
    return f"{where}, torch {one['torch']}, {one['date'][:10]}{quick}"


def rows(found: Mapping[str, Any], **wanted: Any) -> list[dict[str, Any]]:
    """The rows whose entries are as wanted, by length; a tuple allows several values."""

    def fits(row: Mapping[str, Any]) -> bool:
        return all(row[key] in (value if isinstance(value, tuple) else (value,)) for key, value in wanted.items())

    return sorted((row for row in found["rows"] if fits(row)), key=lambda row: row["length"])


def ratio(row: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """How many times as long the one takes as the other, by their medians."""
    return row["seconds"]["median"] / other["seconds"]["median"]


def table(found: Mapping[str, Any], **wanted: Any) -> list[tuple[str, ...]]:
    """Rows as text: variant, L, backend, milliseconds with quartiles, MiB, error."""
    lines = []
    for row in rows(found, **wanted):
        seconds, memory = row["seconds"], row["peak_bytes"]
        low, high = seconds["quartiles"] if seconds else (0.0, 0.0)
        spent = f"{1e3 * seconds['median']:.1f} ({1e3 * low:.1f} to {1e3 * high:.1f})" if seconds else "–"
        taken = f"{memory / 2**20:.1f}" if memory is not None else "–"
        wrong = f"{row['error']:.1e}" if row["error"] is not None else "–"
        lines.append((row["variant"], str(row["length"]), str(row["backend"]), spent, taken, wrong))
    return lines
