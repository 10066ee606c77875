"""What readers without JavaScript see in place of <attention-cost>: three lengths at LLaMA 7B's sizes."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.cost import Shape, flops
from studies.counting import cache_bytes

ATTRIBUTES: dict[str, tuple[str, ...]] = {}


def fallback(options: Mapping[str, str]) -> str:
    """FLOPs of the products, bytes of one layer's weights and of the cache, in 16 bits."""
    rows = ""
    for length in (1024, 4096, 16384):
        shape = Shape(batch=1, heads=32, length=length, width=128)
        products = 32 * flops(shape, causal=True, pass_="forward")
        caches = "".join(f"<td>{cache_bytes(groups, length) / 2**20:,.0f} MiB</td>" for groups in (32, 8))
        rows += (
            f"<tr><th>n = {length:,}</th><td>{products / 1e12:.1f} TFLOPs</td>"
            f"<td>{shape.scores * 2 / 2**20:,.0f} MiB</td>{caches}</tr>"
        )
    return (
        "<table><caption>LLaMA 7B: 32 layers, H = 32 heads of width d = 128, 16 bits, causal. Products: 4n²d ÷ 2"
        " in each head and layer. Weights of one layer: H·n² numbers. Cache: 2·n·d numbers for each of G key heads and"
        " each layer.</caption>"
        "<tr><th>tokens</th><th>products</th><th>weights</th><th>cache, G = 32</th><th>cache, G = 8</th></tr>"
        f"{rows}</table>"
    )
