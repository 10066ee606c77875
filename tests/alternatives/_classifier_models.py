"""Right text classifiers with another inside: what pools, where the norms stand, whose layers they are."""

import torch
from torch import nn

from attention.classifier import masked_mean
from attention.encoder import Encoder
from attention.multi_head import merge_heads, split_heads
from attention.positions import LearnedPositionalEmbedding, PositionalEncoding, apply_rotary, sinusoidal_encoding

from . import alternative
from ._classifier_given import Classifying

TEXT = "classifier.TextClassifier"


def torch_encoder(d_model, num_heads, d_ff, num_layers, dropout, **more):
    layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout, batch_first=True, **more)
    return nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)


@alternative(TEXT)
class torchs_encoder(Classifying):
    """torch's layers, post-norm, learned positions; an empty text may attend to its first padding."""

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words = nn.Embedding(vocab_size, d_model, padding_idx=None)
        self.places = nn.Embedding(self.max_length, d_model)
        self.drop = nn.Dropout(self.dropout)
        self.encoder = torch_encoder(d_model, num_heads, d_ff, num_layers, self.dropout)

    def pool(self, token_ids):
        padding = token_ids == self.padding_id
        x = self.drop(self.words(token_ids) + self.places.weight[: token_ids.shape[1]])
        ignored = padding.clone()
        ignored[:, 0] &= ~padding.all(dim=1)
        x = self.encoder(x, src_key_padding_mask=ignored)
        x = x.masked_fill(padding[..., None], 0.0)
        return x.sum(dim=1) / (~padding).sum(dim=1, keepdim=True).clamp(min=1)


@alternative(TEXT)
class torchs_pre_norm_with_scaled_words(Classifying):
    """Embeddings of deviation 0.02 times √d, a head that begins at zero, GELU."""

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words = nn.Embedding(vocab_size, d_model, padding_idx=self.padding_id)
        nn.init.normal_(self.words.weight, std=0.02)
        self.register_buffer("table", sinusoidal_encoding(self.max_length, d_model), persistent=False)
        self.drop = nn.Dropout(self.dropout)
        self.encoder = torch_encoder(d_model, num_heads, d_ff, num_layers, self.dropout, norm_first=True)

    def make_output(self, d_model, num_classes):
        self.output = nn.Linear(d_model, num_classes)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def pool(self, token_ids):
        real = token_ids.ne(self.padding_id)
        x = self.drop(self.words(token_ids) * self.d_model**0.5 + self.table[: token_ids.size(1)])
        x = self.encoder(x, src_key_padding_mask=~(real | ~real.any(1, keepdim=True)))
        return torch.einsum("bld,bl->bd", x, real.to(x.dtype)) / real.sum(1).clamp_min(1)[:, None]


class Ours(Classifying):
    """Words, positions and the course's encoder."""

    norm_first = True
    more = 0  # positions beside those of the words

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = PositionalEncoding(d_model, self.max_length + self.more, self.dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, self.dropout, norm_first=self.norm_first)
        self.make_pooling(d_model)

    def make_pooling(self, d_model):
        pass

    def pool(self, token_ids):
        real = token_ids != self.padding_id
        return self.pooled(self.encoder(self.places(self.words(token_ids)), key_mask=real), real)


@alternative(TEXT)
class class_token(Ours):
    """A learned vector in front, which is never padding, collects the text."""

    more = 1

    def make_pooling(self, d_model):
        self.first = nn.Parameter(torch.randn(d_model))

    def pool(self, token_ids):
        first = self.first.expand(len(token_ids), 1, -1)
        x = self.places(torch.cat([first, self.words(token_ids)], dim=1))
        real = torch.cat([torch.ones_like(token_ids[:, :1]).bool(), token_ids != self.padding_id], dim=1)
        return self.encoder(x, key_mask=real)[:, 0]


@alternative(TEXT)
class attention_pooling(Ours):
    """A learned query weighs the tokens; an empty text has weights of zero."""

    norm_first = False

    def make_pooling(self, d_model):
        self.query = nn.Linear(d_model, 1)

    def pooled(self, x, real):
        scores = self.query(x).squeeze(-1).masked_fill(~real, torch.finfo(x.dtype).min)
        weights = torch.softmax(scores, dim=-1) * real
        return (weights.unsqueeze(1) @ x).squeeze(1)


@alternative(TEXT)
class max_pooling(Ours):
    def pooled(self, x, real):
        most = x.masked_fill(~real[..., None], float("-inf")).amax(dim=1)
        return most.masked_fill(~real.any(dim=1, keepdim=True), 0.0)


@alternative(TEXT)
class sum_pooling(Ours):
    norm_first = False

    def pooled(self, x, real):
        return torch.where(real[..., None], x, torch.zeros_like(x)).sum(dim=1)


@alternative(TEXT)
class first_token(Ours):
    """The first word has attended to all the others."""

    def pooled(self, x, real):
        return x[:, 0]


@alternative(TEXT)
class last_real_token(Ours):
    def pooled(self, x, real):
        last = (real.sum(dim=1) - 1).clamp(min=0)
        return x[torch.arange(len(x)), last]


@alternative(TEXT)
class two_layers_at_the_end(Ours):
    """Learned positions, dropout and two layers behind the mean."""

    def make_pooling(self, d_model):
        self.places = LearnedPositionalEmbedding(d_model, self.max_length)

    def make_output(self, d_model, num_classes):
        self.output = nn.Sequential(
            nn.LayerNorm(d_model),
            nn.Linear(d_model, d_model),
            nn.Tanh(),
            nn.Dropout(self.dropout),
            nn.Linear(d_model, num_classes, bias=False),
        )

    def pooled(self, x, real):
        return masked_mean(x, real)


@alternative(TEXT)
class small_beginnings(Ours):
    """Everything of two axes begins with deviation 0.02, as in GPT-2."""

    def make_output(self, d_model, num_classes):
        super().make_output(d_model, num_classes)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def pooled(self, x, real):
        return masked_mean(x, real)


@alternative(TEXT)
class rotated(Classifying):
    """No vector is added for a position: queries and keys are rotated."""

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words, self.heads = nn.Embedding(vocab_size, d_model), num_heads
        self.maps = nn.ModuleList(nn.Linear(d_model, 3 * d_model) for _ in range(num_layers))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
            for _ in range(num_layers)
        )
        self.drop = nn.Dropout(self.dropout)

    def pool(self, token_ids):
        real = token_ids != self.padding_id
        mask = real[:, None, None, :] | ~real.any(dim=1)[:, None, None, None]
        x = self.drop(self.words(token_ids))
        for projected, feed in zip(self.maps, self.feeds, strict=True):
            query, key, value = (split_heads(part, self.heads) for part in projected(x).chunk(3, dim=-1))
            mixed = nn.functional.scaled_dot_product_attention(apply_rotary(query), apply_rotary(key), value, mask)
            x = x + self.drop(merge_heads(mixed))
            x = x + self.drop(feed(x))
        return masked_mean(x, real)


@alternative(TEXT)
class branches_that_begin_at_zero(Classifying):
    """Each branch is weighed by a number that begins at 0, as in ReZero, and the output layer begins at zero too."""

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words, self.places = nn.Embedding(vocab_size, d_model), nn.Embedding(self.max_length, d_model)
        self.layers = nn.ModuleList(
            nn.MultiheadAttention(d_model, num_heads, self.dropout, batch_first=True) for _ in range(num_layers)
        )
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(self.dropout), nn.Linear(d_ff, d_model))
            for _ in range(num_layers)
        )
        self.shares = nn.Parameter(torch.zeros(num_layers, 2))

    def make_output(self, d_model, num_classes):
        super().make_output(d_model, num_classes)
        nn.init.zeros_(self.output.weight)

    def pool(self, token_ids):
        real = token_ids != self.padding_id
        ignored = ~real & real.any(dim=1, keepdim=True)
        x = self.words(token_ids) + self.places(torch.arange(token_ids.shape[1]))
        for attend, feed, (first, second) in zip(self.layers, self.feeds, self.shares, strict=True):
            x = x + first * attend(x, x, x, key_padding_mask=ignored, need_weights=False)[0]
            x = x + second * feed(x)
        return masked_mean(x, real)


@alternative(TEXT)
class recurrent(Classifying):
    """A GRU whose padded steps keep the state they had."""

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words, self.cell = nn.Embedding(vocab_size, d_model), nn.GRUCell(d_model, d_model)
        self.drop = nn.Dropout(self.dropout)

    def pool(self, token_ids):
        state = self.words.weight.new_zeros(len(token_ids), self.d_model)
        for ids in token_ids.T:
            new = self.cell(self.drop(self.words(ids)), state)
            state = torch.where((ids != self.padding_id)[:, None], new, state)
        return self.drop(state)
