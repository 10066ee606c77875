"""Wrong decoders with attention: another nonlinearity, another mask, another result."""

import torch
from torch import nn

from ..reference_package import reference
from . import misconception
from ._sequence_decoder import DECODER, Decoder, masked_softmax

wrong = misconception(DECODER)
attend = reference("sequence_to_sequence.attend")


class Joined(Decoder):
    """Another nonlinearity than tanh behind combine."""

    def logits(self, context, states):
        return self.output(self.bend(self.combine(torch.cat([context, states], dim=-1))))


@wrong
class relu_behind_combine(Joined):
    def bend(self, x):
        return torch.relu(x)


@wrong
class sigmoid_behind_combine(Joined):
    def bend(self, x):
        return torch.sigmoid(x)


@wrong
class gelu_behind_combine(Joined):
    def bend(self, x):
        return nn.functional.gelu(x)


@wrong
class state_added_again(Joined):
    """A residual connection around combine."""

    def logits(self, context, states):
        return self.output(states + torch.tanh(self.combine(torch.cat([context, states], dim=-1))))


@wrong
class last_logits_alone(Decoder):
    def logits(self, context, states):
        return super().logits(context, states)[:, -1]


@wrong
class mask_of_the_first_source(Decoder):
    def attended(self, query, source, mask):
        return super().attended(query, source, mask if mask is None else mask[:1].expand(source.shape[:2]))


@wrong
class padding_expected_on_the_right(Decoder):
    def attended(self, query, source, mask):
        if mask is not None:
            mask = torch.arange(mask.shape[1]) < mask.sum(dim=1, keepdim=True)
        return super().attended(query, source, mask)


@wrong
class mean_of_the_source(Decoder):
    """The context is the mean of the encoder's states; the weights have no influence."""

    def attended(self, query, source, mask):
        context, weights = super().attended(query, source, mask)
        return source.mean(dim=1, keepdim=True).expand_as(context), weights


@wrong
class last_step_asks_for_all(Decoder):
    def query(self, embedded, states):
        return states[:, -1:].expand_as(states)


@wrong
class embedding_scaled(Decoder):
    """Times √d_model, as a Transformer does."""

    def states(self, embedded, source):
        return super().states(embedded * self.d_model**0.5, source)


@wrong
class texts_read_backwards(Decoder):
    def states(self, embedded, source):
        return super().states(embedded.flip(1), source).flip(1)


@wrong
class context_twice(Decoder):
    def logits(self, context, states):
        return super().logits(context, context)


@wrong
class state_twice(Decoder):
    def logits(self, context, states):
        return super().logits(states, states)


@wrong
class last_state_asks_alone(Decoder):
    """One context for all steps, and the weights of that one question."""

    def attended(self, query, source, mask):
        return super().attended(query[:, -1:], source, mask)


@wrong
class mask_without_an_axis(Decoder):
    def attended(self, query, source, mask):
        return attend(query, source, source, self._score, mask)


@wrong
class lstm_for_the_gru(Decoder):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__(vocab_size, d_model, score)
        self.gru = nn.LSTM(d_model, d_model, batch_first=True)


@wrong
class future_hidden(Decoder):
    """A causal mask over the source."""

    def attended(self, query, source, mask):
        seen = torch.ones(query.shape[1], source.shape[1], dtype=torch.bool).tril()
        weights = masked_softmax(self._score(query, source), seen if mask is None else seen & mask.unsqueeze(1))
        return weights @ source, weights


@wrong
class tanh_of_each_half(Decoder):
    """w2 · (tanh(W1_q q) + tanh(W1_k k))."""

    def _score(self, query, key):
        if self.score != "additive":
            return super()._score(query, key)
        of_query, of_key = self.score_w1.chunk(2, dim=1)
        hidden = torch.tanh(query @ of_query.T).unsqueeze(-2) + torch.tanh(key @ of_key.T).unsqueeze(-3)
        return hidden @ self.score_w2


@wrong
class fed_with_the_step_before(Decoder):
    """Input feeding: what `combine` gave at the step before is added to the embedding."""

    def answer(self, embedded, source, mask):
        fed, hidden, found = torch.zeros_like(embedded[:, :1]), None, []
        for step in embedded.split(1, dim=1):
            state, hidden = self.gru(step + fed, hidden)
            context, weights = self.attended(state, source, mask)
            fed = self.fed(context, state)
            found.append((self.logits(context, state), weights))
        logits, weights = zip(*found, strict=True)
        return torch.cat(logits, dim=1), torch.cat(weights, dim=1)

    def fed(self, context, state):
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))


@misconception(DECODER, like="fed_with_the_step_before")
class its_context(fed_with_the_step_before):
    def fed(self, context, state):
        return context


@wrong
class word_zero_never_learns(Decoder):
    """padding_idx=0 for the embedding."""

    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__(vocab_size, d_model, score)
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)


@wrong
class states_detached(Decoder):
    def states(self, embedded, source):
        return super().states(embedded, source).detach()


@misconception(DECODER, like="states_detached")
class from_one_step_to_the_next(Decoder):
    """As in a training loop that cuts long texts; every step's own embedding still learns."""

    def states(self, embedded, source):
        found, hidden = [], None
        for step in embedded.split(1, dim=1):
            state, hidden = self.gru(step, hidden)
            found.append(state)
            hidden = hidden.detach()
        return torch.cat(found, dim=1)


@wrong
class weights_detached(Decoder):
    def attended(self, query, source, mask):
        context, weights = super().attended(query, source, mask)
        return context, weights.detach()


@wrong
class source_detached(Decoder):
    def attended(self, query, source, mask):
        return super().attended(query, source.detach(), mask)


@wrong
class filled_above_the_scores(Decoder):
    low = -1e4

    def weights(self, scores, mask):
        if mask is None:
            return scores.softmax(dim=-1)
        return scores.masked_fill(~mask, self.low).softmax(dim=-1) * mask


@misconception(DECODER, like="filled_above_the_scores")
class filled_above_the_scores_with_minus_1e9(filled_above_the_scores):
    low = -1e9
