"""Wrong multi-head attention, each as somebody would really write it."""

import math

import torch
from torch import nn

from . import misconception
from ._multi_head import Parts

wrong = misconception("multi_head.MultiHeadAttention")

# The layers


@wrong
class without_out_proj(Parts):
    def build(self, d_model, bias):
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def finish(self, merged):
        return merged


@wrong
class out_proj_unused(Parts):
    def finish(self, merged):
        return merged


@wrong
class heads_as_wide_as_the_model(Parts):
    def build(self, d_model, bias):
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(self, name, nn.Linear(d_model, d_model * self.num_heads, bias=bias))
        self.out_proj = nn.Linear(d_model * self.num_heads, d_model, bias=bias)


@wrong
class layers_as_wide_as_a_head(Parts):
    def build(self, d_model, bias):
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(self, name, nn.Linear(d_model, self.d_head, bias=bias))
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)


@wrong
class projections_of_one_head(Parts):
    def build(self, d_model, bias):
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(self, name, nn.Linear(self.d_head, self.d_head, bias=bias))
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = self.project(*(self.split(x) for x in (query, key, value)))
        weights = self.weigh(self.score(q, k), self.join(attn_mask, key_mask))
        return self.finish(self.merge(self.mix(weights, v))), weights


@wrong
class a_layer_for_each_head(Parts):
    def build(self, d_model, bias):
        for name in ("q_proj", "k_proj", "v_proj"):
            heads = [nn.Linear(d_model, self.d_head, bias=bias) for _ in range(self.num_heads)]
            setattr(self, name, nn.ModuleList(heads))
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)


@wrong
class packed_projection(Parts):
    def build(self, d_model, bias):
        self.in_proj = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)


@wrong
class bias_ignored(Parts):
    def build(self, d_model, bias):
        super().build(d_model, True)


@wrong
class out_proj_keeps_its_bias(Parts):
    def build(self, d_model, bias):
        super().build(d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model)


# Which projection meets which argument


@wrong
class projections_unused(Parts):
    def project(self, query, key, value):
        return query, key, value


@wrong
class value_not_projected(Parts):
    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(key), value


@wrong
class one_projection_for_all(Parts):
    def project(self, query, key, value):
        return self.q_proj(query), self.q_proj(key), self.q_proj(value)


@wrong
class query_and_key_layers_exchanged(Parts):
    def project(self, query, key, value):
        return self.k_proj(query), self.q_proj(key), self.v_proj(value)


@wrong
class all_from_query(Parts):
    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(query), self.v_proj(query)


@wrong
class value_from_key(Parts):
    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(key), self.v_proj(key)


# Heads


@wrong
class cut_without_transpose(Parts):
    def split(self, x):
        return x.reshape(x.shape[0], self.num_heads, x.shape[1], self.d_head)

    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], self.d_model)


@wrong
class heads_interleaved(Parts):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.num_heads)).permute(0, 3, 1, 2)

    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(-2)


@wrong
class merged_without_transpose(Parts):
    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], self.d_model)


@wrong
class heads_behind_each_other(Parts):
    def merge(self, x):
        return torch.cat(x.unbind(dim=1), dim=1)


@wrong
class heads_averaged(Parts):
    def merge(self, x):
        return x.mean(dim=1)


@wrong
class heads_among_themselves(Parts):
    """The heads of one token attend to each other: the axes of heads and tokens are never exchanged."""

    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = (x.unflatten(-1, (self.num_heads, self.d_head)) for x in self.project(query, key, value))
        weights = self.weigh(self.score(q, k), None)  # (B, L, H, H)
        return self.finish(self.mix(weights, v).flatten(-2)), weights


@wrong
class heads_in_the_batch(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        output, weights = super().attend(query, key, value, attn_mask, key_mask)
        return output, weights.flatten(0, 1)


# Scores and weights


@wrong
class no_scale(Parts):
    def score(self, q, k):
        return q @ k.mT


@wrong
class root_of_d_model(Parts):
    def score(self, q, k):
        return q @ k.mT / math.sqrt(self.d_model)


@wrong
class scaled_twice(Parts):
    def score(self, q, k):
        return super().score(q / math.sqrt(self.d_head), k)


@wrong
class softmax_over_heads(Parts):
    def weigh(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return torch.nan_to_num(scores.softmax(dim=1))


@wrong
class softmax_over_queries(Parts):
    def weigh(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return torch.nan_to_num(scores.softmax(dim=-2))


@wrong
class weights_averaged(Parts):
    def attend(self, *arguments):
        output, weights = super().attend(*arguments)
        return output, weights.mean(dim=1)


@wrong
class output_alone(Parts):
    def attend(self, *arguments):
        return super().attend(*arguments)[0]


@wrong
class weights_detached(Parts):
    def attend(self, *arguments):
        output, weights = super().attend(*arguments)
        return output, weights.detach()


@wrong
class weights_in_float32(Parts):
    def attend(self, *arguments):
        output, weights = super().attend(*arguments)
        return output, weights.float()


# Masks
