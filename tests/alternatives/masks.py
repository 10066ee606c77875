"""Right masks in other styles."""

import functools
import math

import torch

from ._given import below_given_checks

PADDING, CAUSAL, WINDOW, DOCUMENT, COMBINE, ADDITIVE, SOFTMAX = (
    "masks.padding_mask",
    "masks.causal_mask",
    "masks.sliding_window_mask",
    "masks.document_mask",
    "masks.combine_masks",
    "masks.to_additive",
    "masks.masked_softmax",
)


def table(rows, shape, device=None):
    """A boolean tensor from nested lists, also where one of them is empty."""
    return torch.tensor(rows, dtype=torch.bool, device=device).reshape(shape)


# 4.1 padding_mask


def columns(lengths, max_length):
    """How many columns a padding mask has; without a max_length the longest sequence decides."""
    return (int(lengths.max()) if len(lengths) else 0) if max_length is None else max_length


@below_given_checks(PADDING)
def padding_by_loops(lengths, max_length=None):
    max_length = columns(lengths, max_length)
    mask = torch.zeros(len(lengths), max_length, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        for j in range(length):
            mask[b, j] = True
    return mask


@below_given_checks(PADDING)
def padding_by_slices(lengths, max_length=None):
    max_length = columns(lengths, max_length)
    mask = torch.zeros((lengths.shape[0], max_length), device=lengths.device)
    for b in range(lengths.shape[0]):
        mask[b, : lengths[b]] = 1
    return mask == 1


@below_given_checks(PADDING)
def padding_by_expanded_positions(lengths, max_length=None):
    max_length = columns(lengths, max_length)
    positions = torch.arange(max_length, device=lengths.device).expand(lengths.size(0), max_length)
    return torch.lt(positions, lengths[:, None])


@below_given_checks(PADDING)
def padding_negated(lengths, max_length=None):
    max_length = columns(lengths, max_length)
    is_padding = torch.arange(max_length, device=lengths.device).unsqueeze(0) >= lengths.view(-1, 1)
    return is_padding.logical_not()


@below_given_checks(PADDING)
def padding_by_lists(lengths, max_length=None):
    max_length = columns(lengths, max_length)
    rows = [[True] * n + [False] * (max_length - n) for n in lengths.tolist()]
    return table(rows, (len(rows), max_length), lengths.device)


# 4.2 causal_mask


@below_given_checks(CAUSAL, "device")
def causal_by_loops(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    rows = [[j <= i + key_length - query_length for j in range(key_length)] for i in range(query_length)]
    return table(rows, (query_length, key_length), device)


@below_given_checks(CAUSAL, "device")
def causal_by_triangle(query_length, key_length=None, device=None):
    if key_length is None:
        key_length = query_length
    ones = torch.ones(query_length, key_length, dtype=torch.bool, device=device)
    return torch.tril(ones, diagonal=key_length - query_length)


@below_given_checks(CAUSAL, "device")
def causal_negated_upper_triangle(query_length, key_length=None, device=None):
    key_length = key_length if key_length is not None else query_length
    hidden = torch.zeros(query_length, key_length, device=device)
    return ~(hidden + torch.triu(torch.ones_like(hidden), key_length - query_length + 1)).bool()


@below_given_checks(CAUSAL, "device")
def causal_last_rows_of_the_square(query_length, key_length=None, device=None):
    key_length = key_length if key_length is not None else query_length
    longest = max(query_length, key_length)
    square = torch.ones(longest, longest, device=device).tril().bool()
    return square[longest - query_length :, longest - key_length :]


# 4.3 sliding_window_mask


@below_given_checks(WINDOW, "device")
def window_by_loops(length, window, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        for j in range(max(0, i - window + 1), i + 1):
            mask[i, j] = True
    return mask


@below_given_checks(WINDOW, "device")
def window_by_two_triangles(length, window, device=None):
    ones = torch.ones(length, length, dtype=torch.bool, device=device)
    return ones.tril() & ones.triu(1 - window)


@below_given_checks(WINDOW, "device")
def window_by_difference_of_triangles(length, window, device=None):
    ones = torch.ones((length, length), device=device)
    return (torch.tril(ones) - torch.tril(ones, -window)) > 0


@below_given_checks(WINDOW, "device")
def window_by_diagonals(length, window, device=None):
    mask = torch.zeros(length, length, device=device)
    for back in range(min(window, length)):
        mask += torch.diag(torch.ones(length - back, device=device), -back)
    return mask.bool()


@below_given_checks(WINDOW, "device")
def window_by_slices(length, window, device=None):
    mask = torch.full((length, length), False, device=device)
    for i in range(length):
        mask[i, max(i - window + 1, 0) : i + 1] = True
    return mask


# 4.4 document_mask


@below_given_checks(DOCUMENT)
def documents_by_loops(document_ids):
    rows = [[[a == b for b in row] for a in row] for row in document_ids.tolist()]
    batch, length = document_ids.shape
    return table(rows, (batch, length, length))


@below_given_checks(DOCUMENT)
def documents_by_row(document_ids):
    return torch.stack([row[:, None] == row[None, :] for row in document_ids])


@below_given_checks(DOCUMENT)
def documents_by_difference(document_ids):
    ids = document_ids.long()
    return (ids[:, :, None] - ids[:, None, :]) == 0


@below_given_checks(DOCUMENT)
def documents_by_membership(document_ids):
    """One 0/1 column per document; two tokens share one where the product is not 0."""
    batch, length = document_ids.shape
    if document_ids.numel() == 0:
        return torch.zeros(batch, length, length, dtype=torch.bool)
    member = torch.stack([document_ids == name for name in document_ids.unique()], dim=-1).float()
    return torch.einsum("bid,bjd->bij", member, member) > 0.5


@below_given_checks(DOCUMENT)
def documents_by_copies(document_ids):
    length = document_ids.size(1)
    down = document_ids.unsqueeze(2).repeat(1, 1, length)
    return torch.eq(down, down.transpose(1, 2))


# 4.5 combine_masks


@below_given_checks(COMBINE)
def combine_by_reduce(*masks):
    present = [mask for mask in masks if mask is not None]
    return functools.reduce(torch.logical_and, present) if present else None


@below_given_checks(COMBINE)
def combine_by_stacking(*masks):
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    return torch.stack(torch.broadcast_tensors(*present)).all(dim=0)


@below_given_checks(COMBINE)
def combine_by_product(*masks):
    product = None
    for mask in masks:
        if mask is not None:
            product = mask.int() if product is None else product * mask.int()
    return None if product is None else product.bool()


@below_given_checks(COMBINE)
def combine_what_is_forbidden(*masks):
    forbidden = None
    for mask in masks:
        if mask is None:
            continue
        forbidden = ~mask if forbidden is None else forbidden | ~mask
    return forbidden if forbidden is None else ~forbidden


@below_given_checks(COMBINE)
def combine_a_copy_in_place(*masks):
    present = [mask for mask in masks if mask is not None]
    if len(present) == 0:
        return None
    combined = torch.ones(torch.broadcast_shapes(*[mask.shape for mask in present]), dtype=torch.bool)
    for mask in present:
        combined &= mask
    return combined


# 4.6 to_additive


@below_given_checks(ADDITIVE)
def additive_by_logarithm(mask, dtype=torch.float32):
    return mask.to(dtype).log()


@below_given_checks(ADDITIVE)
def additive_by_where(mask, dtype=torch.float32):
    return torch.where(mask, torch.tensor(0.0, dtype=dtype), torch.tensor(float("-inf"), dtype=dtype))


@below_given_checks(ADDITIVE)
def additive_converted_at_the_end(mask, dtype=torch.float32):
    return torch.where(mask, 0.0, -math.inf).to(dtype)


@below_given_checks(ADDITIVE)
def additive_by_assignment(mask, dtype=torch.float32):
    additive = torch.full(mask.shape, -torch.inf, dtype=dtype)
    additive[mask] = 0
    return additive


@below_given_checks(ADDITIVE)
def additive_by_division(mask, dtype=torch.float32):
    """1 - 1/1 = 0 and 1 - 1/0 = -inf."""
    return 1 - 1 / mask.to(dtype)


# 4.7 masked_softmax


@below_given_checks(SOFTMAX)
def softmax_by_hand(scores, mask=None, dim=-1):
    allowed = scores != -math.inf
    if mask is not None:
        allowed = allowed & mask
    safe = torch.where(allowed, scores, 0.0)
    lowest = torch.finfo(scores.dtype).min
    largest = torch.where(allowed, scores, lowest).amax(dim=dim, keepdim=True)
    terms = torch.where(allowed, torch.exp(torch.where(allowed, safe - largest, 0.0)), 0.0)
    total = terms.sum(dim=dim, keepdim=True)
    return terms / torch.where(total > 0, total, torch.ones_like(total))


@below_given_checks(SOFTMAX)
def softmax_slice_by_slice(scores, mask=None, dim=-1):
    """Every slice on its own, the softmax over its allowed entries alone."""
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    lines, permissions = scores.movedim(dim, -1), mask.movedim(dim, -1)
    shape, length = lines.shape, lines.shape[-1]
    rows = []
    for line, permission in zip(lines.reshape(-1, length), permissions.reshape(-1, length), strict=True):
        places = (permission & (line != -math.inf)).nonzero().squeeze(-1)
        row = torch.zeros_like(line)
        if len(places) > 0:
            row = row.index_put((places,), line[places].softmax(dim=0))
        rows.append(row)
    return torch.stack(rows).reshape(shape).movedim(-1, dim) if rows else torch.zeros_like(scores)


@below_given_checks(SOFTMAX)
def softmax_of_harmless_rows(scores, mask=None, dim=-1):
    """An empty row is treated as if everything were allowed, and multiplied by zero afterwards."""
    allowed = ~torch.isneginf(scores)
    if mask is not None:
        allowed = torch.logical_and(allowed, mask)
    some = allowed.any(dim, keepdim=True)
    finite = torch.where(torch.isneginf(scores), torch.zeros_like(scores), scores)
    additive = torch.zeros_like(scores).masked_fill(some & ~allowed, -torch.inf)
    return torch.nn.functional.softmax(finite + additive, dim=dim) * some


@below_given_checks(SOFTMAX)
def softmax_by_log_sum(scores, mask=None, dim=-1):
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    empty = (scores == -torch.inf).all(dim=dim, keepdim=True)
    scores = scores.masked_fill(empty, 0.0)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=dim, keepdim=True))
    return torch.where(empty, torch.zeros_like(weights), weights)


@below_given_checks(SOFTMAX)
def softmax_in_double_precision(scores, mask=None, dim=-1):
    allowed = ~torch.isneginf(scores) if mask is None else ~torch.isneginf(scores) & mask
    wide = scores.double().masked_fill(~allowed, -torch.inf)
    wide = torch.where(allowed.any(dim, True), wide, torch.zeros_like(wide))
    return (wide.softmax(dim) * allowed).to(scores.dtype)
