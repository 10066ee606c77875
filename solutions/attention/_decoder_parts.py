"""Parts of the decoder's answers: attention with a cache, the embedding, cut probabilities, evaluation mode."""

# solution: begin (drop)
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from ._embedding import TokenEmbedding
from ._rows import attention_by_rows
from .efficient import KeyValueCache
from .masks import causal_mask
from .multi_head import MultiHeadAttention, merge_heads, split_heads
from .positions import LearnedPositionalEmbedding


def attend_with_cache(attention: MultiHeadAttention, x: Tensor, cache: KeyValueCache, dropout_p: float) -> Tensor:
    """Causal self-attention of the newest tokens, x (B, L, d_model), which alone are projected; (B, L, d_model)."""
    projections = attention.q_proj, attention.k_proj, attention.v_proj
    query, key, value = (split_heads(project(x), attention.num_heads) for project in projections)
    keys, values = cache.append(key, value)  # (B, H, S, d_head): S earlier and newest tokens
    mask = causal_mask(x.shape[1], keys.shape[-2], x.device)  # aligned to the end: the last query sees every key
    heads, _ = attention_by_rows(query, keys, values, mask, dropout_p)
    output: Tensor = attention.out_proj(merge_heads(heads))
    return output


class LearnedEmbedding(TokenEmbedding):
    """Token ids (B, L) → dropout(token vector + learned position vector), (B, L, d_model)."""

    def __init__(self, vocab_size: int, d_model: int, max_length: int, dropout: float) -> None:
        super().__init__(vocab_size, d_model, LearnedPositions(d_model, max_length))
        self.dropout = nn.Dropout(dropout)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.02)  # as in GPT-2: a tied output then begins with nearly equal logits

    def forward(self, token_ids: Tensor, start: int = 0) -> Tensor:
        """start: the position of the first token."""
        return self.dropout(self.embed(token_ids, start))

    def logits(self, x: Tensor) -> Tensor:
        """(B, L, d_model) → (B, L, V): the output layer that is tied to the token vectors   (Press and Wolf 2017)."""
        return x @ self.embedding.weight.T


class LearnedPositions(LearnedPositionalEmbedding):
    """x + the vectors of the positions from `start` on."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.weight[start : start + x.shape[1]].to(x.dtype)


def widened(x: Tensor) -> Tensor:
    """x in float32 at least: in half precision only the result is rounded."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def renormalised(probabilities: Tensor, kept: Tensor) -> Tensor:
    """The probabilities where kept is True, summing to 1 again; a row of zeros stays."""
    probabilities = probabilities.where(kept, 0.0)
    total = probabilities.sum(dim=-1, keepdim=True)
    return probabilities / total.where(total > 0, 1.0)


def last_logits(logits: object, rows: int) -> Tensor:
    """The last position's logits (B, V) of what a model has returned.

    Raises TypeError where that is no floating tensor, ValueError where it is not (B, L, V) with B = rows, or where the
    largest logit of a row is not finite: then there are no probabilities.
    """
    if not isinstance(logits, Tensor):
        came = type(logits).__name__
        raise TypeError(f"the model must return one tensor of logits, got {came}; wrap it: lambda ids: model(ids)[0]?")
    if not logits.is_floating_point():
        raise TypeError(f"the model's logits must have a floating-point dtype, got {logits.dtype}; return no ids")
    if logits.dim() != 3 or len(logits) != rows or 0 in logits.shape[1:]:
        raise ValueError(
            f"the model must return logits (B, L, V), B = {rows} as in the prompt, got shape {tuple(logits.shape)}; "
            "put the batch first and the vocabulary into the last axis, and keep the axis L"
        )
    last = logits[:, -1]
    largest = last.amax(dim=-1)  # NaN where any is
    if not largest.isfinite().all():
        row = int(largest.isfinite().logical_not().nonzero()[0])
        raise ValueError(
            f"the model's last logits must have a finite maximum in each row, got {largest[row].item()} in row {row}; "
            "is everything masked there, or has training diverged?"
        )
    return last


def drawn(probabilities: Tensor, generator: torch.Generator | None) -> Tensor:
    """(B, V) → (B, 1): an id of each row, drawn with these probabilities."""
    return torch.multinomial(probabilities.float(), 1, generator=generator)


@contextmanager
def evaluation(model: object) -> Iterator[None]:
    """Within it a module, with all its parts, is in evaluation mode; afterwards each part is as it was."""
    if not isinstance(model, nn.Module):
        yield
        return
    modes = {part: part.training for part in model.modules()}
    try:
        model.eval()
        yield
    finally:
        model.train(modes[model])
        for part, training in modes.items():
            part.training = training


# solution: end
