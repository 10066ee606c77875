class KeyValueCache(KeyValueCache):
    def append(self, key, value):
        check_floating(key=key, value=value)
        check_sequence(key=key, value=value)
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError("key and value must agree but for their last axis")
        if self.key is None:
            self.key, self.value = key, value
        else:
            for one, held in ((key, self.key), (value, self.value)):
                if (one.shape[:-2], one.shape[-1]) != (held.shape[:-2], held.shape[-1]):
                    raise ValueError("not like those in the cache")
            self.key = torch.cat([self.key, key], dim=-2)
            self.value = torch.cat([self.value, value], dim=-2)
        if self.key.shape[-2] > self.max_length:
            raise ValueError("the cache is full")
        return self.key, self.value


def grouped_query_attention(query, key, value, attn_mask=None):
    check_floating(query=query, key=key, value=value)
    for one in (query, key, value):
        if one.dim() != 4:
            raise ValueError("(B, heads, length, features)")
    check_same_width(query, key)
    batch, heads, length, _ = query.shape
    groups, keys = key.shape[1:3]
    if key.shape[:3] != value.shape[:3] or key.shape[0] != batch:
        raise ValueError("shapes")
    if groups == 0 or heads % groups:
        raise ValueError("heads")
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (batch, heads, length, keys))
    repeats = (1, heads // groups, 1, 1)
    return scaled_dot_product_attention(query, key.repeat(repeats), value.repeat(repeats), attn_mask)
