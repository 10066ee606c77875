"""Wrong decoders with attention: another nonlinearity, another mask, another result."""

import torch
from torch import nn

from ..reference_package import reference
from . import misconception
from ._sequence_decoder import DECODER, Decoder

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
