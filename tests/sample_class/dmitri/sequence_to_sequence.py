def attend(query, keys, values, score, mask=None):
    check_floating(query=query, keys=keys, values=values)
    check_sequence(query=query, keys=keys, values=values)
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError("keys and values must have the same length")
    check_batch(query=query, keys=keys, values=values)
    if mask is not None:
        check_mask("mask", mask, (*check_batch(query=query, keys=keys), query.shape[-2], keys.shape[-2]))
    scores = score(query, keys) / keys.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask)
    return weights @ values, weights
