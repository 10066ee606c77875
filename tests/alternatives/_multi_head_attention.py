"""Right multi-head attention in other styles."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from . import alternative
from ._multi_head_given import Checked

right = alternative("multi_head.MultiHeadAttention")


@right
class BuiltFromEarlierExercises(Checked):
    def build(self, d_model, num_heads, dropout, bias):
        self.dropout = dropout
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )

    def attend(self, query, key, value, attn_mask, key_mask):
        from attention.dot_product import scaled_dot_product_attention
        from attention.masks import combine_masks
        from attention.multi_head import merge_heads, split_heads

        mask = combine_masks(attn_mask, None if key_mask is None else key_mask[:, None, None])
        parts = (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        q, k, v = (split_heads(part, self.num_heads) for part in parts)
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout * self.training)
        return self.out_proj(merge_heads(out)), weights


@right
class LoopOverHeads(Checked):
    """One head after the other, each with its rows of the layers; W_o is applied head by head and summed."""

    def build(self, d_model, num_heads, dropout, bias):
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)
        self.width = d_model // num_heads

    def attend(self, query, key, value, attn_mask, key_mask):
        B, L, S = len(query), query.shape[1], key.shape[1]
        allowed = torch.ones(B, self.num_heads, L, S, dtype=torch.bool, device=query.device)
        if attn_mask is not None:
            allowed = allowed & attn_mask
        if key_mask is not None:
            allowed = allowed & key_mask.view(B, 1, 1, S)
        output, every = torch.zeros_like(query), []
        for h in range(self.num_heads):
            rows = slice(h * self.width, (h + 1) * self.width)
            q, k, v = (
                F.linear(x, layer.weight[rows], None if layer.bias is None else layer.bias[rows])
                for x, layer in ((query, self.q_proj), (key, self.k_proj), (value, self.v_proj))
            )
            scores = torch.bmm(q, k.transpose(1, 2)) / self.width**0.5
            hidden = ~allowed[:, h]
            weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
            weights = weights.masked_fill(
                hidden, 0.0
            )  # an empty row's NaN is stopped by both fills, on the way back too
            every.append(weights)
            output = output + F.linear(torch.bmm(self.drop(weights), v), self.out_proj.weight[:, rows])
        if self.out_proj.bias is not None:
            output = output + self.out_proj.bias
        return output, torch.stack(every, dim=1)


@right
class EinsumThroughout(Checked):
    """No split and no merge: the axes of the weights are named instead."""

    def build(self, d_model, num_heads, dropout, bias):
        self.p = dropout
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=bias))

    def project(self, layer, x):
        heads = layer.weight.unflatten(0, (self.num_heads, -1))  # (H, d_head, d_model)
        found = torch.einsum("bld,hcd->bhlc", x, heads)
        return found if layer.bias is None else found + layer.bias.view(1, self.num_heads, 1, -1)

    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = self.project(self.q_proj, query), self.project(self.k_proj, key), self.project(self.v_proj, value)
        scores = torch.einsum("bhic,bhjc->bhij", q, k) / math.sqrt(q.shape[-1])
        allowed = torch.ones_like(scores, dtype=torch.bool)
        for mask in (attn_mask, None if key_mask is None else key_mask[:, None, None, :]):
            allowed = allowed if mask is None else torch.logical_and(allowed, mask)
        highest = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).amax(-1, keepdim=True).detach()
        powers = torch.where(allowed, (scores - highest).clamp(max=0).exp(), torch.zeros_like(scores))
        total = powers.sum(-1, keepdim=True)
        weights = powers / torch.where(total == 0, torch.ones_like(total), total)
        used = F.dropout(weights, self.p, self.training)
        back = self.out_proj.weight.unflatten(1, (self.num_heads, -1))  # (d_model, H, d_head)
        output = torch.einsum("bhij,bhjc,dhc->bid", used, v, back)
        return output if self.out_proj.bias is None else output + self.out_proj.bias, weights


@right
class HeadsInTheBatch(Checked):
    """Batch and heads share one axis, as where only torch.bmm was at hand; weights return to four axes."""

    def build(self, d_model, num_heads, dropout, bias):
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("root", torch.tensor(d_model / num_heads).sqrt(), persistent=False)

    def fold(self, x):
        B, length, _ = x.shape
        x = x.view(B, length, self.num_heads, -1).permute(0, 2, 1, 3)
        return x.reshape(B * self.num_heads, length, -1)

    def attend(self, query, key, value, attn_mask, key_mask):
        B, L, S, H = len(query), query.shape[1], key.shape[1], self.num_heads
        q, k, v = self.fold(self.q_proj(query)), self.fold(self.k_proj(key)), self.fold(self.v_proj(value))
        scores = torch.bmm(q, k.transpose(1, 2)) / self.root
        seen = torch.ones(B, H, L, S, dtype=torch.bool)
        if attn_mask is not None:
            seen = seen & attn_mask
        if key_mask is not None:
            seen = seen & key_mask.repeat_interleave(H * L, dim=0).view(B, H, L, S)
        seen = seen.flatten(0, 1)
        empty = ~seen.any(dim=2, keepdim=True)
        weights = scores.masked_fill(~seen & ~empty, -torch.inf).softmax(dim=2).masked_fill(empty, 0)
        heads = torch.bmm(self.dropout(weights), v)
        output = heads.view(B, H, L, -1).transpose(1, 2).contiguous().view(B, L, self.d_model)
        return self.out_proj(output), weights.view(B, H, L, S)


@right
class ScaledQueriesAndAdditiveMask(Checked):
    """q is divided before the product, the mask becomes 0 and the lowest number, and the layers run as one product."""

    def build(self, d_model, num_heads, dropout, bias):
        self.d_k = d_model // num_heads
        self.h = num_heads
        self.p = float(dropout)
        layers = {name: nn.Linear(d_model, d_model, bias=bias) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
        for name, layer in layers.items():
            setattr(self, name, layer)

    def attend(self, query, key, value, attn_mask, key_mask):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        if query is key and key is value:
            bias = None if self.q_proj.bias is None else torch.cat([layer.bias for layer in layers])
            packed = F.linear(query, torch.cat([layer.weight for layer in layers]), bias)
            projected = packed.chunk(3, dim=-1)
        else:
            projected = [layer(x) for layer, x in zip(layers, (query, key, value), strict=True)]
        q, k, v = (x.reshape(*x.shape[:2], self.h, self.d_k).transpose(1, 2) for x in projected)
        scores = (q / math.sqrt(self.d_k)) @ k.transpose(-2, -1)
        mask = attn_mask
        if key_mask is not None:
            mask = key_mask[:, None, None, :] if mask is None else mask & key_mask[:, None, None, :]
        if mask is not None:
            lowest = torch.finfo(scores.dtype).min
            additive = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, lowest)
            scores = scores + additive.clamp(max=0) / 2  # half of it, so that no sum leaves the dtype
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask
        used = (
            weights * torch.bernoulli(torch.full_like(weights, 1 - self.p)) / (1 - self.p) if self.training else weights
        )
        return self.out_proj((used @ v).transpose(1, 2).reshape(query.shape)), weights
