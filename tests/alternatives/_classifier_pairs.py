"""Right pair matchers with another inside: one tower or two, or both texts in one sequence."""

import torch
from torch import nn

from attention.classifier import masked_mean
from attention.encoder import Encoder
from attention.masks import masked_softmax
from attention.multi_head import MultiHeadAttention
from attention.positions import LearnedPositionalEmbedding, PositionalEncoding

from . import alternative
from ._classifier_given import Matching
from ._classifier_models import torch_encoder

PAIR = "classifier.PairMatcher"


class Tower(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length, dropout, padding_id, norm_first):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = PositionalEncoding(d_model, max_length, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, norm_first=norm_first)
        self.padding_id = padding_id

    def tokens(self, ids):
        real = ids != self.padding_id
        return self.encoder(self.places(self.words(ids)), key_mask=real), real

    def forward(self, ids):
        return masked_mean(*self.tokens(ids))


class Towers(Matching):
    norm_first = True

    def make(self, *sizes):
        rest = (self.max_length, self.dropout, self.padding_id, self.norm_first)
        self.left = Tower(*sizes, *rest)
        self.right = self.other(*sizes, *rest)
        self.make_comparison(self.d_model)

    def other(self, *sizes):
        return self.left

    def make_comparison(self, d_model):
        pass

    def answer(self, left_ids, right_ids):
        return self.compared(self.left(left_ids), self.right(right_ids))


@alternative(PAIR)
class two_towers(Towers):
    """The sides share nothing, and a matrix between them compares."""

    def other(self, *sizes):
        return Tower(*sizes)

    def make_comparison(self, d_model):
        self.between = nn.Bilinear(d_model, d_model, 1)

    def compared(self, left, right):
        return self.between(left, right).flatten()


@alternative(PAIR)
class dot_product(Towers):
    def make_comparison(self, d_model):
        self.bias = nn.Parameter(torch.zeros(()))

    def compared(self, left, right):
        return (left * right).sum(dim=-1) / self.d_model**0.5 + self.bias


@alternative(PAIR)
class scaled_cosine(Towers):
    norm_first = False

    def make_comparison(self, d_model):
        self.scale, self.bias = nn.Parameter(torch.tensor(5.0)), nn.Parameter(torch.tensor(0.0))

    def compared(self, left, right):
        return self.scale * nn.functional.cosine_similarity(left, right, dim=-1) + self.bias


@alternative(PAIR)
class differences(Towers):
    def make_comparison(self, d_model):
        self.weigh = nn.Linear(d_model, 1)

    def compared(self, left, right):
        return self.weigh((left - right).abs())[:, 0]


@alternative(PAIR)
class two_layers_on_both(Towers):
    def make_comparison(self, d_model):
        self.layers = nn.Sequential(nn.Linear(2 * d_model, 2 * d_model), nn.GELU(), nn.Linear(2 * d_model, 1))

    def compared(self, left, right):
        return self.layers(torch.cat([left, right], dim=-1)).reshape(-1)


@alternative(PAIR)
class left_asks_right(Towers):
    """Every token of the left text attends to the right text."""

    def make_comparison(self, d_model):
        self.across = MultiHeadAttention(d_model, 1, self.dropout)
        self.layers = nn.Sequential(nn.Linear(3 * d_model, d_model), nn.ReLU(), nn.Linear(d_model, 1))

    def answer(self, left_ids, right_ids):
        left, real_left = self.left.tokens(left_ids)
        right, real_right = self.left.tokens(right_ids)
        found, _ = self.across(left, right, right, key_mask=real_right)
        both = torch.cat([left, found, left * found], dim=-1)
        return self.layers(masked_mean(both, real_left)).squeeze(1) + 0.1 * masked_mean(right, real_right).mean(-1)


@alternative(PAIR)
class softly_aligned(Towers):
    """Each token beside what it finds in the other text, their difference and product; a mean and a maximum of each."""

    def make_comparison(self, d_model):
        self.compare = nn.Sequential(nn.Linear(4 * d_model, d_model), nn.ReLU())
        self.layers = nn.Sequential(nn.Linear(4 * d_model, d_model), nn.Tanh(), nn.Linear(d_model, 1))

    def answer(self, left_ids, right_ids):
        sides = self.left.tokens(left_ids), self.left.tokens(right_ids)
        (left, real_left), (right, real_right) = sides
        scores = left @ right.mT / self.d_model**0.5
        found = (
            masked_softmax(scores, real_right[:, None]) @ right,
            masked_softmax(scores.mT, real_left[:, None]) @ left,
        )
        pooled = []
        for (tokens, real), other in zip(sides, found, strict=True):
            compared = self.compare(torch.cat([tokens, other, tokens - other, tokens * other], dim=-1))
            largest = compared.where(real[..., None], 0.0).amax(dim=1)  # none is below 0
            pooled += [masked_mean(compared, real), largest]
        return self.layers(torch.cat(pooled, dim=-1)).squeeze(1)


@alternative(PAIR)
class one_sequence(Matching):
    """[first] left right: each side has positions of its own and a vector that says which side it is."""

    def make(self, vocab_size, d_model, num_heads, d_ff, num_layers):
        self.words, self.sides = nn.Embedding(vocab_size, d_model), nn.Embedding(2, d_model)
        self.places = LearnedPositionalEmbedding(d_model, self.max_length)
        self.first = nn.Parameter(torch.randn(1, 1, d_model))
        self.drop = nn.Dropout(self.dropout)
        self.encoder = torch_encoder(d_model, num_heads, d_ff, num_layers, self.dropout, norm_first=True)
        self.output = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, 1))

    def answer(self, left_ids, right_ids):
        sides = [self.places(self.words(ids)) + side for ids, side in zip((left_ids, right_ids), self.sides.weight)]  # noqa: B905
        x = self.drop(torch.cat([self.first.expand(len(left_ids), -1, -1), *sides], dim=1))
        padding = torch.cat([left_ids, right_ids], dim=1) == self.padding_id
        padding = nn.functional.pad(padding, (1, 0), value=False)
        return self.output(self.encoder(x, src_key_padding_mask=padding)[:, 0]).squeeze(-1)


@alternative(PAIR)
class both_at_once(Towers):
    """One call of the tower for both sides, padded to one length and stacked as one batch."""

    def make_comparison(self, d_model):
        self.layers = nn.Sequential(nn.Linear(3 * d_model, d_model), nn.ReLU(), nn.Linear(d_model, 1))

    def answer(self, left_ids, right_ids):
        longest = max(left_ids.shape[1], right_ids.shape[1])
        sides = [
            nn.functional.pad(ids, (0, longest - ids.shape[1]), value=self.padding_id) for ids in (left_ids, right_ids)
        ]
        left, right = self.left(torch.cat(sides)).chunk(2)
        return self.layers(torch.cat([left + right, (left - right) ** 2, left * right], dim=-1))[..., 0]
