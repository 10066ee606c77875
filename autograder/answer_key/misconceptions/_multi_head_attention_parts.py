"""Wrong multi-head attention that projects, merges, masks or returns the wrong part."""

import torch
from torch import nn

from . import misconception
from ._multi_head import Parts

wrong = misconception("multi_head.MultiHeadAttention")


# The layers


@wrong
class bias_always_left_out(Parts):
    def build(self, d_model, bias):
        super().build(d_model, False)


@wrong
class bias_the_wrong_way_round(Parts):
    def build(self, d_model, bias):
        super().build(d_model, not bias)


@wrong
class projections_without_bias(Parts):
    def build(self, d_model, bias):
        super().build(d_model, False)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)


@wrong
class one_layer_under_three_names(Parts):
    def build(self, d_model, bias):
        self.q_proj = self.k_proj = self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)


# Which projection meets which argument

PROJECTIONS = {
    "value_through_k_proj": lambda m, q, k, v: (m.q_proj(q), m.k_proj(k), m.k_proj(v)),
    "key_through_q_proj": lambda m, q, k, v: (m.q_proj(q), m.q_proj(k), m.v_proj(v)),
    "key_and_value_layers_exchanged": lambda m, q, k, v: (m.q_proj(q), m.v_proj(k), m.k_proj(v)),
    "key_from_query": lambda m, q, k, v: (m.q_proj(q), m.k_proj(q), m.v_proj(v)),
    "key_from_value": lambda m, q, k, v: (m.q_proj(q), m.k_proj(v), m.v_proj(v)),
    "value_from_query": lambda m, q, k, v: (m.q_proj(q), m.k_proj(k), m.v_proj(q)),
    "query_not_projected": lambda m, q, k, v: (q, m.k_proj(k), m.v_proj(v)),
    "key_not_projected": lambda m, q, k, v: (m.q_proj(q), k, m.v_proj(v)),
    "biases_not_added": lambda m, q, k, v: (q @ m.q_proj.weight.mT, k @ m.k_proj.weight.mT, v @ m.v_proj.weight.mT),
    "nonlinearity_after_the_projections": lambda m, q, k, v: (
        m.q_proj(q).relu(),
        m.k_proj(k).relu(),
        m.v_proj(v).relu(),
    ),
}


def _projecting(name, projections):
    def project(self, query, key, value):
        return projections(self, query, key, value)

    wrong(type(name, (Parts,), {"project": project}))


for _name, _projections in PROJECTIONS.items():
    _projecting(_name, _projections)


def unturned(layer, x):
    """x @ W, where a linear layer computes x @ W.T."""
    found = x @ layer.weight
    return found if layer.bias is None else found + layer.bias


@wrong
class weights_not_turned(Parts):
    def project(self, query, key, value):
        return unturned(self.q_proj, query), unturned(self.k_proj, key), unturned(self.v_proj, value)

    def finish(self, merged):
        return unturned(self.out_proj, merged)


# What becomes of the heads

FINISHES = {
    "out_proj_twice": lambda m, merged: m.out_proj(m.out_proj(merged)),
    "out_proj_without_bias": lambda m, merged: merged @ m.out_proj.weight.mT,
    "nonlinearity_at_the_end": lambda m, merged: m.out_proj(merged).relu(),
    "tanh_at_the_end": lambda m, merged: m.out_proj(merged).tanh(),
}


def _finishing(name, finishes):
    def finish(self, merged):
        return finishes(self, merged)

    wrong(type(name, (Parts,), {"finish": finish}))


for _name, _finishes in FINISHES.items():
    _finishing(_name, _finishes)


@wrong
class merged_interleaved(Parts):
    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(-2)


@wrong
class split_interleaved(Parts):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.num_heads)).permute(0, 3, 1, 2)


@wrong
class first_head_for_all(Parts):
    def merge(self, x):
        return x[:, :1].expand_as(x).transpose(1, 2).flatten(-2)


@wrong
class heads_averaged_and_repeated(Parts):
    def merge(self, x):
        return x.mean(dim=1, keepdim=True).expand_as(x).transpose(1, 2).flatten(-2)


@wrong
class heads_summed_and_repeated(Parts):
    def merge(self, x):
        return x.sum(dim=1, keepdim=True).expand_as(x).transpose(1, 2).flatten(-2)


@wrong
class query_added_to_the_output(Parts):
    def attend(self, query, *more):
        output, weights = super().attend(query, *more)
        return output + query, weights


# Masks


@wrong
class first_sequences_key_mask(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(attn_mask, None if key_mask is None else key_mask[:1])


@wrong
class first_sequences_attn_mask(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(attn_mask[:1] if attn_mask is not None and attn_mask.dim() == 4 else attn_mask, key_mask)


@wrong
class first_heads_attn_mask(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(attn_mask[:, :1] if attn_mask is not None and attn_mask.dim() == 4 else attn_mask, key_mask)


@wrong
class masks_on_the_first_head_alone(Parts):
    def weigh(self, scores, mask):
        if mask is not None:
            mask = torch.cat((mask.expand_as(scores)[:, :1], torch.ones_like(scores[:, 1:], dtype=torch.bool)), dim=1)
        return super().weigh(scores, mask)


@wrong
class attn_mask_taken_for_a_matrix(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(None if attn_mask is None else attn_mask.view(1, 1, *attn_mask.shape[-2:]), key_mask)


@wrong
class attn_mask_gets_two_axes(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(None if attn_mask is None else attn_mask[None, None], key_mask)


@wrong
class attn_mask_transposed(Parts):
    def join(self, attn_mask, key_mask):
        return super().join(None if attn_mask is None else attn_mask.transpose(-1, -2), key_mask)


@wrong
class attn_mask_turned_where_square(Parts):
    def join(self, attn_mask, key_mask):
        if attn_mask is not None and attn_mask.shape[-1] == attn_mask.shape[-2:][0]:
            attn_mask = attn_mask.transpose(-1, -2)
        return super().join(attn_mask, key_mask)


@wrong
class three_axes_taken_for_sequences(Parts):
    def join(self, attn_mask, key_mask):
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(1)
        return super().join(attn_mask, key_mask)


@wrong
class masks_joined_by_xor(Parts):
    def join(self, attn_mask, key_mask):
        if attn_mask is None or key_mask is None:
            return super().join(attn_mask, key_mask)
        return attn_mask ^ key_mask[:, None, None, :]


@wrong
class key_mask_on_both_axes(Parts):
    def join(self, attn_mask, key_mask):
        if key_mask is not None:
            rows = key_mask[:, None, :, None]
            attn_mask = rows if attn_mask is None else attn_mask & rows
        return super().join(attn_mask, key_mask)
