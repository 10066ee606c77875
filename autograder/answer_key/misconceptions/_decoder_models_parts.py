"""Wrong language models in which a part is missing, cut off from learning or in another place."""

import torch
from torch import nn

from ..reference_package import reference
from . import misconception
from ._decoder_models import MODEL, DecoderLayer, Model

sinusoidal_encoding = reference("positions.sinusoidal_encoding")
wrong = misconception(MODEL)


@wrong
class output_detached(Model):
    def out(self, x):
        return x @ self.words.weight.detach().T


@wrong
class layer_without_part(Model):
    """self.layers[0] within the loop."""

    def through(self, x, caches):
        for number in range(self.num_layers):
            x = self.layers[0](x, cache=None if caches is None else caches[number])
        return x


@misconception(MODEL, like="layer_without_part")
class last_layer_skipped(Model):
    def through(self, x, caches):
        for number in range(self.num_layers - 1):
            x = self.layers[number](x, cache=None if caches is None else caches[number])
        if caches is not None:
            self.layers[-1](x, cache=caches[-1])
        return x


@wrong
class one_layer_many_times(Model):
    def make(self, d_model, num_heads, d_ff, dropout):
        super().make(d_model, num_heads, d_ff, dropout)
        self.layers = nn.ModuleList([self.layers[0]] * self.num_layers)


@wrong
class layers_in_a_list(Model):
    def make(self, d_model, num_heads, d_ff, dropout):
        super().make(d_model, num_heads, d_ff, dropout)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@wrong
class layers_without_dropout(Model):
    """Only what they read is dropped."""

    def make_layer(self, d_model, num_heads, d_ff, dropout):
        return DecoderLayer(d_model, num_heads, d_ff, 0.0)


@wrong
class d_ff_ignored(Model):
    def make_layer(self, d_model, num_heads, d_ff, dropout):
        return DecoderLayer(d_model, num_heads, 4 * d_model, dropout)


@wrong
class positions_not_learnt(Model):
    """Sinusoids."""

    def place(self, token_ids, held):
        return self.sinusoids[held : held + token_ids.shape[1]]

    def make_places(self, max_length, d_model):
        self.sinusoids = sinusoidal_encoding(max_length, d_model)
        return None


@misconception(MODEL, like="positions_not_learnt")
class positions_frozen(Model):
    def make_places(self, max_length, d_model):
        return super().make_places(max_length, d_model).requires_grad_(False)


@misconception(MODEL, like="positions_not_learnt")
class positions_detached(Model):
    def place(self, token_ids, held):
        return super().place(token_ids, held).detach()


@wrong
class embedding_not_dropped(Model):
    def answer(self, token_ids, caches, held):
        return self.out(self.norm(self.through(self.words(token_ids) + self.place(token_ids, held), caches)))


@misconception(MODEL, like="embedding_not_dropped")
class words_alone_dropped(Model):
    def answer(self, token_ids, caches, held):
        x = self.drop(self.words(token_ids)) + self.place(token_ids, held)
        return self.out(self.norm(self.through(x, caches)))


class OfThisCall(Model):
    """Knows the ids and the caches of the call."""

    def answer(self, token_ids, caches, held):
        self.ids, self.caches = token_ids, caches
        return super().answer(token_ids, caches, held)


@misconception(MODEL, like="position_of_the_last")
class at_the_beginning_too(OfThisCall):
    def place(self, token_ids, held):
        if self.caches is None:
            return super().place(token_ids, held)
        return self.places(torch.full((token_ids.shape[1],), held))


@wrong
class last_logits_with_caches(OfThisCall):
    def out(self, x):
        return super().out(x if self.caches is None else x[:, -1:])


@wrong
class one_layer_cached(Model):
    """The first layer alone gets its cache."""

    def through(self, x, caches):
        for number, layer in enumerate(self.layers):
            x = layer(x, cache=None if caches is None or number else caches[0])
        return x


@wrong
class token_zero_hidden(OfThisCall):
    """Token 0 is taken for padding."""

    def through(self, x, caches):
        if caches is not None:
            return super().through(x, caches)
        for layer in self.layers:
            x = layer(x, key_mask=self.ids != 0)
        return x


@wrong
class single_token_without_position(Model):
    """if token_ids.shape[1] > 1: x = x + positions."""

    def place(self, token_ids, held):
        return super().place(token_ids, held) if token_ids.shape[1] > 1 else 0.0


@wrong
class sums_normalised(Model):
    """Layers made with norm_first=False."""

    def make_layer(self, *sizes):
        return DecoderLayer(*sizes, norm_first=False)


@misconception(MODEL, like="sums_normalised")
class behind_each_layer(Model):
    def through(self, x, caches):
        for number, layer in enumerate(self.layers):
            x = layer(x, cache=None if caches is None else caches[number])
            x = self.norm(x) if number < self.num_layers - 1 else x
        return x


@misconception(MODEL, like="sums_normalised")
class behind_every_layer_with_the_last_norm(Model):
    def through(self, x, caches):
        for number, layer in enumerate(self.layers):
            x = self.norm(layer(x, cache=None if caches is None else caches[number]))
        return x


@wrong
class logarithms_in_forward(Model):
    def out(self, x):
        return torch.log_softmax(super().out(x), dim=-1)


@wrong
class token_zero_taken_for_padding(Model):
    def make_output(self, d_model, vocab_size):
        self.words = nn.Embedding(vocab_size, d_model, padding_idx=0)
