"""Wrong caches that return, refuse or keep something else."""

import torch

from ._efficient_cache import Cache, wrong


@wrong
class nothing_returned(Cache):
    def answer(self, key, value):
        super().answer(key, value)


@wrong
class keys_alone_returned(Cache):
    def answer(self, key, value):
        return super().answer(key, value)[0]


@wrong
class keys_returned_twice(Cache):
    def answer(self, key, value):
        found = super().answer(key, value)
        return found[0], found[0]


@wrong
class appends_in_lists(Cache):
    def __init__(self, max_length):
        super().__init__(max_length)
        self.lists = ([], [])

    def answer(self, key, value):
        super().answer(key, value)
        self.lists[0].append(key)
        self.lists[1].append(value)
        return list(self.lists[0]), list(self.lists[1])


@wrong
class newest_values_alone(Cache):
    def answer(self, key, value):
        return super().answer(key, value)[0], value


@wrong
class stacked(Cache):
    def joined(self, old, new):
        return torch.stack([old, new], dim=-2)


@wrong
class joined_along_the_last_axis(Cache):
    def joined(self, old, new):
        return torch.cat([old, new], dim=-1)


@wrong
class one_pair_for_all_appends(Cache):
    """The pair that is returned is one list, which the next append changes."""

    pair = None

    def answer(self, key, value):
        found = super().answer(key, value)
        if self.pair is None:
            self.pair = [*found]
        self.pair[:] = found
        return self.pair


@wrong
class another_error(Cache):
    """Refused, but not as a ValueError."""

    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if self.positions() + key.shape[-2] > self.max_length:
            raise RuntimeError("the cache is full")


@wrong
class newest_alone_measured(Cache):
    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        if key.shape[-2] > self.max_length:
            raise ValueError("the cache is full")


@wrong
class first_axis_counted(Cache):
    def refuse(self, key, value):
        self.refuse_misfit(key, value)
        held = 0 if self.held is None else len(self.held[0])
        if held + len(key) > self.max_length:
            raise ValueError("the cache is full")


@wrong
class leading_axes_not_compared(Cache):
    def refuse_misfit(self, key, value):
        for held, came in zip(self.held or (), (key, value), strict=False):
            if held.shape[-1] != came.shape[-1]:
                raise ValueError("this does not fit what the cache holds")


@wrong
class widths_not_compared(Cache):
    def refuse_misfit(self, key, value):
        for held, came in zip(self.held or (), (key, value), strict=False):
            if held.shape[:-2] != came.shape[:-2]:
                raise ValueError("this does not fit what the cache holds")


@wrong
class values_not_compared(Cache):
    def refuse_misfit(self, key, value):
        if self.held is not None:
            held = self.held[0]
            if (held.shape[:-2], held.shape[-1]) != (key.shape[:-2], key.shape[-1]):
                raise ValueError("this does not fit what the cache holds")


@wrong
class begun_anew_at_a_misfit(Cache):
    def refuse_misfit(self, key, value):
        try:
            super().refuse_misfit(key, value)
        except ValueError:
            self.held = None


@wrong
class values_detached(Cache):
    def answer(self, key, value):
        return super().answer(key, value.detach())


@wrong
class keys_detached(Cache):
    def answer(self, key, value):
        return super().answer(key.detach(), value)


@wrong
class earlier_ones_detached(Cache):
    def joined(self, old, new):
        return torch.cat([old.detach(), new], dim=-2)


@wrong
class widened_to_float64(Cache):
    def answer(self, key, value):
        return super().answer(key.double(), value.double())


@wrong
class length_none_when_new(Cache):
    @property
    def length(self):
        return None if self.held is None else self.positions()


@wrong
class length_of_the_first_axis(Cache):
    @property
    def length(self):
        return 0 if self.held is None else len(self.held[0])


@wrong
class length_of_the_features(Cache):
    @property
    def length(self):
        return 0 if self.held is None else self.held[0].shape[-1]


@wrong
class length_of_the_next(Cache):
    @property
    def length(self):
        return self.positions() + 1


@wrong
class length_as_a_method(Cache):
    def length(self):
        return self.positions()


@wrong
class batch_of_one_stretched(Cache):
    """Leading axes that broadcast are taken for alike."""

    def refuse_misfit(self, key, value):
        for held, came in zip(self.held or (), (key, value), strict=False):
            try:
                lead = torch.broadcast_shapes(held.shape[:-2], came.shape[:-2])
            except RuntimeError:
                lead = None
            if lead is None or held.shape[-1] != came.shape[-1]:
                raise ValueError("this does not fit what the cache holds")

    def joined(self, old, new):
        lead = torch.broadcast_shapes(old.shape[:-2], new.shape[:-2])
        return super().joined(old.expand(*lead, -1, -1), new.expand(*lead, -1, -1))


@wrong
class key_stored_before_its_value_fits(Cache):
    """What is looked at last finds the other one stored already."""

    order = 0, 1

    def answer(self, key, value):
        if self.held is None:
            return super().answer(key, value)
        pair = [key, value]
        if self.positions() + key.shape[-2] > self.max_length:
            raise ValueError("the cache is full")
        for place in self.order:
            if self.other_axes(self.held[place]) != self.other_axes(pair[place]):
                raise ValueError("this does not fit what the cache holds")
            held = list(self.held)
            held[place] = self.joined(held[place], pair[place])
            self.held = tuple(held)
        return self.held
