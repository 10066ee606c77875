"""Right merges of two parts of attention in other styles."""

import functools
import math

import torch

from attention._arguments import check_partials

from . import alternative


def below_given_checks(function):
    @functools.wraps(function)
    def whole(first, second):
        check_partials(first=first, second=second)
        return function(first, second)

    return alternative("efficient.merge_partials")(whole)


@below_given_checks
def parts_stacked(first, second):
    maxima, totals, summed = (torch.stack(pair) for pair in zip(first, second, strict=True))
    largest = maxima.max(dim=0).values
    factors = torch.exp(maxima - torch.nan_to_num(largest, neginf=0.0))
    return largest, (factors * totals).sum(0), (factors.unsqueeze(-1) * summed).sum(0)


@below_given_checks
def shift_without_a_gradient(first, second):
    (m1, t1, s1), (m2, t2, s2) = first, second
    m = torch.max(m1, m2).detach()
    safe = torch.where(m == -math.inf, torch.zeros_like(m), m)
    a, b = (m1 - safe).exp(), (m2 - safe).exp()
    return m, a * t1 + b * t2, a[..., None] * s1 + b[..., None] * s2


@below_given_checks
def smaller_into_larger(first, second):
    swap = second[0] > first[0]
    large = [torch.where(swap if n < 2 else swap[..., None], second[n], first[n]) for n in range(3)]
    small = [torch.where(swap if n < 2 else swap[..., None], first[n], second[n]) for n in range(3)]
    gap = torch.where(small[0] == -torch.inf, 0.0, small[0] - large[0].masked_fill(large[0] == -torch.inf, 0.0))
    c = torch.where(small[0] == -torch.inf, torch.zeros_like(gap), gap.exp())
    return large[0], large[1] + c * small[1], large[2] + torch.einsum("...,...d->...d", c, small[2])


@below_given_checks
def one_query_after_the_other(first, second):
    shape, d = first[0].shape, first[2].shape[-1]
    rows = [[part[0].reshape(-1), part[1].reshape(-1), part[2].reshape(-1, d)] for part in (first, second)]
    found = []
    for i in range(rows[0][0].numel()):
        parts = [[column[i] for column in row] for row in rows if row[0][i] > -torch.inf]
        if not parts:
            found.append([rows[0][0][i], rows[0][1][i] + rows[1][1][i], rows[0][2][i] + rows[1][2][i]])
            continue
        m = parts[0][0] if len(parts) == 1 else torch.max(parts[0][0], parts[1][0])
        found.append(
            [m, sum(p[1] * torch.exp(p[0] - m) for p in parts), sum(p[2] * torch.exp(p[0] - m) for p in parts)]
        )
    m, t, s = (torch.stack(column) for column in zip(*found, strict=True))
    return m.reshape(shape), t.reshape(shape), s.reshape(*shape, d)
