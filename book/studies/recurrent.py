"""Recurrent translators with one vector or a look back, attention alone beside them, and what trains and reads them."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import translation
from attention.encoder import Encoder
from attention.masks import causal_mask
from attention.positions import PositionalEncoding
from attention.sequence_to_sequence import AttentionDecoder
from studies.translators import share_on, shifted
from translation import START, SYMBOLS, Batch

__all__ = [
    "AttentionAlone",
    "GRUEncoder",
    "OneVector",
    "Translator",
    "alignment",
    "any_length",
    "date_batches",
    "generator",
    "greedy",
    "share_beside",
    "share_on",
    "shifted",
    "train",
    "whole_dates",
]


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class GRUEncoder(nn.Module):
    """Reads a source in both directions: a state per position, and one vector for the whole."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(SYMBOLS), d)
        self.gru = nn.GRU(d, d // 2, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Both (B, S) → states (B, S, d) and one vector (B, d)."""
        packed = pack_padded_sequence(  # so that neither direction reads padding
            self.embedding(source), real.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, last = self.gru(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return states, torch.cat([last[0], last[1]], dim=-1)


class OneVector(nn.Module):
    """The decoder starts from the encoder's last states and sees them at every step."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.encoder = GRUEncoder(d)
        self.embedding = nn.Embedding(len(SYMBOLS), d)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.combine = nn.Linear(2 * d, d)
        self.output = nn.Linear(d, len(SYMBOLS))

    def forward(self, batch: Batch, ids: Tensor) -> tuple[Tensor, None]:
        _, vector = self.encoder(batch.source, batch.real)  # (B, d)
        states, _ = self.gru(self.embedding(ids), vector[None].contiguous())  # (B, T, d)
        seen = torch.cat([vector[:, None].expand_as(states), states], dim=-1)
        return self.output(torch.tanh(self.combine(seen))), None


class Translator(nn.Module):
    """The decoder starts from nothing and looks back at every state."""

    def __init__(self, score: str, d: int = 32) -> None:
        super().__init__()
        self.encoder = GRUEncoder(d)
        self.decoder = AttentionDecoder(len(SYMBOLS), d, score)

    def forward(self, batch: Batch, ids: Tensor) -> tuple[Tensor, Tensor]:
        states, _ = self.encoder(batch.source, batch.real)
        return self.decoder(ids, states, batch.real)


class AttentionAlone(nn.Module):
    """One encoder over source and target, with a mask that is causal on the target's side."""

    def __init__(self, d: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(SYMBOLS), d)
        self.positions = PositionalEncoding(d)
        self.encoder = Encoder(2, d, num_heads=4, d_ff=64, dropout=0.0, norm_first=True)
        self.output = nn.Linear(d, len(SYMBOLS))

    def forward(self, batch: Batch, ids: Tensor) -> tuple[Tensor, None]:
        S, T = batch.source.shape[1], ids.shape[1]
        x = self.positions(self.embedding(torch.cat([batch.source, ids], dim=1)))
        see = torch.ones(S + T, S + T, dtype=torch.bool)
        see[:, S:] = False  # nobody sees the target …
        see[S:, S:] = causal_mask(T)  # … but the target, up to itself
        real = F.pad(batch.real, (0, T), value=True)
        return self.output(self.encoder(x, see, real)[:, S:]), None


def train(
    model: nn.Module,
    draw: Callable[[], Batch],
    steps: int,
    rate: float = 1e-2,
    inputs: Callable[[Tensor], Tensor] = shifted,
    watch: Callable[[nn.Module], float] | None = None,
) -> tuple[float, list[float]]:
    """Adam on batches that `draw()` returns; seconds of CPU spent, and what `watch` saw every 50 steps."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    seconds, seen = 0.0, []
    for step in range(1, steps + 1):
        started = time.process_time()
        batch = draw()
        logits, _ = model(batch, inputs(batch.target))
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), batch.target.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds += time.process_time() - started
        if watch and step % 50 == 0:
            seen.append(watch(model))
    return seconds, seen


@torch.no_grad()
def greedy(model: nn.Module, batch: Batch) -> Tensor:
    """Write symbol by symbol, each time the most probable, and read it at the next step: (B, T)."""
    ids = torch.full((len(batch.source), 1), START)
    for _ in range(batch.target.shape[1]):
        logits, _ = model(batch, ids)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, 1:]


def any_length(rng: torch.Generator) -> Batch:
    """64 rows of 2 to 8 digits whose neighbours are to be exchanged."""
    length = int(torch.randint(2, 9, (1,), generator=rng))
    return translation.swaps(64, length, rng)


def date_batches(data: Batch, seed: int) -> Callable[[], Batch]:
    """Draws 64 of the dates at each call."""
    rng = generator(seed)
    return lambda: data[torch.randint(len(data.source), (64,), generator=rng)]


@torch.no_grad()
def whole_dates(model: nn.Module, batch: Batch) -> float:
    """Share of the dates that are right in all ten symbols."""
    logits, _ = model(batch, shifted(batch.target))
    return (logits.argmax(-1) == batch.target).all(dim=-1).float().mean().item()


@torch.no_grad()
def alignment(model: nn.Module, batch: Batch) -> Tensor:
    """(B, T, S): the weights under teacher forcing."""
    return model(batch, shifted(batch.target))[1]


def share_beside(right: Tensor, weights: Tensor) -> float:
    """Of the target symbols that have a source: largest weight next to a right position, not on one."""
    near = (F.pad(right[..., 1:], (0, 1)) | F.pad(right[..., :-1], (1, 0))) & ~right
    hit = near.gather(-1, weights.argmax(-1, keepdim=True)).squeeze(-1)
    return hit[right.any(dim=-1)].float().mean().item()
