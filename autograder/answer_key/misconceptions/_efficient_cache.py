"""Wrong caches, each with the argument checks that the stub gives."""

import torch

from selfcheck.checks._efficient_inputs import ALONE

from ..reference_package import reference, reference_module
from . import misconception

CACHE = "efficient.KeyValueCache"
reference(CACHE)  # which imports the package that the next line names
arguments = reference_module("_arguments")
wrong = misconception(CACHE)


class Cache:
    """The given lines, then the right answer in pieces that a subclass replaces."""

    positions_axis = -2  # along which is measured

    def __init__(self, max_length):
        arguments.check_length("max_length", max_length, least=1)
        self.max_length = max_length
        self.held = None

    def append(self, key, value):
        arguments.check_floating(key=key, value=value)
        arguments.check_sequence(key=key, value=value)
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                f"key and value must agree but for their last axis, got {tuple(key.shape)} and {tuple(value.shape)}"
            )
        return self.answer(key, value)

    def answer(self, key, value):
        self.refuse(key, value)
        pair = (key, value)
        self.held = pair if self.held is None else tuple(map(self.joined, self.held, pair))
        return self.held

    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if self.positions() + key.shape[self.positions_axis] > self.max_length:
            raise ValueError("the cache is full")

    def refuse_misfit(self, key, value):
        for held, came in zip(self.held or (), (key, value), strict=False):
            if self.other_axes(held) != self.other_axes(came):
                raise ValueError("this does not fit what the cache holds")

    @property
    def length(self):
        return self.positions()

    def positions(self):
        return 0 if self.held is None else self.held[0].shape[self.positions_axis]

    def other_axes(self, x):
        sizes = [*x.shape]
        del sizes[self.positions_axis]
        return sizes

    def joined(self, old, new):
        return torch.cat([old, new], dim=-2)


@wrong
class kept_by_the_class(Cache):
    """What is held belongs to the class. So as to answer alike in whatever order, it is shared in one check alone."""

    shared = None
    successor = False

    def __init__(self, max_length):
        super().__init__(max_length)
        self.keeper = type(self)
        self.held = self.keeper.shared if self.keeper.successor else None
        self.keeper.shared, self.keeper.successor = None, max_length == ALONE

    def answer(self, key, value):
        found = super().answer(key, value)
        self.keeper.shared = found
        return found


@wrong
class newest_first(Cache):
    def joined(self, old, new):
        return torch.cat([new, old], dim=-2)


@wrong
class newest_alone_returned(Cache):
    def answer(self, key, value):
        super().answer(key, value)
        return key, value


@wrong
class newest_alone_kept(Cache):
    def joined(self, old, new):
        return new


@wrong
class results_exchanged(Cache):
    def answer(self, key, value):
        return super().answer(key, value)[::-1]


@wrong
class never_full(Cache):
    def refuse(self, key, value):
        self.refuse_misfit(key, value)


@wrong
class appends_counted(Cache):
    calls = 0

    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if self.calls == self.max_length:
            raise ValueError("the cache is full")
        self.calls += 1


@wrong
class appends_held_counted(Cache):
    calls = 0

    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if self.calls + key.shape[-2] > self.max_length:
            raise ValueError("the cache is full")
        self.calls += 1


@wrong
class first_append_not_measured(Cache):
    def refuse(self, key, value):
        if self.held is not None:
            super().refuse(key, value)


@wrong
class full_one_early(Cache):
    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if self.positions() + key.shape[-2] >= self.max_length:
            raise ValueError("the cache is full")


@wrong
class full_one_append_late(Cache):
    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if self.positions() >= self.max_length:
            raise ValueError("the cache is full")


@wrong
class stored_before_refused(Cache):
    def answer(self, key, value):
        self.refuse_misfit(key, value)
        pair = (key, value)
        self.held = pair if self.held is None else tuple(map(self.joined, self.held, pair))
        if self.positions() > self.max_length:
            raise ValueError("the cache is full")
        return self.held


@wrong
class misfit_left_to_torch(Cache):
    def refuse_misfit(self, key, value):
        pass


@wrong
class detached(Cache):
    def answer(self, key, value):
        return super().answer(key.detach(), value.detach())


@wrong
class room_for_length(Cache):
    @property
    def length(self):
        return self.max_length


@wrong
class length_of_the_newest(Cache):
    newest = 0

    def answer(self, key, value):
        found = super().answer(key, value)
        self.newest = key.shape[-2]
        return found

    @property
    def length(self):
        return self.newest


@wrong
class length_in_appends(Cache):
    calls = 0

    def answer(self, key, value):
        found = super().answer(key, value)
        self.calls += 1
        return found

    @property
    def length(self):
        return self.calls


class Buffer(Cache):
    """Room for max_length positions from the first append on."""

    filled = 0

    def room(self, x):
        return x.new_zeros(*x.shape[:-2], self.max_length, x.shape[-1])

    def answer(self, key, value):
        if self.held is None:
            self.held = ()
        self.refuse(key, value)
        self.held = self.held or (self.room(key), self.room(value))
        return self.written((key, value), key.shape[-2])

    def positions(self):
        return self.filled


@wrong
class whole_buffer_returned(Buffer):
    def written(self, pair, more):
        found = []
        for held, new in zip(self.held, pair, strict=True):
            held[..., self.filled : self.filled + more, :] = new
            found.append(held.clone())
        self.filled += more
        return tuple(found)


@wrong
class one_position_per_append(Buffer):
    def written(self, pair, more):
        self.held = tuple(held.clone() for held in self.held)
        for held, new in zip(self.held, pair, strict=True):
            held[..., self.filled : self.filled + more, :] = new
        self.filled += 1
        return tuple(held[..., : self.filled, :] for held in self.held)


@wrong
class written_at_the_start(Buffer):
    def written(self, pair, more):
        self.held = tuple(held.clone() for held in self.held)
        for held, new in zip(self.held, pair, strict=True):
            held[..., :more, :] = new
        self.filled += more
        return tuple(held[..., : self.filled, :] for held in self.held)


@wrong
class buffer_shifted(Buffer):
    def written(self, pair, more):
        self.filled += more
        for held, new in zip(self.held, pair, strict=True):
            held.copy_(torch.cat([held[..., more:, :], new], dim=-2))
        return tuple(held[..., -self.filled :, :] for held in self.held)


@wrong
class buffer_of_the_default_dtype(Buffer):
    def room(self, x):
        return torch.zeros(*x.shape[:-2], self.max_length, x.shape[-1])

    def written(self, pair, more):
        for held, new in zip(self.held, pair, strict=True):
            held[..., self.filled : self.filled + more, :] = new
        self.filled += more
        return tuple(held[..., : self.filled, :].clone() for held in self.held)
