"""Wrong windows and wrong documents, each as somebody would really write it."""

import torch

from ._given import behind_given_checks
from ._mask_loops import DOCUMENT, WINDOW, recent, same_document

# 4.3 sliding_window_mask


def distances(length):
    position = torch.arange(length)
    return position.unsqueeze(-1) - position


def by_slices(length, window, first=0):
    """Each row's own slice, from row `first` on."""
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(first, length):
        mask[i, i - window + 1 : i + 1] = True
    return mask


@behind_given_checks(WINDOW)
def negative_start_of_a_slice(length, window, device=None):
    return by_slices(length, window)


@behind_given_checks(WINDOW)
def first_positions_left_out(length, window, device=None):
    return by_slices(length, window, first=window)


@behind_given_checks(WINDOW)
def shorter_windows_left_out(length, window, device=None):
    return by_slices(length, window, first=window - 1)


@behind_given_checks(WINDOW)
def counted_back_round_the_end(length, window, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for back in range(min(window, length)):
            mask[i, i - back] = True
    return mask


@behind_given_checks(WINDOW)
def one_truth_value_asked(length, window, device=None):
    distance = distances(length)
    return 0 <= distance < window


@behind_given_checks(WINDOW)
def or_for_and(length, window, device=None):
    distance = distances(length)
    return (distance >= 0) | (distance < window)


@behind_given_checks(WINDOW)
def itself_skipped(length, window, device=None):
    distance = distances(length)
    return (distance > 0) & (distance < window)


@behind_given_checks(WINDOW)
def half_a_window(length, window, device=None):
    distance = distances(length)
    return (distance >= 0) & (distance <= window // 2)


@behind_given_checks(WINDOW)
def half_a_window_short(length, window, device=None):
    distance = distances(length)
    return (distance >= 0) & (distance < window // 2)


@behind_given_checks(WINDOW)
def older_positions_kept(length, window, device=None):
    return distances(length) >= window


@behind_given_checks(WINDOW)
def beyond_the_window(length, window, device=None):
    return distances(length) >= window - 1


@behind_given_checks(WINDOW)
def far_end_with_the_wrong_sign(length, window, device=None):
    return torch.ones(length, length, dtype=torch.bool).tril().triu(window - 1)


@behind_given_checks(WINDOW, like="far_end_with_the_wrong_sign")
def cut_off_by_tril(length, window, device=None):
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    return causal & ~causal.new_ones(length, length).tril(window)


@behind_given_checks(WINDOW)
def oldest_position_alone(length, window, device=None):
    return distances(length) == window - 1


@behind_given_checks(WINDOW)
def itself_alone(length, window, device=None):
    return distances(length) == 0


@behind_given_checks(WINDOW)
def moved_one_ahead(length, window, device=None):
    distance = distances(length)
    return (distance >= -1) & (distance < window - 1)


@behind_given_checks(WINDOW)
def next_position_visible(length, window, device=None):
    distance = distances(length)
    return (distance >= -1) & (distance < window)


@behind_given_checks(WINDOW)
def both_directions_one_wider(length, window, device=None):
    return distances(length).abs() <= window


@behind_given_checks(WINDOW)
def twice_as_wide(length, window, device=None):
    return recent(length, 2 * window)


@behind_given_checks(WINDOW)
def a_column_per_window(length, window, device=None):
    return torch.ones(length, window, dtype=torch.bool)


@behind_given_checks(WINDOW)
def window_cut_below_the_length(length, window, device=None):
    return recent(length, min(window, length - 1))


# 4.4 document_mask


@behind_given_checks(DOCUMENT)
def last_row_alone(document_ids):
    return same_document(document_ids)[-1]


@behind_given_checks(DOCUMENT)
def last_token_left_out(document_ids):
    mask = same_document(document_ids)
    mask[:, -1:] = False
    mask[:, :, -1:] = False
    return mask


@behind_given_checks(DOCUMENT)
def last_query_left_out(document_ids):
    mask = same_document(document_ids)
    mask[:, -1:] = False
    return mask


@behind_given_checks(DOCUMENT)
def itself_hidden(document_ids):
    return same_document(document_ids) & ~torch.eye(document_ids.shape[1], dtype=torch.bool)


@behind_given_checks(DOCUMENT)
def product_of_ids(document_ids):
    return (document_ids.unsqueeze(-1) * document_ids.unsqueeze(-2)) != 0


@behind_given_checks(DOCUMENT)
def lone_row_squeezed(document_ids):
    return same_document(document_ids).squeeze()


@behind_given_checks(DOCUMENT)
def rows_run_together(document_ids):
    return same_document(document_ids.reshape(1, -1))[0]


@behind_given_checks(DOCUMENT)
def later_documents_visible(document_ids):
    return document_ids.unsqueeze(-1) <= document_ids.unsqueeze(-2)


@behind_given_checks(DOCUMENT)
def ids_transposed(document_ids):
    return document_ids == document_ids.T


@behind_given_checks(DOCUMENT)
def compared_with_themselves(document_ids):
    return document_ids == document_ids.clone()


@behind_given_checks(DOCUMENT)
def batch_axes_paired(document_ids):
    return document_ids.unsqueeze(1) == document_ids.unsqueeze(0)


@behind_given_checks(DOCUMENT)
def rows_joined_by_or(document_ids):
    return same_document(document_ids).any(dim=0)


@behind_given_checks(DOCUMENT)
def neighbouring_ids_taken_for_one(document_ids):
    return (document_ids.unsqueeze(-1) - document_ids.unsqueeze(-2)).abs() <= 1


@behind_given_checks(DOCUMENT)
def negative_is_padding(document_ids):
    real = document_ids >= 0
    return same_document(document_ids) & real.unsqueeze(-1) & real.unsqueeze(-2)


@behind_given_checks(DOCUMENT)
def only_positive_ids(document_ids):
    real = document_ids > 0
    return same_document(document_ids) & real.unsqueeze(-1) & real.unsqueeze(-2)


@behind_given_checks(DOCUMENT)
def sign_of_ids_lost(document_ids):
    return same_document(document_ids.abs())


@behind_given_checks(DOCUMENT)
def ids_as_floats(document_ids):
    return same_document(document_ids.float())


@behind_given_checks(DOCUMENT)
def past_hidden(document_ids):
    return same_document(document_ids).triu()


@behind_given_checks(DOCUMENT)
def next_tokens_only(document_ids):
    position = torch.arange(document_ids.shape[1])
    return same_document(document_ids) & ((position.unsqueeze(-1) - position).abs() <= 1)


@behind_given_checks(DOCUMENT)
def ids_changed_in_place(document_ids):
    mask = same_document(document_ids)
    document_ids.unsqueeze_(-1)
    return mask
