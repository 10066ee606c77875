"""Wrong stacks of encoder layers: layers left out, other results, other weights."""

import torch
from torch import nn

from . import misconception
from ._encoder_stack import ENCODER, Stack, _Answering, _masks_for

wrong = misconception(ENCODER)


def _through(name, chosen):
    """A misconception that sends x through chosen(layers) alone."""

    def answer(self, x, masks, return_weights):
        weights = []
        for layer in chosen(list(self.layers)):
            if return_weights:
                weights.append(self.weights(layer, x, *masks))
            x = layer(x, *masks)
        return (self.last(x), weights) if return_weights else self.last(x)

    wrong(type(name, (Stack,), {"answer": answer}))


_through("first_layer_skipped", lambda layers: layers[1:] or layers)
_through("last_layer_skipped", lambda layers: layers[:-1] or layers)
_through("first_layer_alone", lambda layers: layers[:1])
_through("every_layer_twice", lambda layers: [layer for layer in layers for _ in range(2)])
_through("first_layer_again_and_again", lambda layers: layers[:1] * len(layers))

_masks_for("masks_for_last_layers_only", lambda place, *masks: masks if place else (None, None))
_masks_for("key_mask_inverted", lambda place, attn_mask, key_mask: (attn_mask, None if key_mask is None else ~key_mask))
_masks_for("masks_inverted", lambda place, *masks: tuple(None if one is None else ~one for one in masks))
_masks_for(
    "attn_mask_turned",
    lambda place, attn_mask, key_mask: (None if attn_mask is None else attn_mask.transpose(-1, -2), key_mask),
)

# What is handed back, of x, the weights and whether they are asked for
RESULTS = {
    "weights_in_reverse": lambda x, weights, asked: (x, weights[::-1]) if asked else x,
    "first_weights_missing": lambda x, weights, asked: (x, weights[1:]) if asked else x,
    "weights_of_the_first_head": lambda x, weights, asked: (x, [one[:, 0] for one in weights]) if asked else x,
    "weights_turned": lambda x, weights, asked: (x, [one.mT for one in weights]) if asked else x,
    "weights_joined": lambda x, weights, asked: (x, torch.cat(weights)) if asked else x,
    "weights_summed_over_layers": lambda x, weights, asked: (x, sum(weights)) if asked else x,
    "weights_in_a_row": lambda x, weights, asked: (x, *weights) if asked else x,
    "return_weights_inverted": lambda x, weights, asked: x if asked else (x, weights),
    "result_detached": lambda x, weights, asked: (x.detach(), weights) if asked else x.detach(),
    "rounded": lambda x, weights, asked: (x.round(decimals=2), weights) if asked else x.round(decimals=2),
    "float32_throughout": lambda x, weights, asked: (x.float(), weights) if asked else x.float(),
    "first_sequence_alone": lambda x, weights, asked: (x[:1], weights) if asked else x[:1],
}


def _handing(name, hand_back):
    wrong(type(name, (_Answering,), {"hand_back": staticmethod(hand_back)}))


for _name, _hand_back in RESULTS.items():
    _handing(_name, _hand_back)


@wrong
class final_norm_before_the_layers(Stack):
    def answer(self, x, masks, return_weights):
        x, weights = super().answer(super().last(x), masks, True)
        return (x, weights) if return_weights else x

    def last(self, x):
        return x


@wrong
class final_norm_for_post_norm_alone(Stack):
    def __init__(self, num_layers, d_model, *args, **kwargs):
        super().__init__(num_layers, d_model, *args, **kwargs)
        if self.norm_first:
            del self.final_norm
        else:
            self.final_norm = nn.LayerNorm(d_model)

    def last(self, x):
        return x if self.norm_first else self.final_norm(x)


@wrong
class final_norm_twice(Stack):
    def last(self, x):
        return super().last(super().last(x))


@wrong
class layers_summed(Stack):
    def answer(self, x, masks, return_weights):
        weights, total = [], torch.zeros_like(x)
        for layer in self.layers:
            if return_weights:
                weights.append(self.weights(layer, x, *masks))
            x = layer(x, *masks)
            total = total + x
        return (self.last(total), weights) if return_weights else self.last(total)


@wrong
class one_layer_too_many(Stack):
    def __init__(self, num_layers, *args, **kwargs):
        super().__init__(num_layers + 1, *args, **kwargs)


@wrong
class one_layer_too_few(Stack):
    def __init__(self, num_layers, *args, **kwargs):
        super().__init__(max(num_layers - 1, 1), *args, **kwargs)
        self.layers = self.layers[: num_layers - 1]


@wrong
class dropout_off_by_default(Stack):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.0, activation="relu", norm_first=False):
        super().__init__(num_layers, d_model, num_heads, d_ff, dropout, activation, norm_first)


@wrong
class weights_without_gradient(Stack):
    def weights(self, layer, x, *masks):
        return super().weights(layer, x, *masks).detach()


@wrong
class weights_of_earlier_calls(Stack):
    def answer(self, x, masks, return_weights):
        x, weights = super().answer(x, masks, True)
        self.kept = [*getattr(self, "kept", []), *weights]
        return (x, self.kept) if return_weights else x


@wrong
class weights_without_key_mask(Stack):
    def weights(self, layer, x, attn_mask=None, key_mask=None):
        return super().weights(layer, x, attn_mask, None)


@wrong
class weights_without_attn_mask(Stack):
    def weights(self, layer, x, attn_mask=None, key_mask=None):
        return super().weights(layer, x, None, key_mask)


@wrong
class x_changed_in_place(Stack):
    def answer(self, x, masks, return_weights):
        found = super().answer(x.clone(), masks, return_weights)
        with torch.no_grad():
            x.mul_(0.5)
        return found
