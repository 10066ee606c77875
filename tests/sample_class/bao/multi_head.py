# Chunks that are stacked, and a loop over the heads.
def split_heads(x, num_heads):
    check_floating(x=x)
    check_batched(x=x)
    check_heads(x.shape[-1], num_heads)
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    check_floating(x=x)
    if x.dim() != 4:
        raise ValueError("four axes, (B, H, L, d_head)")
    return torch.cat(x.unbind(dim=1), dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, bias=True):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.num_heads = d_model, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=bias))
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, attn_mask=None, key_mask=None):
        check_floating(query=query, key=key, value=value)
        check_batched(query=query, key=key, value=value)
        check_width(self, self.d_model, query=query, key=key, value=value)
        (batch, length, _), (keys, places) = query.shape, key.shape[:2]
        if value.shape[:2] != (keys, places) or batch != keys:
            raise ValueError("one batch size, and as many keys as values")
        allowed = torch.ones(batch, self.num_heads, length, places, dtype=torch.bool, device=query.device)
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, tuple(allowed.shape))
            allowed = allowed & attn_mask
        if key_mask is not None:
            check_key_mask(key_mask, (batch, places))
            allowed = allowed & key_mask.view(batch, 1, 1, places)
        projected = zip(
            self.q_proj(query).chunk(self.num_heads, -1),
            self.k_proj(key).chunk(self.num_heads, -1),
            self.v_proj(value).chunk(self.num_heads, -1),
            allowed.unbind(1),
        )
        outputs, weights = [], []
        for q, k, v, may in projected:
            scores = torch.bmm(q, k.mT) * q.shape[-1] ** -0.5
            scores = torch.where(may | ~may.any(-1, keepdim=True), scores, -torch.inf)
            weights.append(torch.where(may, scores.softmax(-1), 0))
            outputs.append(torch.bmm(self.drop(weights[-1]), v))
        return self.out_proj(torch.cat(outputs, -1)), torch.stack(weights, 1)


def load_torch_weights(module, reference):
    weight, bias = reference.in_proj_weight, reference.in_proj_bias
    if weight is None or module.q_proj.weight.shape[0] != reference.embed_dim:
        raise ValueError("the widths differ")
    if (module.q_proj.bias is None) != (bias is None):
        raise ValueError("one of the two has biases")
    rows = torch.arange(reference.embed_dim)
    for place, layer in enumerate((module.q_proj, module.k_proj, module.v_proj)):
        own = {"weight": weight[rows + place * len(rows)]}
        if bias is not None:
            own["bias"] = bias[rows + place * len(rows)]
        layer.load_state_dict(own)
    module.out_proj.load_state_dict(dict(reference.out_proj.named_parameters()))
