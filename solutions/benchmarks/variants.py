"""The ways to compute self-attention that are compared, each by its name."""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention.efficient import blockwise_attention, triton_attention

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
NAMES = {SDPBackend.FLASH_ATTENTION: "flash", SDPBackend.EFFICIENT_ATTENTION: "efficient"}
NAMES |= {SDPBackend.CUDNN_ATTENTION: "cudnn", SDPBackend.MATH: "math"}

MOST_SHAPES = 200  # that one function is compiled for, with and without gradients, in one run


@dataclass(frozen=True)
class Variant:
    """One way: `make(causal)` gives the function of query, key and value, all (B, H, L, d).

    backend: what runs, or None where SDPA picks it; backward: whether it has a backward pass
    only: "causal" where it makes sense with the mask alone; compiled: its first call at a shape takes long
    lengths: those that it is measured at on a CPU, None for all
    """

    make: Callable[[bool], Attend]
    backend: str | None = "eager"
    backward: bool = True
    only: str | None = None
    compiled: bool = False
    lengths: tuple[int, ...] | None = None


def naive(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    """softmax(QKᵀ/√d)V with the whole (L, L) matrix, a dense mask where causal."""
    return _written_out(query, key, value, _mask(query.shape[-2], query.device) if causal else None)


def _written_out(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ value


def loop_over_heads(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    """The naive form, one head after the other."""
    heads = [naive(query[:, h], key[:, h], value[:, h], causal) for h in range(query.shape[1])]
    return torch.stack(heads, dim=1)


def online_softmax(query: Tensor, key: Tensor, value: Tensor, causal: bool, size: int = 256) -> Tensor:
    """Running largest score and sum over blocks of keys, for all queries at once; autograd keeps every block."""
    scaled, length = query / math.sqrt(query.shape[-1]), query.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), torch.finfo(query.dtype).min)
    total, summed = torch.zeros_like(largest), torch.zeros_like(query)
    for start in range(0, length, size):
        scores = scaled @ key[..., start : start + size, :].mT  # (B, H, L, size)
        if causal:
            positions = torch.arange(length, device=query.device)
            hidden = positions[start : start + size] > positions[:, None]
            scores = scores.masked_fill(hidden, -torch.inf)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True)).detach()
        weights, shrink = torch.exp(scores - new), torch.exp(largest - new)
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        summed = summed * shrink + weights @ value[..., start : start + size, :]
        largest = new
    return summed / total


def sdpa(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=causal)


def sdpa_dense_mask(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    mask = _mask(query.shape[-2], query.device)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def sdpa_by(backend: SDPBackend, query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    with sdpa_kernel(backend):
        return sdpa(query, key, value, causal)


def picked(query: Tensor, key: Tensor, value: Tensor, causal: bool, dense_mask: bool = False) -> str:
    """The backend that SDPA takes for these by itself."""
    mask = _mask(query.shape[-2], query.device) if dense_mask else None
    choice = torch._fused_sdp_choice(query, key, value, mask, 0.0, causal and not dense_mask)
    return next((name for backend, name in NAMES.items() if int(backend.value) == choice), "none")


def on_cpu() -> dict[str, Variant]:
    """All that are compared on a CPU; the compiled ones where there is a C++ compiler."""
    found = {
        "naive": _bound(naive),
        "loop over heads": _bound(loop_over_heads),
        "online softmax, autograd": _bound(online_softmax),
        "blockwise 128": _blockwise(128),
        "blockwise 256": _blockwise(256),
        "SDPA": _bound(sdpa, backend=None),
        "SDPA, dense mask": Variant(lambda _: sdpa_dense_mask, backend=None, only="causal"),
    }
    if shutil.which("g++") or shutil.which("clang++"):
        found["compile(naive)"] = Variant(_compiled_naive, "compiled", compiled=True, lengths=(1024, 4096))
        # Its error grows with √L (torch 2.13.0, float32: 1.1 times naive's at 512, 1.5 at 1024, 2.1 at 2048, 2.9 at
        # 4096; naive's and SDPA's stay level), so that from 2048 on the gate refuses it.
        found["flex"] = Variant(_flex, "compiled", backward=False, compiled=True, lengths=(512, 1024))
    return found


def on_gpu() -> dict[str, Variant]:
    """All that are compared on a CUDA GPU; a backend that refuses the inputs is left out when it is called."""
    found = {"naive": _bound(naive), "SDPA": _bound(sdpa, backend=None)}
    for backend, name in NAMES.items():
        found[f"SDPA {name}"] = _bound(partial(sdpa_by, backend), backend=name)
    found["flex"] = Variant(_flex, "compiled", compiled=True)
    if importlib.util.find_spec("triton"):
        found["triton"] = _bound(triton_attention, backend="triton", compiled=True)
    return found


def _bound(function: Callable[..., Tensor], **more: object) -> Variant:
    return Variant(lambda causal: lambda query, key, value: function(query, key, value, causal), **more)


def _blockwise(size: int) -> Variant:
    return _bound(lambda query, key, value, causal: blockwise_attention(query, key, value, size, causal))


@contextmanager
def _compiling() -> Iterator[None]:
    """torch.compile in one process, and for every shape: beyond 8 it would call what is not compiled, silently."""
    import torch._dynamo.config as graphs
    import torch._inductor.config as code

    alone = code.patch(compile_threads=1)  # no pool of workers beside what is measured
    with alone, graphs.patch(recompile_limit=MOST_SHAPES, fail_on_recompile_limit_hit=True):
        yield


def _compiled_naive(causal: bool) -> Attend:
    compiled = torch.compile(_written_out, dynamic=False)

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        with _compiling():
            return compiled(query, key, value, _mask(query.shape[-2], query.device) if causal else None)

    return attend


def _flex(causal: bool) -> Attend:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)

    @lru_cache(maxsize=1)
    def blocks(length: int, device: torch.device) -> object:
        return create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device=str(device))

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        with _compiling():
            mask = blocks(query.shape[-2], query.device) if causal else None
            return compiled(query, key, value, block_mask=mask)

    return attend


@lru_cache(maxsize=1)
def _mask(length: int, device: torch.device) -> Tensor:
    """bool (L, L), True = attend; kept, so that making it is not timed."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
