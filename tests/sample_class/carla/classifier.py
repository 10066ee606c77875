def masked_mean(x, key_mask=None):
    check_floating(x=x)
    check_batched(x=x)
    if key_mask is not None:
        check_key_mask(key_mask, x.shape[:2])
        x = x.masked_fill(~key_mask.unsqueeze(-1), 0.0)
    return x.mean(dim=1)
