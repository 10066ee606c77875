def masked_softmax(scores, mask=None, dim=-1):
    check_floating(scores=scores)
    if mask is not None:
        check_mask("mask", mask, scores.shape)
    axes = max(scores.dim(), 1)
    if not -axes <= dim < axes:
        raise ValueError("scores have no such axis")
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=dim)
