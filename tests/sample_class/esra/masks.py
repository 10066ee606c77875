def causal_mask(query_length, key_length=None, device=None):
    if key_length is None:
        key_length = query_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    return torch.tril(torch.ones(query_length, key_length, dtype=torch.bool, device=device))
