def masked_softmax(scores, mask=None, dim=-1):
    check_floating(scores=scores)
    if mask is not None:
        check_mask("mask", mask, tuple(scores.shape))
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=dim)
