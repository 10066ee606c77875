"""Wrong stacks of encoder layers that treat the layers otherwise than the weights, or hand back other things."""

import torch

from . import misconception
from ._encoder_stack import ENCODER, Stack, _Answering

wrong = misconception(ENCODER)


def _layers_alone(like, allowed, name="in_the_layers_alone"):
    """A form whose layers get other masks, while the weights that are handed back keep to both."""

    class Masked(Stack):
        def answer(self, x, masks, return_weights):
            weights = []
            for place, layer in enumerate(self.layers):
                if return_weights:
                    weights.append(self.weights(layer, x, *masks))
                x = layer(x, *allowed(place, *masks))
            return (self.last(x), weights) if return_weights else self.last(x)

    Masked.__name__ = name
    misconception(ENCODER, like)(Masked)


_layers_alone("masks_ignored", lambda place, *masks: (None, None))
_layers_alone("attn_mask_ignored", lambda place, attn_mask, key_mask: (None, key_mask))
_layers_alone("key_mask_ignored", lambda place, attn_mask, key_mask: (attn_mask, None))
_layers_alone("masks_ignored", lambda place, *masks: masks if place else (None, None), "but_in_later_layers")
_layers_alone(
    "attn_mask_ignored",
    lambda place, attn_mask, key_mask: (None if place else attn_mask, key_mask),
    "but_in_the_first_layer",
)
_layers_alone(
    "key_mask_ignored",
    lambda place, attn_mask, key_mask: (attn_mask, None if place else key_mask),
    "but_in_the_first_layer",
)
_layers_alone("masks_exchanged", lambda place, attn_mask, key_mask: (key_mask, attn_mask))


@misconception(ENCODER, "every_layer_reads_the_input")
class weights_of_the_answers(Stack):
    def answer(self, x, masks, return_weights):
        weights, seen = [], x
        for layer in self.layers:
            if return_weights:
                weights.append(self.weights(layer, seen, *masks))
            seen = layer(x, *masks)
        return (self.last(seen), weights) if return_weights else self.last(seen)


@misconception(ENCODER, "weights_always_returned")
class empty_unless_asked_for(_Answering):
    def hand_back(self, x, weights, asked):
        return x, weights if asked else []


@misconception(ENCODER, "weights_always_returned")
class none_unless_asked_for(_Answering):
    def hand_back(self, x, weights, asked):
        return x, weights if asked else None


@wrong
class weights_stacked(_Answering):
    def hand_back(self, x, weights, asked):
        return (x, torch.stack(weights)) if asked else x


@wrong
class weights_in_a_tuple(_Answering):
    def hand_back(self, x, weights, asked):
        return (x, tuple(weights)) if asked else x


@wrong
class outputs_for_weights(Stack):
    def weights(self, layer, x, *masks):
        seen = layer.norm1(x) if self.norm_first else x
        return layer.self_attention(seen, seen, seen, *masks)[0]


@wrong
class pairs_for_weights(Stack):
    def weights(self, layer, x, *masks):
        seen = layer.norm1(x) if self.norm_first else x
        return layer.self_attention(seen, seen, seen, *masks)


@misconception(ENCODER, "residual_around_each_layer")
class around_the_stack(Stack):
    def answer(self, x, masks, return_weights):
        found = super().answer(x, masks, return_weights)
        return (x + found[0], found[1]) if return_weights else x + found


@misconception(ENCODER, "final_norm_always")
class made_for_both_and_used_for_one(Stack):
    def __init__(self, num_layers, d_model, *args, **kwargs):
        super().__init__(num_layers, d_model, *args, **kwargs)
        if not self.norm_first:
            self.final_norm = torch.nn.LayerNorm(d_model)


def _forgetting(like, name, kept):
    """A form that passes a mask to the first layer alone, for the weights too."""

    class Forgetting(Stack):
        def answer(self, x, masks, return_weights):
            weights = []
            for place, layer in enumerate(self.layers):
                given = kept(*masks) if place else masks
                if return_weights:
                    weights.append(self.weights(layer, x, *given))
                x = layer(x, *given)
            return (self.last(x), weights) if return_weights else self.last(x)

    Forgetting.__name__ = name
    misconception(ENCODER, like)(Forgetting)


_forgetting("attn_mask_ignored", "behind_the_first_layer", lambda attn_mask, key_mask: (None, key_mask))
_forgetting("key_mask_ignored", "behind_the_first_layer", lambda attn_mask, key_mask: (attn_mask, None))
