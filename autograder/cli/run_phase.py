"""Runs one phase of `make` and tells what it took: `python -I run_phase.py LABEL COMMAND…`, at the end `--summary`.

It is run before anything is installed, so that it needs Python alone. The seconds of the phases of one `make` are
gathered in the file that the variable PHASES names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


def run(label: str, command: list[str]) -> int:
    """Run a command with a line before and after it; returns its exit status."""
    print(f"\n== {label}", flush=True)
    started = time.monotonic()
    status = subprocess.run(command, check=False).returncode
    seconds = time.monotonic() - started
    print(f"== {label}: {'done in' if status == 0 else 'failed after'} {seconds:.0f} s", flush=True)
    if "PHASES" in os.environ:
        with open(os.environ["PHASES"], "a", encoding="utf-8") as file:
            file.write(f"{seconds:.1f} {label}\n")
    return status


def summary() -> None:
    """Print the seconds of each phase that ran, and remove the file that gathered them."""
    file = Path(os.environ["PHASES"])
    phases = [line.split(" ", 1) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    print("\n== What it took")
    for seconds, label in [*phases, (str(sum(float(seconds) for seconds, _ in phases)), "together")]:
        print(f"{float(seconds):7.0f} s  {label}")
    file.unlink(missing_ok=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--summary"]:
        summary()
    else:
        raise SystemExit(run(sys.argv[1], sys.argv[2:]))
