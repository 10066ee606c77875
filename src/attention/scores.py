# Generated: write your answers where it raises NotImplementedError. As it was handed out: 5e4ad6f89b87
"""The four score functions: how well a query fits a key."""

import math

import torch
from torch import Tensor

from ._arguments import check_batch, check_floating, check_same_width, check_sequence

__all__ = ["additive_scores", "bilinear_scores", "dot_scores", "scaled_dot_scores"]


def additive_scores(query: Tensor, key: Tensor, w1: Tensor, w2: Tensor) -> Tensor:
    """w2ᵀ tanh(W1 [q; k])   (Bahdanau et al. 2015, appendix A.1.2, there with W1 = [W_a, U_a]).

    query: (..., L, d_q); key: (..., S, d_k); w1: (d_hidden, d_q + d_k); w2: (d_hidden,)
    Returns scores (..., L, S).
    Raises ValueError where the shapes do not fit, TypeError for a dtype that is not floating or not shared.
    """
    check_floating(query=query, key=key, w1=w1, w2=w2)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    d_q, d_k = query.shape[-1], key.shape[-1]
    if w1.dim() != 2 or w1.shape[1] != d_q + d_k:
        raise ValueError(f"w1 must be (d_hidden, d_q + d_k) = (d_hidden, {d_q + d_k}), got {tuple(w1.shape)}")
    if w2.shape != w1.shape[:1]:
        raise ValueError(f"w2 must be (d_hidden,) = ({w1.shape[0]},), got {tuple(w2.shape)}")
    raise NotImplementedError("exercise 3.1: Additive scores")


def bilinear_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """qᵀ W k   (Luong et al. 2015, "general").

    query: (..., L, d_q); key: (..., S, d_k); weight: (d_q, d_k)
    Returns scores (..., L, S).
    Raises ValueError where the shapes do not fit, TypeError for a dtype that is not floating or not shared.
    """
    check_floating(query=query, key=key, weight=weight)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    expected = (query.shape[-1], key.shape[-1])
    if weight.shape != expected:
        raise ValueError(f"weight must be (d_q, d_k) = {expected}, got {tuple(weight.shape)}; transpose it?")
    raise NotImplementedError("exercise 3.2: Bilinear scores")


def dot_scores(query: Tensor, key: Tensor) -> Tensor:
    """qᵀ k   (Luong et al. 2015, "dot").

    query: (..., L, d_k); key: (..., S, d_k)
    Returns scores (..., L, S).
    Raises ValueError where the shapes do not fit, TypeError for a dtype that is not floating or not shared.
    """
    check_floating(query=query, key=key)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    check_same_width(query, key)
    raise NotImplementedError("exercise 3.3: Dot-product scores")


def scaled_dot_scores(query: Tensor, key: Tensor) -> Tensor:
    """qᵀ k / √d_k   (Vaswani et al. 2017, section 3.2.1).

    query: (..., L, d_k); key: (..., S, d_k)
    Returns scores (..., L, S).
    Raises ValueError where the shapes do not fit, TypeError for a dtype that is not floating or not shared.
    """
    check_floating(query=query, key=key)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    check_same_width(query, key)
    raise NotImplementedError("exercise 3.4: Scaled dot-product scores")
