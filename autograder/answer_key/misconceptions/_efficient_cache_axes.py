"""Wrong caches that join along an axis counted from the front, and measure what they hold and what comes there."""

from . import misconception
from ._efficient_cache import CACHE, joined_along_axis_one, joined_along_axis_two, joined_along_the_first_axis


def measured(kind, axis):
    """Register a form of a cache that joins along an axis: it measures along this axis too."""

    class Measured(kind):
        def refuse(self, key, value):
            self.refuse_misfit(key, value)
            if self.positions() + key.shape[axis] > self.max_length:
                raise ValueError("the cache is full")

        def refuse_misfit(self, key, value):
            for held, came in zip(self.held or (), (key, value), strict=False):
                if (held.shape[:axis], held.shape[axis + 1 :]) != (came.shape[:axis], came.shape[axis + 1 :]):
                    raise ValueError("this does not fit what the cache holds")

        def positions(self):
            return 0 if self.held is None else self.held[0].shape[axis]

    Measured.__name__ = "measured_there_too"
    misconception(CACHE, like=kind.__name__)(Measured)


for _axis, _kind in enumerate((joined_along_the_first_axis, joined_along_axis_one, joined_along_axis_two)):
    measured(_kind, _axis)
