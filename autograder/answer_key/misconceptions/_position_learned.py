"""Wrong modules that learn a vector per position, as a learner would write them."""

import torch
from torch import nn

from . import misconception
from ._position_modules import as_given

LEARNED = "positions.LearnedPositionalEmbedding"
wrong = misconception(LEARNED)


class Learned(nn.Module):
    """LearnedPositionalEmbedding behind the checks that the stub gives."""

    def __init__(self, d_model, max_length=1024):
        super().__init__()
        self.given = [as_given(LEARNED, d_model, max_length)]
        self.make(max_length, d_model)

    def make(self, max_length, d_model):
        self.weight = nn.Parameter(0.02 * torch.randn(max_length, d_model))

    def forward(self, x):
        with torch.no_grad():
            self.given[0](x)
        return self.add(x)

    def rows(self, x):
        return self.weight[: x.shape[1]].to(x.dtype)

    def add(self, x):
        return x + self.rows(x)


@wrong
class embedding_inside(Learned):
    def make(self, max_length, d_model):
        self.embedding = nn.Embedding(max_length, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def rows(self, x):
        return self.embedding(torch.arange(x.shape[1])).to(x.dtype)


@wrong
class plain_tensor(Learned):
    def make(self, max_length, d_model):
        self.weight = 0.02 * torch.randn(max_length, d_model)


@wrong
class weight_gets_no_gradient(Learned):
    def make(self, max_length, d_model):
        self.register_buffer("weight", 0.02 * torch.randn(max_length, d_model))


@wrong
class rows_and_columns_exchanged(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(0.02 * torch.randn(d_model, max_length))

    def rows(self, x):
        return self.weight[:, : x.shape[1]].mT.to(x.dtype)


@wrong
class axis_for_the_batch(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(0.02 * torch.randn(1, max_length, d_model))

    def rows(self, x):
        return self.weight[:, : x.shape[1]].to(x.dtype)


@wrong
class rows_by_batch(Learned):
    def rows(self, x):
        return self.weight[: x.shape[0], None].to(x.dtype)


@wrong
class cut_by_batch(Learned):
    def rows(self, x):
        return self.weight[: x.shape[0]].to(x.dtype)


@wrong
class whole_weight_added(Learned):
    def rows(self, x):
        return self.weight.to(x.dtype)


@wrong
class last_rows(Learned):
    def rows(self, x):
        return self.weight[-x.shape[1] :].to(x.dtype)


@wrong
class multiplied(Learned):
    def add(self, x):
        return x * self.rows(x)


@wrong
class added_in_place(Learned):
    def add(self, x):
        x += self.rows(x)
        return x


@wrong
class promoted_by_the_weight(Learned):
    def rows(self, x):
        return self.weight[: x.shape[1]]


@wrong
class starts_at_deviation_one(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(torch.randn(max_length, d_model))


@wrong
class starts_at_zero(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(torch.zeros(max_length, d_model))


class _UncheckedLearned(nn.Module):
    def __init__(self, d_model, max_length=1024):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(max_length, d_model))

    def forward(self, x):
        return x + self.weight[: x.shape[-2]].to(x.dtype)


wrong(type("given_checks_removed", (_UncheckedLearned,), {}))
