"""Right feed-forward and encoder layers in other styles."""

import torch
from torch import nn
from torch.nn import functional as F

from attention._arguments import (
    check_batched,
    check_floating,
    check_heads,
    check_length,
    check_probability,
    check_width,
)
from attention.encoder import FeedForward
from attention.multi_head import MultiHeadAttention

from . import alternative

FEED_FORWARD, LAYER = "encoder.FeedForward", "encoder.EncoderLayer"


class Feeding(nn.Module):
    """The given lines of the stub."""

    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("d_ff", d_ff, least=1)
        check_probability("dropout", dropout)
        if activation not in ("relu", "gelu"):
            raise ValueError("activation must be relu or gelu")
        self.d_model = d_model
        self.make(d_ff, dropout, activation)

    def forward(self, x):
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        return self.answer(x)


@alternative(FEED_FORWARD)
class with_modules(Feeding):
    def make(self, d_ff, dropout, activation):
        self.linear1 = nn.Linear(self.d_model, d_ff)
        self.act = nn.GELU() if activation == "gelu" else nn.ReLU(inplace=True)
        self.drop = nn.Dropout(p=dropout, inplace=False)
        self.linear2 = nn.Linear(d_ff, self.d_model)

    def answer(self, x):
        hidden = self.linear1(x)
        hidden = self.act(hidden)
        hidden = self.drop(hidden)
        return self.linear2(hidden)


@alternative(FEED_FORWARD)
class with_functions(Feeding):
    def make(self, d_ff, dropout, activation):
        self.p, self.activation = dropout, activation
        self.linear1, self.linear2 = nn.Linear(self.d_model, d_ff), nn.Linear(d_ff, self.d_model)

    def answer(self, x):
        hidden = getattr(torch.nn.functional, self.activation)(self.linear1(x))
        return self.linear2(F.dropout(hidden, p=self.p, training=self.training))


@alternative(FEED_FORWARD)
class by_formula(Feeding):
    def make(self, d_ff, dropout, activation):
        self.linear1, self.linear2 = nn.Linear(self.d_model, d_ff), nn.Linear(d_ff, self.d_model)
        self.keep, self.gelu = 1 - dropout, activation == "gelu"
        self.register_buffer("root_of_two", torch.tensor(2.0).sqrt(), persistent=False)

    def answer(self, x):
        hidden = torch.einsum("...m,fm->...f", x, self.linear1.weight) + self.linear1.bias
        hidden = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5)) if self.gelu else hidden.clamp(min=0)
        if self.training and self.keep < 1:
            hidden = hidden * torch.empty_like(hidden).bernoulli_(self.keep) / self.keep
        return hidden @ self.linear2.weight.T + self.linear2.bias


class Layering(nn.Module):
    """The given lines of the stub."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model = d_model
        self.make(d_model, num_heads, d_ff, dropout, activation, norm_first)

    def forward(self, x, attn_mask=None, key_mask=None):
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        return self.answer(x, attn_mask, key_mask)


@alternative(LAYER)
class line_by_line(Layering):
    def make(self, d_model, num_heads, d_ff, dropout, activation, norm_first):
        self.norm_first = norm_first
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)

    def answer(self, x, attn_mask, key_mask):
        residual = x
        if self.norm_first:
            x = self.norm1(x)
        x, _ = self.self_attention(x, x, x, attn_mask=attn_mask, key_mask=key_mask)
        x = residual + self.dropout1(x)
        if not self.norm_first:
            x = self.norm1(x)
        residual = x
        if self.norm_first:
            x = self.norm2(x)
        x = residual + self.dropout2(self.feed_forward(x))
        return x if self.norm_first else self.norm2(x)


@alternative(LAYER)
class with_sublayers(Layering):
    def make(self, d_model, num_heads, d_ff, dropout, activation, norm_first):
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        for name in ("norm1", "norm2"):
            setattr(self, name, nn.LayerNorm(d_model))
        self.around = self.before if norm_first else self.after
        self.p = dropout

    def before(self, x, norm, part):
        return F.dropout(part(norm(x)), self.p, self.training) + x

    def after(self, x, norm, part):
        return norm(F.dropout(part(x), self.p, self.training) + x)

    def answer(self, x, attn_mask, key_mask):
        x = self.around(x, self.norm1, lambda x: self.self_attention(x, x, x, attn_mask, key_mask)[0])
        return self.around(x, self.norm2, self.feed_forward)


@alternative(LAYER)
class with_parts_of_its_own(Layering):
    """Attention fused, feed-forward as a dictionary of layers: the names of the state dict are all that counts."""

    def make(self, d_model, num_heads, d_ff, dropout, activation, norm_first):
        names = ("q_proj", "k_proj", "v_proj", "out_proj")
        self.self_attention = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in names})
        self.feed_forward = nn.ModuleDict({"linear1": nn.Linear(d_model, d_ff), "linear2": nn.Linear(d_ff, d_model)})
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.p, self.heads, self.first = dropout, num_heads, norm_first
        self.act = {"relu": torch.relu, "gelu": F.gelu}[activation]

    def drop(self, x):
        return F.dropout(x, self.p, self.training)

    def attend(self, x, attn_mask, key_mask):
        q, k, v = (
            self.self_attention[name](x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        allowed = torch.ones(len(x), self.heads, x.shape[1], x.shape[1], dtype=torch.bool)
        if attn_mask is not None:
            allowed = allowed & attn_mask
        if key_mask is not None:
            allowed = allowed & key_mask[:, None, None]
        heads = F.scaled_dot_product_attention(q, k, v, allowed, self.p if self.training else 0.0)
        return self.drop(self.self_attention["out_proj"](heads.transpose(1, 2).reshape(x.shape)))

    def feed(self, x):
        hidden = self.drop(self.act(self.feed_forward["linear1"](x)))
        return self.drop(self.feed_forward["linear2"](hidden))

    def answer(self, x, *masks):
        if self.first:
            x = x + self.attend(self.norm1(x), *masks)
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attend(x, *masks))
        return self.norm2(x + self.feed(x))


@alternative(LAYER)
class norms_by_function(Layering):
    def make(self, d_model, num_heads, d_ff, dropout, activation, norm_first):
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout, True)
        self.feed_forward = nn.Module()
        self.feed_forward.linear1, self.feed_forward.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm((d_model,), eps=1e-5), nn.LayerNorm((d_model,), eps=1e-5)
        self.dropout = dropout
        self.settings = activation, norm_first

    def answer(self, x, attn_mask, key_mask):
        from attention.encoder import layer_norm

        activation, norm_first = self.settings

        def norm(x, module):
            return layer_norm(x, module.weight, module.bias)

        def branch(x):
            return torch.dropout(x, self.dropout, self.training)

        seen = norm(x, self.norm1) if norm_first else x
        x = x + branch(self.self_attention(seen, seen, seen, attn_mask, key_mask)[0])
        x = x if norm_first else norm(x, self.norm1)
        seen = norm(x, self.norm2) if norm_first else x
        hidden = branch(getattr(F, activation)(self.feed_forward.linear1(seen)))
        x = x + branch(self.feed_forward.linear2(hidden))
        return x if norm_first else norm(x, self.norm2)
