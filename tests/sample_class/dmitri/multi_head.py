from .masks import combine_masks


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, bias=True):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.num_heads = d_model, num_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, attn_mask=None, key_mask=None):
        check_floating(query=query, key=key, value=value)
        check_batched(query=query, key=key, value=value)
        check_width(self, self.d_model, query=query, key=key, value=value)
        if key.shape[:2] != value.shape[:2] or query.shape[0] != key.shape[0]:
            raise ValueError("all must have one batch size, key and value one length")
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, (len(query), self.num_heads, query.shape[1], key.shape[1]))
        if key_mask is not None:
            check_key_mask(key_mask, key.shape[:2])
            attn_mask = combine_masks(attn_mask, key_mask[:, None, None, :])
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        p = self.dropout if self.training else 0.0
        out, weights = scaled_dot_product_attention(q, k, v, attn_mask, p)
        return merge_heads(out), weights
