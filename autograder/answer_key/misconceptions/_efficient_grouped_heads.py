"""Wrong attention with shared key heads: another scale, another form of the result, another mask."""

import functools
import math

import torch

from ..reference_package import reference
from ._efficient_grouped import GROUPED, Grouped, weigh, wrong
from ._given import behind_given_checks

attend = reference("dot_product.scaled_dot_product_attention")


@wrong
class multiplied_by_root(Grouped):
    def scale(self, key):
        return math.sqrt(key.shape[-1])


@wrong
class root_of_head_count(Grouped):
    def keys(self, key, heads):
        self.heads = heads
        return super().keys(key, heads)

    def scale(self, key):
        return 1 / math.sqrt(self.heads)


@wrong
class last_head_for_all(Grouped):
    def copies(self, x, heads):
        return x[:, -1:]


@wrong
class key_heads_averaged(Grouped):
    def copies(self, x, heads):
        return x.mean(dim=1, keepdim=True)


@wrong
class queries_averaged(Grouped):
    def answer(self, query, key, value, attn_mask):
        each = query.shape[1] // key.shape[1]
        query = self.joined(query.unflatten(1, (key.shape[1], each))).repeat_interleave(each, dim=1)
        return super().answer(query, key, value, attn_mask)

    def joined(self, queries):
        return queries.mean(dim=2)


@wrong
class queries_summed(queries_averaged):
    def joined(self, queries):
        return queries.sum(dim=2)


@wrong
class heads_behind_queries(Grouped):
    def results(self, output, weights, groups):
        return output.transpose(1, 2), weights


@wrong
class heads_merged(Grouped):
    def results(self, output, weights, groups):
        return output.transpose(1, 2).flatten(2), weights


@wrong
class outputs_summed_over_groups(Grouped):
    def results(self, output, weights, groups):
        return output.unflatten(1, (groups, -1)).sum(dim=2), weights


@wrong
class weights_averaged_over_heads(Grouped):
    def results(self, output, weights, groups):
        return output, weights.mean(dim=1)


@wrong
class scores_returned(Grouped):
    def weights(self, scores):
        self.scores = scores
        return super().weights(scores)

    def results(self, output, weights, groups):
        return output, self.scores


@wrong
class softmax_over_heads(Grouped):
    def weights(self, scores):
        empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
        return scores.masked_fill(empty, 0.0).softmax(dim=1).masked_fill(empty, 0.0)


@wrong
class mask_of_the_first_example(Grouped):
    def masked(self, scores, mask, groups):
        return super().masked(scores, mask[0] if mask.dim() == 4 else mask, groups)


@wrong
class mask_of_the_first_head(Grouped):
    def masked(self, scores, mask, groups):
        first = mask[:, :1] if mask.dim() == 4 else mask[:1] if mask.dim() == 3 else mask
        return super().masked(scores, first, groups)


@wrong
class mask_given_an_axis(Grouped):
    def masked(self, scores, mask, groups):
        return super().masked(scores, mask.unsqueeze(1), groups)


@wrong
class mask_added(Grouped):
    def masked(self, scores, mask, groups):
        return scores + mask


@wrong
class scores_multiplied_by_mask(Grouped):
    def masked(self, scores, mask, groups):
        return scores * mask


@wrong
class renormalised_after_softmax(Grouped):
    def masked(self, scores, mask, groups):
        self.mask = mask
        return scores

    def weights(self, scores):
        weights = weigh(scores) * getattr(self, "mask", 1)
        total = weights.sum(dim=-1, keepdim=True)
        return weights / total.where(total != 0, 1.0)


@wrong
class future_hidden(Grouped):
    def weights(self, scores):
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return super().weights(scores.masked_fill(future, -torch.inf))


@wrong
class weights_detached(Grouped):
    def results(self, output, weights, groups):
        return output, weights.detach()


@wrong
class values_detached(Grouped):
    def values(self, value, heads):
        return super().values(value.detach(), heads)


@wrong
class keys_detached(Grouped):
    def keys(self, key, heads):
        return super().keys(key.detach(), heads)


@wrong
class widened_to_float64(Grouped):
    def answer(self, query, key, value, attn_mask):
        return super().answer(query.double(), key.double(), value.double(), attn_mask)


@wrong
class weights_in_float32(Grouped):
    def results(self, output, weights, groups):
        return output, weights.float()


@behind_given_checks(GROUPED)
def copied_by_the_number_of_groups(query, key, value, attn_mask=None):
    groups = key.shape[1]
    return attend(query, key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1), attn_mask)


@behind_given_checks(GROUPED)
def values_not_copied(query, key, value, attn_mask=None):
    return attend(query, key.repeat_interleave(query.shape[1] // key.shape[1], dim=1), value, attn_mask)


@behind_given_checks(GROUPED, like="left_to_broadcasting")
def asked_of_attention(query, key, value, attn_mask=None):
    return attend(query, key, value, attn_mask)


@wrong
class weights_of_the_first_head_of_each_group(Grouped):
    def results(self, output, weights, groups):
        return output, weights[:, :: weights.shape[1] // groups]


@wrong
class unfolded_in_another_order(Grouped):
    """The queries of a group's heads are laid behind each other, and taken apart as if positions came first."""

    def results(self, output, weights, groups):
        batch, heads, length = weights.shape[:3]
        size = heads // groups
        return tuple(
            x.reshape(batch, groups, length, size, -1).transpose(2, 3).reshape(batch, heads, length, -1)
            for x in (output, weights)
        )


@wrong
class mask_reshaped_as_it_came(Grouped):
    def masked(self, scores, mask, groups):
        batch, heads, length, keys = scores.shape
        mask = mask.reshape(batch, groups, heads // groups, length, keys)
        return super().masked(scores, mask.flatten(1, 2), groups)


@wrong
class first_key_head_for_all(Grouped):
    """Of the keys alone."""

    def keys(self, key, heads):
        return key[:, :1].expand(-1, heads, -1, -1)


@functools.partial(wrong, like="divided_by_groups")
class as_far_as_there_are_heads(Grouped):
    """Head h // G, as far as there are as many."""

    def copies(self, x, heads):
        groups = x.shape[1]
        return x[:, [min(head // groups, groups - 1) for head in range(heads)]]
