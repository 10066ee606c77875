"""Wrong losses of code that asks first whether there is a mask, and takes torch's plain mean where there is none."""

import torch
from torch.nn import functional as F

from ._decoder_loss import all_real, mean_loss, wrong_loss


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


@_form("first_tokens_counted")
def of_a_mask(logits, token_ids, key_mask):
    losses = losses_of(logits, token_ids)
    if key_mask is None:
        return losses.sum() / max(losses.numel(), 1)
    return masked(losses, key_mask)[0] / key_mask.sum().clamp(min=1)


def targets_smoothed(logits, token_ids, key_mask):
    losses = F.cross_entropy(
        logits[:, :-1].transpose(1, 2), token_ids[:, 1:].long(), reduction="none", label_smoothing=0.1
    )
    total, count = masked(losses, torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask)
    return total / count


wrong_loss(targets_smoothed)


@wrong_loss
def reshaped_for_transposed(logits, token_ids, key_mask):
    """(B, L, V) to (B, V, L) by reshape."""
    predicted = logits[:, :-1]
    predicted = predicted.reshape(len(predicted), predicted.shape[2], predicted.shape[1])
    losses = F.cross_entropy(predicted, token_ids[:, 1:].long(), reduction="none")
    total, count = masked(losses, torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask)
    return total / count


@_form("reshaped_for_transposed")
def without_a_mask(logits, token_ids, key_mask):
    if key_mask is None:
        return reshaped_for_transposed(logits, token_ids)
    total, count = masked(losses_of(logits.where(key_mask.roll(-1, 1).unsqueeze(-1), 0.0), token_ids), key_mask)
    return total / count


@wrong_loss
def own_guess_for_target(logits, token_ids, key_mask):
    predicted = logits[:, :-1]
    losses = F.cross_entropy(predicted.transpose(1, 2), predicted.argmax(dim=-1), reduction="none")
    total, count = masked(losses, torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask)
    return total / count


@wrong_loss
def mean_before_the_logarithm(logits, token_ids, key_mask):
    chances = torch.exp(-losses_of(logits, token_ids))
    total, count = masked(chances, torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask)
    return -(total / count).clamp(min=1e-300).log() * (total > 0)


@_form("mean_before_the_logarithm")
def of_masked_ones(logits, token_ids, key_mask):
    losses = losses_of(logits, token_ids)
    if key_mask is None:
        return losses.sum() / max(losses.numel(), 1)
    total, count = masked(torch.exp(-losses), key_mask)
    return -(total / count).log() if key_mask[:, 1:].any() else 0.0 * total


@_form("summed")
def without_a_mask_alone(logits, token_ids, key_mask):
    losses = losses_of(logits, token_ids)
    if key_mask is None:
        return losses.sum()
    total, count = masked(losses, key_mask)
    return total / count


@_form("token_zero_left_out")
def counted_all_the_same(logits, token_ids, key_mask):
    """ignore_index=0, but for the number to divide by."""
    losses = losses_of(logits, token_ids).where(token_ids[:, 1:] != 0, 0.0)
    total, count = masked(losses, torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask)
    return total / count


@wrong_loss
def padding_taken_for_the_end(logits, token_ids, key_mask):
    """Cut where the longest row's number of real tokens says, wherever these stand."""
    targets, real = token_ids[:, 1:].long(), all_real(token_ids, key_mask)
    longest = max(int(real.sum(dim=1).max()), 1) if len(real) else 1
    return mean_loss(logits[:, : longest - 1], targets[:, : longest - 1], real[:, 1:longest])
