"""Wrong modules that add positions: other rows, other sums, other dropout."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from . import misconception
from ._position_learned import LEARNED, Learned
from ._position_modules import ADDING, Adding
from ._position_tables import exponents, positions, table

# What comes out, of the module, x and the rows for its tokens
SUMS = {
    "x_left_out": lambda m, x, rows: m.drop(rows.expand_as(x)),
    "table_left_out": lambda m, x, rows: m.drop(x),
    "averaged": lambda m, x, rows: m.drop((x + rows) / 2),
    "table_scaled_by_root": lambda m, x, rows: m.drop(x + rows / math.sqrt(x.shape[-1])),
    "added_twice": lambda m, x, rows: m.drop(x + rows + rows),
    "table_subtracted": lambda m, x, rows: m.drop(x - rows),
    "rows_in_reverse": lambda m, x, rows: m.drop(x + rows.flip(0)),
    "normalised": lambda m, x, rows: m.drop(F.layer_norm(x, x.shape[-1:]) + rows),
    "nonlinearity": lambda m, x, rows: m.drop(x + rows).relu(),
    "first_sequence_alone": lambda m, x, rows: m.drop(x[:1] + rows),
    "axes_of_one_squeezed": lambda m, x, rows: m.drop(x + rows).squeeze(),
    "first_sequence_gets_positions": lambda m, x, rows: m.drop(torch.cat((x[:1] + rows, x[1:]))),
    "rows_averaged": lambda m, x, rows: m.drop(x + rows.mean(dim=0)),
    "rows_moved_by_one": lambda m, x, rows: m.drop(x + rows.roll(1, 0)),
    "tanh_of_the_sum": lambda m, x, rows: m.drop(x + rows).tanh(),
    "in_half_precision": lambda m, x, rows: m.drop(x.half() + rows.half()),
    "rounded": lambda m, x, rows: m.drop(x + rows).round(decimals=2),
    "float64_throughout": lambda m, x, rows: m.drop(x + rows).double(),
}

# Of the sinusoidal table alone
SINUSOIDAL = {
    "dropout_twice": lambda m, x, rows: m.drop(m.drop(x + rows)),
    "dropout_of_a_tenth": lambda m, x, rows: F.dropout(x + rows, 0.1, m.training),
    "dropout_in_evaluation_alone": lambda m, x, rows: F.dropout(x + rows, m.p, not m.training),
    "dropout_of_whole_tokens": lambda m, x, rows: (x + rows) * F.dropout(torch.ones_like(x[..., :1]), m.p, m.training),
    "last_rows": lambda m, x, rows: m.drop(x + m.encoding[len(m.encoding) - x.shape[1] :].to(x.dtype)),
    "sines_alone": lambda m, x, rows: m.drop(x + rows * (torch.arange(x.shape[-1]) % 2 == 0)),
    "sine_and_cosine_exchanged": lambda m, x, rows: m.drop(x + rows.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)),
}

# Of the learned one
LEARNT = {
    "side_by_side": lambda m, x, rows: torch.cat((x, rows.expand_as(x)), dim=-1),
    "rows_from_one": lambda m, x, rows: x + m.weight[1 : x.shape[1] + 1].to(x.dtype),
    "one_row_for_all": lambda m, x, rows: x + rows[-1],
    "first_row_for_all": lambda m, x, rows: x + rows[0],
    "dropout_added": lambda m, x, rows: F.dropout(x + rows, 0.1, m.training),
    "x_detached": lambda m, x, rows: x.detach() + rows,
    "sum_detached": lambda m, x, rows: (x + rows).detach(),
    "scaled_by_root": lambda m, x, rows: x * math.sqrt(x.shape[-1]) + rows,
    "float32_throughout": lambda m, x, rows: (x + rows).float(),
}
SUMS_OF_LEARNT = [name for name in SUMS if name not in ("table_left_out", "table_scaled_by_root")]


def _adding(name, add):
    def added(self, x):
        return add(self, x, self.rows(x))

    misconception(ADDING)(type(name, (Adding,), {"add": added}))


def _learned(name, add):
    def added(self, x):
        return add(self, x, self.rows(x))

    misconception(LEARNED)(type(name, (Learned,), {"add": added, "drop": staticmethod(lambda x: x)}))


for _name, _add in (SUMS | SINUSOIDAL).items():
    _adding(_name, _add)
for _name in SUMS_OF_LEARNT:
    _learned(_name, SUMS[_name])
for _name, _add in LEARNT.items():
    _learned(_name, _add)


@misconception(ADDING)
class x_changed_in_place(Adding):
    def add(self, x):
        found = super().add(x.clone())
        with torch.no_grad():
            x.mul_(0.5)
        return found


@misconception(ADDING)
class another_base(Adding):
    base = 1000.0

    def rows(self, x):
        length, width = x.shape[1:]
        return table(positions(length) * self.base ** -exponents(width)).to(x.dtype)


misconception(ADDING, like="another_base")(type("of_a_hundred", (another_base,), {"base": 100.0}))


def _each_way(exercise, given):
    """Mistakes of both classes in the rows that are added."""

    class columns_cut_for_rows(given):
        def rows(self, x):
            every = self.encoding if exercise == ADDING else self.weight
            return every[:, : x.shape[1]].to(x.dtype)

    class last_token_left_out(given):
        def add(self, x):
            rows = self.rows(x)
            sums = torch.cat((x[:, :-1] + rows[:-1], x[:, -1:]), dim=1)
            return self.drop(sums) if exercise == ADDING else sums

    for wrong in (columns_cut_for_rows, last_token_left_out):
        misconception(exercise)(wrong)


_each_way(ADDING, Adding)
_each_way(LEARNED, Learned)


def _start(name, weight):
    """A misconception whose weight begins as weight(max_length, d_model)."""

    def make(self, max_length, d_model):
        self.weight = nn.Parameter(weight(max_length, d_model))

    misconception(LEARNED)(type(name, (Learned,), {"make": make}))


_start("starts_uniform", lambda length, width: 0.02 * torch.rand(length, width))
_start("starts_at_the_square", lambda length, width: 0.02**2 * torch.randn(length, width))
_start("starts_by_width", lambda length, width: torch.randn(length, width) / math.sqrt(width))
_start("kept_in_half_precision", lambda length, width: (0.02 * torch.randn(length, width)).half())
misconception(LEARNED, like="kept_in_half_precision")(
    type(
        "bfloat16",
        (Learned,),
        {"make": lambda self, n, d: setattr(self, "weight", nn.Parameter((0.02 * torch.randn(n, d)).bfloat16()))},
    )
)
