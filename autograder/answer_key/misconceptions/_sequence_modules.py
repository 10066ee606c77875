"""More wrong hierarchical attention and decoders: other scores, parameters of one level on both, other beginnings."""

import torch

from . import misconception
from ._sequence_decoder import DECODER, Decoder
from ._sequence_hierarchical import HIERARCHICAL, Levels

# 9.4


@misconception(HIERARCHICAL)
class word_level_on_both(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.word_proj, self.word_query, mask.any(dim=-1))


@misconception(HIERARCHICAL)
class sentence_level_on_both(Levels):
    def words(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask)


@misconception(HIERARCHICAL)
class tanh_of_the_query(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(proj(x) @ torch.tanh(query), mask), x)


@misconception(HIERARCHICAL)
class tanh_of_both(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x)) @ torch.tanh(query), mask), x)


@misconception(HIERARCHICAL)
class query_projected(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x)) @ proj(query), mask), x)


@misconception(HIERARCHICAL)
class vectors_squashed_first(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(proj(torch.tanh(x)) @ query, mask), x)


@misconception(HIERARCHICAL)
class bias_left_out(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(x @ proj.weight.T) @ query, mask), x)


@misconception(HIERARCHICAL)
class weight_transposed(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(x @ proj.weight + proj.bias) @ query, mask), x)


@misconception(HIERARCHICAL)
class weights_for_each_feature(Levels):
    def pooled(self, x, proj, query, mask):
        scores = torch.tanh(proj(x)) * query
        weights = self.weights(scores.transpose(-2, -1), mask.unsqueeze(-2)).transpose(-2, -1)
        return (weights * x).sum(dim=-2)


@misconception(HIERARCHICAL)
class sentences_of_any_word_place(Levels):
    """Whether a sentence is real is asked along the sentences."""

    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask.any(dim=-2))


@misconception(HIERARCHICAL)
class mask_of_words_for_sentences(Levels):
    def sentences(self, x, mask):
        return self.pooled(x, self.sentence_proj, self.sentence_query, mask)


@misconception(HIERARCHICAL)
class sentences_weighed_by_length(Levels):
    def sentences(self, x, mask):
        real = mask.sum(dim=-1)
        weights = self.weights(torch.tanh(self.sentence_proj(x)) @ self.sentence_query, real > 0) * real
        return self.summed(weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9), x)


# 9.5


@misconception(DECODER, like="starts_from_the_source")
class of_its_mean(Decoder):
    def states(self, embedded, source):
        return self.gru(embedded, source.mean(dim=1).unsqueeze(0).contiguous())[0]


@misconception(DECODER, like="starts_from_the_source")
class of_its_first_state(Decoder):
    def states(self, embedded, source):
        return self.gru(embedded, source[:, 0].unsqueeze(0).contiguous())[0]


@misconception(DECODER)
class embedding_bent(Decoder):
    """A ReLU behind the embedding."""

    def states(self, embedded, source):
        return super().states(torch.relu(embedded), source)


@misconception(DECODER, like="embedding_bent")
class by_tanh(Decoder):
    def states(self, embedded, source):
        return super().states(torch.tanh(embedded), source)


@misconception(DECODER)
class state_combined_late(Decoder):
    """The state before the token was read, in query and combine."""

    def states(self, embedded, source):
        states = super().states(embedded, source)
        return torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], dim=1)


@misconception(DECODER)
class tanh_around_output(Decoder):
    def logits(self, context, states):
        return torch.tanh(self.output(self.combine(torch.cat([context, states], dim=-1))))


@misconception(DECODER)
class tanh_on_the_parts(Decoder):
    def logits(self, context, states):
        return self.output(self.combine(torch.tanh(torch.cat([context, states], dim=-1))))


@misconception(DECODER)
class context_of_the_embedding(Decoder):
    """combine reads the embedding in place of the state."""

    def answer(self, embedded, source, mask):
        states = self.states(embedded, source)
        context, weights = self.attended(states, source, mask)
        return self.logits(context, embedded), weights
