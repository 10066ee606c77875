def layer_norm(x, weight=None, bias=None, eps=1e-5):
    check_floating(**{name: one for name, one in (("x", x), ("weight", weight), ("bias", bias)) if one is not None})
    if x.dim() == 0 or eps < 0:
        raise ValueError("at least one axis, and eps at least 0")
    for one in (weight, bias):
        if one is not None and one.shape != x.shape[-1:]:
            raise ValueError("one entry per feature")
    wide = x.double()
    mean = wide.mean(dim=-1, keepdim=True)
    variance = (wide - mean).square().mean(dim=-1, keepdim=True)
    normed = ((wide - mean) / (variance + eps)).to(x.dtype)
    normed = normed if weight is None else normed * weight
    return normed if bias is None else normed + bias


class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        check_length("num_layers", num_layers, least=1)
        self.d_model = d_model
        layer = (d_model, num_heads, d_ff, dropout, activation, norm_first)
        self.layers = nn.ModuleList([EncoderLayer(*layer) for _ in range(num_layers)])
        self.norm_first = norm_first

    def forward(self, x, attn_mask=None, key_mask=None, return_weights=False):
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        weights = []
        for layer in self.layers:
            seen = layer.norm1(x) if self.norm_first else x
            weights.append(layer.self_attention(seen, seen, seen, attn_mask, key_mask)[1])
            x = layer(x, attn_mask, key_mask)
        return (x, weights) if return_weights else x
