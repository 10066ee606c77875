"""What attention costs: FLOPs, bytes and exponentials, with the time that follows from a machine's peaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PASSES = ("forward", "backward", "forward+backward")
TIMES_FORWARD = {"forward": 1.0, "backward": 2.5, "forward+backward": 3.5}
UNFUSED = ("naive", "loop over heads", "SDPA math")  # each operation reads and writes whole (L, L) matrices


@dataclass(frozen=True)
class Shape:
    """Self-attention's sizes: batch, heads, length (of queries and of keys), features of one head."""

    batch: int
    heads: int
    length: int
    width: int

    @property
    def scores(self) -> int:
        """The entries of all (L, L) matrices."""
        return self.batch * self.heads * self.length**2

    @property
    def features(self) -> int:
        """The entries of one of query, key, value and output."""
        return self.batch * self.heads * self.length * self.width


def flops(shape: Shape, causal: bool, pass_: str) -> float:
    """4·B·H·L²·d for the two matrix products, half of it if causal; backward 2.5 times as much (Dao et al. 2022)."""
    return 4.0 * shape.scores * shape.width * (0.5 if causal else 1.0) * TIMES_FORWARD[pass_]


def operations(variant: str, shape: Shape, causal: bool, itemsize: int) -> list[dict[str, float]]:
    """The forward pass as operations that run one after the other, each with its FLOPs, bytes and exponentials.

    Unfused: QKᵀ, scale, mask where causal, softmax, weights times V, on full matrices whether causal or not.
    Anything else: one operation that reads query, key and value once and writes the output.
    """
    matrix, features = shape.scores * itemsize, shape.features * itemsize
    if variant not in UNFUSED:
        seen = shape.scores * (0.5 if causal else 1.0)
        return [{"flops": flops(shape, causal, "forward"), "bytes": 4.0 * features, "exponentials": seen}]
    product = 2.0 * shape.scores * shape.width
    return [
        {"flops": product, "bytes": 2.0 * features + matrix, "exponentials": 0.0},
        *({"flops": float(shape.scores), "bytes": 2.0 * matrix, "exponentials": 0.0} for _ in range(1 + causal)),
        {"flops": 3.0 * shape.scores, "bytes": 2.0 * matrix, "exponentials": float(shape.scores)},
        {"flops": product, "bytes": matrix + 2.0 * features, "exponentials": 0.0},
    ]


def predicted_seconds(parts: list[dict[str, float]], peaks: Mapping[str, Any], dtype: str, device: str) -> float | None:
    """Seconds of these operations on a machine that reaches its peaks; None where a peak is not known.

    On a GPU an operation takes as long as the slowest of the three; a CPU's core does products, then exponentials.
    """
    rate = peaks["flop_per_s"].get(dtype)
    if not (rate and peaks.get("bytes_per_s") and peaks.get("exponentials_per_s")):
        return None
    total = 0.0
    for part in parts:
        products, powers = part["flops"] / rate, part["exponentials"] / peaks["exponentials_per_s"]
        busy = max(products, powers) if device == "cuda" else products + powers
        total += max(busy, part["bytes"] / peaks["bytes_per_s"])
    return total
