# einsum, and one matrix product over the concatenated pairs.
def dot_scores(query, key):
    check_floating(query=query, key=key)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    check_same_width(query, key)
    return torch.einsum("...ld,...sd->...ls", query, key)


def bilinear_scores(query, key, weight):
    check_floating(query=query, key=key, weight=weight)
    check_sequence(query=query, key=key)
    check_batch(query=query, key=key)
    if tuple(weight.shape) != (query.shape[-1], key.shape[-1]):
        raise ValueError("weight must be (d_q, d_k)")
    return torch.einsum("...lq,qk,...sk->...ls", query, weight, key)
