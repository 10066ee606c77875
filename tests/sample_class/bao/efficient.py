# Log-sum-exp instead of a running largest, one key at a time, lists instead of buffers, einsum over the groups.


def _logs(x):
    """log Σ exp over the last axis, kept; -inf of nothing, without a NaN on the way back."""
    top = x.detach().amax(dim=-1, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    total = torch.exp(x - top).sum(dim=-1, keepdim=True)
    some = total > 0
    return torch.where(some, torch.log(torch.where(some, total, 1.0)) + top, -math.inf)


def online_softmax(chunks):
    seen, logs = [], None
    for chunk in checked_chunks(chunks):
        seen.append(chunk)
        if chunk.shape[-1]:
            new = _logs(chunk)
            logs = new if logs is None else _logs(torch.cat([logs, new], dim=-1))
    if logs is None:
        return torch.cat(seen, dim=-1)
    logs = torch.where(logs == -math.inf, 0.0, logs)
    return torch.cat([torch.exp(chunk - logs) for chunk in seen], dim=-1)


def blockwise_attention(query, key, value, block_size=128, is_causal=False, attn_mask=None):
    check_floating(query=query, key=key, value=value)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    check_length("block_size", block_size, least=1)
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("as many keys as values")
    batch, dtype = check_batch(query=query, key=key, value=value), query.dtype
    length, keys = query.shape[-2], key.shape[-2]
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (*batch, length, keys))
        attn_mask = attn_mask.expand(*batch, length, keys)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    query, key, value = (x.to(wide).expand(*batch, *x.shape[-2:]) for x in (query, key, value))
    places = torch.arange(length)[:, None] + keys - length
    output, logs = torch.zeros_like(query[..., :1]) * value[..., :1, :].sum(-2, keepdim=True), None
    for start in range(0, keys, block_size):
        part = slice(start, min(start + block_size, keys))
        scores = torch.einsum("...id,...jd->...ij", query / query.shape[-1] ** 0.5, key[..., part, :])
        if is_causal:
            scores = torch.where(torch.arange(part.start, part.stop) <= places, scores, -math.inf)
        if attn_mask is not None:
            scores = torch.where(attn_mask[..., part], scores, -math.inf)
        new = _logs(scores)
        own = torch.exp(scores - torch.where(new == -math.inf, 0.0, new)) @ value[..., part, :]
        if logs is None:
            output, logs = own, new
            continue
        shares = online_softmax([logs, new])  # how much of the sum is old, and how much new
        output, logs = output * shares[..., :1] + own * shares[..., 1:], _logs(torch.cat([logs, new], dim=-1))
    return output.to(dtype)


def grouped_query_attention(query, key, value, attn_mask=None):
    check_floating(query=query, key=key, value=value)
    if any(one.dim() != 4 for one in (query, key, value)):
        raise ValueError("four axes")
    check_same_width(query, key)
    if key.shape[:3] != value.shape[:3] or len(key) != len(query):
        raise ValueError("the shapes do not fit")
    if key.shape[1] == 0 or query.shape[1] % key.shape[1]:
        raise ValueError("a multiple")
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (*query.shape[:3], key.shape[2]))
    share = query.shape[1] // key.shape[1]
    places = [head // share for head in range(query.shape[1])]
    scores = torch.einsum("bhld,bhsd->bhls", query, key[:, places]) / query.shape[-1] ** 0.5
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
    weights = online_softmax([scores])
    return torch.einsum("bhls,bhsd->bhld", weights, value[:, places]), weights


class KeyValueCache:
    def __init__(self, max_length):
        check_length("max_length", max_length, least=1)
        self.room, self.pairs = max_length, []

    @property
    def length(self):
        return sum(key.shape[-2] for key, _ in self.pairs)

    def append(self, key, value):
        check_floating(key=key, value=value)
        check_sequence(key=key, value=value)
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError("key and value differ")
        for one, other in zip(self.pairs[0] if self.pairs else (), (key, value)):
            if one[..., :0, :].shape != other[..., :0, :].shape:
                raise ValueError("not like those before")
            check_floating(held=one, came=other)
        if key.shape[-2] > self.room:
            raise ValueError("full")
        self.room -= key.shape[-2]
        self.pairs.append((key, value))
        return tuple(torch.cat(parts, dim=-2) for parts in zip(*self.pairs))
