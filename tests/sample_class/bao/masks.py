# where, triangles and products of booleans.
def causal_mask(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    ones = torch.ones(query_length, key_length, dtype=torch.bool, device=device)
    return torch.tril(ones, diagonal=key_length - query_length)


def to_additive(mask, dtype=torch.float32):
    check_mask("mask", mask, mask.shape if isinstance(mask, Tensor) else ())
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError("a floating dtype")
    zero = torch.zeros((), dtype=dtype, device=mask.device)
    return torch.where(mask, zero, torch.full_like(zero, float("-inf")))
