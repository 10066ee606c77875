"""More wrong ways from scores and a mask to weights."""

import math

import torch
from torch.nn import functional as F

from ._dot_product_steps import ATTENTION, hidden, scores_of
from ._given import behind_given_checks


def right(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    return hidden(scores, mask).masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(~mask, 0.0)


def filled(number, erased=False):
    def weigh(scores, mask):
        chosen = torch.finfo(scores.dtype).min if number is None else number
        weights = scores.masked_fill(~mask, chosen).softmax(dim=-1)
        return weights * mask if erased else weights

    return weigh


def minus_1e4_and_empty_rows_erased(scores, mask):
    return scores.masked_fill(~mask, -1e4).softmax(dim=-1) * mask.any(dim=-1, keepdim=True)


def minus_1e4_added(scores, mask):
    return (scores + (~mask).to(scores.dtype) * -1e4).softmax(dim=-1)


def empty_row_left_uniform(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    return hidden(scores, mask).masked_fill(empty, 0.0).softmax(dim=-1)


def empty_row_given_a_key(scores, mask, keys=slice(-1, None)):
    allowed = mask.expand(scores.shape).clone()
    allowed[..., keys] |= ~allowed.any(dim=-1, keepdim=True)
    return right(scores, allowed)


def empty_row_given_the_first_key(scores, mask):
    return empty_row_given_a_key(scores, mask, slice(1))


def empty_row_given_all_keys(scores, mask):
    return empty_row_given_a_key(scores, mask, slice(None))


def first_mask_for_all(scores, mask):
    return right(scores, mask[:1] if mask.dim() > 2 else mask)


def mask_squeezed(scores, mask):
    return right(scores, mask.squeeze())


def an_axis_added_to_the_mask(scores, mask):
    return right(scores, mask.unsqueeze(1))


def mask_turned(scores, mask):
    return right(scores, mask.mT)


def one_truth_value_asked(scores, mask):
    return right(scores, mask) if mask else scores.softmax(dim=-1)


def exponentials_overflow(scores, mask):
    terms = hidden(scores, mask).exp()
    total = terms.sum(dim=-1, keepdim=True)
    return terms / total.masked_fill(total == 0, 1.0)


def plus_infinity(scores, mask):
    return scores.masked_fill(~mask, math.inf).softmax(dim=-1)


def zero_taken_for_forbidden(scores, mask):
    kept = scores * mask
    return right(kept, (kept != 0).expand(scores.shape))


def nan_repaired_in_place(scores, mask):
    weights = hidden(scores, mask).softmax(dim=-1)
    weights[weights.isnan()] = 0.0
    return weights


def infinity_times_the_mask(scores, mask):
    return torch.nan_to_num((scores + mask.to(scores.dtype) * -torch.inf).softmax(dim=-1))


def infinity_times_zero_repaired(scores, mask):
    return torch.nan_to_num((scores + (~mask).to(scores.dtype) * -torch.inf).softmax(dim=-1))


def first_mask_whatever_its_axes(scores, mask):
    return right(scores, mask if mask.dim() == 2 else mask[0])


WEIGHED = {
    "infinity_times_zero/of_the_mask": infinity_times_the_mask,
    "infinity_times_zero/repaired": infinity_times_zero_repaired,
    "first_mask_for_all/whatever_its_axes": first_mask_whatever_its_axes,
    "empty_row_given_a_key/the_first": empty_row_given_the_first_key,
    "empty_row_given_a_key/all": empty_row_given_all_keys,
    "minus_1e4": filled(-1e4),
    "minus_1e4/empty_rows_erased": minus_1e4_and_empty_rows_erased,
    "erased_after_minus_1e9": filled(-1e9, erased=True),
    "erased_after_minus_1e4": filled(-1e4, erased=True),
    "erased_after_the_smallest_number": filled(None, erased=True),
    **{
        weigh.__name__: weigh
        for weigh in (
            minus_1e4_added,
            empty_row_left_uniform,
            empty_row_given_a_key,
            first_mask_for_all,
            mask_squeezed,
            an_axis_added_to_the_mask,
            mask_turned,
            one_truth_value_asked,
            exponentials_overflow,
            plus_infinity,
            zero_taken_for_forbidden,
            nan_repaired_in_place,
        )
    },
}


def _with_mask(name, weigh, then=lambda output, weights: (output, weights)):
    like, _, form = name.rpartition("/")

    @behind_given_checks(ATTENTION, form, like)
    def wrongly_masked(query, key, value, attn_mask=None, dropout_p=0.0):
        scores = scores_of(query, key)
        weights = scores.softmax(dim=-1) if attn_mask is None else weigh(scores, attn_mask)
        output = F.dropout(weights, dropout_p) @ value
        return (output, weights) if attn_mask is None else then(output, weights)


for _name, _weigh in WEIGHED.items():
    _with_mask(_name, _weigh)
_with_mask(
    "output_repaired_alone",
    lambda scores, mask: hidden(scores, mask).softmax(dim=-1),
    lambda output, weights: (
        torch.nan_to_num(output),
        weights,
    ),
)
_with_mask(
    "one_empty_row_empties_all",
    lambda scores, mask: right(scores, mask) if mask.any(dim=-1).all() else torch.zeros_like(right(scores, mask)),
)
_with_mask("nothing_with_a_mask", right, lambda output, weights: None)
