"""Two models that write a date in the form YYYY-MM-DD, one with a GRU, one of attention alone, for chapter 10."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention.decoder import EncoderDecoder
from attention.positions import LearnedPositionalEmbedding
from attention.sequence_to_sequence import AttentionDecoder
from translation import LONGEST, START, SYMBOLS, Batch, dates

__all__ = ["MODELS", "AttentionTranslator", "GRUTranslator", "alignment", "learning_curve", "share_on", "whole_dates"]

STEPS, EVERY = 300, 50


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class GRUTranslator(nn.Module):
    """The translator of chapter 9: a GRU that reads in both directions, and one that looks back and writes."""

    def __init__(self, d: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(SYMBOLS), d)
        self.gru = nn.GRU(d, d // 2, batch_first=True, bidirectional=True)
        self.decoder = AttentionDecoder(len(SYMBOLS), d, "additive")

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self._both(source, target)[0]

    def weights(self, source: Tensor, target: Tensor) -> Tensor:
        """(B, T, S): where each step looks."""
        return self._both(source, target)[1]

    def _both(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        real = source != 0
        embedded = self.embedding(source)
        packed = pack_padded_sequence(embedded, real.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=source.shape[1])
        return self.decoder(target, states, real)


class AttentionTranslator(nn.Module):
    """The chapter's EncoderDecoder, one layer on either side, with as many parameters as the GRU."""

    def __init__(self, d: int = 28) -> None:
        super().__init__()
        self.model = EncoderDecoder(len(SYMBOLS), len(SYMBOLS), d, 4, 2 * d, 1, max_length=LONGEST, dropout=0.0)
        for part in self.model.modules():
            if isinstance(part, nn.Embedding | LearnedPositionalEmbedding):
                nn.init.normal_(part.weight, std=0.1)  # 0.02, the model's own, learns later at this size

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.model(source, target)

    @torch.no_grad()
    def weights(self, source: Tensor, target: Tensor) -> Tensor:
        """(B, T, S): where the decoder layer's cross-attention looks, the mean of its heads."""
        (layer,) = (part for part in self.model.modules() if hasattr(part, "cross_attention"))
        seen: list[tuple[Tensor, ...]] = []
        hook = layer.cross_attention.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[:3]))
        self.model(source, target)
        hook.remove()
        ((query, key, value),) = seen
        return layer.cross_attention(query, key, value, key_mask=source != 0)[1].mean(dim=1)


MODELS: dict[str, tuple[Callable[[], nn.Module], float]] = {
    "GRU + attention": (GRUTranslator, 1e-2),
    "EncoderDecoder": (AttentionTranslator, 5e-3),
}


def shifted(target: Tensor) -> Tensor:
    """What the decoder reads: START, then the target without its last symbol."""
    return F.pad(target[:, :-1], (1, 0), value=START)


@torch.no_grad()
def whole_dates(model: nn.Module, batch: Batch) -> float:
    """Share of the dates that are right in all ten symbols."""
    right = model(batch.source, shifted(batch.target)).argmax(-1) == batch.target
    return right.all(dim=-1).float().mean().item()


@torch.no_grad()
def alignment(model: nn.Module, batch: Batch) -> Tensor:
    return model.weights(batch.source, shifted(batch.target))


def share_on(right: Tensor, weights: Tensor) -> float:
    """Of the target symbols that have a source: how many have their largest weight on it."""
    hit = right.gather(-1, weights.argmax(-1, keepdim=True)).squeeze(-1)  # (B, T)
    return hit[right.any(dim=-1)].float().mean().item()


def _batches(seed: int) -> Iterator[Batch]:
    data, rng = dates(8192, seed=0), generator(seed)
    while True:
        yield data[torch.randint(len(data.source), (64,), generator=rng)]


def learning_curve(name: str, seed: int, steps: int = STEPS, rate: float | None = None) -> tuple[nn.Module, dict]:
    """Train a model on 64 dates a step; the share of unseen dates (Sundays) that it writes whole, every 50 steps.

    Returns the model, and {"right": one share per 50 steps, "on_source": …, "seconds": of CPU, "parameters": …}.
    """
    make, usual = MODELS[name]
    torch.manual_seed(seed)
    model, unseen = make(), dates(500, seed=1, sundays=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate or usual)
    seconds, right = 0.0, []
    for step, batch in zip(range(1, steps + 1), _batches(seed), strict=False):
        started = time.process_time()
        logits = model(batch.source, shifted(batch.target))
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), batch.target.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds += time.process_time() - started
        if step % EVERY == 0:
            right.append(round(whole_dates(model, unseen), 4))
    return model, {
        "right": right,
        "on_source": round(share_on(unseen.right, alignment(model, unseen)), 3),
        "seconds": round(seconds, 1),
        "parameters": sum(p.numel() for p in model.parameters()),
    }
