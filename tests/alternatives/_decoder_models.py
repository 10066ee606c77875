"""Right language models and translators with another inside."""

import torch
from torch import nn
from torch.nn import functional as F

from attention.decoder import DecoderLayer
from attention.efficient import KeyValueCache
from attention.encoder import Encoder
from attention.positions import LearnedPositionalEmbedding, PositionalEncoding, apply_rotary
from autograder.answer_key.misconceptions._decoder_given import Modelling, Translating

from . import alternative

MODEL, TRANSLATOR = "decoder.LanguageModel", "decoder.EncoderDecoder"


@alternative(MODEL)
class a_linear_layer_with_the_same_parameter(Modelling):
    def make(self, d_model, num_heads, d_ff, dropout):
        self.output = nn.Linear(d_model, self.vocab_size, bias=False)
        self.embedding = nn.Embedding(self.vocab_size, d_model)
        self.output.weight = self.embedding.weight
        self.positions = LearnedPositionalEmbedding(d_model, self.max_length)
        self.blocks = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(self.num_layers))
        self.norm, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def new_caches(self):
        return [KeyValueCache(self.max_length) for _ in self.blocks]

    def answer(self, token_ids, caches, held):
        x = self.drop(self.embedding(token_ids) + self.positions.weight[held : held + token_ids.shape[1]])
        for block, cache in zip(self.blocks, caches or [None] * self.num_layers, strict=True):
            x = block(x, cache=cache)
        return self.output(self.norm(x))


@alternative(MODEL)
class small_beginnings_and_a_bias(Modelling):
    """Tables begin at deviation 0.02, the output has a bias, words are multiplied by √d_model; a norm is left over."""

    def make(self, d_model, num_heads, d_ff, dropout):
        self.table = nn.Parameter(torch.empty(self.vocab_size, d_model))
        self.place = nn.Parameter(torch.empty(self.max_length, d_model))
        self.bias, self.never_called = nn.Parameter(torch.zeros(self.vocab_size)), nn.LayerNorm(d_model)
        self.layers = nn.ModuleList()
        for _ in range(self.num_layers):
            self.layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout, "relu"))
        self.last, self.p = nn.LayerNorm(d_model, elementwise_affine=False), dropout
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def new_caches(self):
        return tuple(KeyValueCache(self.max_length) for _ in range(self.num_layers))

    def answer(self, token_ids, caches, held):
        x = F.embedding(token_ids, self.table) * self.table.shape[1] ** 0.5
        x = F.dropout(x + self.place.narrow(0, held, token_ids.shape[1]), self.p, self.training)
        for place, layer in enumerate(self.layers):
            x = layer(x, cache=caches[place] if caches else None)
        return F.linear(self.last(x), self.table, self.bias)


@alternative(MODEL)
class layers_of_its_own(Modelling):
    """No DecoderLayer: one matrix for queries, keys and values; torch's attention; all in loops over tokens' pieces."""

    def make(self, d_model, num_heads, d_ff, dropout):
        self.words, self.places = nn.Embedding(self.vocab_size, d_model), nn.Embedding(self.max_length, d_model)
        self.heads, self.drop = num_heads, nn.Dropout(dropout)
        self.maps = nn.ModuleList(nn.Linear(d_model, 3 * d_model) for _ in range(self.num_layers))
        self.outs = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(self.num_layers))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
            for _ in range(self.num_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(self.num_layers + 1))

    def new_caches(self):
        return [KeyValueCache(self.max_length) for _ in self.maps]

    def answer(self, token_ids, caches, held):
        batch, length = token_ids.shape
        x = self.drop(self.words(token_ids) + self.places(torch.arange(length) + held))
        for place in range(self.num_layers):
            query, key, value = self.maps[place](self.norms[place](x)).chunk(3, dim=-1)
            if caches is not None:
                key, value = caches[place].append(key, value)
            split = [one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (query, key, value)]
            mask = torch.ones(length, key.shape[1], dtype=torch.bool).tril(key.shape[1] - length)
            mixed = F.scaled_dot_product_attention(*split, attn_mask=mask)
            x = x + self.drop(self.outs[place](mixed.transpose(1, 2).flatten(2)))
            x = x + self.drop(self.feeds[place](x))
        return self.norms[-1](x) @ self.words.weight.mT


@alternative(MODEL)
class positions_kept_by_the_caches(Modelling):
    """Reads the position from the first cache, and has a subclass of the cache."""

    def make(self, d_model, num_heads, d_ff, dropout):
        self.tokens, self.where = nn.Embedding(self.vocab_size, d_model), nn.Embedding(self.max_length, d_model)
        layers = [DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(self.num_layers)]
        self.stack, self.norm, self.drop = nn.Sequential(*layers), nn.LayerNorm(d_model), nn.Dropout(dropout)

    def new_caches(self):
        class Mine(KeyValueCache):
            pass

        return [Mine(self.max_length) for _ in range(self.num_layers)]

    def answer(self, token_ids, caches, held):
        start = 0 if caches is None else caches[0].length
        places = torch.full_like(token_ids, start) + torch.arange(token_ids.size(1))
        x = self.drop(self.tokens(token_ids) + self.where(places))
        if caches is None:
            x = self.stack(x)
        else:
            for layer, cache in zip(self.stack, caches, strict=True):
                x = layer(x, None, None, None, cache)
        return torch.einsum("bld,vd->blv", self.norm(x), self.tokens.weight)


@alternative(MODEL)
class root_mean_square_at_the_end(Modelling):
    """The last norm divides by the root of the mean square, and subtracts no mean."""

    def make(self, d_model, num_heads, d_ff, dropout):
        self.words, self.places = nn.Embedding(self.vocab_size, d_model), nn.Embedding(self.max_length, d_model)
        self.layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(self.num_layers))
        self.norm, self.drop = nn.RMSNorm(d_model), nn.Dropout(dropout)

    def new_caches(self):
        return [KeyValueCache(self.max_length) for _ in self.layers]

    def answer(self, token_ids, caches, held):
        x = self.drop(self.words(token_ids) + self.places.weight[held : held + token_ids.shape[1]])
        for layer, cache in zip(self.layers, caches or [None] * self.num_layers, strict=True):
            x = layer(x, cache=cache)
        return F.linear(self.norm(x), self.words.weight)


# The translating model


@alternative(TRANSLATOR)
class sinusoids_and_a_linear_output(Translating):
    def make(self, d_model, num_heads, d_ff, num_layers, dropout):
        self.source = nn.Embedding(self.source_vocab_size, d_model, padding_idx=self.padding_id)
        self.target = nn.Embedding(self.target_vocab_size, d_model)
        self.places = PositionalEncoding(d_model, self.max_length, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout, "relu", False, True) for _ in range(num_layers)
        )
        self.output = nn.Linear(d_model, self.target_vocab_size)

    def answer(self, source_ids, target_ids):
        real = source_ids.ne(self.padding_id)
        memory = self.encoder(self.places(self.source(source_ids)), None, real)
        x = self.places(self.target(target_ids))
        for layer in self.layers:
            x = layer(x, memory, None, real)
        return self.output(x)


@alternative(TRANSLATOR)
class torchs_layers(Translating):
    """torch's own layers one by one; a source of padding alone may read its first padding."""

    def make(self, d_model, num_heads, d_ff, num_layers, dropout):
        self.words = nn.ModuleList(
            nn.Embedding(size, d_model) for size in (self.source_vocab_size, self.target_vocab_size)
        )
        self.places = nn.ModuleList(nn.Embedding(self.max_length, d_model) for _ in range(2))
        more = {"dropout": dropout, "batch_first": True}
        self.reads = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )
        self.writes = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout, cross_attention=True) for _ in range(num_layers)
        )
        self.norm, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def answer(self, source_ids, target_ids):
        both = [
            self.drop(self.words[side](ids) + self.places[side].weight[: ids.shape[1]])
            for side, ids in enumerate((source_ids, target_ids))
        ]
        padding = source_ids == self.padding_id
        padding = torch.cat([padding[:, :1] & ~padding.all(1, keepdim=True), padding[:, 1:]], dim=1)
        memory, x = both
        for layer in self.reads:
            memory = layer(memory, src_key_padding_mask=padding)
        for layer in self.writes:
            x = layer(x, memory, memory_key_mask=~padding)
        return self.norm(x) @ self.words[1].weight.T


@alternative(TRANSLATOR)
class one_stack_that_reads_both(Translating):
    """No cross-attention: source and target in one sequence, under a mask that is causal for the target alone.

    One stack, as deep as the two that are asked for.
    """

    def make(self, d_model, num_heads, d_ff, num_layers, dropout):
        self.words = nn.Embedding(self.source_vocab_size + self.target_vocab_size, d_model)
        self.sides, self.drop = nn.Parameter(torch.randn(2, d_model)), nn.Dropout(dropout)
        self.places = nn.Embedding(self.max_length, d_model)
        self.encoder = Encoder(2 * num_layers, d_model, num_heads, d_ff, dropout, norm_first=True)
        self.output = nn.Linear(d_model, self.target_vocab_size)

    def answer(self, source_ids, target_ids):
        source, target = source_ids.shape[1], target_ids.shape[1]
        places = torch.cat([torch.arange(source), torch.arange(target)])
        x = self.words(torch.cat([source_ids, target_ids + self.source_vocab_size], dim=1)) + self.places(places)
        x = self.drop(x + self.sides.repeat_interleave(torch.tensor([source, target]), dim=0))
        mask = torch.ones(source + target, source + target, dtype=torch.bool)
        mask[:, source:] = False
        mask[source:, source:] = torch.ones(target, target, dtype=torch.bool).tril()
        real = torch.cat([source_ids != self.padding_id, torch.ones_like(target_ids, dtype=torch.bool)], dim=1)
        return self.output(self.encoder(x, mask, real)[:, source:])


@alternative(TRANSLATOR)
class rotated_and_scaled(Translating):
    """Embeddings times √d_model, rotated by their position instead of being added to; RMSNorm at the end."""

    def make(self, d_model, num_heads, d_ff, num_layers, dropout):
        self.scale, self.drop = d_model**0.5, nn.Dropout(dropout)
        self.left, self.right = (
            nn.Parameter(0.1 * torch.randn(size, d_model)) for size in (self.source_vocab_size, self.target_vocab_size)
        )
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, norm_first=True)
        self.decoder = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout, cross_attention=True) for _ in range(num_layers)
        )

    def answer(self, source_ids, target_ids):
        real = source_ids != self.padding_id
        memory, x = (
            self.drop(apply_rotary(self.scale * table[ids]))
            for table, ids in ((self.left, source_ids), (self.right, target_ids))
        )
        memory = self.encoder(memory, key_mask=real)
        for layer in self.decoder:
            x = layer(x, memory, memory_key_mask=real)
        return F.rms_norm(x, x.shape[-1:]) @ self.right.T
