"""Right answers of attention that scales written in other ways; each keeps the argument checks that the stub gives."""

import functools
import math

import torch
from torch import nn

from attention._arguments import checked_chunks

from . import (
    _efficient_backward,  # noqa: F401
    _efficient_blockwise,  # noqa: F401
    _efficient_grouped,  # noqa: F401
    _efficient_partials,  # noqa: F401
    alternative,
)

SOFTMAX, CACHE = "efficient.online_softmax", "efficient.KeyValueCache"


def softmax(function):
    @functools.wraps(function)
    def whole(chunks):
        return function(checked_chunks(chunks))

    return alternative(SOFTMAX)(whole)


@softmax
def scores_kept_and_weighed_at_the_end(chunks):
    m = d = None
    seen = []
    for s in chunks:
        seen.append(s)
        top = s.max(dim=-1, keepdim=True).values
        if m is None:
            m, d = torch.full_like(top, -torch.inf), torch.zeros_like(top)
        new = torch.max(m, top)
        safe = torch.where(torch.isinf(new), torch.zeros_like(new), new)
        d = d * (m - safe).exp() + (s - safe).exp().sum(-1, keepdim=True)
        m = new
    safe = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    d = torch.where(d > 0, d, torch.ones_like(d))
    return torch.cat([(s - safe).exp() / d for s in seen], dim=-1)


@softmax
def all_parts_rescaled_at_every_step(chunks):
    parts, total, largest = [], 0.0, None
    for chunk in chunks:
        lowest = torch.finfo(chunk.dtype).min
        top = chunk.detach().amax(-1, keepdim=True).clamp(min=lowest)
        new = top if largest is None else torch.maximum(largest, top)
        shrink = 1.0 if largest is None else (largest - new).exp()
        parts = [part * shrink for part in parts] + [(chunk - new).exp()]
        total = total * shrink + parts[-1].sum(-1, keepdim=True)
        largest = new
    return torch.cat(parts, -1) / total.clamp(min=torch.finfo(total.dtype).tiny)


@softmax
def normalised_as_it_goes(chunks):
    """The weights so far always sum to 1; what comes is mixed in by its share."""
    weights = log_total = None
    for chunk in chunks:
        top = chunk.detach().amax(-1, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        powers = (chunk - top).exp()
        mass = powers.sum(-1, keepdim=True)
        part = powers / mass.masked_fill(mass == 0, 1.0)
        # log of zero mass: a floor far below every score, so that no infinity meets another
        log_mass = torch.where(mass == 0, torch.full_like(mass, -6e4), mass.masked_fill(mass == 0, 1.0).log() + top)
        if weights is None:
            weights, log_total = part, log_mass
            continue
        both = torch.maximum(log_total, log_mass).detach()
        old, new = (log_total - both).exp(), (log_mass - both).exp()
        weights = torch.cat([weights * old / (old + new), part * new / (old + new)], -1)
        log_total = both + (old + new).log()
    return weights


@softmax
def one_score_at_a_time(chunks):
    pieces, largest, total = [], None, None
    for chunk in chunks:
        for score in chunk.split(1, dim=-1):
            if largest is None:
                largest, total = torch.full_like(score, -math.inf).detach(), torch.zeros_like(score)
            pieces.append(score)
            larger = score.detach() > largest
            base = torch.where(larger, score.detach(), largest)
            known = base > -math.inf
            shift = torch.where(known, base, 0)
            total = total * torch.where(larger, (largest - shift).exp(), 1) + (score - shift).exp()
            largest = base
    shift = torch.where(largest > -math.inf, largest, 0)
    return torch.cat([(one - shift).exp() / (total + (total == 0)) for one in pieces], dim=-1)


def given_lines(key, value):
    from attention._arguments import check_floating, check_sequence

    check_floating(key=key, value=value)
    check_sequence(key=key, value=value)
    if key.shape[:-1] != value.shape[:-1]:
        raise ValueError("key and value must agree but for their last axis")


def given_length(max_length):
    from attention._arguments import check_length

    check_length("max_length", max_length, least=1)
    return max_length


@alternative(CACHE)
class list_of_steps:
    def __init__(self, max_length):
        self.max_length = given_length(max_length)
        self.steps = []

    @property
    def length(self):
        return sum(key.shape[-2] for key, _ in self.steps)

    def append(self, key, value):
        given_lines(key, value)
        if self.length + key.shape[-2] > self.max_length:
            raise ValueError("no room")
        for old, new in zip(self.steps[0] if self.steps else (), (key, value), strict=False):
            if old.shape[:-2] != new.shape[:-2] or old.shape[-1] != new.shape[-1]:
                raise ValueError("does not fit")
        self.steps.append((key, value))
        return tuple(torch.cat(parts, dim=-2) for parts in zip(*self.steps, strict=True))


@alternative(CACHE)
class room_made_at_once:
    """Views of one buffer: later appends write behind what was returned earlier."""

    def __init__(self, max_length):
        self.max_length = given_length(max_length)
        self._keys = self._values = None
        self.length = 0

    def append(self, key, value):
        given_lines(key, value)
        end = self.length + key.shape[-2]
        if end > self.max_length:
            raise ValueError("no room")
        if self._keys is None:
            self._keys, self._values = (
                torch.empty(*x.shape[:-2], self.max_length, x.shape[-1], dtype=x.dtype) for x in (key, value)
            )
        for room, new in ((self._keys, key), (self._values, value)):
            if room.shape[:-2] != new.shape[:-2] or room.shape[-1] != new.shape[-1]:
                raise ValueError("does not fit")
        self._keys[..., self.length : end, :] = key
        self._values[..., self.length : end, :] = value
        self.length = end
        return self._keys[..., :end, :], self._values[..., :end, :]


@alternative(CACHE)
class both_side_by_side_in_a_module(nn.Module):
    def __init__(self, max_length):
        super().__init__()
        self.max_length = given_length(max_length)
        self.both = None

    length = property(lambda self: 0 if self.both is None else self.both.shape[-2])

    def append(self, key, value):
        given_lines(key, value)
        both, width = torch.cat([key, value], dim=-1), key.shape[-1]
        if self.both is not None:
            if (*self.both.shape[:-2], *self.widths) != (*key.shape[:-2], width, value.shape[-1]):
                raise ValueError("does not fit")
            both = torch.cat([self.both, both], dim=-2)
        if both.size(-2) > self.max_length:
            raise ValueError("no room")
        self.both, self.widths = both, (width, value.shape[-1])
        return both[..., :width], both[..., width:]
