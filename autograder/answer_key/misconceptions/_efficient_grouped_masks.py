"""Wrong attention with shared key heads: an axis is split, copied or left where another was meant."""

import functools

import torch

from ..reference_package import reference
from ._efficient_grouped import GROUPED, Grouped, InGroups, wrong
from ._given import behind_given_checks

attend = reference("dot_product.scaled_dot_product_attention")


@wrong
class mask_given_a_group_axis(InGroups):
    def masked(self, scores, mask, groups):
        return scores.masked_fill(~mask.unsqueeze(2), -torch.inf)


@behind_given_checks(GROUPED, like="mask_given_a_group_axis")
def given_to_attention(query, key, value, attn_mask=None):
    if attn_mask is not None:
        attn_mask = attn_mask.unsqueeze(2)
    grouped = query.unflatten(1, (key.shape[1], -1))
    output, weights = attend(grouped, key.unsqueeze(2), value.unsqueeze(2), attn_mask)
    return output.flatten(1, 2), weights.flatten(1, 2)


@functools.partial(wrong, like="groups_not_merged")
class in_the_weights_alone(InGroups):
    def results(self, output, weights, groups):
        return output.flatten(1, 2), weights


@functools.partial(wrong, like="groups_not_merged")
class in_the_output_alone(InGroups):
    def results(self, output, weights, groups):
        return output, weights.flatten(1, 2)


@wrong
class copied_along_the_positions(Grouped):
    def copies(self, x, heads):
        return x.repeat_interleave(heads // x.shape[1], dim=2)


@behind_given_checks(GROUPED, like="copied_along_the_positions")
def asked_of_attention(query, key, value, attn_mask=None):
    each = query.shape[1] // key.shape[1]
    return attend(query, key.repeat_interleave(each, dim=2), value.repeat_interleave(each, dim=2), attn_mask)


@wrong
class copied_along_the_features(Grouped):
    def copies(self, x, heads):
        return x.repeat(1, 1, 1, heads // x.shape[1]).reshape(x.shape[0], heads, *x.shape[2:])


@functools.partial(wrong, like="copied_along_the_features")
class each_feature_repeated(Grouped):
    def copies(self, x, heads):
        return x.repeat_interleave(heads // x.shape[1], dim=-1).reshape(x.shape[0], heads, *x.shape[2:])


@wrong
class mask_split_crosswise(InGroups):
    def masked(self, scores, mask, groups):
        whole = mask.expand(scores.shape[0], scores.shape[1] * scores.shape[2], *scores.shape[-2:])
        return scores.masked_fill(~whole.unflatten(1, (-1, groups)).transpose(1, 2), -torch.inf)
