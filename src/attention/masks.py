# Generated: write your answers where it raises NotImplementedError. As it was handed out: 69b4aefd1e78
"""Boolean masks: who may attend to whom, True = attend."""

import torch
from torch import Tensor

from ._arguments import check_floating, check_integers, check_length, check_mask, checked_axis

__all__ = [
    "causal_mask",
    "combine_masks",
    "document_mask",
    "masked_softmax",
    "padding_mask",
    "sliding_window_mask",
    "to_additive",
]


def padding_mask(lengths: Tensor, max_length: int | None = None) -> Tensor:
    """mask[b, j] = j < lengths[b]: real tokens stand on the left, padding on the right.

    lengths: integer tensor (B,), the number of real tokens of each sequence
    max_length: the padded length; the largest of lengths where it is None
    Returns bool (B, max_length), True at real tokens, on the device of lengths.
    Raises ValueError for a length below 0 or above max_length, TypeError for a dtype that is not integer.
    """
    check_integers("lengths", lengths, 1)
    shortest, longest = (int(lengths.min()), int(lengths.max())) if lengths.numel() else (0, 0)
    if shortest < 0:
        raise ValueError(f"lengths must be at least 0, got {shortest}; they count the real tokens of each sequence")
    if max_length is None:
        max_length = longest
    check_length("max_length", max_length)
    if longest > max_length:
        raise ValueError(
            f"lengths must not exceed max_length {max_length}, got {longest}; truncate the sequences first"
        )
    raise NotImplementedError("exercise 4.1: The padding mask")


def causal_mask(query_length: int, key_length: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """mask[i, j] = j <= i + (S - L): nobody sees the future.

    query_length: L; key_length: S, the same as L where it is None
    Returns bool (L, S), aligned to the end: the last query sees every key. (torch's own
    `is_causal=True` is aligned to the start; the two agree where L = S.)
    Raises ValueError for a negative length, TypeError for one that is no int.
    """
    if key_length is None:
        key_length = query_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    raise NotImplementedError("exercise 4.2: The causal mask")


def sliding_window_mask(length: int, window: int, device: torch.device | str | None = None) -> Tensor:
    """mask[i, j] = i - window < j <= i: a causal mask with a short memory   (Beltagy et al. 2020).

    length: L; window: how many positions each one sees, itself included
    Returns bool (L, L): position i sees i - window + 1 … i.
    Raises ValueError for a negative length or a window below 1, TypeError for one that is no int.
    """
    check_length("length", length)
    check_length("window", window, least=1)
    raise NotImplementedError("exercise 4.3: The sliding window")


def document_mask(document_ids: Tensor) -> Tensor:
    """mask[b, i, j] = ids[b, i] == ids[b, j]: several documents packed into one row stay apart.

    document_ids: integer tensor (B, L), the document each token belongs to
    Returns bool (B, L, L), True within one document, on the device of document_ids.
    Raises ValueError for another number of axes, TypeError for a dtype that is not integer.
    """
    check_integers("document_ids", document_ids, 2)
    raise NotImplementedError("exercise 4.4: Packed documents")


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """The AND of all masks: a key is visible where every mask says so.

    masks: bool tensors that broadcast together, or None for "no restriction"
    Returns the combined bool mask, or None where every mask is None.
    Raises ValueError where the shapes do not broadcast, TypeError for a mask that is not boolean.
    """
    given = [mask for mask in masks if mask is not None]
    shapes = [tuple(mask.shape) for mask in given if isinstance(mask, Tensor)]
    try:
        common = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        raise ValueError(f"masks must broadcast together, got shapes {shapes}; add axes of length 1?") from None
    for mask in given:
        check_mask("every mask", mask, common)
    raise NotImplementedError("exercise 4.5: Masks combined")


def to_additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """0 where attention is allowed, -inf where it is not: what is added to scores before the softmax.

    mask: bool tensor of any shape, True = attend; dtype: the floating dtype of the scores
    Returns a tensor of that dtype and of the mask's shape and device.
    Raises TypeError for a mask that is not boolean or a dtype that is not floating.
    """
    check_mask("mask", mask, mask.shape if isinstance(mask, Tensor) else ())
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating-point dtype, which has -inf, got {dtype}")
    raise NotImplementedError("exercise 4.6: The additive form")


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    """softmax over the allowed entries; the others get weight zero.

    scores: floating tensor of any shape; a score of -inf counts as masked
    mask: bool, broadcastable to scores, True = attend; dim: the axis that sums to 1
    Returns weights of the shape and dtype of scores. A slice without an allowed entry gives zeros,
    and its gradient is zero, not NaN. (A NaN among the allowed scores stays visible as NaN.)
    Raises ValueError where the mask does not fit or scores have no axis dim, TypeError for a wrong dtype.
    """
    check_floating(scores=scores)
    if mask is not None:
        check_mask("mask", mask, scores.shape)
    dim = checked_axis(dim, scores)
    raise NotImplementedError("exercise 4.7: The masked softmax")
