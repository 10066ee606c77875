"""Mistakes in a running sum whose largest score passes gradients on: what is not rescaled then has another gradient."""

import torch

from . import _efficient_blockwise as blockwise
from . import _efficient_online as online
from . import _efficient_online_parts as online_parts
from . import misconception
from ._given import refuse_bad_arguments


def _online(kind):
    class Attached(kind):
        def shift(self, largest, chunk):
            highest = self.highest(chunk)
            return highest if largest is None else torch.maximum(largest, highest)

    def largest_attached(chunks):
        held = list(chunks)
        refuse_bad_arguments(online.SOFTMAX, held)
        return Attached().answer(online.given.checked_chunks(iter(held)))

    misconception(online.SOFTMAX, like=kind.__name__)(largest_attached)


def _blockwise(kind):
    class largest_attached(blockwise.Attached, kind):
        pass

    blockwise.wrong(largest_attached, like=kind.__name__)


for _kind in (online.sum_not_rescaled, online.parts_not_rescaled, online.sum_rescaled_upside_down, online.sum_detached):
    _online(_kind)
_online(online_parts.parts_rescaled_upside_down)
for _wrong in (blockwise.sum_not_rescaled, blockwise.output_not_rescaled, blockwise.divided_in_every_block):
    _blockwise(_wrong)


class factor_detached(blockwise.Attached):
    """What is carried on is rescaled by a number that passes no gradient on."""

    def carried(self, old, shrink, which):
        return old * shrink.detach()


blockwise.wrong(factor_detached)
