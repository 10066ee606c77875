"""Right hierarchical attention and decoders with attention in other styles."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attention._arguments import (
    check_batched,
    check_floating,
    check_integers,
    check_key_mask,
    check_length,
    check_mask,
    check_width,
)
from attention.masks import masked_softmax
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attention.sequence_to_sequence import attend

from . import alternative

HIERARCHICAL, DECODER = "sequence_to_sequence.HierarchicalAttention", "sequence_to_sequence.AttentionDecoder"


class Documents(nn.Module):
    """The given lines of the stub."""

    def __init__(self, d_model):
        super().__init__()
        check_length("d_model", d_model, least=1)
        self.d_model = d_model
        self.make(d_model)

    def make(self, d_model):
        self.word_proj, self.sentence_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.word_query = nn.Parameter(torch.empty(d_model).uniform_(-0.1, 0.1))
        self.sentence_query = nn.Parameter(torch.empty(d_model).uniform_(-0.1, 0.1))

    def forward(self, x, mask=None):
        check_floating(x=x)
        if x.dim() != 4:
            raise ValueError("x must have four axes")
        check_width(self, self.d_model, x=x)
        if mask is not None:
            check_mask("mask", mask, tuple(x.shape[:3]))
        return self.answer(x, mask)


@alternative(HIERARCHICAL)
class document_by_document(Documents):
    """Only what is real is ever looked at."""

    def answer(self, x, mask):
        found = []
        for b in range(len(x)):
            sentences = []
            for i in range(x.shape[1]):
                words = x[b, i] if mask is None else x[b, i][mask[b, i]]
                if len(words):
                    sentences.append(self.pool(words, self.word_proj, self.word_query))
            if sentences:
                found.append(self.pool(torch.stack(sentences), self.sentence_proj, self.sentence_query))
            else:
                found.append(x[b].sum(dim=(0, 1)) * 0.0)
        return torch.stack(found)

    def pool(self, x, proj, query):
        return torch.softmax(torch.tanh(proj(x)) @ query, dim=0) @ x


@alternative(HIERARCHICAL)
class sentences_as_a_batch(Documents):
    """The first level sees B · n_sentences sequences."""

    def answer(self, x, mask):
        batch, sentences, words, _ = x.shape
        mask = x.new_ones(batch, sentences, words).bool() if mask is None else mask
        flat = self.level(x.flatten(0, 1), mask.flatten(0, 1), self.word_proj, self.word_query)
        real = mask.sum(dim=-1) > 0
        return self.level(flat.unflatten(0, (batch, sentences)), real, self.sentence_proj, self.sentence_query)

    def level(self, x, mask, proj, query):
        scores = torch.einsum("bnd,d->bn", torch.tanh(F.linear(x, proj.weight, proj.bias)), query)
        weights = masked_softmax(scores, mask)
        return torch.einsum("bn,bnd->bd", weights, x)


@alternative(HIERARCHICAL)
class by_attend(Documents):
    """Both levels as attention with one query, whose score is additive."""

    def answer(self, x, mask):
        mask = torch.full(x.shape[:3], True) if mask is None else mask
        words = self.pool(x, mask, "word")
        return self.pool(words, mask.any(-1), "sentence")

    def pool(self, x, mask, level):
        proj, query = getattr(self, f"{level}_proj"), getattr(self, f"{level}_query")

        def score(query, keys):
            return dot_scores(query, torch.tanh(proj(keys)))

        return attend(query[None], x, x, score, mask[..., None, :])[0].squeeze(-2)


class Decoding(nn.Module):
    """The given lines of the stub."""

    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__()
        check_length("vocab_size", vocab_size, least=1)
        check_length("d_model", d_model, least=1)
        if score not in ("additive", "bilinear", "dot", "scaled"):
            raise ValueError("unknown score")
        self.d_model = d_model
        self.make(vocab_size, d_model, score)

    def make(self, vocab_size, d_model, score):
        self.kind = score
        self.output, self.combine = nn.Linear(d_model, vocab_size), nn.Linear(d_model * 2, d_model)
        self.gru, self.embedding = nn.GRU(d_model, d_model, batch_first=True), nn.Embedding(vocab_size, d_model)
        if score == "bilinear":
            self.score_weight = nn.Parameter(torch.eye(d_model))
        if score == "additive":
            self.score_w2 = nn.Parameter(torch.ones(d_model))
            self.score_w1 = nn.Parameter(torch.randn(d_model, 2 * d_model))

    def forward(self, token_ids, encoder_states, mask=None):
        check_integers("token_ids", token_ids, dimensions=2)
        check_floating(encoder_states=encoder_states)
        check_batched(encoder_states=encoder_states)
        check_width(self, self.d_model, encoder_states=encoder_states)
        if len(token_ids) != len(encoder_states):
            raise ValueError("two batch sizes")
        if mask is not None:
            check_key_mask(mask, encoder_states.shape[:2])
        return self.answer(token_ids, encoder_states, mask)


@alternative(DECODER)
class step_by_step(Decoding):
    """A loop over the steps, as one decodes."""

    def answer(self, token_ids, source, mask):
        state = source.new_zeros(1, len(source), self.d_model)
        logits, weights = [], []
        for t in range(token_ids.shape[1]):
            seen, state = self.gru(self.embedding(token_ids[:, t : t + 1]), state)
            scores = self.scores(seen, source)[:, 0]
            weights.append(masked_softmax(scores, mask))
            context = (weights[-1].unsqueeze(-1) * source).sum(dim=1)
            combined = self.combine(torch.cat((context, seen[:, 0]), dim=1)).tanh()
            logits.append(self.output(combined))
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)

    def scores(self, query, key):
        if self.kind == "additive":
            length, source = query.shape[1], key.shape[1]
            pairs = [query[:, :, None].expand(-1, -1, source, -1), key[:, None].expand(-1, length, -1, -1)]
            return torch.tanh(torch.cat(pairs, dim=-1) @ self.score_w1.T) @ self.score_w2
        if self.kind == "bilinear":
            return torch.einsum("bld,de,bse->bls", query, self.score_weight, key)
        return torch.einsum("bld,bsd->bls", query, key) / (math.sqrt(self.d_model) if self.kind == "scaled" else 1)


@alternative(DECODER)
class with_attend(Decoding):
    """A table of scores, and attend."""

    def answer(self, token_ids, source, mask):
        states = self.gru(self.embedding(token_ids))[0]
        score = {
            "additive": lambda query, key: additive_scores(query, key, self.score_w1, self.score_w2),
            "bilinear": lambda query, key: bilinear_scores(query, key, self.score_weight),
            "dot": dot_scores,
            "scaled": scaled_dot_scores,
        }[self.kind]
        context, weights = attend(states, source, source, score, None if mask is None else mask[:, None, :])
        joined = torch.cat([context, states], dim=2)
        return F.linear(torch.tanh(self.combine(joined)), self.output.weight, self.output.bias), weights


@alternative(DECODER)
class gates_by_hand(Decoding):
    """The GRU's own equations, and combine as a sum of its halves."""

    def answer(self, token_ids, source, mask):
        states = torch.stack(list(self.unrolled(self.embedding.weight[token_ids])), dim=1)
        if self.kind == "additive":
            from_query, from_key = self.score_w1.split(self.d_model, dim=1)
            hidden = F.linear(states, from_query)[:, :, None] + F.linear(source, from_key)[:, None]
            scores = torch.tanh(hidden).mul(self.score_w2).sum(dim=-1)
        else:
            query = states @ self.score_weight if self.kind == "bilinear" else states
            query = query * self.d_model**-0.5 if self.kind == "scaled" else query
            scores = torch.bmm(query, source.mT)
        weights = masked_softmax(scores, None if mask is None else mask[:, None])
        for_context, for_state = self.combine.weight.chunk(2, dim=1)
        combined = weights @ source @ for_context.T + states @ for_state.T + self.combine.bias
        return self.output(torch.tanh(combined)), weights

    def unrolled(self, embedded):
        state = torch.zeros_like(embedded[:, 0])
        for t in range(embedded.shape[1]):
            ours = F.linear(embedded[:, t], self.gru.weight_ih_l0, self.gru.bias_ih_l0).chunk(3, dim=-1)
            theirs = F.linear(state, self.gru.weight_hh_l0, self.gru.bias_hh_l0).chunk(3, dim=-1)
            reset, update = torch.sigmoid(ours[0] + theirs[0]), torch.sigmoid(ours[1] + theirs[1])
            new = torch.tanh(ours[2] + reset * theirs[2])
            state = (1 - update) * new + update * state
            yield state


@alternative(DECODER)
class time_first_inside(Decoding):
    """A GRU that takes time first, fed with transposed embeddings."""

    def make(self, vocab_size, d_model, score):
        super().make(vocab_size, d_model, score)
        self.gru = nn.GRU(d_model, d_model)

    def answer(self, token_ids, source, mask):
        states = self.gru(self.embedding(token_ids.T))[0].transpose(0, 1)
        return with_attend.answer(_Held(self, states), token_ids, source, mask)


class _Held:
    """A decoder whose GRU states are known."""

    def __init__(self, decoder, states):
        self._decoder, self._states = decoder, states

    def __getattr__(self, name):
        return getattr(self._decoder, name)

    def gru(self, embedded):
        return self._states, None
