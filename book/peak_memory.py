"""Measures the peak memory of attention, each case in a process of its own: `python peak_memory.py`.

Reads a JSON list of [form, length, backward] from standard input, prints one of MiB above the inputs, in that order.
Two heads of 64 features, float32, one thread. Works where processes can be forked: Linux, macOS, Colab.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from attention import efficient

__all__ = ["FORMS", "HEADS", "WIDTH", "naive_attention", "one_pass_attention", "peak_memory"]

HEADS, WIDTH = 2, 64


def naive_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """softmax(Q Kᵀ / √d) V, written as the formula is read: (..., L, d), (..., S, d), (..., S, d_v) → (..., L, d_v)."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # (..., L, S)
    return scores.softmax(dim=-1) @ value


def one_pass_attention(query: Tensor, key: Tensor, value: Tensor, size: int = 128) -> Tensor:
    """The same from one pass over blocks of keys, with plain operations: autograd finds the backward pass."""
    largest = query.new_full((*query.shape[:-1], 1), -math.inf)  # m, (..., L, 1)
    total = torch.zeros_like(largest)  # ℓ, (..., L, 1)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])  # a, (..., L, d_v)
    for keys, values in zip(key.split(size, dim=-2), value.split(size, dim=-2), strict=True):
        scores = query @ keys.mT / math.sqrt(query.shape[-1])  # (..., L, size)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True)).detach()
        shrink, weights = torch.exp(largest - new), torch.exp(scores - new)
        total = shrink * total + weights.sum(dim=-1, keepdim=True)
        summed = shrink * summed + weights @ values
        largest = new
    return summed / total


def peak_memory(cases: Sequence[tuple[str, int, bool]]) -> list[float]:
    """MiB that each case (form, length, backward) needs at its peak beyond its inputs and a warmed-up torch."""
    folders = [str(Path(efficient.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders)), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve())]
    done = subprocess.run(
        command, input=json.dumps(list(cases)), capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(done.stdout)


FORMS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "naive": naive_attention,
    "one pass, autograd": one_pass_attention,
    "blockwise": efficient.blockwise_attention,
    "SDPA": F.scaled_dot_product_attention,
}


def _measure(name: str, length: int, backward: bool) -> float:
    def run(size: int) -> None:
        tensors = torch.randn(3, 1, HEADS, size, WIDTH, generator=torch.Generator().manual_seed(0))
        inputs = [tensor.requires_grad_(backward) for tensor in tensors]
        before.append(_peak())
        output = FORMS[name](*inputs)
        if backward:
            output.sum().backward()

    before: list[int] = []
    run(256)  # what torch loads and keeps at its first call is no part of the answer
    run(length)
    return (_peak() - before[-1]) / 2**20


def _peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Answer the cases of standard input, each in a child that has done nothing before."""
    torch.set_num_threads(1)
    answers = []
    for case in json.load(sys.stdin):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, json.dumps(_measure(*case)).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            answers.append(json.load(pipe))
        os.waitpid(child, 0)
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
