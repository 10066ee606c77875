"""Wrong attention with shared key heads, each with the argument checks that the stub gives."""

import math

import torch

from ._given import behind_given_checks

GROUPED = "efficient.grouped_query_attention"


def weigh(scores):
    """The softmax, zeros where every score is -inf."""
    empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)


class Grouped:
    """The right answer in pieces that a subclass replaces: every query head gets a copy of its key and value head."""

    def answer(self, query, key, value, attn_mask):
        heads = query.shape[1]
        keys, values = self.keys(key, heads), self.values(value, heads)
        scores = query @ keys.mT * self.scale(key)
        if attn_mask is not None:
            scores = self.masked(scores, attn_mask, key.shape[1])
        weights = self.weights(scores)
        return self.results(weights @ values, weights, key.shape[1])

    def keys(self, key, heads):
        return self.copies(key, heads)

    def values(self, value, heads):
        return self.copies(value, heads)

    def copies(self, x, heads):
        return x.repeat_interleave(heads // x.shape[1], dim=1)

    def scale(self, key):
        return 1 / math.sqrt(key.shape[-1])

    def masked(self, scores, mask, groups):
        return scores.masked_fill(~mask, -torch.inf)

    def weights(self, scores):
        return weigh(scores)

    def results(self, output, weights, groups):
        return output, weights


def wrong(kind, like=""):
    """Register a subclass."""

    @behind_given_checks(GROUPED, kind.__name__, like)
    def function(query, key, value, attn_mask=None):
        return kind().answer(query, key, value, attn_mask)

    return kind


def tiled(x, heads):
    return x.repeat(1, heads // x.shape[1], 1, 1)


@wrong
class heads_dealt_out(Grouped):
    def copies(self, x, heads):
        return tiled(x, heads)


@wrong
class values_dealt_out(Grouped):
    def values(self, value, heads):
        return tiled(value, heads)


@wrong
class keys_dealt_out(Grouped):
    def keys(self, key, heads):
        return tiled(key, heads)


@wrong
class divided_by_groups(Grouped):
    def copies(self, x, heads):
        return torch.stack([x[:, head // x.shape[1]] for head in range(heads)], dim=1)


@wrong
class one_head_for_all(Grouped):
    def copies(self, x, heads):
        return x[:, :1]


@wrong
class left_to_broadcasting(Grouped):
    def copies(self, x, heads):
        return x


@wrong
class no_scale(Grouped):
    def scale(self, key):
        return 1.0


@wrong
class divided_by_width(Grouped):
    def scale(self, key):
        return 1 / key.shape[-1]


@wrong
class root_of_value_width(Grouped):
    def answer(self, query, key, value, attn_mask):
        self.width = value.shape[-1]
        return super().answer(query, key, value, attn_mask)

    def scale(self, key):
        return 1 / math.sqrt(self.width)


@wrong
class softmax_over_queries(Grouped):
    def weights(self, scores):
        return scores.softmax(dim=-2)


@wrong
class mask_ignored(Grouped):
    def masked(self, scores, mask, groups):
        return scores


@wrong
class mask_inverted(Grouped):
    def masked(self, scores, mask, groups):
        return scores.masked_fill(mask, -torch.inf)


@wrong
class masked_after_softmax(Grouped):
    def masked(self, scores, mask, groups):
        self.mask = mask
        return scores

    def weights(self, scores):
        return weigh(scores) * getattr(self, "mask", 1)


class InGroups(Grouped):
    """Query heads on two axes, (B, G, H / G, L, d_k); keys and values get an axis of length 1 there."""

    def answer(self, query, key, value, attn_mask):
        return super().answer(query.unflatten(1, (key.shape[1], -1)), key, value, attn_mask)

    def copies(self, x, heads):
        return x.unsqueeze(2)

    def masked(self, scores, mask, groups):
        heads = scores.shape[1] * scores.shape[2]
        whole = mask.expand(scores.shape[0], heads, *scores.shape[-2:])
        return scores.masked_fill(~whole.unflatten(1, (groups, -1)), -torch.inf)

    def results(self, output, weights, groups):
        return output.flatten(1, 2), weights.flatten(1, 2)


@wrong
class mask_not_grouped(InGroups):
    def masked(self, scores, mask, groups):
        return scores.masked_fill(~mask, -torch.inf)


@wrong
class one_mask_for_a_group(InGroups):
    def masked(self, scores, mask, groups):
        whole = mask.expand(scores.shape[0], scores.shape[1] * scores.shape[2], *scores.shape[-2:])
        first = whole.unflatten(1, (groups, -1))[:, :, :1]
        return scores.masked_fill(~first, -torch.inf)


@wrong
class groups_not_merged(InGroups):
    def results(self, output, weights, groups):
        return output, weights


@wrong
class groups_merged_crosswise(InGroups):
    def results(self, output, weights, groups):
        return output.transpose(1, 2).flatten(1, 2), weights.transpose(1, 2).flatten(1, 2)


@wrong
class weights_of_groups(Grouped):
    def results(self, output, weights, groups):
        return output, weights.unflatten(1, (groups, -1)).mean(dim=2)


@wrong
class empty_row_nan(Grouped):
    def weights(self, scores):
        return scores.softmax(dim=-1)


@wrong
class finite_fill(Grouped):
    def masked(self, scores, mask, groups):
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


@wrong
class nan_replaced_afterwards(Grouped):
    def masked(self, scores, mask, groups):
        return scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)

    def weights(self, scores):
        return torch.nan_to_num(scores.softmax(dim=-1))


@wrong
class output_alone(Grouped):
    def results(self, output, weights, groups):
        return output


@wrong
class results_exchanged(Grouped):
    def results(self, output, weights, groups):
        return weights, output


@wrong
class copies_detached(Grouped):
    def copies(self, x, heads):
        return super().copies(x.detach(), heads)


@wrong
class converted_to_float32(Grouped):
    def answer(self, query, key, value, attn_mask):
        return super().answer(query.float(), key.float(), value.float(), attn_mask)


@wrong
class query_divided_in_place(Grouped):
    def answer(self, query, key, value, attn_mask):
        query *= Grouped.scale(self, key)
        return super().answer(query, key, value, attn_mask)

    def scale(self, key):
        return 1.0
