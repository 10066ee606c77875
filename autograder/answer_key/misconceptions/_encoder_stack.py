"""Wrong stacks of encoder layers, each with the argument checks that the stub gives."""

from torch import nn

from ..reference_package import reference, reference_module
from . import misconception

ENCODER = "encoder.Encoder"
RightEncoder, Layer = reference(ENCODER), reference("encoder.EncoderLayer")
arguments = reference_module("_arguments")


class Stack(RightEncoder):
    """The given lines, then the stack in pieces that a subclass replaces."""

    def forward(self, x, attn_mask=None, key_mask=None, return_weights=False):
        arguments.check_floating(x=x)
        arguments.check_batched(x=x)
        arguments.check_width(self, self.d_model, x=x)
        return self.answer(x, (attn_mask, key_mask), return_weights)

    def answer(self, x, masks, return_weights):
        weights = []
        for layer in self.layers:
            if return_weights:
                weights.append(self.weights(layer, x, *masks))
            x = layer(x, *masks)
        x = self.last(x)
        return (x, weights) if return_weights else x

    def weights(self, layer, x, *masks):
        seen = layer.norm1(x) if self.norm_first else x
        return layer.self_attention(seen, seen, seen, *masks)[1]

    def last(self, x):
        return self.final_norm(x) if self.norm_first else x


@misconception(ENCODER)
class same_layer_repeated(Stack):
    def __init__(self, num_layers, *args, **kwargs):
        super().__init__(num_layers, *args, **kwargs)
        self.layers = nn.ModuleList([self.layers[0]] * num_layers)


@misconception(ENCODER)
class one_layer_in_a_loop(Stack):
    def __init__(self, num_layers, *args, **kwargs):
        super().__init__(num_layers, *args, **kwargs)
        self.layers, self.num_layers = self.layers[:1], num_layers

    def answer(self, x, masks, return_weights):
        weights = []
        for _ in range(self.num_layers):
            if return_weights:
                weights.append(self.weights(self.layers[0], x, *masks))
            x = self.layers[0](x, *masks)
        return (self.last(x), weights) if return_weights else self.last(x)


@misconception(ENCODER)
class layers_in_a_python_list(Stack):
    def __init__(self, num_layers, *args, **kwargs):
        super().__init__(num_layers, *args, **kwargs)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@misconception(ENCODER)
class final_norm_forgotten(Stack):
    def last(self, x):
        return x


@misconception(ENCODER)
class no_final_norm(Stack):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.norm_first:
            del self.final_norm

    def last(self, x):
        return x


@misconception(ENCODER)
class final_norm_always(Stack):
    def __init__(self, num_layers, d_model, *args, **kwargs):
        super().__init__(num_layers, d_model, *args, **kwargs)
        self.final_norm = nn.LayerNorm(d_model)

    def last(self, x):
        return self.final_norm(x)


@misconception(ENCODER)
class final_norm_after_each_layer(Stack):
    def answer(self, x, masks, return_weights):
        weights = []
        for layer in self.layers:
            if return_weights:
                weights.append(self.weights(layer, x, *masks))
            x = self.last(layer(x, *masks))
        return (x, weights) if return_weights else x


def _masks_for(name, allowed):
    """A misconception whose layer at a place gets the masks that allowed(place, attn_mask, key_mask) says."""

    class Masked(Stack):
        def answer(self, x, masks, return_weights):
            weights = []
            for place, layer in enumerate(self.layers):
                given = allowed(place, *masks)
                if return_weights:
                    weights.append(self.weights(layer, x, *given))
                x = layer(x, *given)
            return (self.last(x), weights) if return_weights else self.last(x)

    Masked.__name__ = name
    misconception(ENCODER)(Masked)


_masks_for("masks_for_first_layer_only", lambda place, *masks: (None, None) if place else masks)
_masks_for("masks_ignored", lambda place, *masks: (None, None))
_masks_for("attn_mask_ignored", lambda place, attn_mask, key_mask: (None, key_mask))
_masks_for("key_mask_ignored", lambda place, attn_mask, key_mask: (attn_mask, None))
_masks_for("masks_exchanged", lambda place, attn_mask, key_mask: (key_mask, attn_mask))


@misconception(ENCODER)
class every_layer_reads_the_input(Stack):
    def answer(self, x, masks, return_weights):
        weights = [self.weights(layer, x, *masks) for layer in self.layers] if return_weights else None
        for layer in self.layers:
            out = layer(x, *masks)
        return (self.last(out), weights) if return_weights else self.last(out)


@misconception(ENCODER)
class residual_around_each_layer(Stack):
    def answer(self, x, masks, return_weights):
        weights = []
        for layer in self.layers:
            if return_weights:
                weights.append(self.weights(layer, x, *masks))
            x = x + layer(x, *masks)
        return (self.last(x), weights) if return_weights else self.last(x)


@misconception(ENCODER)
class layers_from_last_to_first(Stack):
    def answer(self, x, masks, return_weights):
        weights = []
        for layer in reversed(self.layers):
            if return_weights:
                weights.append(self.weights(layer, x, *masks))
            x = layer(x, *masks)
        return (self.last(x), weights) if return_weights else self.last(x)


def _arguments_kept(name, **fixed):
    """A misconception that does not pass an argument on to its layers: they get the default."""

    class Forgetful(Stack):
        def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
            super().__init__(num_layers, d_model, num_heads, d_ff, dropout, activation, norm_first)
            passed = {"dropout": dropout, "activation": activation, "norm_first": norm_first} | fixed
            self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, **passed) for _ in range(num_layers))

    Forgetful.__name__ = name
    misconception(ENCODER)(Forgetful)


_arguments_kept("dropout_not_passed", dropout=0.1)
_arguments_kept("activation_not_passed", activation="relu")
_arguments_kept("norm_first_not_passed", norm_first=False)


@misconception(ENCODER)
class weights_without_masks(Stack):
    def weights(self, layer, x, *masks):
        return super().weights(layer, x)


@misconception(ENCODER)
class weights_of_x_not_normalised(Stack):
    def weights(self, layer, x, *masks):
        return layer.self_attention(x, x, x, *masks)[1]


@misconception(ENCODER)
class weights_of_normalised_x_always(Stack):
    def weights(self, layer, x, *masks):
        seen = layer.norm1(x)
        return layer.self_attention(seen, seen, seen, *masks)[1]


@misconception(ENCODER)
class weights_of_the_layers_output(Stack):
    def weights(self, layer, x, *masks):
        return super().weights(layer, layer(x, *masks), *masks)


@misconception(ENCODER)
class weights_all_of_the_input(Stack):
    def answer(self, x, masks, return_weights):
        out = super().answer(x, masks, False)
        return (out, [self.weights(layer, x, *masks) for layer in self.layers]) if return_weights else out


@misconception(ENCODER)
class weights_averaged_over_heads(Stack):
    def weights(self, layer, x, *masks):
        return super().weights(layer, x, *masks).mean(dim=1)


class _Answering(Stack):
    """A stack that answers right and hands it back wrong."""

    def answer(self, x, masks, return_weights):
        x, weights = super().answer(x, masks, True)
        return self.hand_back(x, weights, return_weights)


@misconception(ENCODER)
class weights_of_the_last_layer(_Answering):
    def hand_back(self, x, weights, asked):
        return (x, weights[-1]) if asked else x


@misconception(ENCODER)
class weights_never_returned(_Answering):
    def hand_back(self, x, weights, asked):
        return x


@misconception(ENCODER)
class weights_always_returned(_Answering):
    def hand_back(self, x, weights, asked):
        return x, weights


@misconception(ENCODER)
class weights_alone(_Answering):
    def hand_back(self, x, weights, asked):
        return weights if asked else x


@misconception(ENCODER)
class results_exchanged(_Answering):
    def hand_back(self, x, weights, asked):
        return (weights, x) if asked else x
