"""Right masks in other styles."""

import torch

from . import alternative


@alternative("masks.causal_mask")
def loops(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    rows = [[j <= i + key_length - query_length for j in range(key_length)] for i in range(query_length)]
    return torch.tensor(rows, dtype=torch.bool, device=device).reshape(query_length, key_length)


@alternative("masks.causal_mask")
def triangle(query_length, key_length=None, device=None):
    if key_length is None:
        key_length = query_length
    ones = torch.ones(query_length, key_length, dtype=torch.bool, device=device)
    return torch.tril(ones, diagonal=key_length - query_length)


@alternative("masks.causal_mask")
def negated_upper_triangle(query_length, key_length=None, device=None):
    key_length = key_length if key_length is not None else query_length
    hidden = torch.zeros(query_length, key_length, device=device)
    return ~(hidden + torch.triu(torch.ones_like(hidden), key_length - query_length + 1)).bool()
