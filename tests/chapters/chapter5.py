"""What the tests of chapter 5 share: the pages' texts and small layers in float64."""

from pathlib import Path

import torch
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "chapters" / "05-multi-head.md").read_text("utf-8")
HEADS_ELSEWHERE = (BOOK / "deeper" / "heads-elsewhere.md").read_text("utf-8")
LOOP_OR_BATCH = (BOOK / "deeper" / "loop-or-batch.md").read_text("utf-8")
ONE_HEAD = (BOOK / "deeper" / "one-head.md").read_text("utf-8")
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
