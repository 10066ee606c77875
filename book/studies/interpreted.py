"""Runs the Triton kernels on the CPU through Triton's interpreter, in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from attention import efficient

__all__ = ["run"]

CASES = ((1, 16), (50, 16), (64, 32), (200, 64))  # length, d


def run() -> dict[str, Any]:
    """The errors against float64 of the page's kernel and of naive attention in float16, with the seconds it took."""
    if importlib.util.find_spec("triton") is None:
        raise RuntimeError("Triton is not installed: pip install triton, on Linux")
    folders = [Path(efficient.__file__).resolve().parents[1], Path(__file__).resolve().parents[1]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "studies.interpreted"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def _main() -> None:
    import torch

    from attention.efficient import triton_attention
    from benchmarks.gate import error
    from peak_memory import naive_attention
    from studies.counting import generator
    from studies.small_kernel import attend

    torch.set_num_threads(1)
    rows = []
    for length, d in CASES:
        inputs = torch.randn(3, 2, length, d, generator=generator(16)).half()
        exact = naive_attention(*inputs.double())
        start = time.process_time()
        small = attend(*inputs)
        took = time.process_time() - start
        whole = triton_attention(*inputs[:, None])[0]
        rows.append([length, d, *(error(y, exact) for y in (small, whole, naive_attention(*inputs))), took])
    print(json.dumps(rows))


if __name__ == "__main__":
    _main()
