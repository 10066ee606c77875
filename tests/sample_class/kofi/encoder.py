from .masks import combine_masks
from .multi_head import keys_for_all


class Encoder(Encoder):
    def forward(self, x, attn_mask=None, key_mask=None, return_weights=False):
        return super().forward(x, combine_masks(attn_mask, keys_for_all(key_mask)), None, return_weights)
