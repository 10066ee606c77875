"""Tasks of order and of reach, the models that try them: `python -m studies.order [PART …]`.

In the folder `book`, with `solutions` on Python's path; some two minutes on one thread. The results go to
`studies/results/order.json`, each part with the machine, the date and the versions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.classifier import TextClassifier, masked_mean, train_step
from attention.encoder import Encoder
from attention.positions import PositionalEncoding
from studies.counting import generator
from studies.recording import Part, Record

__all__ = ["DISTANCES", "FORMS", "KINDS", "PARTS", "RECORD", "Convolutions", "order_of", "reach_of"]

RECORD = Record("order.json")
KINDS, SPAN = 8, 32  # of tokens, and the length of a text
DISTANCES = (1, 3, 5, 7, 9, 11, 12, 13, 15, 18, 22, 26, 31)
Examples = tuple[Tensor, Tensor]


def before_or_after(count: int, rng: torch.Generator, length: int = 16) -> Examples:
    """Token ids (count, length) with one A = 1 and one B = 2, and 1 where A comes first."""
    ids = torch.randint(3, 20, (count, length), generator=rng)
    first, second = torch.rand(count, length, generator=rng).argsort(1)[:, :2].T
    row = torch.arange(count)
    ids[row, first], ids[row, second] = 1, 2
    return ids, (first < second).long()


def marked_token(count: int, rng: torch.Generator, distance: int | None = None) -> Examples:
    """Ids (count, SPAN): kinds 1-8, one marked (9-16), the question 17 at the end; and the marked kind."""
    ids = torch.randint(KINDS, (count, SPAN), generator=rng)
    far = torch.randint(1, SPAN, (count,), generator=rng) if distance is None else torch.full((count,), distance)
    row, at = torch.arange(count), SPAN - 1 - far
    kind = ids[row, at]
    ids[row, at] += KINDS
    ids[:, -1] = 2 * KINDS
    return ids + 1, kind


class WithoutPositions(nn.Module):
    """TextClassifier less its positions."""

    def __init__(self, vocab_size: int, num_classes: int, d: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d)
        self.encoder = Encoder(1, d, 2, 64, dropout=0.0, norm_first=True)
        self.output = nn.Linear(d, num_classes)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(masked_mean(self.encoder(self.embedding(ids), key_mask=ids != 0), ids != 0))


class Convolutions(nn.Module):
    """Causal convolutions with residuals and norms, read at the last token, or pooled over all."""

    def __init__(self, layers: int = 3, kernel: int = 5, d: int = 32, pool: bool = False) -> None:
        super().__init__()
        self.embedding, self.pool, self.kernel = nn.Embedding(18, d), pool, kernel
        self.layers = nn.ModuleList(nn.Conv1d(d, d, kernel) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers))
        self.output = nn.Linear(d, KINDS)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)  # (B, L, d)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + layer(F.pad(norm(x).mT, (self.kernel - 1, 0))).mT.relu()
        return self.output(x.mean(1) if self.pool else x[:, -1])


class Recurrent(nn.Module):
    """A GRU, read at the last token."""

    def __init__(self, d: int = 32) -> None:
        super().__init__()
        self.embedding, self.gru = nn.Embedding(18, d), nn.GRU(d, 48, batch_first=True)
        self.output = nn.Linear(48, KINDS)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.gru(self.embedding(ids))[0][:, -1])


class OneLayer(nn.Module):
    """An encoder of one layer, read at the last token."""

    def __init__(self, d: int = 32) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(18, d), PositionalEncoding(d)
        self.encoder = Encoder(1, d, 2, 64, dropout=0.0, norm_first=True)
        self.output = nn.Linear(d, KINDS)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.encoder(self.positions(self.embedding(ids)))[:, -1])


#: Name → what makes the model: for the order of two tokens, and for a token far away.
ORDER: dict[str, Callable[[], nn.Module]] = {
    "with positions": lambda: TextClassifier(20, 2, 32, 2, 64, 1, dropout=0.0),
    "without": lambda: WithoutPositions(20, 2),
}
FORMS: dict[str, Callable[[], nn.Module]] = {"convolutions": Convolutions, "GRU": Recurrent, "attention": OneLayer}
POOLED = "convolutions + mean over all tokens"


def trained(
    make: Callable[[], nn.Module], draw: Callable[..., Examples], seed: int, steps: int = 300, rate: float = 3e-3
) -> nn.Module:
    """A model trained on fresh batches of 64 from `draw(count, rng)`."""
    torch.manual_seed(seed)
    model, rng = make(), generator(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        train_step(model, draw(64, rng), optimizer, F.cross_entropy)
    return model.eval()


def order_of(name: str, seed: int) -> dict[str, float]:
    """Accuracy on 2000 texts, and the share of answers that stay when A and B are exchanged."""
    model = trained(ORDER[name], before_or_after, seed)
    ids, first = before_or_after(2000, generator(9))
    exchanged = ids.clone()
    exchanged[ids == 1], exchanged[ids == 2] = 2, 1
    answer = model(ids).argmax(-1)
    same = (model(exchanged).argmax(-1) == answer).float().mean().item()
    return {"right": (answer == first).float().mean().item(), "same": same}


def reach_of(name: str, seed: int) -> list[float]:
    """Accuracy at each of DISTANCES."""
    model = trained(FORMS.get(name, lambda: Convolutions(pool=True)), marked_token, seed, rate=0.01)
    tests = [marked_token(300, generator(100 + far), far) for far in DISTANCES]
    return [round((model(ids).argmax(-1) == kind).float().mean().item(), 4) for ids, kind in tests]


PARTS = {
    "order": Part(lambda seeds: {name: [order_of(name, seed) for seed in seeds] for name in ORDER}, seeds=3),
    "reach": Part(lambda seeds: {name: [reach_of(name, s) for s in seeds] for name in (*FORMS, POOLED)}, seeds=3),
}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
