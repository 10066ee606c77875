from .masks import masked_softmax  # his own fills with -1e9; the course's takes its place


def grouped_query_attention(query, key, value, attn_mask=None):
    check_floating(query=query, key=key, value=value)
    for one in (query, key, value):
        if one.dim() != 4:
            raise ValueError("(B, heads, length, features)")
    check_same_width(query, key)
    batch, heads, length, _ = query.shape
    groups, keys = key.shape[1:3]
    if key.shape[:3] != value.shape[:3] or key.shape[0] != batch:
        raise ValueError("key and value do not fit")
    if groups == 0 or heads % groups:
        raise ValueError("heads must be a multiple of groups")
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (batch, heads, length, keys))
    key = key.repeat_interleave(heads // groups, dim=1)
    value = value.repeat_interleave(heads // groups, dim=1)
    weights = masked_softmax(query @ key.mT / math.sqrt(query.shape[-1]), attn_mask)
    return weights @ value, weights
