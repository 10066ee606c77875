"""Times the naive form in a process that gets new memory for each large matrix, and in one that keeps what it had.

Each is a process of its own: glibc is told by variables of the environment, at the start, to keep memory that is freed.
Linux with glibc only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import torch

from benchmarks.exact import checked_rows
from benchmarks.gate import pass_gate
from peak_memory import naive_attention
from studies.counting import generator
from studies.efficient import cpu_seconds, new_memory

__all__ = ["LENGTHS", "in_a_process", "run"]

LENGTHS, HEADS, WIDTH = (1024, 1448, 2048, 2896, 4096), 8, 64
DTYPES = (torch.float32, torch.float64)
KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}


def run() -> list[dict[str, Any]]:
    """A row per kind of memory and length: CPU nanoseconds and bytes of new pages per score, forward, one thread."""
    return [{"kept": kept} | row for kept in (False, True) for row in in_a_process("kept_memory", "rows", kept)]


def in_a_process(module: str, function: str, kept: bool) -> Any:
    """What a function of a module of these studies returns, as JSON has it, in a process of its own with one thread.

    kept: whether that process keeps the memory that it frees
    """
    code = f"import json, torch; torch.set_num_threads(1); from studies import {module}"
    command = [sys.executable, "-c", f"{code}; print(json.dumps({module}.{function}()))"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | (KEEP if kept else {})
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def rows(rounds: int = 9) -> list[dict[str, float]]:
    """The rows of this process, each length in its fastest round."""
    found = []
    for length in LENGTHS:
        q, k, v = torch.randn(3, 1, HEADS, length, WIDTH, generator=generator(length)).unbind()
        some = checked_rows(length)
        baseline, exact = (naive_attention(q[..., some, :].to(kind), k.to(kind), v.to(kind)) for kind in DTYPES)
        answer = naive_attention(q, k, v)[..., some, :]
        pass_gate("naive", {"output": answer}, {"output": baseline}, {"output": exact})
        seconds = cpu_seconds({"naive": lambda q=q, k=k, v=v: naive_attention(q, k, v)}, rounds)["naive"]
        fresh = new_memory(lambda q=q, k=k, v=v: naive_attention(q, k, v))
        scores = HEADS * length**2
        found.append({"length": length, "nanoseconds": seconds / scores * 1e9, "new_bytes": fresh * 2**20 / scores})
    return found
