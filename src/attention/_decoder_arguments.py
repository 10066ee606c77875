# Generated: given, with nothing to write in it. As it was handed out: e6aba237c210
"""Argument checks of the decoder: given to learners, no part of any exercise."""

import math
import numbers
from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from ._argument_kinds import check_callable, check_generator
from ._arguments import (
    check_batched,
    check_floating,
    check_integers,
    check_key_mask,
    check_length,
    check_width,
)


def check_decoder_inputs(
    layer: nn.Module,
    x: Tensor,
    memory: Tensor | None,
    key_mask: Tensor | None,
    memory_key_mask: Tensor | None,
    cache: object | None,
) -> None:
    """TypeError or ValueError unless a decoder layer, which has d_model and reads_memory, can be called with these."""
    given = {"x": x} if memory is None else {"x": x, "memory": memory}
    check_floating(**given)
    check_batched(**given)
    check_width(layer, int(layer.d_model), **given)
    if layer.reads_memory and memory is None:
        raise ValueError("memory must be given to a layer made with cross_attention=True, got None")
    if memory is not None and not layer.reads_memory:
        raise ValueError("memory must be None for a layer without cross-attention; make it with cross_attention=True")
    if memory is not None and len(memory) != len(x):
        raise ValueError(f"x and memory must have one batch size, got {tuple(x.shape)} and {tuple(memory.shape)}")
    if key_mask is not None:
        check_key_mask(key_mask, x.shape[:2])
    if memory_key_mask is not None:
        if memory is None:
            raise ValueError("memory_key_mask must be None without a memory, whose padding it would name")
        check_key_mask(memory_key_mask, memory.shape[:2], name="memory_key_mask")
    if cache is not None:
        _check_cache(cache)
        if key_mask is not None:
            raise ValueError("key_mask must be None with a cache, which keeps no padding; leave one of the two out")


def check_caches(caches: Sequence[Any] | None, num_layers: int) -> int:
    """How many positions the caches hold; ValueError unless there is one for each layer, all of one length."""
    if caches is None:
        return 0
    if not isinstance(caches, Sequence):
        raise TypeError(f"caches must be a list with one for each layer, got {type(caches).__name__}; try new_caches()")
    for cache in caches:
        _check_cache(cache)
    different = len(set(map(id, caches)))
    if len(caches) != num_layers or different != num_layers:
        came = f"{len(caches)}, {different} of them different"
        raise ValueError(f"caches must be {num_layers}, one of its own for each layer, got {came}")
    lengths = {int(cache.length) for cache in caches}
    if len(lengths) > 1:
        raise ValueError(f"caches must hold as many positions each, got {sorted(lengths)}; start with new_caches()")
    return lengths.pop()


def _check_cache(cache: object) -> None:
    if not (hasattr(cache, "append") and hasattr(cache, "length")):
        raise TypeError(f"a cache must be a KeyValueCache, one for each layer, got {type(cache).__name__}")


def check_logits(logits: Tensor, *sampling: Any) -> None:
    """TypeError unless logits are floating; ValueError unless they are (..., V) with V at least 1.

    sampling: temperature, top_k, top_p, where they are to be checked as well
    """
    check_floating(logits=logits)
    if logits.dim() == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must be (..., V), V at least 1, got shape {tuple(logits.shape)}")
    if sampling:
        check_sampling(*sampling)


def check_targets(logits: Tensor, token_ids: Tensor, key_mask: Tensor | None) -> None:
    """TypeError or ValueError unless logits are (B, L, V), token_ids and key_mask (B, L)."""
    check_logits(logits)
    check_batched(logits=logits)
    check_integers("token_ids", token_ids, dimensions=2, below=logits.shape[-1])
    if token_ids.shape != logits.shape[:2]:
        raise ValueError(f"token_ids must be (B, L) = {tuple(logits.shape[:2])}, got {tuple(token_ids.shape)}")
    if key_mask is not None:
        check_key_mask(key_mask, token_ids.shape)


def check_sampling(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """TypeError unless these are numbers; ValueError unless temperature >= 0, top_k >= 1 and 0 < top_p <= 1."""
    for name, value, needed in (("temperature", temperature, True), ("top_p", top_p, False)):
        wrong = isinstance(value, bool) or not isinstance(value, numbers.Real)
        if wrong and (needed or value is not None):
            raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not 0.0 <= temperature < math.inf:
        raise ValueError(f"temperature must be at least 0, and finite, got {temperature}")
    if top_k is not None:
        check_length("top_k", top_k, least=1)
    if top_p is not None and not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p must be a share above 0, at most 1, got {top_p}; None keeps all")


def check_prompt(
    prompt: Tensor,
    max_new_tokens: int,
    end_id: int | None,
    *sampling: Any,
    model: object = ...,
    generator: object = None,
) -> None:
    """TypeError unless prompt and numbers are integers; ValueError unless prompt is (B, P), P at least 1.

    sampling: temperature, top_k, top_p, where they are to be checked as well
    model: likewise, where it is given; it can be called. generator: None or torch's
    """
    if model is not ...:
        check_callable("model", model, "from ids (B, L) to logits (B, L, V)")
    check_generator(generator)
    check_integers("prompt", prompt, dimensions=2)
    if prompt.shape[1] == 0:
        raise ValueError(f"prompt must have at least one token in each row, got shape {tuple(prompt.shape)}")
    check_length("max_new_tokens", max_new_tokens)
    if end_id is not None:
        check_length("end_id", end_id)
    if sampling:
        check_sampling(*sampling)
