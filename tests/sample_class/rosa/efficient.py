from torch.nn.functional import scaled_dot_product_attention as sdpa


def online_softmax(chunks):
    return torch.softmax(torch.cat(list(chunks), dim=-1), dim=-1)


def blockwise_attention(query, key, value, block_size=128, is_causal=False, attn_mask=None):
    return sdpa(query, key, value, attn_mask=attn_mask, is_causal=is_causal)
