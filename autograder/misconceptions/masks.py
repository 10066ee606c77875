"""Wrong masks, each as somebody would really write it."""

import torch

from . import misconception


@misconception("masks.causal_mask")
def future_visible(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).triu(key_length - query_length)


@misconception("masks.causal_mask")
def self_hidden(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).tril(key_length - query_length - 1)


@misconception("masks.causal_mask")
def true_means_hidden(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).triu(key_length - query_length + 1)


@misconception("masks.causal_mask")
def aligned_to_start(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).tril()


@misconception("masks.causal_mask")
def key_length_ignored(query_length, key_length=None, device=None):
    return torch.ones(query_length, query_length, dtype=torch.bool).tril()


@misconception("masks.causal_mask")
def numbers_instead_of_booleans(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length).tril(key_length - query_length)
