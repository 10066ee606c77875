"""Wrong hierarchical attention, each with the argument checks that the stub gives."""

import math

import torch
from torch import nn

from ..reference_package import reference, reference_module
from . import misconception

HIERARCHICAL = "sequence_to_sequence.HierarchicalAttention"
Right = reference(HIERARCHICAL)
masked_softmax = reference("masks.masked_softmax")
arguments = reference_module("_arguments")


class Levels(Right):
    """The given lines, then the two levels in pieces that a subclass replaces."""

    def forward(self, x, mask=None):
        arguments.check_floating(x=x)
        if x.dim() != 4:
            raise ValueError("x must have four axes")
        arguments.check_width(self, self.d_model, x=x)
        if mask is not None:
            arguments.check_mask("mask", mask, tuple(x.shape[:3]))
        return self.answer(x, mask)

    def answer(self, x, mask):
        if mask is None:
            mask = torch.ones(x.shape[:3], dtype=torch.bool)
        return self.sentences(self.words(x, mask), mask)

    def words(self, x, mask):
        return self.pooled(x, self.word_proj, self.word_query, mask)

    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask.any(dim=-1))

    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x)) @ query, mask), x)

    def weights(self, scores, mask):
        return masked_softmax(scores, mask)

    def summed(self, weights, x):
        return (weights.unsqueeze(-2) @ x).squeeze(-2)


def averaged(x, mask):
    """The mean of what the mask allows."""
    share = mask.to(x.dtype) / mask.sum(dim=-1, keepdim=True).clamp(min=1)
    return (share.unsqueeze(-2) @ x).squeeze(-2)


@misconception(HIERARCHICAL)
class padded_sentences_have_weight(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, None)


@misconception(HIERARCHICAL)
class padded_words_have_weight(Levels):
    def words(self, x, mask):
        return self.pooled(x, self.word_proj, self.word_query, None)


@misconception(HIERARCHICAL)
class mask_ignored(Levels):
    def weights(self, scores, mask):
        return torch.softmax(scores, dim=-1)


@misconception(HIERARCHICAL)
class mask_inverted(Levels):
    def answer(self, x, mask):
        return super().answer(x, None if mask is None else ~mask)


@misconception(HIERARCHICAL)
class sentences_need_every_word(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask.all(dim=-1))


@misconception(HIERARCHICAL)
class first_word_makes_the_sentence(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask[..., 0])


@misconception(HIERARCHICAL)
class tanh_around_the_score(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x) @ query), mask), x)


@misconception(HIERARCHICAL)
class tanh_left_out(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(proj(x) @ query, mask), x)


@misconception(HIERARCHICAL)
class projections_summed(Levels):
    def pooled(self, x, proj, query, mask):
        hidden = torch.tanh(proj(x))
        return self.summed(self.weights(hidden @ query, mask), hidden)


@misconception(HIERARCHICAL)
class projection_left_out(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(x @ query, mask), x)


@misconception(HIERARCHICAL)
class word_proj_on_both_levels(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.word_proj, self.sentence_query, mask.any(dim=-1))


@misconception(HIERARCHICAL)
class word_query_on_both_levels(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.word_query, mask.any(dim=-1))


@misconception(HIERARCHICAL)
class levels_exchanged(Levels):
    def words(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask)

    def sentences(self, x, mask):
        return self.pooled(x, self.word_proj, self.word_query, mask.any(dim=-1))


@misconception(HIERARCHICAL)
class words_averaged(Levels):
    def words(self, x, mask):
        return averaged(x, mask)


@misconception(HIERARCHICAL)
class sentences_averaged(Levels):
    def sentences(self, x, mask):
        return averaged(x, mask.any(dim=-1))


@misconception(HIERARCHICAL)
class all_words_at_once(Levels):
    def answer(self, x, mask):
        flat = None if mask is None else mask.flatten(1)
        return self.pooled(x.flatten(1, 2), self.word_proj, self.word_query, flat)


@misconception(HIERARCHICAL)
class softmax_over_sentences(Levels):
    def words(self, x, mask):
        scores = torch.tanh(self.word_proj(x)) @ self.word_query
        return self.summed(masked_softmax(scores, mask, dim=1), x)


@misconception(HIERARCHICAL)
class divided_by_the_root(Levels):
    def weights(self, scores, mask):
        return masked_softmax(scores / math.sqrt(self.d_model), mask)


@misconception(HIERARCHICAL)
class softmax_left_out(Levels):
    def weights(self, scores, mask):
        return scores if mask is None else scores * mask


@misconception(HIERARCHICAL)
class filled_with_minus_1e9(Levels):
    def weights(self, scores, mask):
        return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)


@misconception(HIERARCHICAL)
class padding_makes_sentences(Levels):
    def words(self, x, mask):
        scores = (torch.tanh(self.word_proj(x)) @ self.word_query).masked_fill(~mask, -1e9)
        return self.summed(torch.softmax(scores, dim=-1), x)

    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, None)


@misconception(HIERARCHICAL)
class nan_where_nothing_is_real(Levels):
    def weights(self, scores, mask):
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


@misconception(HIERARCHICAL)
class nan_repaired_afterwards(Levels):
    def weights(self, scores, mask):
        forbidden = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
        return torch.softmax(scores + forbidden, dim=-1).nan_to_num(0.0)


@misconception(HIERARCHICAL)
class mask_always_expected(Levels):
    def answer(self, x, mask):
        return self.sentences(self.words(x, mask), mask)


@misconception(HIERARCHICAL)
class without_bias(Levels):
    def __init__(self, d_model):
        super().__init__(d_model)
        self.word_proj = nn.Linear(d_model, d_model, bias=False)
        self.sentence_proj = nn.Linear(d_model, d_model, bias=False)


@misconception(HIERARCHICAL)
class queries_as_linear_layers(Levels):
    def __init__(self, d_model):
        super().__init__(d_model)
        del self.word_query, self.sentence_query
        self.word_query = nn.Linear(d_model, 1, bias=False)
        self.sentence_query = nn.Linear(d_model, 1, bias=False)


@misconception(HIERARCHICAL)
class queries_not_registered(Levels):
    def __init__(self, d_model):
        super().__init__(d_model)
        del self.word_query, self.sentence_query
        self.word_query, self.sentence_query = torch.randn(d_model), torch.randn(d_model)


@misconception(HIERARCHICAL)
class one_level_for_both(Levels):
    def __init__(self, d_model):
        super().__init__(d_model)
        del self.sentence_proj, self.sentence_query
