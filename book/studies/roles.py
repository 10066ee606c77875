"""Models that say of each name in a function where it comes from, and what their training finds."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.classifier import masked_mean
from attention.encoder import Encoder
from studies import names
from studies.names import LENGTH, ROLES, Functions

__all__ = ["MODELS", "RATES", "AttentionReader", "counted", "looks", "run", "without_its_head"]

STEPS, BATCH = 250, 48
RATES = (0.005, 0.01)


class Reader(nn.Module):
    """Vectors for tokens, a row per token from what a subclass does with them, and a linear layer to the roles."""

    def __init__(self, size: int, d: int, width: int) -> None:
        super().__init__()
        self.embedding, self.output = nn.Embedding(size, d, padding_idx=0), nn.Linear(width, len(ROLES))
        nn.init.normal_(self.embedding.weight, std=0.5)

    def rows(self, ids: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, L) → logits (B, L, roles)."""
        return self.output(self.rows(ids))


class MeanReader(Reader):
    """The name itself beside the mean of all words of the function, then a hidden layer."""

    def __init__(self, size: int, d: int = 160) -> None:
        super().__init__(size, d, 128)
        self.hidden = nn.Linear(2 * d, 128)

    def rows(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        mean = masked_mean(x, ids != 0)[:, None].expand_as(x)
        return self.hidden(torch.cat([x, mean], dim=-1)).relu()


class NeighbourReader(Reader):
    """Two words on either side, then a hidden layer: what n-grams can know."""

    def __init__(self, size: int, d: int = 48) -> None:
        super().__init__(size, d, 256)
        self.hidden = nn.Conv1d(d, 256, kernel_size=5, padding=2)

    def rows(self, ids: Tensor) -> Tensor:
        return self.hidden(self.embedding(ids).mT).mT.relu()


class RecurrentReader(Reader):
    """A GRU in both directions: its state at the name, alone or beside the mean of all states, or with attention."""

    def __init__(self, size: int, beside: str, d: int = 64) -> None:
        h = {"nothing": 76, "the mean": 76, "attention": 64}[beside]  # with attention's two matrices about as many
        super().__init__(size, d, 2 * h if beside == "nothing" else 4 * h)
        self.gru, self.beside = nn.GRU(d, h, batch_first=True, bidirectional=True), beside
        if beside == "attention":
            self.query, self.key = nn.Linear(2 * h, 64), nn.Linear(2 * h, 64)

    def rows(self, ids: Tensor) -> Tensor:
        states, real = self.gru(self.embedding(ids))[0], ids != 0  # (B, L, 2h)
        if self.beside == "nothing":
            return states
        if self.beside == "the mean":
            more = masked_mean(states, real)[:, None].expand_as(states)
        else:
            scores = self.query(states) @ self.key(states).mT / 8  # √64
            more = scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1) @ states
        return torch.cat([states, more], dim=-1)


class AttentionReader(Reader):
    """Chapter 7's encoder, two layers, with a learned vector per position."""

    def __init__(self, size: int, d: int = 64) -> None:
        super().__init__(size, d, d)
        self.positions = nn.Parameter(0.2 * torch.randn(LENGTH, d))
        self.encoder = Encoder(2, d, 2, 2 * d, dropout=0.0, norm_first=True)

    def rows(self, ids: Tensor) -> Tensor:
        return self.encoder(self.embedding(ids) + self.positions[: ids.shape[1]], key_mask=ids != 0)

    @torch.no_grad()
    def weights(self, ids: Tensor) -> list[Tensor]:
        """Per layer (B, H, L, L)."""
        x = self.embedding(ids) + self.positions[: ids.shape[1]]
        return self.encoder(x, key_mask=ids != 0, return_weights=True)[1]


MODELS: dict[str, Callable[[int], Reader]] = {
    "encoder": AttentionReader,
    "GRU + attention": lambda size: RecurrentReader(size, "attention"),
    "GRU, pooled": lambda size: RecurrentReader(size, "the mean"),
    "GRU": lambda size: RecurrentReader(size, "nothing"),
    "neighbours": NeighbourReader,
    "mean pooling": MeanReader,
}


@torch.no_grad()
def accuracy(model: Reader, data: tuple[Tensor, Tensor]) -> float:
    """Share of the names asked for whose role is right."""
    ids, wanted = data
    asked = wanted >= 0
    return round((model.eval()(ids).argmax(-1) == wanted)[asked].float().mean().item(), 4)


def run(name: str, seed: int, texts: Functions, rate: float, steps: int = STEPS) -> tuple[Reader, dict]:
    """Train one model on functions whose names are drawn anew in each step, the rate rising and then falling.

    Returns it and {"validation": …, "test": …, "seconds": of CPU, "parameters": …}.
    """
    torch.manual_seed(seed)
    model, rng = MODELS[name](texts.size), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    started, (ids, wanted) = time.process_time(), texts.train
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 30) * (1 - 0.9 * step / steps)
        rows = torch.randint(len(ids), (BATCH,), generator=rng)
        logits = model.train()(texts.renamed(ids[rows], rng))
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), wanted[rows].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    spent, held_out = time.process_time() - started, torch.Generator().manual_seed(1)
    return model, {
        **{
            part: accuracy(model, (texts.renamed(data[0], held_out), data[1]))
            for part, data in (("validation", texts.validation), ("test", texts.test))
        },
        "seconds": round(spent, 1),
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def counted() -> dict[str, float]:
    """Test accuracy of what needs no training: the largest class, a table of real names, a programmer's rule."""
    found = names.parts()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for function, name in _asked(found["train"]):
        table[name][function.roles[name]] += 1
    overall = sum(table.values(), Counter()).most_common(1)[0][0]
    guesses: dict[str, Callable[[names.Function, str], str]] = {
        "largest class": lambda function, name: overall,
        "table of the real names": lambda function, name: (
            table[name].most_common(1)[0][0] if name in table else overall
        ),
        "programmer's rule": names.programmers_rule,
    }
    asked = list(_asked(found["test"]))
    return {
        way: round(sum(guess(function, name) == function.roles[name] for function, name in asked) / len(asked), 4)
        for way, guess in guesses.items()
    }


def _asked(some: list[names.Function]) -> list[tuple[names.Function, str]]:
    return [
        (function, name)
        for function in some
        for name, ask in zip(function.names, function.asked, strict=True)
        if name and ask
    ]


def looks(model: AttentionReader, data: tuple[Tensor, Tensor], first_name: int) -> dict[str, float]:
    """Of a name's weights the share on namesakes, for the head with most, and if weights were even."""
    ids, wanted = data
    alike = (
        (ids[:, :, None] == ids[:, None]) & (ids >= first_name)[..., None] & ~torch.eye(ids.shape[1], dtype=torch.bool)
    )
    asked = (wanted >= 0) & alike.any(-1)
    heads = [
        (weights[:, head] * alike).sum(-1)[asked].mean().item()
        for weights in model.eval().weights(ids)
        for head in range(weights.shape[1])
    ]
    even = (alike.sum(-1) / (ids != 0).sum(-1, keepdim=True))[asked].mean().item()
    return {"most": round(max(heads), 3), "even": round(even, 3)}


@torch.no_grad()
def without_its_head(model: Reader, data: tuple[Tensor, Tensor], texts: Functions) -> dict[str, float]:
    """Share still called a parameter when a name of the head becomes another: their own, or a different one."""
    ids, wanted = data
    head = (ids == texts.words.index("\n")).float().argmax(-1, keepdim=True)  # the first line ends there
    row, at = (wanted == ROLES.index("parameter")).nonzero().T
    places = torch.arange(ids.shape[1])
    in_head = (places < head[row]) & (ids[row] >= texts.first_name)
    own, other = in_head & (ids[row] == ids[row, at][:, None]), in_head & (ids[row] != ids[row, at][:, None])
    used = torch.zeros(len(ids), texts.size, dtype=torch.bool).scatter_(1, ids, True)
    spare = (~used[:, texts.first_name :]).float().argmax(-1)[row] + texts.first_name  # a name that is not there yet
    usable = own.any(-1) & other.any(-1)
    said = {}
    for which, mask in (("its own", own), ("another", other)):
        first = mask.float().argmax(-1)
        changed = ids[row].scatter(1, first[:, None], spare[:, None])
        answer = model.eval()(changed)[torch.arange(len(row)), at].argmax(-1)
        said[which] = round((answer == ROLES.index("parameter"))[usable].float().mean().item(), 3)
    return said
