# torch.distributions for the loss; no sorting: the most probable token left is taken, in all rows at once, and so on.


def next_token_loss(logits, token_ids, key_mask=None):
    check_targets(logits, token_ids, key_mask)
    real = torch.ones_like(token_ids) > 0 if key_mask is None else key_mask
    before, after, counts = logits[:, :-1].double(), token_ids[:, 1:], real[:, 1:]
    before = torch.where(counts[..., None], before, 0.0)  # padding may hold anything
    log_p = torch.distributions.Categorical(logits=before, validate_args=False).log_prob(after)
    surprise = -torch.einsum("bl->", torch.where(counts, log_p, 0.0))
    return (surprise / max(int(counts.sum()), 1)).to(logits.dtype)


def _likeliest(chances, how_many, share):
    """Those tokens of each row alone, divided by their sum: how_many of them, fewer where their sum reaches share."""
    taken, left = torch.zeros_like(chances), chances
    for _ in range(min(how_many, chances.shape[-1])):
        wanting = taken.sum(-1, keepdim=True) < share
        if not wanting.any():
            break
        place = left.argmax(-1, keepdim=True)
        taken = torch.where(wanting, taken.scatter(-1, place, left.gather(-1, place)), taken)
        left = left.scatter(-1, place, -1.0)  # never again
    total = taken.sum(-1, keepdim=True)
    return taken / torch.where(total > 0, total, 1.0)


def next_token_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    check_logits(logits, temperature, top_k, top_p)
    if temperature == 0:
        return next_token_probabilities(logits, top_k=1)
    wide, size = logits.double(), logits.shape[-1]
    top = wide.amax(-1, keepdim=True)
    powers = torch.exp((wide - torch.where(top == -torch.inf, 0.0, top)) / temperature)
    total = powers.sum(-1, keepdim=True)
    chances = powers / torch.where(total > 0, total, 1.0)
    if top_k is not None:
        chances = _likeliest(chances, top_k, torch.inf)
    if top_p is not None and top_p < 1:
        chances = _likeliest(chances, size, top_p)
    return chances.to(logits.dtype)
