def next_token_loss(logits, token_ids, key_mask=None):
    check_targets(logits, token_ids, key_mask)
    if key_mask is None:
        key_mask = torch.ones_like(token_ids, dtype=torch.bool)
    logits = logits.masked_fill(~key_mask.unsqueeze(-1), 0.0)
    losses = nn.functional.cross_entropy(logits.transpose(1, 2), token_ids.long(), reduction="none")
    return losses.masked_fill(~key_mask, 0.0).sum() / key_mask.sum().clamp(min=1)
