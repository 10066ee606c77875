"""Wrong blockwise attention that masks other keys than it should."""

import torch

from ._efficient_blockwise import Blockwise, seen, wrong


@wrong
class is_causal_ignored(Blockwise):
    def causal(self, start, stop, mask):
        return torch.tensor(True)


@wrong
class causal_within_each_block(Blockwise):
    def causal(self, start, stop, mask):
        return seen(self.length, stop - start, self.keys - self.length)


@wrong
class diagonal_moved_backwards(Blockwise):
    def causal(self, start, stop, mask):
        return seen(self.length, stop - start, self.keys - self.length + start)


@wrong
class offset_of_the_other_sign(Blockwise):
    def causal(self, start, stop, mask):
        return seen(self.length, stop - start, self.length - self.keys - start)


@wrong
class causal_aligned_to_start(Blockwise):
    def causal(self, start, stop, mask):
        return seen(self.length, stop - start, -start)


@wrong
class own_position_hidden(Blockwise):
    def causal(self, start, stop, mask):
        return seen(self.length, stop - start, self.keys - self.length - start - 1)


@wrong
class mask_instead_of_is_causal(Blockwise):
    def causal(self, start, stop, mask):
        return super().causal(start, stop, mask) if mask is None else torch.tensor(True)


@wrong
class mask_ignored(Blockwise):
    def masked(self, mask, start, stop):
        return torch.tensor(True)


@wrong
class mask_inverted(Blockwise):
    def masked(self, mask, start, stop):
        return ~mask[..., start:stop]


@wrong
class mask_of_the_first_block(Blockwise):
    def masked(self, mask, start, stop):
        return mask[..., : stop - start]


@wrong
class mask_in_first_block_only(Blockwise):
    def masked(self, mask, start, stop):
        return mask[..., start:stop] if start == 0 else torch.tensor(True)


@wrong
class mask_not_cut(Blockwise):
    def masked(self, mask, start, stop):
        return mask


@wrong
class mask_of_width_one_cut(Blockwise):
    def mask(self, attn_mask):
        return attn_mask
