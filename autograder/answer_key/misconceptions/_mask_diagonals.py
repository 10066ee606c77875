"""More wrong causal masks, each as somebody would really write it."""

import torch

from ._given import behind_given_checks
from ._mask_loops import CAUSAL, past

# 4.2 causal_mask


def square(query_length, key_length):
    return torch.ones(query_length, query_length if key_length is None else key_length, dtype=torch.bool)


@behind_given_checks(CAUSAL)
def future_visible_from_the_start(query_length, key_length=None, device=None):
    return square(query_length, key_length).triu()


@behind_given_checks(CAUSAL)
def hidden_marked_from_the_start(query_length, key_length=None, device=None):
    return square(query_length, key_length).triu(1)


@behind_given_checks(CAUSAL)
def self_hidden_from_the_start(query_length, key_length=None, device=None):
    return square(query_length, key_length).tril(-1)


@behind_given_checks(CAUSAL)
def next_token_visible_from_the_start(query_length, key_length=None, device=None):
    return square(query_length, key_length).tril(1)


@behind_given_checks(CAUSAL)
def aligned_to_start_with_fewer_keys(query_length, key_length=None, device=None):
    mask = square(query_length, key_length)
    return mask.tril(max(mask.shape[1] - query_length, 0))


@behind_given_checks(CAUSAL)
def distance_without_its_sign(query_length, key_length=None, device=None):
    mask = square(query_length, key_length)
    return mask.tril(abs(mask.shape[1] - query_length))


@behind_given_checks(CAUSAL)
def lengths_exchanged(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(key_length, query_length, dtype=torch.bool).tril(key_length - query_length)


@behind_given_checks(CAUSAL)
def negative_end_of_a_slice(query_length, key_length=None, device=None):
    mask = ~square(query_length, key_length)
    for i in range(query_length):
        mask[i, : i + 1 + mask.shape[1] - query_length] = True
    return mask


@behind_given_checks(CAUSAL)
def masked_rows_opened(query_length, key_length=None, device=None):
    mask = past(query_length, key_length)
    mask[~mask.any(dim=-1)] = True
    return mask


@behind_given_checks(CAUSAL)
def first_key_always_seen(query_length, key_length=None, device=None):
    mask = past(query_length, key_length)
    mask[:, :1] = True
    return mask


@behind_given_checks(CAUSAL)
def itself_alone(query_length, key_length=None, device=None):
    mask = past(query_length, key_length)
    return mask.triu(mask.shape[1] - query_length)


@behind_given_checks(CAUSAL)
def no_keys_taken_for_none(query_length, key_length=None, device=None):
    return past(query_length, key_length or query_length)


@behind_given_checks(CAUSAL)
def first_rows_of_the_keys_square(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return square(key_length, None).tril()[:query_length]
