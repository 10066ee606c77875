"""Wrong masks that loops, slices, axes and dtypes lead to, each as somebody would really write it."""

import math

import torch

from ._given import behind_given_checks

PADDING, CAUSAL, WINDOW, DOCUMENT = (
    f"masks.{name}" for name in ("padding_mask", "causal_mask", "sliding_window_mask", "document_mask")
)

# What goes wrong in the same way in several exercises: what becomes of a right mask


def real_tokens(lengths, max_length=None):
    max_length = (int(lengths.max()) if len(lengths) else 0) if max_length is None else max_length
    return torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(-1)


def past(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool, device=device).tril(key_length - query_length)


def recent(length, window, device=None):
    position = torch.arange(length, device=device)
    distance = position.unsqueeze(-1) - position
    return (distance >= 0) & (distance < window)


def same_document(document_ids):
    return document_ids.unsqueeze(-1) == document_ids.unsqueeze(-2)


def floats_for_booleans(mask):
    return mask.float()


def integers_for_booleans(mask):
    return mask.long()


def small_integers_for_booleans(mask):
    return mask.int()


def bytes_for_booleans(mask):
    return mask.to(torch.uint8)


def additive_instead_of_boolean(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -math.inf)


def minus_1e9_instead_of_boolean(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -1e9)


def an_axis_in_front(mask):
    return mask.unsqueeze(0)


def two_axes_in_front(mask):
    return mask[None, None]


def an_axis_for_heads(mask):
    return mask.unsqueeze(1)


def axes_for_heads_and_queries(mask):
    return mask[:, None, None, :]


def last_row_left_out(mask):
    mask[-1:] = False
    return mask


def first_row_left_out(mask):
    mask[:1] = False
    return mask


def returned_in_the_loop(mask):
    mask[1:] = False
    return mask


def one_list_for_all_rows(mask):
    return mask.any(dim=0).expand(mask.shape)


def everything_visible(mask):
    return torch.ones_like(mask)


NUMBERS = (small_integers_for_booleans, bytes_for_booleans)
ROWS = (last_row_left_out, first_row_left_out, returned_in_the_loop)
CHANGES = {
    PADDING: (
        floats_for_booleans,
        additive_instead_of_boolean,
        an_axis_for_heads,
        axes_for_heads_and_queries,
        one_list_for_all_rows,
        everything_visible,
        *NUMBERS,
        *ROWS,
    ),
    CAUSAL: (
        integers_for_booleans,
        minus_1e9_instead_of_boolean,
        everything_visible,
        an_axis_in_front,
        two_axes_in_front,
        *NUMBERS,
        *ROWS,
    ),
    WINDOW: (
        integers_for_booleans,
        additive_instead_of_boolean,
        an_axis_in_front,
        two_axes_in_front,
        *NUMBERS,
        *ROWS,
    ),
    DOCUMENT: (
        integers_for_booleans,
        additive_instead_of_boolean,
        an_axis_for_heads,
        returned_in_the_loop,
        everything_visible,
        *NUMBERS,
    ),
}
RIGHT = {PADDING: real_tokens, CAUSAL: past, WINDOW: recent, DOCUMENT: same_document}


def _spoil(exercise, change):
    @behind_given_checks(exercise, change.__name__)
    def wrong(*args, **kwargs):
        return change(RIGHT[exercise](*args, **kwargs))


for _exercise, _changes in CHANGES.items():
    for _change in _changes:
        _spoil(_exercise, _change)


# 4.1 padding_mask


def columns(lengths, max_length):
    return (int(lengths.max()) if len(lengths) else 0) if max_length is None else max_length


@behind_given_checks(PADDING)
def first_length_for_all(lengths, max_length=None):
    return real_tokens(lengths[:1], columns(lengths, max_length)).expand(len(lengths), -1)


@behind_given_checks(PADDING)
def full_sentence_emptied(lengths, max_length=None):
    max_length = columns(lengths, max_length)
    mask = torch.ones(len(lengths), max_length, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        mask[b, -(max_length - length) :] = False
    return mask


@behind_given_checks(PADDING)
def empty_sentence_shown(lengths, max_length=None):
    mask = real_tokens(lengths, max_length)
    mask[lengths == 0] = True
    return mask


@behind_given_checks(PADDING)
def first_position_always_real(lengths, max_length=None):
    mask = real_tokens(lengths, max_length)
    mask[:, :1] = True
    return mask


@behind_given_checks(PADDING)
def lengths_not_upright(lengths, max_length=None):
    return torch.arange(columns(lengths, max_length), device=lengths.device) < lengths


@behind_given_checks(PADDING, like="lengths_not_upright")
def lengths_in_front(lengths, max_length=None):
    return lengths > torch.arange(columns(lengths, max_length), device=lengths.device)


@behind_given_checks(PADDING)
def one_length_expected(lengths, max_length=None):
    return torch.arange(columns(lengths, max_length), device=lengths.device) < lengths.item()


@behind_given_checks(PADDING)
def one_column_too_many(lengths, max_length=None):
    return real_tokens(lengths, columns(lengths, max_length) + 1)


@behind_given_checks(PADDING)
def last_column_missing(lengths, max_length=None):
    return real_tokens(lengths, columns(lengths, max_length))[:, :-1]


@behind_given_checks(PADDING)
def lengths_taken_for_tokens(lengths, max_length=None):
    return lengths != 0


@behind_given_checks(PADDING)
def first_sentence_alone(lengths, max_length=None):
    return real_tokens(lengths[:1], columns(lengths, max_length)).flatten()


@behind_given_checks(PADDING)
def lengths_changed_in_place(lengths, max_length=None):
    mask = real_tokens(lengths, max_length)
    lengths -= 1
    return mask
