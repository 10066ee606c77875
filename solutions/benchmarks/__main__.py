"""The command line: `python -m benchmarks`, in the folder `solutions` or with it on the path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import torch

from . import attention_rows, modules, multi_head, programs, results
from .apart import run_apart
from .environment import environment
from .gate import GateError
from .peaks import peaks

SLOWEST = 10  # bfloat16 is measured where it is no more than so many times as slow as float32


@click.command()
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help="auto: a GPU if there is one."
)
@click.option("--quick", is_flag=True, help="A few rounds: shows that it runs; its figures mean little.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write everything as JSON.")
def main(device: str, quick: bool, out: Path | None) -> None:
    """Time attention in its variants, and torch's layers. Whatever is timed has been checked against float64 before.

    Exit code 1 where an answer is wrong (then nothing is written), 130 where the run is interrupted.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise click.ClickException("no CUDA GPU here; try --device cpu")
    device = "cuda" if device == "auto" and torch.cuda.is_available() else device.replace("auto", "cpu")
    try:
        found = measure(device, quick)
    except GateError as error:
        raise click.ClickException(f"not timed, for it is wrong: {error}") from None
    except KeyboardInterrupt:
        click.echo("interrupted: nothing was written", err=True)
        sys.exit(130)
    if out:
        results.write(found, out)


def measure(device: str, quick: bool) -> dict[str, Any]:
    """Everything that is measured on this device; what it finds is printed as it comes."""
    found = {"format": results.FORMAT, "quick": quick, "environment": environment(device), "results": [], "rows": []}
    told = found["environment"]
    click.echo(", ".join(f"{name} {value}" for name, value in told.items() if value is not None))
    threads = torch.get_num_threads()
    told["peaks"] = peaks(device, quick) if device == "cuda" else run_apart(peaks, device, quick, threads)
    found["rows"] = [results.complete(row, told) for row in _rows(device, quick, threads, told["peaks"])]
    for row in found["rows"]:
        click.echo(line(row))
    if device == "cpu":
        found["results"].append(multi_head.run(quick))
        click.echo(as_text(found["results"][0]))
    elif shared := programs.run(quick):
        found["results"].append(shared)
        click.echo(programs.as_text(shared))
    return found


def _rows(device: str, quick: bool, threads: int, peaks: dict[str, Any]) -> list[dict[str, Any]]:
    rates = peaks["flop_per_s"]
    halves = device == "cuda" or SLOWEST * rates["bfloat16"] >= rates["float32"]
    if not halves:
        times = rates["float32"] / rates["bfloat16"]
        click.echo(f"bfloat16 is left out: this CPU multiplies it {times:.0f} times as slowly as float32")
    measured = attention_rows.run(device, quick, threads, lambda text: click.echo(text, err=True), halves)
    if device == "cpu":
        click.echo("layers", err=True)
        measured += run_apart(modules.run, quick, threads)
    return measured


def line(row: dict[str, Any]) -> str:
    """One row as a line: what, at which shape, milliseconds, TFLOP/s, MiB, error."""
    kind = "causal" if row["causal"] else "full"
    parts = [f"{row['variant']:<33}{row['pass']:<17}{kind:<7}{row['dtype']:<9}L {row['length']:<6}d {row['width']:<4}"]
    parts.append(f"{row['backend'] or '':<10}")
    if row["seconds"]:
        parts.append(f"{1e3 * row['seconds']['median']:10.2f} ms")
    if row["flop_per_s"]:
        parts.append(f"{row['flop_per_s'] / 1e12:8.3f} TFLOP/s")
    if row["peak_bytes"] is not None:
        parts.append(f"{row['peak_bytes'] / 2**20:9.1f} MiB")
    if row["error"] is not None:
        parts.append(f"  error {row['error']:.1e} (naive {row['baseline_error']:.1e})")
    return "".join(parts) + (f"not run: {row['refused']}" if row.get("refused") else "")


def as_text(result: dict[str, Any]) -> str:
    """One comparison as a paragraph: what was measured, the gate, a line per variant, the ratio."""
    shape = ", ".join(f"{name} {value}" for name, value in result["shape"].items())
    worst = max(result["errors"].values())
    lines = [f"\n{result['what']} ({shape})", f"  largest relative error against float64: {worst:.1e}"]
    for name, seconds in result["seconds"].items():
        low, high = (1000 * value for value in seconds["quartiles"])
        lines.append(f"  {name:<42}{1000 * seconds['median']:8.1f} ms   (quartiles {low:.1f} to {high:.1f})")
    lines.append(f"  ratio ours / torch's, median of {result['rounds']} rounds: {result['ratio']:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
