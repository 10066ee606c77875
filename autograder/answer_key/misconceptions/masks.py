"""Wrong masks, each as somebody would really write it."""

import math

import torch

from . import (  # the module's wrong answers fill several files
    _mask_bands,  # noqa: F401
    _mask_combinations,  # noqa: F401
    _mask_devices,  # noqa: F401
    _mask_diagonals,  # noqa: F401
    _mask_forms,  # noqa: F401
    _mask_loops,  # noqa: F401
    _masked_softmax,  # noqa: F401
    _masked_softmax_forms,  # noqa: F401
    _masked_softmax_values,  # noqa: F401
    misconception,
)
from ._given import behind_given_checks, refuse_bad_arguments

PADDING, CAUSAL, WINDOW, DOCUMENT = (
    f"masks.{name}" for name in ("padding_mask", "causal_mask", "sliding_window_mask", "document_mask")
)


# 4.1 padding_mask


def real_tokens(lengths, max_length=None):
    max_length = int(lengths.max()) if max_length is None else max_length
    return torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(-1)


@behind_given_checks(PADDING)
def true_at_padding(lengths, max_length=None):
    return ~real_tokens(lengths, max_length)


@behind_given_checks(PADDING)
def one_too_many(lengths, max_length=None):
    max_length = int(lengths.max()) if max_length is None else max_length
    return torch.arange(max_length, device=lengths.device) <= lengths.unsqueeze(-1)


@behind_given_checks(PADDING)
def one_too_few(lengths, max_length=None):
    max_length = int(lengths.max()) if max_length is None else max_length
    return torch.arange(max_length, device=lengths.device) < lengths.long().unsqueeze(-1) - 1


@behind_given_checks(PADDING)
def padding_on_the_left(lengths, max_length=None):
    return real_tokens(lengths, max_length).flip(-1)


@behind_given_checks(PADDING)
def max_length_ignored(lengths, max_length=None):
    return real_tokens(lengths)


@behind_given_checks(PADDING)
def a_column_per_sequence(lengths, max_length=None):
    return torch.arange(len(lengths), device=lengths.device) < lengths.unsqueeze(-1)


@behind_given_checks(PADDING)
def positions_in_rows(lengths, max_length=None):
    return real_tokens(lengths, max_length).mT


@behind_given_checks(PADDING)
def last_token_alone(lengths, max_length=None):
    max_length = int(lengths.max()) if max_length is None else max_length
    return torch.arange(max_length, device=lengths.device) == lengths.long().unsqueeze(-1) - 1


@behind_given_checks(PADDING)
def pairs_of_tokens(lengths, max_length=None):
    real = real_tokens(lengths, max_length)
    return real.unsqueeze(-1) & real.unsqueeze(-2)


@behind_given_checks(PADDING)
def ones_and_zeros(lengths, max_length=None):
    return real_tokens(lengths, max_length).long()


@misconception(PADDING)
def given_checks_removed(lengths, max_length=None):
    return real_tokens(lengths, max_length)


# What goes wrong in the same way in three exercises


def past(query_length, key_length=None, device=None, shift=0):
    """Where query i may see key j; shift moves the diagonal."""
    key_length = query_length if key_length is None else key_length
    ones = torch.ones(query_length, key_length, dtype=torch.bool, device=device)
    return ones.tril(key_length - query_length + shift)


def distances(length, device=None):
    """(L, L): the position of the query minus that of the key."""
    position = torch.arange(length, device=device)
    return position.unsqueeze(-1) - position


def recent(length, window, device=None):
    distance = distances(length, device)
    return (distance >= 0) & (distance < window)


def same_document(document_ids):
    return document_ids.unsqueeze(-1) == document_ids.unsqueeze(-2)


def true_means_hidden(mask):
    return ~mask


def numbers_instead_of_booleans(mask):
    return mask.float()


def additive_instead_of_boolean(mask):
    return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, -math.inf)


def _spoil(exercise, right, change):
    @behind_given_checks(exercise, change.__name__)
    def wrong(*args, **kwargs):
        return change(right(*args, **kwargs))


for _exercise, _right in ((CAUSAL, past), (WINDOW, recent), (DOCUMENT, same_document)):
    for _change in (true_means_hidden, numbers_instead_of_booleans):
        _spoil(_exercise, _right, _change)
_spoil(CAUSAL, past, additive_instead_of_boolean)


# 4.2 causal_mask


@behind_given_checks(CAUSAL)
def future_visible(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).triu(key_length - query_length)


@behind_given_checks(CAUSAL)
def self_hidden(query_length, key_length=None, device=None):
    return past(query_length, key_length, shift=-1)


@behind_given_checks(CAUSAL)
def next_token_visible(query_length, key_length=None, device=None):
    return past(query_length, key_length, shift=1)


@behind_given_checks(CAUSAL)
def aligned_to_start(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).tril()


@behind_given_checks(CAUSAL)
def shifted_the_wrong_way(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool).tril(query_length - key_length)


@behind_given_checks(CAUSAL)
def keys_in_rows(query_length, key_length=None, device=None):
    return past(query_length, key_length).mT


@behind_given_checks(CAUSAL)
def key_length_ignored(query_length, key_length=None, device=None):
    return past(query_length)


@misconception(CAUSAL)
def device_ignored(query_length, key_length=None, device=None):
    refuse_bad_arguments(CAUSAL, query_length, key_length)
    return past(query_length, key_length)


# 4.3 sliding_window_mask


@behind_given_checks(WINDOW)
def window_besides_itself(length, window, device=None):
    distance = distances(length)
    return (distance >= 0) & (distance <= window)


@behind_given_checks(WINDOW)
def window_too_short(length, window, device=None):
    distance = distances(length)
    return (distance >= 0) & (distance < window - 1)


@behind_given_checks(WINDOW)
def itself_left_out(length, window, device=None):
    distance = distances(length)
    return (distance > 0) & (distance <= window)


@behind_given_checks(WINDOW)
def both_directions(length, window, device=None):
    return distances(length).abs() < window


@behind_given_checks(WINDOW)
def centred(length, window, device=None):
    return distances(length).abs() <= window // 2


@behind_given_checks(WINDOW)
def looks_ahead(length, window, device=None):
    return recent(length, window).mT


@behind_given_checks(WINDOW)
def future_not_hidden(length, window, device=None):
    return distances(length) < window


@behind_given_checks(WINDOW)
def whole_past_visible(length, window, device=None):
    return past(length)


@behind_given_checks(WINDOW)
def fixed_blocks(length, window, device=None):
    block = torch.arange(length) // window
    return block.unsqueeze(-1) == block


@behind_given_checks(WINDOW)
def causal_fixed_blocks(length, window, device=None):
    block = torch.arange(length) // window
    return (block.unsqueeze(-1) == block).tril()


@misconception(WINDOW)
def device_not_passed_on(length, window, device=None):
    refuse_bad_arguments(WINDOW, length, window)
    return recent(length, window)


# 4.4 document_mask


@behind_given_checks(DOCUMENT)
def first_document_only(document_ids):
    in_first = document_ids == document_ids[:, :1]
    return in_first.unsqueeze(-1) & in_first.unsqueeze(-2)


@behind_given_checks(DOCUMENT)
def causal_as_well(document_ids):
    return same_document(document_ids).tril()


@behind_given_checks(DOCUMENT)
def tokens_instead_of_pairs(document_ids):
    return document_ids == document_ids[:, :1]


@behind_given_checks(DOCUMENT)
def batch_axis_lost(document_ids):
    return document_ids.unsqueeze(-1) == document_ids


@behind_given_checks(DOCUMENT)
def first_row_for_all(document_ids):
    return same_document(document_ids[:1]).expand(len(document_ids), -1, -1)


@behind_given_checks(DOCUMENT)
def neighbours_only(document_ids):
    starts = document_ids[:, 1:] != document_ids[:, :-1]
    runs = torch.cat([torch.zeros_like(starts[:, :1]), starts], dim=-1).cumsum(dim=-1)
    return same_document(runs)


@behind_given_checks(DOCUMENT)
def zero_is_padding(document_ids):
    real = document_ids != 0
    return same_document(document_ids) & real.unsqueeze(-1) & real.unsqueeze(-2)


@behind_given_checks(DOCUMENT)
def earlier_documents_visible(document_ids):
    return document_ids.unsqueeze(-1) >= document_ids.unsqueeze(-2)
