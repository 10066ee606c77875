"""Wrong hierarchical attention: another nonlinearity, another sum, a mask of other axes, a lost gradient."""

import torch
from torch import nn

from . import misconception
from ._sequence_hierarchical import HIERARCHICAL, Levels, masked_softmax

wrong = misconception(HIERARCHICAL)


class Bent(Levels):
    """Another nonlinearity than tanh."""

    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(self.bend(proj(x)) @ query, mask), x)


@wrong
class sigmoid_for_tanh(Bent):
    def bend(self, x):
        return torch.sigmoid(x)


@wrong
class relu_for_tanh(Bent):
    def bend(self, x):
        return torch.relu(x)


@wrong
class gelu_for_tanh(Bent):
    def bend(self, x):
        return nn.functional.gelu(x)


@wrong
class divided_by_the_number(Levels):
    """The mean of the weighted vectors, not their sum."""

    def summed(self, weights, x):
        return super().summed(weights, x) / x.shape[-2]


@wrong
class largest_of_the_weighted(Levels):
    def summed(self, weights, x):
        return (weights.unsqueeze(-1) * x).amax(dim=-2)


@wrong
class mask_of_the_first_document(Levels):
    def answer(self, x, mask):
        return super().answer(x, mask if mask is None else mask[:1].expand(x.shape[:3]))


@wrong
class last_word_makes_the_sentence(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask[..., -1])


@wrong
class words_of_zeros_hidden(Levels):
    """What is real is read from the numbers: a word that is all zero is none."""

    def answer(self, x, mask):
        real = (x != 0).any(dim=-1)
        return super().answer(x, real if mask is None else real & mask)


@wrong
class weights_detached(Levels):
    def weights(self, scores, mask):
        return super().weights(scores, mask).detach()


@wrong
class sentences_returned(Levels):
    def sentences(self, x, mask):
        return x


@misconception(HIERARCHICAL, like="sentences_averaged")
class padding_among_them(Levels):
    def sentences(self, x, mask):
        return x.mean(dim=1)


@misconception(HIERARCHICAL, like="words_averaged")
class padding_among_the_words(Levels):
    def words(self, x, mask):
        return x.mean(dim=2)


@wrong
class sentences_of_zeros_hidden(Levels):
    """What is real is read from the numbers: a sentence whose vector is all zero is none."""

    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, (x != 0).any(dim=-1))


@wrong
class words_share_the_document(Levels):
    """The words of all sentences in one softmax."""

    def words(self, x, mask):
        scores = torch.tanh(self.word_proj(x)) @ self.word_query
        return self.summed(masked_softmax(scores.flatten(1), mask.flatten(1)).view_as(scores), x)


@misconception(HIERARCHICAL, like="pooled_squashed")
class of_the_words_alone(Levels):
    def words(self, x, mask):
        return torch.tanh(super().words(x, mask))


@misconception(HIERARCHICAL, like="pooled_squashed")
class of_the_sentences_alone(Levels):
    def sentences(self, x, mask):
        return torch.tanh(super().sentences(x, mask))
