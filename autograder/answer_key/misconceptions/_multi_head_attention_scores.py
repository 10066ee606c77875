"""Wrong multi-head attention whose scores or weights are computed by another rule."""

import math

import torch
from torch.nn import functional as F

from . import misconception
from ._multi_head import Parts, masked_softmax

wrong = misconception("multi_head.MultiHeadAttention")


def hidden(scores, mask, value=-math.inf):
    """The scores with `value` at the forbidden keys."""
    return scores if mask is None else scores.masked_fill(~mask, value)


# The scale


@wrong
class root_of_the_number_of_heads(Parts):
    def score(self, q, k):
        return q @ k.mT / math.sqrt(self.num_heads)


@wrong
class divided_by_d_model(Parts):
    def score(self, q, k):
        return q @ k.mT / self.d_model


@wrong
class multiplied_by_the_root(Parts):
    def score(self, q, k):
        return q @ k.mT * math.sqrt(self.d_head)


@wrong
class root_of_the_number_of_keys(Parts):
    def score(self, q, k):
        return q @ k.mT / math.sqrt(k.shape[-2])


@wrong
class weights_divided_instead(Parts):
    def score(self, q, k):
        return q @ k.mT

    def weigh(self, scores, mask):
        return super().weigh(scores, mask) / math.sqrt(self.d_head)


@wrong
class cosines_for_scores(Parts):
    def score(self, q, k):
        return F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT


# What makes weights of scores


@wrong
class no_softmax(Parts):
    def weigh(self, scores, mask):
        return hidden(scores, mask, 0.0)


@wrong
class softmax_twice(Parts):
    def weigh(self, scores, mask):
        return super().weigh(super().weigh(scores, mask), mask)


@wrong
class sigmoid_for_softmax(Parts):
    def weigh(self, scores, mask):
        return hidden(scores, mask).sigmoid()


@wrong
class scores_divided_by_their_sum(Parts):
    def weigh(self, scores, mask):
        kept = hidden(scores, mask, 0.0)
        return kept / kept.sum(dim=-1, keepdim=True)


@wrong
class softmax_over_the_batch(Parts):
    def weigh(self, scores, mask):
        return torch.nan_to_num(hidden(scores, mask).softmax(dim=0))


@wrong
class softmax_over_queries_and_keys(Parts):
    def weigh(self, scores, mask):
        return torch.nan_to_num(hidden(scores, mask).flatten(-2).softmax(dim=-1)).view_as(scores)


@wrong
class exponentials_overflow(Parts):
    def weigh(self, scores, mask):
        powers = scores.exp() if mask is None else scores.exp() * mask
        total = powers.sum(dim=-1, keepdim=True)
        return powers / torch.where(total == 0, torch.ones_like(total), total)


@wrong
class causal_by_itself(Parts):
    def weigh(self, scores, mask):
        past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        return super().weigh(scores, past if mask is None else mask & past)


@wrong
class causal_where_square(Parts):
    def weigh(self, scores, mask):
        if scores.shape[-2] != scores.shape[-1]:
            return super().weigh(scores, mask)
        past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        return super().weigh(scores, past if mask is None else mask & past)


# What stands for a forbidden score


@wrong
class minus_1e4(Parts):
    def weigh(self, scores, mask):
        return hidden(scores, mask, -1e4).softmax(dim=-1)


@wrong
class minus_1e9_added(Parts):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores + ~mask * -1e9).softmax(dim=-1)


@wrong
class lowest_number(Parts):
    def weigh(self, scores, mask):
        return hidden(scores, mask, torch.finfo(scores.dtype).min).softmax(dim=-1)


@wrong
class lowest_float32(Parts):
    def weigh(self, scores, mask):
        return hidden(scores, mask, torch.finfo(torch.float32).min).softmax(dim=-1)


@wrong
class minus_1e9_then_zeroed(Parts):
    def weigh(self, scores, mask):
        weights = hidden(scores, mask, -1e9).softmax(dim=-1)
        return weights if mask is None else weights * mask


@wrong
class minus_1e4_then_zeroed(Parts):
    def weigh(self, scores, mask):
        weights = hidden(scores, mask, -1e4).softmax(dim=-1)
        return weights if mask is None else weights * mask


@wrong
class fully_masked_row_unmasked(Parts):
    def weigh(self, scores, mask):
        if mask is not None:
            mask = mask | ~mask.any(dim=-1, keepdim=True)
        return masked_softmax(scores, mask)


@wrong
class fully_masked_row_without_bias(Parts):
    def attend(self, *arguments):
        output, weights = super().attend(*arguments)
        seen = weights.sum(dim=-1).ne(0).any(dim=1)
        return output * seen.unsqueeze(-1), weights


@wrong
class scores_multiplied_by_the_mask(Parts):
    def weigh(self, scores, mask):
        return hidden(scores, mask, 0.0).softmax(dim=-1)


@wrong
class scores_of_zero_hidden(Parts):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(dim=-1)
        scores = scores * mask
        return masked_softmax(scores, scores != 0)
