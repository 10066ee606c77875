"""Wrong multi-head attention whose masks or projections meet something else than is meant."""

import math

import torch

from . import misconception
from ._multi_head import Parts, split

MHA = "multi_head.MultiHeadAttention"


@misconception(MHA)
class mask_added_as_numbers(Parts):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores + mask).softmax(dim=-1)


@misconception(MHA, like="mask_added_as_numbers")
class attn_mask_alone(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        scores = self.score(q, k) if attn_mask is None else self.score(q, k) + attn_mask
        if key_mask is not None:
            scores = scores.masked_fill(~key_mask[:, None, None, :], -math.inf)
        weights = scores.softmax(dim=-1)
        return self.finish(self.merge(self.mix(weights, v))), weights


@misconception(MHA)
class key_mask_with_attn_mask_alone(Parts):
    def join(self, attn_mask, key_mask):
        return None if attn_mask is None else super().join(attn_mask, key_mask)


@misconception(MHA, like="weights_not_turned")
class and_without_biases(Parts):
    def project(self, query, key, value):
        return query @ self.q_proj.weight, key @ self.k_proj.weight, value @ self.v_proj.weight


@misconception(MHA, like="weights_not_turned")
class but_of_out_proj(Parts):
    def project(self, query, key, value):
        layers = zip((query, key, value), (self.q_proj, self.k_proj, self.v_proj), strict=True)
        return tuple(x @ one.weight if one.bias is None else x @ one.weight + one.bias for x, one in layers)


@misconception(MHA)
class split_before_the_projection(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        q = self.q_proj(split(query, self.num_heads))
        k = self.k_proj(split(key, self.num_heads))
        v = self.v_proj(split(value, self.num_heads))
        weights = self.weigh(self.score(q, k), self.join(attn_mask, key_mask))
        return self.finish(self.merge(self.mix(weights, v))), weights


@misconception(MHA)
class heads_added(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        weights = self.weigh(self.score(q, k), self.join(attn_mask, key_mask))
        heads = torch.zeros_like(query)
        for head in self.mix(weights, v).unbind(1):
            heads[..., : self.d_head] = heads[..., : self.d_head] + head
        return self.finish(heads), weights


@misconception(MHA)
class masks_count_together_alone(Parts):
    def join(self, attn_mask, key_mask):
        return None if attn_mask is None or key_mask is None else super().join(attn_mask, key_mask)
