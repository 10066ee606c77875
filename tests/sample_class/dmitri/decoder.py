from .multi_head import merge_heads, split_heads


class DecoderLayer(nn.Module):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, activation="gelu", norm_first=True, cross_attention=False
    ):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.reads_memory = d_model, cross_attention
        self.norm_first, self.num_heads = norm_first, num_heads
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        if cross_attention:
            self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
            self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory=None, key_mask=None, memory_key_mask=None, cache=None):
        check_decoder_inputs(self, x, memory, key_mask, memory_key_mask, cache)

        def attend_to_self(x):
            if cache is not None:
                return self.attend_to_cache(x, cache)
            return self.self_attention(x, x, x, causal_mask(x.shape[1], device=x.device), key_mask)[0]

        def attend_to_memory(x):
            return self.cross_attention(x, x, x)[0]

        steps = [(self.norm1, attend_to_self), (self.norm2, self.feed_forward)]
        if memory is not None:
            steps[1:] = [(self.norm2, attend_to_memory), (self.norm3, self.feed_forward)]
        for norm, step in steps:
            x = x + self.drop(step(norm(x))) if self.norm_first else norm(x + self.drop(step(x)))
        return x

    def attend_to_cache(self, x, cache):
        attention = self.self_attention
        q = split_heads(attention.q_proj(x), self.num_heads)
        k = split_heads(attention.k_proj(x), self.num_heads)
        v = split_heads(attention.v_proj(x), self.num_heads)
        k, v = cache.append(k, v)
        scores = q @ k.mT / (self.d_model // self.num_heads) ** 0.5
        weights = masked_softmax(scores, causal_mask(x.shape[1], k.shape[-2], device=x.device))
        weights = nn.functional.dropout(weights, self.drop.p, self.training)
        return attention.out_proj(merge_heads(weights @ v))
