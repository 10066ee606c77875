ACTIVATIONS = {"relu": torch.relu, "gelu": nn.GELU()}


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("d_ff", d_ff, least=1)
        check_probability("dropout", dropout)
        if activation not in ACTIVATIONS:
            raise ValueError("relu or gelu")
        self.d_model = d_model
        self.linear1 = nn.Linear(d_model, d_ff)
        self.act = ACTIVATIONS[activation]
        self.drop = nn.Dropout(dropout)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        x = self.act(self.linear1(x))
        return self.linear2(self.drop(x))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model = d_model
        self.norm_first = norm_first
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, attn_mask=None, key_mask=None):
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        if self.norm_first:
            x = self.norm1(x)
            x = x + self.drop(self.self_attention(x, x, x, attn_mask, key_mask)[0])
            x = self.norm2(x)
            return x + self.drop(self.feed_forward(x))
        x = self.norm1(x + self.drop(self.self_attention(x, x, x, attn_mask, key_mask)[0]))
        return self.norm2(x + self.drop(self.feed_forward(x)))
