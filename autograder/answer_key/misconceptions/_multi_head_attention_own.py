"""Wrong multi-head attention that calls one's own functions, whose argument checks meet what a wrong mask leads to."""

import math

import torch
from torch.nn import functional as F

from ..reference_package import reference
from . import misconception
from ._multi_head import Parts
from ._multi_head_attention_parts import unturned

MODULE = "multi_head.MultiHeadAttention"
attention, combine_masks = reference("dot_product.scaled_dot_product_attention"), reference("masks.combine_masks")


class Own(Parts):
    """The attention of Exercise 3.5 does the middle, and combine_masks joins the masks."""

    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        dropout_p = self.dropout if self.training else 0.0
        heads, weights = attention(q, k, v, self.join(attn_mask, key_mask), dropout_p)
        return self.finish(self.merge(heads)), weights

    def join(self, attn_mask, key_mask):
        if key_mask is None:
            return self.pairs(attn_mask)
        return combine_masks(self.pairs(attn_mask), self.keys(key_mask))

    def pairs(self, attn_mask):
        return attn_mask

    def keys(self, key_mask):
        return key_mask[:, None, None, :]


def form(like, name="through_own_functions", base=Own, **methods):
    """Register another form of a misconception, or a new one where like is empty."""
    misconception(MODULE, like)(type(name, (base,), methods))


# Which axes the masks get

KEYS = {
    "key_mask_without_new_axes": lambda self, mask: mask,
    "key_mask_with_one_axis": lambda self, mask: mask[:, None],
    "key_mask_on_the_queries": lambda self, mask: mask[:, None, :, None],
}
for _like, _keys in KEYS.items():
    form(_like, keys=_keys)

PAIRS = {
    "attn_mask_gets_an_axis": lambda self, mask: None if mask is None else mask.unsqueeze(1),
    "attn_mask_gets_two_axes": lambda self, mask: None if mask is None else mask[None, None],
    "attn_mask_transposed": lambda self, mask: None if mask is None else mask.transpose(-1, -2),
}
for _like, _pairs in PAIRS.items():
    form(_like, pairs=_pairs)

form("key_mask_without_new_axes", "behind_two_axes", keys=lambda self, mask: mask[None, None])
form("", "key_mask_on_the_heads", keys=lambda self, mask: mask[:, :, None, None])

# Which argument each projection gets

PROJECTIONS = {
    "all_from_query": lambda m, q, k, v: (m.q_proj(q), m.k_proj(q), m.v_proj(q)),
    "key_from_query": lambda m, q, k, v: (m.q_proj(q), m.k_proj(q), m.v_proj(v)),
    "value_from_query": lambda m, q, k, v: (m.q_proj(q), m.k_proj(k), m.v_proj(q)),
}
for _like, _project in PROJECTIONS.items():
    form(_like, project=_project)

# Heads


def _cut(self, x):
    return x.reshape(x.shape[0], self.num_heads, x.shape[1], self.d_head)


form("cut_without_transpose", "merged_rightly", split=_cut)
form("cut_without_transpose", "merged_rightly_itself", base=Parts, split=_cut)


@misconception(MODULE)
class never_cut(Own):
    def split(self, x):
        return x.unsqueeze(1)


@misconception(MODULE)
class values_never_cut(Own):
    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = self.project(query, key, value)
        dropout_p = self.dropout if self.training else 0.0
        heads, weights = attention(self.split(q), self.split(k), v, self.join(attn_mask, key_mask), dropout_p)
        return self.finish(self.merge(heads)), weights


@misconception(MODULE)
class number_and_width_of_heads_exchanged(Own):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.num_heads)).transpose(1, 2)


@misconception(MODULE)
class heads_not_merged(Own):
    def merge(self, x):
        return x


# Which of the three stands where attention is called

ROLES = {
    "keys_and_values_exchanged": lambda q, k, v: (q, v, k),
}


def _calling(name, roles):
    def project(self, query, key, value):
        return roles(*Parts.project(self, query, key, value))

    form("", name, project=project)


for _name, _roles in ROLES.items():
    _calling(_name, _roles)


# What is divided once more, and what is mixed


@misconception(MODULE)
class scaled_again_by_d_model(Own):
    def project(self, query, key, value):
        q, k, v = super().project(query, key, value)
        return q / math.sqrt(self.d_model), k, v


def _mixing_keys(self, query, key, value, attn_mask, key_mask):
    q, k, _ = (self.split(x) for x in self.project(query, key, value))
    weights = self.weigh(self.score(q, k), self.join(attn_mask, key_mask))
    return self.finish(self.merge(self.drop(weights) @ k)), weights


form("", "keys_as_values", base=Parts, attend=_mixing_keys)


@misconception(MODULE)
class out_proj_not_turned(Parts):
    def finish(self, merged):
        return unturned(self.out_proj, merged)


@misconception(MODULE)
class results_exchanged(Parts):
    def attend(self, *arguments):
        return super().attend(*arguments)[::-1]


# What stands in the place of minus infinity


def _filled(value, turned=False):
    def weigh(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(mask if turned else ~mask, value)
        return scores.softmax(dim=-1)

    return weigh


form("", "minus_100", base=Parts, weigh=_filled(-100.0))
form("both_masks_turned_round", "with_minus_1e9", base=Parts, weigh=_filled(-1e9, turned=True))
form("both_masks_turned_round", "with_infinity", base=Parts, weigh=_filled(-math.inf, turned=True))


def _hidden(scores, mask, dim):
    return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(dim=dim)


form("softmax_over_queries", "with_infinity", base=Parts, weigh=lambda self, scores, mask: _hidden(scores, mask, -2))
form("softmax_over_heads", "with_infinity", base=Parts, weigh=lambda self, scores, mask: _hidden(scores, mask, 1))


@misconception(MODULE, "causal_by_itself")
class where_no_mask_comes(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        if attn_mask is None:
            attn_mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril()
        return super().attend(query, key, value, attn_mask, key_mask)


@misconception(MODULE, "dropout_on_the_output")
class before_out_proj(Parts):
    def drop(self, weights):
        return weights

    def finish(self, merged):
        return super().finish(F.dropout(merged, self.dropout, self.training))
