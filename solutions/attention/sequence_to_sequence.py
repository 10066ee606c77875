"""Attention before Transformers: a decoder that looks back, local, hard and hierarchical attention."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ._argument_kinds import check_callable
from ._arguments import (
    check_batch,
    check_batched,
    check_floating,
    check_integers,
    check_key_mask,
    check_length,
    check_mask,
    check_number,
    check_sequence,
    check_width,
)

# solution: begin (drop)
from .masks import masked_softmax
from .scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores

# solution: end

__all__ = ["AttentionDecoder", "HierarchicalAttention", "attend", "hard_attention", "local_attention_weights"]

SCORES = ("additive", "bilinear", "dot", "scaled")


def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    score: Callable[[Tensor, Tensor], Tensor],
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(score(query, keys)) · values: attention with any score   (Bahdanau et al. 2015, eq. 5 and 6).

    query: (..., L, d_q); keys: (..., S, d_k); values: (..., S, d_v)
    score: score(query, keys) → (..., L, S): a function of `attention.scores` with its weights bound
    mask: bool, broadcastable to (..., L, S), True = attend
    Returns context (..., L, d_v) and weights (..., L, S); a query that may attend to nothing gets zeros.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_floating(query=query, keys=keys, values=values)
    check_sequence(query=query, keys=keys, values=values)
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"keys and values must have the same length S, got shapes {tuple(keys.shape)} and {tuple(values.shape)}"
        )
    check_batch(query=query, keys=keys, values=values)
    check_callable("score", score, "from query and keys to scores (..., L, S)")
    if mask is not None:
        check_mask("mask", mask, (*check_batch(query=query, keys=keys), query.shape[-2], keys.shape[-2]))
    # solution: begin
    weights = masked_softmax(score(query, keys), mask)  # (..., L, S)
    return weights @ values, weights
    # solution: end


def local_attention_weights(scores: Tensor, center: Tensor, window: float) -> Tensor:
    """softmax(scores where |s - p| ≤ D) · exp(-(s - p)² / 2σ²), σ = D / 2   (Luong et al. 2015, eq. 10).

    scores: (..., S), one per position s = 0 … S - 1; center: p (...), real numbers; window: D > 0, in positions
    Returns weights (..., S). They are not normalised again: their sum is at most 1, and 0 where no position is near.
    Raises ValueError where the shapes do not fit or window is not positive, TypeError for a wrong dtype.
    """
    check_floating(scores=scores, center=center)
    if scores.dim() == 0 or scores.shape[:-1] != center.shape:
        raise ValueError(
            f"center must have one entry per row of scores, {tuple(scores.shape[:-1])}, got {tuple(center.shape)}"
        )
    check_number("window", window)
    if not window > 0:
        raise ValueError(f"window must be positive, got {window}")
    # solution: begin
    positions = torch.arange(scores.shape[-1], device=scores.device)  # (S,)
    distance = positions - center.unsqueeze(-1)  # (..., S)
    near = distance.abs() <= window
    return masked_softmax(scores, near) * torch.exp(-2.0 * (distance / window).square())
    # solution: end


def hard_attention(scores: Tensor, values: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """One value, drawn with the probabilities softmax(scores)   (Xu et al. 2015, section 4.1).

    scores: (..., S); values: (..., S, d); generator: the source of random numbers, torch's own where it is None
    Returns the value (..., d) that was drawn, and the log-probability (...) of the draw, through which gradients reach
    the scores (REINFORCE). Where every score is -inf, or there is none, nothing is drawn: zeros, with
    log-probability 0.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_floating(scores=scores, values=values)
    if scores.dim() == 0 or scores.shape != values.shape[:-1]:
        raise ValueError(
            f"values must have one vector per score, {(*scores.shape, 'd')}, got shape {tuple(values.shape)}"
        )
    # solution: begin
    if not scores.numel():
        return torch.einsum("...sd->...d", values), torch.einsum("...s->...", scores)  # sums of nothing: zeros
    some = (scores != -torch.inf).any(dim=-1, keepdim=True)  # (..., 1)
    log_weights = torch.log_softmax(scores.where(some, 0.0), dim=-1)  # (..., S)
    weights = log_weights.float().exp().reshape(-1, scores.shape[-1])
    choice = torch.multinomial(weights, 1, generator=generator).reshape(some.shape)  # (..., 1)
    value = values.take_along_dim(choice.unsqueeze(-1), dim=-2).squeeze(-2)  # (..., d)
    log_probability = log_weights.take_along_dim(choice, dim=-1)  # (..., 1)
    return value.where(some, 0.0), log_probability.where(some, 0.0).squeeze(-1)
    # solution: end


class HierarchicalAttention(nn.Module):
    """Words make sentences, sentences make a document, each level by attention   (Yang et al. 2016, sections 2.2).

    On each level the vectors h are scored against one learned query: softmax(query · tanh(W h + b)), and summed with
    these weights. (The paper runs a GRU before each level; here the vectors are taken as they come.)

    d_model: width of words, sentences and document
    Attributes: `word_proj`, `sentence_proj` (nn.Linear), `word_query`, `sentence_query` (nn.Parameter (d_model,)).
    Raises ValueError for a width below 1.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        check_length("d_model", d_model, least=1)
        self.d_model = d_model
        # solution: begin
        self.word_proj = nn.Linear(d_model, d_model)
        self.word_query = nn.Parameter(torch.randn(d_model) / d_model**0.5)
        self.sentence_proj = nn.Linear(d_model, d_model)
        self.sentence_query = nn.Parameter(torch.randn(d_model) / d_model**0.5)
        # solution: end

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x: (B, n_sentences, n_words, d_model); mask: bool (B, n_sentences, n_words), True at words.

        Returns (B, d_model). A sentence without words has no weight in the document; a document without words is zero.
        Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
        """
        check_floating(x=x)
        if x.dim() != 4:
            raise ValueError(f"x must be (B, n_sentences, n_words, d_model), got shape {tuple(x.shape)}")
        check_width(self, self.d_model, x=x)
        if mask is not None:
            check_mask("mask", mask, x.shape[:3])
        # solution: begin
        if mask is None:
            mask = torch.ones(x.shape[:3], dtype=torch.bool, device=x.device)
        sentences = _pooled(x, self.word_proj, self.word_query, mask)  # (B, n_sentences, d_model)
        return _pooled(sentences, self.sentence_proj, self.sentence_query, mask.any(dim=-1))  # (B, d_model)
        # solution: end


# solution: begin (drop)
def _pooled(x: Tensor, proj: nn.Linear, query: Tensor, mask: Tensor) -> Tensor:
    """x (..., n, d), mask (..., n) → (..., d): the sum with the weights softmax(query · tanh(proj(x)))."""
    weights = masked_softmax(torch.tanh(proj(x)) @ query, mask)  # (..., n)
    return (weights.unsqueeze(-2) @ x).squeeze(-2)


# solution: end


class AttentionDecoder(nn.Module):
    """A GRU that looks back at the encoder's states before each prediction   (Luong et al. 2015, section 3).

    s = gru(embedding(token_ids)), from a zero state: what is known of the source comes through attention
    c = attend(s, encoder_states, encoder_states, score);  logits = output(tanh(combine([c; s])))

    vocab_size: number of token ids; d_model: width of embeddings, GRU and encoder states
    score: "additive", "bilinear", "dot" or "scaled", the functions of `attention.scores`
    Attributes: `embedding`, `gru` (nn.GRU, batch first), `combine` (nn.Linear 2 · d_model → d_model), `output`
    (nn.Linear d_model → vocab_size), and for the score: additive `score_w1` (d_model, 2 · d_model) and `score_w2`
    (d_model,), bilinear `score_weight` (d_model, d_model), else none.
    `torch.vmap` does not map torch's GRU, and so not this module.
    Raises ValueError for an unknown score or a size below 1.
    """

    def __init__(self, vocab_size: int, d_model: int, score: str = "additive") -> None:
        super().__init__()
        check_length("vocab_size", vocab_size, least=1)
        check_length("d_model", d_model, least=1)
        if score not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, got {score!r}")
        self.vocab_size, self.d_model = vocab_size, d_model
        # solution: begin
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.gru = nn.GRU(d_model, d_model, batch_first=True)
        self.combine = nn.Linear(2 * d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.score = score
        if score == "additive":
            self.score_w1 = nn.Parameter(torch.randn(d_model, 2 * d_model) / (2 * d_model) ** 0.5)
            self.score_w2 = nn.Parameter(torch.randn(d_model) / d_model**0.5)
        elif score == "bilinear":
            self.score_weight = nn.Parameter(torch.randn(d_model, d_model) / d_model)
        # solution: end

    def forward(self, token_ids: Tensor, encoder_states: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """token_ids: integers (B, T), each the word before the one to predict; encoder_states: (B, S, d_model)

        mask: bool (B, S), True at real source tokens
        Returns logits (B, T, vocab_size) and weights (B, T, S). Without a source token to see, the context is zero.
        Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
        """
        check_integers("token_ids", token_ids, dimensions=2, below=self.vocab_size)
        check_floating(encoder_states=encoder_states)
        check_batched(encoder_states=encoder_states)
        check_width(self, self.d_model, encoder_states=encoder_states)
        if len(token_ids) != len(encoder_states):
            raise ValueError(
                "token_ids and encoder_states must have one batch size, got shapes "
                f"{tuple(token_ids.shape)} and {tuple(encoder_states.shape)}"
            )
        if mask is not None:
            check_key_mask(mask, encoder_states.shape[:2], name="mask")
        # solution: begin
        states = self.embedding(token_ids.long())  # (B, T, d_model)
        if states.numel():  # torch's GRU takes no empty sequence
            states, _ = self.gru(states)
        allowed = None if mask is None else mask.unsqueeze(1)  # (B, 1, S): for all T alike
        context, weights = attend(states, encoder_states, encoder_states, self._score, allowed)
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))  # (B, T, d_model)
        return self.output(combined), weights
        # solution: end

    # solution: begin (drop)
    def _score(self, query: Tensor, key: Tensor) -> Tensor:
        if self.score == "additive":
            return additive_scores(query, key, self.score_w1, self.score_w2)
        if self.score == "bilinear":
            return bilinear_scores(query, key, self.score_weight)
        return dot_scores(query, key) if self.score == "dot" else scaled_dot_scores(query, key)

    # solution: end
