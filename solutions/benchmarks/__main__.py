"""The command line: `python -m benchmarks`, in the folder `solutions` or with it on the path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from . import multi_head
from .environment import environment
from .gate import GateError


@click.command()
@click.option("--quick", is_flag=True, help="A few rounds: shows that it runs; its figures mean little.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write everything as JSON.")
def main(quick: bool, out: Path | None) -> None:
    """Time the reference against torch's own layers. Whatever is timed has been checked against float64 before."""
    try:
        results = [multi_head.run(quick)]
    except GateError as error:
        raise click.ClickException(f"not timed, for it is wrong: {error}") from None
    found = {"environment": environment(), "quick": quick, "results": results}
    click.echo(", ".join(f"{name} {value}" for name, value in found["environment"].items()))
    for result in results:
        click.echo(as_text(result))
    if out:
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def as_text(result: dict[str, Any]) -> str:
    """One result as a paragraph: what was measured, the gate, a line per variant, the ratio."""
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
