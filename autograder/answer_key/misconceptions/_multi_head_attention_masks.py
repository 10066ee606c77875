"""Wrong multi-head attention that masks other keys than it should."""

import math

import torch

from . import misconception
from ._multi_head import Parts

wrong = misconception("multi_head.MultiHeadAttention")


@wrong
class masks_ignored(Parts):
    def join(self, attn_mask, key_mask):
        return None


@wrong
class key_mask_ignored(Parts):
    def join(self, attn_mask, key_mask):
        return attn_mask


@wrong
class both_masks_turned_round(Parts):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else ~mask)


@wrong
class key_mask_turned_round(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(attn_mask, None if key_mask is None else ~key_mask)


@wrong
class attn_mask_turned_round(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(None if attn_mask is None else ~attn_mask, key_mask)


@wrong
class key_mask_on_the_queries(Parts):
    def join(self, attn_mask, key_mask):
        if key_mask is None:
            return attn_mask
        rows = key_mask[:, None, :, None]
        return rows if attn_mask is None else attn_mask & rows


@wrong
class key_mask_without_new_axes(Parts):
    def join(self, attn_mask, key_mask):
        if key_mask is None:
            return attn_mask
        return key_mask if attn_mask is None else attn_mask & key_mask


@wrong
class key_mask_with_one_axis(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(attn_mask, None) if key_mask is None else self.with_one(attn_mask, key_mask.unsqueeze(1))

    @staticmethod
    def with_one(attn_mask, key_mask):
        return key_mask if attn_mask is None else attn_mask & key_mask


@wrong
class attn_mask_gets_an_axis(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(None if attn_mask is None else attn_mask.unsqueeze(1), key_mask)


@wrong
class either_mask_suffices(Parts):
    def join(self, attn_mask, key_mask):
        if attn_mask is None or key_mask is None:
            return super().join(attn_mask, key_mask)
        return attn_mask | key_mask[:, None, None, :]


@wrong
class key_mask_replaces_attn_mask(Parts):
    def join(self, attn_mask, key_mask):
        return attn_mask if key_mask is None else key_mask[:, None, None, :]


@wrong
class attn_mask_replaces_key_mask(Parts):
    def join(self, attn_mask, key_mask):
        return attn_mask if attn_mask is not None else super().join(None, key_mask)


@wrong
class masks_joined_in_place(Parts):
    def join(self, attn_mask, key_mask):
        if attn_mask is None or key_mask is None:
            return super().join(attn_mask, key_mask)
        attn_mask &= key_mask[:, None, None, :]
        return attn_mask


@wrong
class masked_after_softmax(Parts):
    def weigh(self, scores, mask):
        weights = scores.softmax(dim=-1)
        return weights if mask is None else weights * mask


@wrong
class minus_1e9(Parts):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(dim=-1)


@wrong
class empty_row_nan(Parts):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(dim=-1)


@wrong
class nan_replaced_afterwards(Parts):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(dim=-1)
        added = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -math.inf)
        return torch.nan_to_num((scores + added).softmax(dim=-1))
