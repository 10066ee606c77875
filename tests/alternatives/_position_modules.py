"""Right modules that add positions, in other styles; each keeps the argument checks that the stub gives."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attention import positions as given

from . import alternative

ADDING, LEARNED = alternative("positions.PositionalEncoding"), alternative("positions.LearnedPositionalEmbedding")


class Checked(nn.Module):
    """What the stub gives: the checks of both methods."""

    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__()
        given.PositionalEncoding(d_model, max_length, dropout)
        self.d_model, self.max_length = d_model, max_length

    def check(self, x):
        given._check_input(x, self.d_model, self.max_length)


@ADDING
class FunctionalDropout(Checked):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        self.p = dropout
        self.register_buffer("pe", given.sinusoidal_encoding(max_length, d_model).unsqueeze(0), persistent=False)

    def forward(self, x):
        self.check(x)
        return F.dropout(x + self.pe[:, : x.size(1)].type_as(x), p=self.p, training=self.training)


@ADDING
class TableMadeInForward(Checked):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        self.check(x)
        table = given.sinusoidal_encoding(x.shape[1], self.d_model)
        return self.drop(torch.add(x, table.to(device=x.device, dtype=x.dtype).expand_as(x)))


@ADDING
class OneTokenAtATime(Checked):
    """A plain attribute holds the table; dropout is written out."""

    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        self.rate = dropout
        self.rows = [
            [
                math.cos(p / 1e4 ** ((i - 1) / d_model)) if i % 2 else math.sin(p / 1e4 ** (i / d_model))
                for i in range(d_model)
            ]
            for p in range(max_length)
        ]

    def forward(self, x):
        self.check(x)
        tokens = [x[:, p] + torch.tensor(self.rows[p], dtype=x.dtype) for p in range(x.shape[1])]
        total = torch.stack(tokens, dim=1)
        if not self.training or self.rate == 0:
            return total
        kept = torch.rand(total.shape) >= self.rate
        return torch.where(kept, total / (1 - self.rate), torch.zeros_like(total))


@ADDING
class EmbeddingFromTable(Checked):
    """A frozen embedding, hidden from the state dict in a tuple; positions as indices."""

    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        self.dropout = nn.Dropout(p=dropout)
        self.held = (nn.Embedding.from_pretrained(given.sinusoidal_encoding(max_length, d_model)),)
        self.register_buffer("indices", torch.arange(max_length), persistent=False)

    def forward(self, x):
        self.check(x)
        return self.dropout(x + self.held[0](self.indices[: x.shape[1]]).to(x))


class CheckedLearned(nn.Module):
    """What the stub gives: the checks of both methods."""

    def __init__(self, d_model, max_length=1024):
        super().__init__()
        given.LearnedPositionalEmbedding(d_model, max_length)
        self.d_model, self.max_length = d_model, max_length

    def check(self, x):
        given._check_input(x, self.d_model, self.max_length)


@LEARNED
class InitialisedInPlace(CheckedLearned):
    def __init__(self, d_model, max_length=1024):
        super().__init__(d_model, max_length)
        self.weight = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        self.check(x)
        return x + self.weight.narrow(0, 0, x.size(1)).unsqueeze(0).type_as(x)


@LEARNED
class LookedUp(CheckedLearned):
    def __init__(self, d_model, max_length=1024):
        super().__init__(d_model, max_length)
        self.register_parameter("weight", nn.Parameter(torch.normal(0.0, 0.02, (max_length, d_model))))

    def forward(self, x):
        self.check(x)
        return x + F.embedding(torch.arange(x.shape[1], device=x.device), self.weight).to(x.dtype)


@LEARNED
class WeightOfAnEmbedding(CheckedLearned):
    def __init__(self, d_model, max_length=1024):
        super().__init__(d_model, max_length)
        self.weight = nn.Embedding(max_length, d_model).weight
        with torch.no_grad():
            self.weight.mul_(0.02)

    def forward(self, x):
        self.check(x)
        rows = torch.stack([self.weight[p] for p in range(x.shape[1])])
        return x + rows.to(x.dtype).expand(x.shape[0], -1, -1)


@LEARNED
class PickedByMatrix(CheckedLearned):
    """The rows are picked by a matrix of zeros and ones; the start is cut at two deviations."""

    def __init__(self, d_model, max_length=1024):
        super().__init__(d_model, max_length)
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(max_length, d_model), std=0.02))

    def forward(self, x):
        self.check(x)
        weight = self.weight.to(x.dtype)
        return x + torch.eye(x.shape[1], len(weight), dtype=x.dtype) @ weight
