def local_attention_weights(scores, center, window):
    check_floating(scores=scores, center=center)
    if scores.dim() == 0 or scores.shape[:-1] != center.shape:
        raise ValueError("one center per row of scores")
    if not window > 0:
        raise ValueError("window must be positive")
    s = torch.arange(scores.shape[-1], dtype=scores.dtype)
    p = center[..., None]
    weights = masked_softmax(scores, (s - p).abs() <= window)
    return weights * torch.exp(-((s - p) ** 2) / (2 * window**2))


def hard_attention(scores, values, generator=None):
    check_floating(scores=scores, values=values)
    if scores.dim() == 0 or scores.shape != values.shape[:-1]:
        raise ValueError("one vector per score")
    nothing = (scores == -torch.inf).all(-1, keepdim=True)
    log_p = torch.log_softmax(scores.masked_fill(nothing, 0.0), dim=-1)
    index = log_p.argmax(dim=-1, keepdim=True)
    value = torch.take_along_dim(values, index[..., None], dim=-2).squeeze(-2)
    log_p = torch.take_along_dim(log_p, index, dim=-1)
    return value.masked_fill(nothing, 0.0), log_p.masked_fill(nothing, 0.0).squeeze(-1)
