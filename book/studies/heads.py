"""Trains layers of one, two and four heads on a task with two look-ups: `python -m studies.heads`.

In the folder `book`, with `solutions` on Python's path; some two minutes on one thread. The results go to
`studies/results/heads.json`. A page trains single models again with `run`.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention
from studies.recording import Part, Record

__all__ = ["MODELS", "PARTS", "RECORD", "TASKS", "TwoLookUps", "accuracy", "draw", "run", "train", "without"]

RECORD = Record("heads.json")
SYMBOLS, LENGTH, WIDTH, STEPS, BATCH, RATE = 8, 10, 32, 400, 32, 5e-3
TASKS = ("previous", "marked")
#: Name → number of heads, and which projections of the second head start as copies of the first head's.
MODELS = {
    "one head": (1, ()),
    "two heads": (2, ()),
    "four heads": (4, ()),
    "two, equal q, k, v": (2, ("q_proj", "k_proj", "v_proj")),
    "two, all equal": (2, ("q_proj", "k_proj", "v_proj", "out_proj")),
}


class TwoLookUps(nn.Module):
    """Embeddings of symbol, position and mark, one attention layer, a linear layer that reads two answers."""

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.symbol, self.position, self.mark = (nn.Embedding(n, WIDTH) for n in (SYMBOLS, LENGTH, 2))
        self.attention = MultiHeadAttention(WIDTH, num_heads)
        self.read = nn.Linear(WIDTH, 2 * SYMBOLS)

    def forward(self, symbols: Tensor, marked: Tensor) -> tuple[Tensor, Tensor]:
        """symbols, marked: (B, L) → logits (B, L - 1, 2, SYMBOLS) and weights (B, H, L, L)."""
        x = self.symbol(symbols) + self.position.weight + self.mark(marked)
        y, weights = self.attention(x, x, x)
        return self.read(y[:, 1:]).unflatten(-1, (2, SYMBOLS)), weights


def draw(size: int, rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Symbols (B, L), 1 at the marked position (B, L), answers (B, L - 1, 2): previous symbol, marked symbol."""
    symbols = torch.randint(SYMBOLS, (size, LENGTH), generator=rng)
    position = torch.randint(LENGTH, (size,), generator=rng)
    at_mark = symbols.gather(1, position[:, None]).expand(-1, LENGTH - 1)
    return symbols, F.one_hot(position, LENGTH), torch.stack([symbols[:, :-1], at_mark], dim=-1)


def copy_first_head(layer: MultiHeadAttention, names: tuple[str, ...]) -> None:
    """Give every head the first head's part of these projections."""
    heads, d_head = layer.num_heads, layer.d_model // layer.num_heads
    with torch.no_grad():
        for name in names:
            projection = getattr(layer, name)
            if name == "out_proj":  # its columns belong to heads; its bias belongs to none
                projection.weight.copy_(projection.weight[:, :d_head].repeat(1, heads))
            else:
                projection.weight.copy_(projection.weight[:d_head].repeat(heads, 1))
                projection.bias.copy_(projection.bias[:d_head].repeat(heads))


def train(name: str, seed: int) -> TwoLookUps:
    """A model of `MODELS`, trained; the seed decides its initial weights and its batches."""
    num_heads, equal = MODELS[name]
    torch.manual_seed(seed)
    model, rng = TwoLookUps(num_heads), torch.Generator().manual_seed(seed)
    copy_first_head(model.attention, equal)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(STEPS):
        symbols, marked, answers = draw(BATCH, rng)
        loss = F.cross_entropy(model(symbols, marked)[0].flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: TwoLookUps) -> list[float]:
    """Shares of right answers on 1,000 unseen rows, in the order of TASKS."""
    symbols, marked, answers = draw(1000, torch.Generator().manual_seed(99))
    right = model(symbols, marked)[0].argmax(dim=-1) == answers
    return [round(share, 4) for share in right.double().mean(dim=(0, 1)).tolist()]


@torch.no_grad()
def without(model: TwoLookUps, h: int, instead: str = "zero") -> TwoLookUps:
    """A copy in which head h gives zeros or, `instead="mean"`, its mean output at every position."""
    ablated = copy.deepcopy(model)
    layer = ablated.attention
    d_head = WIDTH // layer.num_heads
    columns = slice(h * d_head, (h + 1) * d_head)
    if instead == "mean":
        caught: list[Tensor] = []
        handle = layer.out_proj.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0]))
        model_symbols, model_marked, _ = draw(1000, torch.Generator().manual_seed(98))
        ablated(model_symbols, model_marked)
        handle.remove()
        average = caught[0][..., columns].mean(dim=(0, 1))  # (d_head,)
        layer.out_proj.bias += layer.out_proj.weight[:, columns] @ average
    layer.out_proj.weight[:, columns] = 0
    return ablated


@torch.no_grad()
def looks(model: TwoLookUps) -> list[list[float]]:
    """Of each head: the mean weight on the previous and on the marked position."""
    symbols, marked, _ = draw(1000, torch.Generator().manual_seed(99))
    _, weights = model(symbols, marked)  # (B, H, L, L)
    previous = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
    at_mark = (weights[:, :, 1:] * marked[:, None, None, :]).sum(dim=-1).mean(dim=(0, 2))
    return [[round(share, 3) for share in pair] for pair in torch.stack([previous, at_mark], dim=-1).tolist()]


def removed_in_turn(model: TwoLookUps) -> list[float]:
    """The worse task's accuracy as heads go one after the other, the cheapest first, down to the last head."""
    left, worse = list(range(model.attention.num_heads)), []
    while len(left) > 1:
        trials = {h: min(accuracy(without(model, h))) for h in left}
        cheapest = max(trials, key=trials.__getitem__)
        model = without(model, cheapest)
        left.remove(cheapest)
        worse.append(trials[cheapest])
    return worse


def run(name: str, seed: int) -> tuple[TwoLookUps, dict[str, Any]]:
    """Train one model; its accuracy whole and without each head, what its heads look at, how far its heads differ."""
    model = train(name, seed)
    heads = range(model.attention.num_heads)
    with torch.no_grad():
        _, weights = model(*draw(1000, torch.Generator().manual_seed(99))[:2])
    found = {
        "accuracy": accuracy(model),
        "zeroed": [accuracy(without(model, h)) for h in heads],
        "at_mean": [accuracy(without(model, h, "mean")) for h in heads],
        "looks": looks(model),
        "heads_differ": round((weights - weights[:, :1]).abs().max().item(), 4),
    }
    return model, found | ({"in_turn": removed_in_turn(model)} if len(heads) > 2 else {})


def _look_ups(seeds: range) -> dict[str, Any]:
    return {name: [run(name, seed)[1] for seed in seeds] for name in MODELS}


PARTS = {"look-ups": Part(_look_ups, seeds=12)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
