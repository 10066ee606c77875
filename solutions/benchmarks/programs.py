"""How many programs of the Triton kernel share a multiprocessor, and what that does to the time of the forward pass.

Blocks and warps stay as they are; a deeper prefetch (stages) takes more shared memory, and fewer programs fit.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .attention_rows import Group, time_group
from .cost import Shape, flops
from .variants import Variant

Choice = tuple[int, int, int, int]  # rows, columns, warps, stages
CHOICES: dict[int, tuple[Choice, ...]] = {
    64: ((64, 128, 4, 2), (64, 128, 4, 3), (64, 128, 4, 4)),
    128: ((64, 64, 4, 2), (64, 64, 4, 3), (64, 64, 4, 4)),
}
REGISTERS = 65536  # of a multiprocessor
RESERVED = 1024  # bytes of shared memory that CUDA takes for each program


@dataclass
class Chosen:
    """A kernel with one choice in place of the tuner; `compiled` is what the compiler made of it, after a call."""

    kernel: Any
    choice: Choice
    compiled: Any = None

    def __getitem__(self, grid: Callable[[dict[str, int]], tuple[int, ...]]) -> Callable[..., None]:
        from attention import _triton_attention as kernels

        rows, columns, warps, stages = self.choice
        sizes = {"ROWS": rows, "COLUMNS": columns}

        def start(*given: Any, **named: Any) -> None:
            kernels._fit(dict(zip(self.kernel.fn.arg_names, given, strict=False)) | named | sizes)
            self.compiled = self.kernel.fn[grid(sizes)](*given, **named, **sizes, num_warps=warps, num_stages=stages)

        return start


def attend(chosen: Chosen, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The forward pass of `triton_attention` with this choice, no mask."""
    from attention import _triton_attention as kernels

    output, log_sum = torch.empty_like(query), query.new_empty(query.shape[:3], dtype=torch.float32)
    kernels._launch(chosen, "ROWS", False, query, key, value, output, log_sum)
    return output


def side_by_side(registers: int, shared_bytes: int, warps: int, shared_there: int) -> int:
    """How many programs fit on a multiprocessor.

    registers: of a thread; shared_bytes: that a program takes; shared_there: bytes that the multiprocessor has
    """
    per_thread = -(-registers // 8) * 8  # registers are handed out by eight
    return min(REGISTERS // (per_thread * 32 * warps), shared_there // (shared_bytes + RESERVED))


def run(quick: bool = False) -> dict[str, Any] | None:
    """Gate, then time, each choice in turn, full attention in bfloat16; None on GPUs before Hopper or without Triton.

    Raises GateError where an answer is wrong; then nothing is timed.
    """
    if not importlib.util.find_spec("triton") or torch.cuda.get_device_capability() < (9, 0):
        return None
    length, rounds = (512, 3) if quick else (16384, 40)
    rows = [row for width in CHOICES for row in _measured(Shape(1, 2048 // width, length, width), rounds)]
    return {"what": "programs side by side on a multiprocessor", "length": length, "dtype": "bfloat16", "rows": rows}


def _measured(shape: Shape, rounds: int) -> list[dict[str, Any]]:
    from attention import _triton_attention as kernels

    made = {f"choice {choice}": Chosen(kernels._forward, choice) for choice in CHOICES[shape.width]}
    forms = {
        name: Variant(lambda _, chosen=chosen: partial(attend, chosen), "triton", backward=False)
        for name, chosen in made.items()
    }
    group = Group(shape, False, "bfloat16", tuple(made), least=rounds, most=rounds, device="cuda")
    return [_row(shape, made[row["variant"]], row) for row in time_group(group, forms) if row["seconds"]]


def _row(shape: Shape, chosen: Chosen, timed: dict[str, Any]) -> dict[str, Any]:
    registers, taken = chosen.compiled.n_regs, chosen.compiled.metadata.shared
    there = torch.cuda.get_device_properties(0).shared_memory_per_multiprocessor
    return {
        "width": shape.width,
        "choice": chosen.choice,
        "registers": registers,
        "shared_bytes": taken,
        "programs": side_by_side(registers, taken, chosen.choice[2], there),
        "seconds": timed["seconds"],
        "flop_per_s": flops(shape, False, "forward") / timed["seconds"]["median"],
        "error": timed["error"],
    }


def as_text(result: dict[str, Any]) -> str:
    """A line per choice: registers, shared memory, programs, time."""
    lines = [f"\n{result['what']}, forward, full, L {result['length']}, {result['dtype']}"]
    for row in result["rows"]:
        sizes = "rows {}, columns {}, warps {}, stages {}".format(*row["choice"])
        lines.append(
            f"  d {row['width']:<4} {sizes}: {row['registers']} registers, {row['shared_bytes'] / 1024:.0f} KiB, "
            f"{row['programs']} side by side, {row['flop_per_s'] / 1e12:.0f} TFLOP/s"
        )
    return "\n".join(lines)
