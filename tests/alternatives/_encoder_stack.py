"""Right encoders in other styles."""

import copy
import functools

from torch import nn

from attention._arguments import check_batched, check_floating, check_length, check_width
from attention.encoder import EncoderLayer

from . import alternative

ENCODER = "encoder.Encoder"


class Stacking(nn.Module):
    """The given lines of the stub."""

    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        check_length("num_layers", num_layers, least=1)
        self.d_model = d_model
        self.make(num_layers, d_model, num_heads, d_ff, dropout, activation, norm_first)

    def forward(self, x, attn_mask=None, key_mask=None, return_weights=False):
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        return self.answer(x, attn_mask, key_mask, return_weights)


@alternative(ENCODER)
class copies_of_one_layer(Stacking):
    def make(self, num_layers, d_model, *rest):
        layer = EncoderLayer(d_model, *rest)
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.norm_first = rest[-1]
        if self.norm_first:
            self.final_norm = nn.LayerNorm(d_model)

    def answer(self, x, attn_mask, key_mask, return_weights):
        collected = []
        for layer in self.layers:
            seen = layer.norm1(x) if self.norm_first else x
            if return_weights:
                _, weights = layer.self_attention(seen, seen, seen, attn_mask=attn_mask, key_mask=key_mask)
                collected += [weights]
            x = layer(x, attn_mask=attn_mask, key_mask=key_mask)
        if self.norm_first:
            x = self.final_norm(x)
        if return_weights:
            return x, collected
        return x


def with_weights(_, given, named):
    return given, named | {"need_weights": True}


@alternative(ENCODER)
class weights_by_hooks(Stacking):
    def make(self, num_layers, d_model, num_heads, d_ff, dropout, activation, norm_first):
        self.layers = nn.Sequential()
        for _ in range(num_layers):
            self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout, activation, norm_first))
        if norm_first:
            self.final_norm = nn.LayerNorm(d_model)

    def answer(self, x, attn_mask, key_mask, return_weights):
        kept = []
        hooks = [one.self_attention.register_forward_hook(lambda *call: kept.append(call[2][1])) for one in self.layers]
        for one in self.layers if return_weights else ():
            hooks.append(one.self_attention.register_forward_pre_hook(with_weights, with_kwargs=True))
        for layer in self.layers:
            x = layer(x, attn_mask, key_mask)
        for hook in hooks:
            hook.remove()
        x = self.final_norm(x) if hasattr(self, "final_norm") else x
        return (x, kept) if return_weights else x


@alternative(ENCODER)
class folded(Stacking):
    def make(self, num_layers, d_model, num_heads, d_ff, dropout, activation, norm_first):
        self.layers = nn.ModuleDict(
            {str(i): EncoderLayer(d_model, num_heads, d_ff, dropout, activation, norm_first) for i in range(num_layers)}
        )
        self.last = None if not norm_first else "final_norm"
        if norm_first:
            self.add_module(self.last, nn.LayerNorm(d_model))

    def answer(self, x, attn_mask, key_mask, return_weights):
        def step(state, layer):
            x, weights = state
            if return_weights:
                seen = layer.norm1(x) if self.last else x
                weights = [*weights, layer.self_attention(seen, seen, seen, attn_mask, key_mask)[1]]
            return layer(x, attn_mask, key_mask), weights

        x, weights = functools.reduce(step, self.layers.values(), (x, []))
        x = getattr(self, self.last)(x) if self.last else x
        return [x, weights] if return_weights else x
