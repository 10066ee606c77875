"""What the tests of chapter 5 share: the pages' texts and small layers in float64."""

from pathlib import Path

import torch
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention

ROOT = Path(__file__).parents[2]
#: What this module reads: every proof that imports it depends on them.
FILES = ["book/chapters/05-multi-head.md"]
FILES += [f"book/deeper/{page}.md" for page in ("heads-elsewhere", "loop-or-batch", "one-head")]
PAGE, HEADS_ELSEWHERE, LOOP_OR_BATCH, ONE_HEAD = ((ROOT / name).read_text("utf-8") for name in FILES)
ROUNDING = 1e-12  # float64, values of order 1 to 10, some hundred additions


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def worst(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


def layer_of(d_model: int, num_heads: int, seed: int = 0, **options) -> MultiHeadAttention:
    torch.manual_seed(seed)
    return MultiHeadAttention(d_model, num_heads, **options).double()


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())
