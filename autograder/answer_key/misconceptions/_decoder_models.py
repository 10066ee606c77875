"""Wrong language models, each with the argument checks that the stub gives."""

import torch
from torch import nn

from ..reference_package import reference
from . import misconception
from ._decoder_given import Modelling

MODEL = "decoder.LanguageModel"
DecoderLayer, KeyValueCache = reference("decoder.DecoderLayer"), reference("efficient.KeyValueCache")
EncoderLayer = reference("encoder.EncoderLayer")
wrong = misconception(MODEL)


class Model(Modelling):
    """Words, positions, layers and output in pieces that a subclass replaces."""

    def make(self, d_model, num_heads, d_ff, dropout):
        self.p = dropout
        self.words, self.places = nn.Embedding(self.vocab_size, d_model), self.make_places(self.max_length, d_model)
        nn.init.normal_(self.words.weight, std=0.02)
        self.drop, self.norm = nn.Dropout(dropout), self.make_norm(d_model)
        layers = (self.make_layer(d_model, num_heads, d_ff, dropout) for _ in range(self.num_layers))
        self.layers = nn.ModuleList(layers)
        self.make_output(d_model, self.vocab_size)

    def make_places(self, max_length, d_model):
        return nn.Embedding(max_length, d_model)

    def make_norm(self, d_model):
        return nn.LayerNorm(d_model)

    def make_layer(self, *sizes):
        return DecoderLayer(*sizes)

    def make_output(self, d_model, vocab_size):
        pass

    def new_caches(self):
        return [KeyValueCache(self.max_length) for _ in self.layers]

    def answer(self, token_ids, caches, held):
        x = self.drop(self.words(token_ids) + self.place(token_ids, held))
        return self.out(self.norm(self.through(x, caches)))

    def place(self, token_ids, held):
        return self.places(torch.arange(held, held + token_ids.shape[1]))

    def through(self, x, caches):
        for number, layer in enumerate(self.layers):
            x = layer(x, cache=None if caches is None else caches[number])
        return x

    def out(self, x):
        return x @ self.words.weight.T


@wrong
class future_seen(Model):
    """Encoder layers without a mask."""

    def through(self, x, caches):
        if caches is not None:
            return super().through(x, caches)
        for layer in self.layers:
            seen = layer.norm1(x)
            x = x + layer.self_attention(seen, seen, seen)[0]
            x = x + layer.feed_forward(layer.norm2(x))
        return x


@wrong
class positions_missing(Model):
    def place(self, token_ids, held):
        return 0.0


@wrong
class positions_restart(Model):
    """With caches the positions begin at 0 again."""

    def place(self, token_ids, held):
        return super().place(token_ids, 0)


@wrong
class position_of_the_last(Model):
    """With caches all new tokens get the position of the first of them."""

    def place(self, token_ids, held):
        if not held:
            return super().place(token_ids, held)
        return self.places(torch.full((token_ids.shape[1],), held))


@wrong
class positions_by_batch(Model):
    def place(self, token_ids, held):
        return self.places(torch.arange(len(token_ids)) % self.max_length).unsqueeze(1)


@wrong
class output_untied(Model):
    def make_output(self, d_model, vocab_size):
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def out(self, x):
        return self.output(x)


@wrong
class no_last_norm(Model):
    def answer(self, token_ids, caches, held):
        return self.out(self.through(self.drop(self.words(token_ids) + self.place(token_ids, held)), caches))


@wrong
class softmax_in_forward(Model):
    def out(self, x):
        return torch.softmax(super().out(x), dim=-1)


@wrong
class last_logits_alone(Model):
    def out(self, x):
        return super().out(x[:, -1])


@wrong
class vocabulary_before_length(Model):
    """Logits (B, V, L), as cross_entropy takes them."""

    def out(self, x):
        return super().out(x).transpose(1, 2)


@wrong
class argmax_in_forward(Model):
    def out(self, x):
        return super().out(x).argmax(dim=-1)


@wrong
class caches_not_passed_on(Model):
    def through(self, x, caches):
        if caches is not None:
            for layer, cache in zip(self.layers, caches, strict=True):
                layer(x, cache=cache)
        return super().through(x, None)


@wrong
class first_cache_for_all(Model):
    def through(self, x, caches):
        for layer in self.layers:
            x = layer(x, cache=None if caches is None else caches[0])
        return x


@wrong
class one_cache_many_times(Model):
    """[KeyValueCache(n)] * num_layers."""

    def new_caches(self):
        return [KeyValueCache(self.max_length)] * len(self.layers)


@wrong
class caches_made_once(Model):
    def make_output(self, d_model, vocab_size):
        self.kept = Model.new_caches(self)

    def new_caches(self):
        return self.kept


@wrong
class single_cache_returned(Model):
    def new_caches(self):
        return KeyValueCache(self.max_length)


@wrong
class newest_token_alone_read(Model):
    """With caches, only the last of the new tokens."""

    def answer(self, token_ids, caches, held):
        return super().answer(token_ids[:, -1:] if caches is not None else token_ids, caches, held)


@wrong
class rows_attend_to_each_other(Model):
    """The length first, as torch's layers without batch_first."""

    def through(self, x, caches):
        if caches is not None:
            return super().through(x, caches)
        return super().through(x.transpose(0, 1), None).transpose(0, 1)


@wrong
class room_for_half(Model):
    """The table of positions, and the caches, are made for a number of their own."""

    def make_places(self, max_length, d_model):
        return nn.Embedding(128 if max_length > 128 else max_length, d_model)


@wrong
class dropout_in_evaluation(Model):
    def answer(self, token_ids, caches, held):
        x = nn.functional.dropout(self.words(token_ids) + self.place(token_ids, held), self.p)
        return self.out(self.norm(self.through(x, caches)))


@wrong
class dropout_ignored(Model):
    def make_layer(self, d_model, num_heads, d_ff, dropout):
        self.drop.p = 0.0
        return DecoderLayer(d_model, num_heads, d_ff, 0.0)


@wrong
class dropout_not_passed_on(Model):
    """The layers keep their own default of 0.1."""

    def make_layer(self, d_model, num_heads, d_ff, dropout):
        return DecoderLayer(d_model, num_heads, d_ff)
