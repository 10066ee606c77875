"""Wrong caches that join along an axis counted from the front, and in a second form measure along it too."""

import torch

from . import misconception
from ._efficient_cache import CACHE, Cache, wrong


@wrong
class joined_along_axis_one(Cache):
    def joined(self, old, new):
        return torch.cat([old, new], dim=1)


@wrong
class joined_along_axis_two(Cache):
    def joined(self, old, new):
        return torch.cat([old, new], dim=2)


@wrong
class joined_along_the_first_axis(Cache):
    def joined(self, old, new):
        return torch.cat([old, new])


for _axis, _kind in enumerate((joined_along_the_first_axis, joined_along_axis_one, joined_along_axis_two)):
    _form = type("measured_there_too", (_kind,), {"positions_axis": _axis})
    misconception(CACHE, like=_kind.__name__)(_form)
