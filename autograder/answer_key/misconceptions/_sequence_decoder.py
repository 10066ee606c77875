"""Wrong decoders with attention, each with the argument checks that the stub gives."""

import math

import torch
from torch import nn

from ..reference_package import reference, reference_module
from . import misconception

DECODER = "sequence_to_sequence.AttentionDecoder"
Right = reference(DECODER)
masked_softmax = reference("masks.masked_softmax")
arguments = reference_module("_arguments")


class Decoder(Right):
    """The given lines, then the steps in pieces that a subclass replaces."""

    def forward(self, token_ids, encoder_states, mask=None):
        arguments.check_integers("token_ids", token_ids, dimensions=2)
        arguments.check_floating(encoder_states=encoder_states)
        arguments.check_batched(encoder_states=encoder_states)
        arguments.check_width(self, self.d_model, encoder_states=encoder_states)
        if len(token_ids) != len(encoder_states):
            raise ValueError("two batch sizes")
        if mask is not None:
            arguments.check_key_mask(mask, encoder_states.shape[:2], name="mask")
        return self.answer(self.embedding(token_ids), encoder_states, mask)

    def answer(self, embedded, source, mask):
        states = self.states(embedded, source)
        context, weights = self.attended(self.query(embedded, states), source, mask)
        return self.logits(context, states), weights

    def states(self, embedded, source):
        return self.gru(embedded)[0]

    def query(self, embedded, states):
        return states

    def attended(self, query, source, mask):
        weights = self.weights(self._score(query, source), None if mask is None else mask.unsqueeze(1))
        return weights @ source, weights

    def weights(self, scores, mask):
        return masked_softmax(scores, mask)

    def logits(self, context, states):
        return self.output(torch.tanh(self.combine(torch.cat([context, states], dim=-1))))


def one_step_late(x):
    """The same, with zeros in front and without the last step."""
    return torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)


@misconception(DECODER)
class previous_state_as_query(Decoder):
    def query(self, embedded, states):
        return one_step_late(states)


@misconception(DECODER)
class embedding_as_query(Decoder):
    def query(self, embedded, states):
        return embedded


@misconception(DECODER)
class shifted_inside(Decoder):
    def states(self, embedded, source):
        return self.gru(one_step_late(embedded))[0]


@misconception(DECODER)
class starts_from_the_source(Decoder):
    def states(self, embedded, source):
        return self.gru(embedded, source[:, -1].unsqueeze(0).contiguous())[0]


@misconception(DECODER)
class each_step_from_zero(Decoder):
    def states(self, embedded, source):
        return torch.cat([self.gru(embedded[:, t : t + 1])[0] for t in range(embedded.shape[1])], dim=1)


@misconception(DECODER)
class last_state_only(Decoder):
    def states(self, embedded, source):
        return self.gru(embedded)[1].transpose(0, 1)


@misconception(DECODER)
class combine_swapped(Decoder):
    def logits(self, context, states):
        return self.output(torch.tanh(self.combine(torch.cat([states, context], dim=-1))))


@misconception(DECODER)
class tanh_left_out(Decoder):
    def logits(self, context, states):
        return self.output(self.combine(torch.cat([context, states], dim=-1)))


@misconception(DECODER)
class context_unused(Decoder):
    def logits(self, context, states):
        return self.output(states)


@misconception(DECODER)
class softmax_on_the_logits(Decoder):
    def logits(self, context, states):
        return super().logits(context, states).softmax(dim=-1)


@misconception(DECODER)
class log_softmax_on_the_logits(Decoder):
    def logits(self, context, states):
        return super().logits(context, states).log_softmax(dim=-1)


@misconception(DECODER)
class mask_ignored(Decoder):
    def weights(self, scores, mask):
        return masked_softmax(scores)


@misconception(DECODER)
class mask_inverted(Decoder):
    def weights(self, scores, mask):
        return masked_softmax(scores, None if mask is None else ~mask)


@misconception(DECODER)
class masked_afterwards(Decoder):
    def weights(self, scores, mask):
        weights = torch.softmax(scores, dim=-1)
        return weights if mask is None else weights * mask


@misconception(DECODER)
class nan_without_a_source(Decoder):
    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), dim=-1)


@misconception(DECODER)
class filled_with_minus_1e9(Decoder):
    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), dim=-1)


@misconception(DECODER)
class weights_before_masking(Decoder):
    def attended(self, query, source, mask):
        context, _ = super().attended(query, source, mask)
        return context, torch.softmax(self._score(query, source), dim=-1)


@misconception(DECODER)
class mask_along_the_steps(Decoder):
    def attended(self, query, source, mask):
        allowed = None if mask is None else mask.unsqueeze(-1)
        weights = self.weights(self._score(query, source), allowed)
        return weights @ source, weights


@misconception(DECODER)
class attends_to_itself(Decoder):
    def attended(self, query, source, mask):
        return super().attended(query, query, mask)


@misconception(DECODER)
class weights_transposed(Decoder):
    def answer(self, embedded, source, mask):
        logits, weights = super().answer(embedded, source, mask)
        return logits, weights.transpose(-2, -1)


@misconception(DECODER)
class results_exchanged(Decoder):
    def answer(self, embedded, source, mask):
        return super().answer(embedded, source, mask)[::-1]


@misconception(DECODER)
class logits_alone(Decoder):
    def answer(self, embedded, source, mask):
        return super().answer(embedded, source, mask)[0]


@misconception(DECODER)
class always_dot(Decoder):
    def _score(self, query, key):
        return query @ key.transpose(-2, -1)


@misconception(DECODER)
class scale_left_out(Decoder):
    def _score(self, query, key):
        return query @ key.transpose(-2, -1) if self.score == "scaled" else super()._score(query, key)


@misconception(DECODER)
class every_score_scaled(Decoder):
    def _score(self, query, key):
        return super()._score(query, key) / (1 if self.score == "scaled" else math.sqrt(self.d_model))


@misconception(DECODER)
class additive_halves_swapped(Decoder):
    def _score(self, query, key):
        if self.score != "additive":
            return super()._score(query, key)
        from_key, from_query = self.score_w1.chunk(2, dim=1)
        return torch.tanh((query @ from_query.T).unsqueeze(-2) + (key @ from_key.T).unsqueeze(-3)) @ self.score_w2


@misconception(DECODER)
class additive_without_tanh(Decoder):
    def _score(self, query, key):
        if self.score != "additive":
            return super()._score(query, key)
        from_query, from_key = self.score_w1.chunk(2, dim=1)
        return ((query @ from_query.T).unsqueeze(-2) + (key @ from_key.T).unsqueeze(-3)) @ self.score_w2


@misconception(DECODER)
class bilinear_transposed(Decoder):
    def _score(self, query, key):
        weight = self.score_weight.T if self.score == "bilinear" else None
        return super()._score(query, key) if weight is None else query @ weight @ key.transpose(-2, -1)


@misconception(DECODER)
class steps_first(Decoder):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__(vocab_size, d_model, score)
        self.gru = nn.GRU(d_model, d_model)


@misconception(DECODER)
class dot_by_default(Decoder):
    def __init__(self, vocab_size, d_model, score="dot"):
        super().__init__(vocab_size, d_model, score)


@misconception(DECODER)
class parameters_of_every_score(Decoder):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__(vocab_size, d_model, score)
        self.score_w1 = nn.Parameter(torch.randn(d_model, 2 * d_model))
        self.score_w2 = nn.Parameter(torch.randn(d_model))
        self.score_weight = nn.Parameter(torch.randn(d_model, d_model))


@misconception(DECODER)
class score_as_linear_layers(Decoder):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__(vocab_size, d_model, score)
        if score == "additive":
            del self.score_w1, self.score_w2
            self.score_w1 = nn.Linear(2 * d_model, d_model, bias=False)
            self.score_w2 = nn.Linear(d_model, 1, bias=False)
        elif score == "bilinear":
            del self.score_weight
            self.score_weight = nn.Linear(d_model, d_model, bias=False)

    def _score(self, query, key):
        if self.score == "additive":
            from_query, from_key = self.score_w1.weight.chunk(2, dim=1)
            hidden = (query @ from_query.T).unsqueeze(-2) + (key @ from_key.T).unsqueeze(-3)
            return self.score_w2(torch.tanh(hidden)).squeeze(-1)
        if self.score == "bilinear":
            return query @ self.score_weight.weight @ key.transpose(-2, -1)
        return super()._score(query, key)


@misconception(DECODER)
class context_into_the_gru(Decoder):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__(vocab_size, d_model, score)
        self.gru = nn.GRU(2 * d_model, d_model, batch_first=True)
