# var_mean, functions instead of layers, one helper for both halves, and the weights caught on their way.
from torch.nn import functional as F


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    check_floating(**{name: one for name, one in (("x", x), ("weight", weight), ("bias", bias)) if one is not None})
    if x.dim() == 0 or eps < 0 or any(one is not None and one.shape != x.shape[-1:] for one in (weight, bias)):
        raise ValueError("gain and bias (d,) for an x (..., d), and eps at least 0")
    variance, mean = torch.var_mean(x.double(), dim=-1, correction=0, keepdim=True)
    normed = ((x - mean) * torch.rsqrt(variance + eps)).to(x.dtype)
    return normed * (1 if weight is None else weight) + (0 if bias is None else bias)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("d_ff", d_ff, least=1)
        check_probability("dropout", dropout)
        if activation not in ("relu", "gelu"):
            raise ValueError("relu or gelu")
        self.d_model, self.p, self.activation = d_model, dropout, activation
        self.linear2, self.linear1 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)

    def forward(self, x):
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        inner = {"relu": F.relu, "gelu": F.gelu}[self.activation](self.linear1(x))
        return self.linear2(F.dropout(inner, self.p, training=self.training))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.p, self.norm_first = d_model, dropout, norm_first
        self.norm2 = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)

    def _around(self, x, norm, part):
        inner = part(norm(x) if self.norm_first else x)
        total = x + F.dropout(inner, self.p, training=self.training)
        return total if self.norm_first else norm(total)

    def forward(self, x, attn_mask=None, key_mask=None):
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        x = self._around(x, self.norm1, lambda seen: self.self_attention(seen, seen, seen, attn_mask, key_mask)[0])
        return self._around(x, self.norm2, self.feed_forward)


class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        check_length("num_layers", num_layers, least=1)
        self.d_model = d_model
        self.layers = nn.Sequential()
        while len(self.layers) < num_layers:
            self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout, activation, norm_first))
        self.final_norm = nn.LayerNorm(d_model) if norm_first else None

    def forward(self, x, attn_mask=None, key_mask=None, return_weights=False):
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        caught = []
        for layer in self.layers:
            hook = layer.self_attention.register_forward_hook(lambda module, given, result: caught.append(result[1]))
            x = layer(x, attn_mask=attn_mask, key_mask=key_mask)
            hook.remove()
        x = x if self.final_norm is None else self.final_norm(x)
        return (x, caught) if return_weights else x


def attention_columns(x, w_query, w_key, w_value):
    check_floating(x=x, w_query=w_query, w_key=w_key, w_value=w_value)
    if any(one.dim() != 2 for one in (x, w_query, w_key, w_value)):
        raise ValueError("matrices")
    if {w_query.shape[1], w_key.shape[1], w_value.shape[1]} != {len(x)} or len(w_query) != len(w_key):
        raise ValueError("the shapes do not fit")
    scores = (x.T @ w_query.T) @ (w_key @ x) / len(w_key) ** 0.5  # row i for query i
    return (torch.softmax(scores, dim=1) @ (w_value @ x).T).T
