def blockwise_attention(query, key, value, block_size=128, is_causal=False, attn_mask=None):
    check_floating(query=query, key=key, value=value)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    check_length("block_size", block_size, least=1)
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value must have the same length S")
    batch = check_batch(query=query, key=key, value=value)
    length, keys = query.shape[-2], key.shape[-2]
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (*batch, length, keys))
        attn_mask = attn_mask.expand(*batch, length, keys)
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    m = torch.full((*batch, length, 1), -torch.inf, dtype=wide)
    total = torch.zeros((*batch, length, 1), dtype=wide)
    out = torch.zeros((*batch, length, value.shape[-1]), dtype=wide)
    for start in range(0, keys, block_size):
        stop = min(start + block_size, keys)
        s = query.to(wide) @ key[..., start:stop, :].to(wide).mT / math.sqrt(query.shape[-1])
        if is_causal:
            rows = torch.arange(length)[:, None]
            s = s.masked_fill(torch.arange(start, stop) > rows, -torch.inf)
        if attn_mask is not None:
            s = s.masked_fill(~attn_mask[..., start:stop], -torch.inf)
        new = torch.maximum(m, s.amax(dim=-1, keepdim=True)).detach()
        safe = new.masked_fill(new == -torch.inf, 0.0)
        p, shrink = torch.exp(s - safe), torch.exp(m - safe)
        total = total * shrink + p.sum(dim=-1, keepdim=True)
        out = out * shrink + p @ value[..., start:stop, :].to(wide)
        m = new
    return (out / total.masked_fill(total == 0, 1.0)).to(query.dtype)
