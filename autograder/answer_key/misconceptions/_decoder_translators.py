"""Wrong translating models, each with the argument checks that the stub gives."""

import torch
from torch import nn

from ..reference_package import reference
from . import misconception
from ._decoder_given import Translating

TRANSLATOR = "decoder.EncoderDecoder"
DecoderLayer, Encoder = reference("decoder.DecoderLayer"), reference("encoder.Encoder")
wrong = misconception(TRANSLATOR)


class Translator(Translating):
    """Encoder, memory, decoder and output in pieces that a subclass replaces."""

    def make(self, d_model, num_heads, d_ff, num_layers, dropout):
        self.vocabs, self.p = (self.source_vocab_size, self.target_vocab_size), dropout
        self.words = nn.ModuleList(nn.Embedding(size, d_model) for size in self.vocabs)
        self.places = nn.ModuleList(nn.Embedding(self.max_length, d_model) for _ in "ab")
        self.make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        self.drop, self.norm = nn.Dropout(dropout), nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, self.width())

    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, norm_first=True)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout, cross_attention=True) for _ in range(num_layers)
        )

    def width(self):
        return self.vocabs[1]

    def answer(self, source_ids, target_ids):
        real = self.real(source_ids)
        memory = self.encode(self.embed(source_ids, 0), real)
        return self.out(self.norm(self.decode(self.embed(target_ids, 1), memory, real)))

    def real(self, source_ids):
        return source_ids != self.padding_id

    def embed(self, token_ids, side):
        return self.drop(self.words[side](token_ids) + self.place(token_ids, side))

    def place(self, token_ids, side):
        return self.places[side](torch.arange(token_ids.shape[1]))

    def encode(self, x, real):
        return self.encoder(x, key_mask=real)

    def decode(self, x, memory, real):
        for layer in self.layers:
            x = self.step(layer, x, memory, real)
        return x

    def step(self, layer, x, memory, real):
        return layer(x, memory, memory_key_mask=real)

    def out(self, x):
        return self.output(x)


class Apart(Translator):
    """With the decoder layer taken apart."""

    def step(self, layer, x, memory, real):
        seen = layer.norm1(x)
        x = x + layer.dropout(layer.self_attention(seen, seen, seen, self.mask(x.shape[1]))[0])
        x = self.look(layer, x, memory, real)
        return x + layer.dropout(layer.feed_forward(layer.norm3(x)))

    def mask(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril()

    def look(self, layer, x, memory, real):
        found = layer.cross_attention(layer.norm2(x), memory, memory, key_mask=real)[0]
        return x + layer.dropout(found)


@wrong
class future_seen(Apart):
    def mask(self, length):
        return None


@wrong
class source_not_read(Apart):
    def look(self, layer, x, memory, real):
        return x


@wrong
class encoder_left_out_and_first_token_read(Translator):
    """The embeddings of the source are the memory, the first one alone."""

    def encode(self, x, real):
        return x

    def decode(self, x, memory, real):
        return super().decode(x, memory[:, :1], real[:, :1])


@wrong
class padding_counts(Translator):
    def real(self, source_ids):
        return torch.ones_like(source_ids, dtype=torch.bool)


@wrong
class mask_inverted(Translator):
    def real(self, source_ids):
        return source_ids == self.padding_id


@wrong
class padding_id_fixed(Translator):
    def real(self, source_ids):
        return source_ids != 0


@wrong
class source_positions_missing(Translator):
    def place(self, token_ids, side):
        return super().place(token_ids, side) if side else 0.0


@wrong
class target_positions_missing(Translator):
    def place(self, token_ids, side):
        return 0.0 if side else super().place(token_ids, side)


@wrong
class positions_missing(Translator):
    def place(self, token_ids, side):
        return 0.0


@wrong
class one_embedding_for_both(Translator):
    def embed(self, token_ids, side):
        return super().embed(token_ids, 0)


@wrong
class logits_of_source_words(Translator):
    def width(self):
        return self.vocabs[0]


@wrong
class sides_exchanged(Translator):
    """The target is the memory, the source goes to the decoder."""

    def answer(self, source_ids, target_ids):
        memory = self.encode(self.embed(target_ids, 1), None)
        return self.out(self.norm(self.decode(self.embed(source_ids, 0), memory, None)))


@wrong
class rows_attend_to_each_other(Translator):
    """The length first in the encoder, as torch's layers without batch_first."""

    def encode(self, x, real):
        return self.encoder(x.transpose(0, 1)).transpose(0, 1)


@wrong
class empty_source_is_nan(Translator):
    """torch's softmax over a source of padding alone."""

    def encode(self, x, real):
        memory = super().encode(x, real)
        return memory.masked_fill(~real.any(dim=1)[:, None, None], torch.nan)

    def decode(self, x, memory, real):
        found = super().decode(x, memory, real)
        return found.masked_fill(~real.any(dim=1)[:, None, None], torch.nan)


@wrong
class softmax_in_forward(Translator):
    def out(self, x):
        return torch.softmax(super().out(x), dim=-1)


@wrong
class last_logits_alone(Translator):
    def out(self, x):
        return super().out(x[:, -1])


@wrong
class room_for_half(Translator):
    def place(self, token_ids, side):
        return self.places[side].weight[:128][torch.arange(token_ids.shape[1])]


@wrong
class dropout_in_evaluation(Translator):
    def embed(self, token_ids, side):
        return nn.functional.dropout(self.words[side](token_ids) + self.place(token_ids, side), self.p)


@wrong
class dropout_ignored(Translator):
    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, 0.0)

    def embed(self, token_ids, side):
        return self.words[side](token_ids) + self.place(token_ids, side)


@wrong
class dropout_not_passed_on(Translator):
    """Encoder and layers keep their own default of 0.1."""

    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, 0.1)
