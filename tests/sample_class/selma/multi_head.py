_with_right_masks = MultiHeadAttention


class MultiHeadAttention(_with_right_masks):
    def forward(self, query, key, value, attn_mask=None, key_mask=None):
        if key_mask is not None:
            check_key_mask(key_mask, key.shape[:2])
            key_mask = ~key_mask  # as key_padding_mask of torch: True where the padding is
        return super().forward(query, key, value, attn_mask, key_mask)
