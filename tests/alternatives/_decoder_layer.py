"""Right decoder layers in other styles."""

import torch
from torch import nn
from torch.nn import functional as F

from attention.encoder import EncoderLayer, FeedForward
from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from autograder.answer_key.misconceptions._decoder_given import Decoding

from . import alternative

LAYER = "decoder.DecoderLayer"


@alternative(LAYER)
class torchs_attention_with_one_path(Decoding):
    """Projections and torch's own attention, with a cache or without one; steps in a list."""

    def make(self, d_model, num_heads, d_ff, dropout, activation, norm_first, cross_attention):
        self.norm_first, self.p, self.heads = norm_first, dropout, num_heads
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        if cross_attention:
            self.cross_attention, self.norm3 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)

    def attend(self, layer, x, source, mask, cache=None):
        q, k, v = (split_heads(p(y), self.heads) for p, y in zip(
            (layer.q_proj, layer.k_proj, layer.v_proj), (x, source, source), strict=True))  # fmt: skip
        if cache is not None:
            k, v = cache.append(k, v)
            mask = causal_mask(q.shape[-2], k.shape[-2])
        p = self.p if self.training else 0.0
        if mask is not None:  # torch's own answers NaN, or the mean, where all is hidden
            mask = mask.expand(len(q), 1, q.shape[-2], k.shape[-2])
            some = mask.any(-1, keepdim=True)
            found = F.scaled_dot_product_attention(q, k, v, mask | ~some, dropout_p=p) * some
        else:
            found = F.scaled_dot_product_attention(q, k, v, dropout_p=p)
        return layer.out_proj(found.transpose(1, 2).flatten(2))

    def answer(self, x, memory, key_mask, memory_key_mask, cache):
        length = x.shape[1]
        own = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
        if key_mask is not None:
            own = own & key_mask[:, None, None, :]
        theirs = None if memory_key_mask is None else memory_key_mask[:, None, None, :]
        steps = [lambda y: self.attend(self.self_attention, y, y, own, cache)]
        if memory is not None:
            steps.append(lambda y: self.attend(self.cross_attention, y, memory, theirs))
        steps.append(self.feed_forward)
        norms = [self.norm1, self.norm2] + ([self.norm3] if memory is not None else [])
        for step, norm in zip(steps, norms, strict=True):
            if self.norm_first:
                x = x + F.dropout(step(norm(x)), self.p, self.training)
            else:
                x = norm(x + F.dropout(step(x), self.p, self.training))
        return x


@alternative(LAYER)
class inputs_kept_and_projected_again(Decoding):
    """The cache holds what attention reads, before any projection; what is kept is projected in each step."""

    def make(self, d_model, num_heads, d_ff, dropout, activation, norm_first, cross_attention):
        self.norm_first = norm_first
        self.drop = nn.Dropout(dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        for name in ("self_attention", "cross_attention")[: 1 + cross_attention]:
            self.add_module(name, MultiHeadAttention(d_model, num_heads, dropout))
        for number in range(2 + cross_attention):
            self.add_module(f"norm{number + 1}", nn.LayerNorm(d_model))

    def look_back(self, x, key_mask, cache):
        seen = x if cache is None else cache.append(x, x)[0]
        return self.self_attention(x, seen, seen, causal_mask(x.shape[1], seen.shape[1]), key_mask)[0]

    def answer(self, x, memory, key_mask, memory_key_mask, cache):
        first = self.norm1(x) if self.norm_first else x
        x = x + self.drop(self.look_back(first, key_mask, cache))
        if not self.norm_first:
            x = self.norm1(x)
        last = self.norm2
        if self.reads_memory:
            asked = self.norm2(x) if self.norm_first else x
            found, _ = self.cross_attention(asked, memory, memory, None, memory_key_mask)
            x = x + self.drop(found)
            x, last = x if self.norm_first else self.norm2(x), self.norm3
        if self.norm_first:
            return x + self.drop(self.feed_forward(last(x)))
        return last(x + self.drop(self.feed_forward(x)))


@alternative(LAYER)
class an_encoder_layer_with_a_middle(EncoderLayer):
    """Inherits from EncoderLayer; masks for several tokens are written out, with a cache position by position."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, activation="gelu", norm_first=True, cross_attention=False
    ):
        super().__init__(d_model, num_heads, d_ff, dropout, activation, norm_first)
        self.reads_memory = cross_attention
        if cross_attention:
            self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
            self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory=None, key_mask=None, memory_key_mask=None, cache=None):
        from attention._decoder_arguments import check_decoder_inputs

        check_decoder_inputs(self, x, memory, key_mask, memory_key_mask, cache)
        if memory is None and cache is None:
            return super().forward(x, causal_mask(x.shape[1]), key_mask)
        pre = self.norm_first

        def added(x, norm, step):
            return x + self.dropout(step(norm(x))) if pre else norm(x + self.dropout(step(x)))

        def past(y):
            if cache is None:
                return self.self_attention(y, y, y, causal_mask(y.shape[1]), key_mask)[0]
            return torch.cat([self.one(y[:, i : i + 1], cache) for i in range(y.shape[1])], dim=1)

        x = added(x, self.norm1, past)
        if memory is None:
            return added(x, self.norm2, self.feed_forward)
        x = added(x, self.norm2, lambda y: self.cross_attention(y, memory, memory, key_mask=memory_key_mask)[0])
        return added(x, self.norm3, self.feed_forward)

    def one(self, y, cache):
        """One token at a time needs no mask: it may see all that is kept."""
        attention = self.self_attention
        query = split_heads(attention.q_proj(y), attention.num_heads)
        keys, values = cache.append(attention.k_proj(y), attention.v_proj(y))  # all heads side by side
        keys, values = (split_heads(all_heads, attention.num_heads) for all_heads in (keys, values))
        weights = torch.softmax(query @ keys.mT / query.shape[-1] ** 0.5, dim=-1)
        return attention.out_proj(merge_heads(F.dropout(weights, self.dropout.p, self.training) @ values))
