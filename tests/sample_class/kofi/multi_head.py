def keys_for_all(key_mask):
    return None if key_mask is None else key_mask[:, None, None, :]
