"""Which rows of a parameter a gradient reaches does not depend on how a machine rounds what cancels."""

import torch
from torch import nn

from selfcheck.module_state import reached


class Attention(nn.Module):
    """One head: the bias of the keys moves all scores of a query alike, and so none of its weights."""

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return (self.query(x) @ self.key(x).mT).softmax(dim=-1) @ x


def test_what_cancels_is_reached_by_nothing():
    for seed in range(20):
        torch.manual_seed(seed)
        model = Attention()
        rows = reached(model, model(torch.randn(3, 5, 8)))
        assert rows == [[2, 8, 8], [1, 8, 8], [2, 8, 8], [1, 8, 0]]  # query's weight and bias, key's weight and bias
