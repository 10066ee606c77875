"""Wrong losses of code that asks first whether there is a mask, and takes torch's plain mean where there is none."""

import torch
from torch.nn import functional as F

from ._decoder_loss import wrong_loss


def losses_of(logits, token_ids):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:].long(), reduction="none")


def _form(like):
    def register(function):
        return wrong_loss(function, like)

    return register


def masked(losses, key_mask):
    real = key_mask[:, 1:]
    return losses.where(real, 0.0).sum(), real.sum().clamp(min=1)


@_form("nothing_real_is_nan")
def mean_of_one_token_texts(logits, token_ids, key_mask):
    losses = losses_of(logits, token_ids)
    if key_mask is None:
        return losses.mean()
    total, count = masked(losses.where(key_mask[:, 1:], 0.0), key_mask)
    return total / count


@_form("divided_by_rows")
def under_a_mask(logits, token_ids, key_mask):
    losses = losses_of(logits, token_ids)
    return losses.mean() if key_mask is None else masked(losses, key_mask)[0] / len(losses)


@_form("logarithm_forgotten")
def minus_the_probability(logits, token_ids, key_mask):
    chances = torch.softmax(logits[:, :-1], dim=-1)
    losses = -chances.gather(-1, token_ids[:, 1:].long().unsqueeze(-1)).squeeze(-1)
    if key_mask is None:
        return losses.mean()
    total, count = masked(losses, key_mask)
    return total / count
