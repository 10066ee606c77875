"""Asks torch which kernel its attention runs, and what its layers compute attention with."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention.masks import causal_mask
from attention.multi_head import merge_heads, split_heads
from studies.counting import MatrixWork, generator
from studies.efficient import checked_seconds, cpu_seconds

__all__ = ["BACKENDS", "attends_by", "can_run", "layers", "picked", "situations"]

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}
Situation = tuple[Any, dict[str, Any]]


def can_run(backend: SDPBackend, *tensors: Tensor, **options: Any) -> bool:
    """Whether SDPA runs when it may use this backend alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on a GPU the reasons come as warnings
        try:
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(*tensors, **options)
        except RuntimeError:
            return False
    return True


def picked(*tensors: Tensor, **options: Any) -> str:
    """The backend that SDPA takes when all are allowed, read off the operations that ran."""
    with MatrixWork() as ran, torch.no_grad():
        F.scaled_dot_product_attention(*tensors, **options)
    fused = [name for name in ran.names if name.startswith("_scaled_dot_product")]
    return next((kind for kind in ("flash", "efficient", "cudnn") for name in fused if kind in name), "math")


def attends_by(run: Callable[[], object]) -> str:
    """What a call computes attention with: SDPA raises where no backend is allowed that fits, so one is allowed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reasons for each refusal
        for allowed, answer in (("cudnn", "a matrix of its own"), ("flash", "SDPA, flash")):
            try:
                with sdpa_kernel(BACKENDS[allowed]):
                    run()
                return answer
            except RuntimeError:
                continue
    return "SDPA, math"


def situations(device: str) -> dict[str, Situation]:
    """Inputs and options whose kernel is of interest."""
    q4 = torch.randn(3, 1, 2, 64, 32, generator=generator(8)).to(device)
    allowed = torch.ones(64, 64, dtype=torch.bool, device=device).tril()
    return {
        "float32": (q4, {}),
        "float64": (q4.double(), {}),
        "float16": (q4.half(), {}),
        "bfloat16": (q4.bfloat16(), {}),
        "is_causal": (q4, {"is_causal": True}),
        "boolean mask": (q4, {"attn_mask": allowed}),
        "mask that needs a gradient": (q4, {"attn_mask": torch.zeros(64, 64, device=device).requires_grad_()}),
        "dropout 0.1": (q4, {"dropout_p": 0.1}),
        "three dimensions": (q4[:, 0], {}),
        "values narrower than keys": ((*q4[:2], q4[2, ..., :16]), {}),
        "features not adjacent": (q4.mT.contiguous().mT, {}),
    }


class Layers:
    """Torch's attention layers beside lean ones with the same weights, at one length."""

    def __init__(self, length: int = 1024, d_model: int = 256, heads: int = 4) -> None:
        torch.manual_seed(9)
        self.mha = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.coder = nn.TransformerEncoderLayer(d_model, heads, 4 * d_model, dropout=0.1, batch_first=True)
        self.tokens = torch.randn(1, length, d_model, generator=generator(9))
        self.hidden = ~causal_mask(length)  # these layers' masks are True where attending is forbidden

    @staticmethod
    def attend(x: Tensor, mha: nn.MultiheadAttention, causal: bool) -> Tensor:
        """Self-attention with the layer's weights, through SDPA: (B, L, d_model) → the same."""
        packed = F.linear(x, mha.in_proj_weight, mha.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (split_heads(part, mha.num_heads) for part in packed)
        return mha.out_proj(merge_heads(F.scaled_dot_product_attention(q, k, v, is_causal=causal)))

    @classmethod
    def lean(cls, x: Tensor, layer: nn.TransformerEncoderLayer, causal: bool) -> Tensor:
        """A post-norm encoder layer without dropout, through SDPA."""
        x = layer.norm1(x + cls.attend(x, layer.self_attn, causal))
        return layer.norm2(x + layer.linear2(torch.relu(layer.linear1(x))))

    def encode(self, causal: bool = False, p: float | None = None, fast: bool = True) -> Tensor:
        """The encoder layer: in training with dropout p, or (None) in evaluation, torch's fast path allowed or not."""
        for module in self.coder.modules():
            if isinstance(module, nn.Dropout):
                module.p = p or 0.0
        self.coder.self_attn.dropout = p or 0.0
        torch.backends.mha.set_fastpath_enabled(fast)
        try:
            mask = {"src_mask": self.hidden, "is_causal": True} if causal else {}
            return self.coder.train(p is not None)(self.tokens, **mask)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)

    def attention(self, causal: bool = False, train: bool = True, weights: bool = False) -> Tensor:
        """nn.MultiheadAttention's output; with a causal mask the flag excludes the weights."""
        options: dict[str, Any] = {"attn_mask": self.hidden, "is_causal": not weights} if causal else {}
        mha, x = self.mha.train(train), self.tokens
        return mha(x, x, x, need_weights=weights, **options)[0]

    def runs(self, causal: bool) -> Mapping[str, Mapping[str, Callable[[], Tensor]]]:
        """For each kind the lean form first, then torch's ways."""
        return {
            "attention": {
                "fused attention": lambda: self.attend(self.tokens, self.mha, causal),
                "MultiheadAttention, training, no weights": lambda: self.attention(causal),
                "MultiheadAttention, training": lambda: self.attention(causal, weights=True),
                "MultiheadAttention, eval, no weights": lambda: self.attention(causal, train=False),
            },
            "layer": {
                "fused layer": lambda: self.lean(self.tokens, self.coder, causal),
                "EncoderLayer, training, dropout 0": lambda: self.encode(causal, 0.0),
                "EncoderLayer, eval, no fast path": lambda: self.encode(causal, None, False),
                "EncoderLayer, eval": lambda: self.encode(causal),
            },
        }

    def exact(self, kind: str, causal: bool) -> Tensor:
        """The lean form's answer in float64."""
        if kind == "attention":
            return self.attend(self.tokens.double(), copy.deepcopy(self.mha).double(), causal)
        return self.lean(self.tokens.double(), copy.deepcopy(self.coder).double(), causal)


def layers(rounds: int = 3, length: int = 1024) -> dict[str, tuple[str, list[float]]]:
    """Name → what it attends by, and its CPU time as a multiple of the lean form's: full, causal."""
    those, found = Layers(length), {}
    with torch.no_grad():
        for causal in (False, True):
            for kind, runs in those.runs(causal).items():
                base = next(iter(runs))
                times = checked_seconds(runs, those.exact(kind, causal), runs[base](), rounds)
                if kind == "layer":  # with dropout no two answers agree: the gate has passed the call with dropout 0
                    dropped = {"EncoderLayer, training, dropout 0.1": lambda causal=causal: those.encode(causal, 0.1)}
                    times |= cpu_seconds(dropped, rounds)
                    runs = runs | dropped
                for name, seconds in times.items():
                    how, ratios = found.setdefault(name, (attends_by(runs[name]), []))
                    ratios.append(seconds / times[base])
    return found
