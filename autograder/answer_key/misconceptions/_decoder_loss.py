"""Wrong losses of the next token, each with the argument checks that the stub gives."""

import torch
from torch.nn import functional as F

from ..reference_package import reference, reference_module
from . import misconception

LOSS = "decoder.next_token_loss"
reference(LOSS)  # which imports the package that the next line names
given = reference_module("_decoder_arguments")


def wrong_loss(function, like=""):
    """The given lines in front of a wrong loss; like: see `misconception`."""

    def loss(logits, token_ids, key_mask=None):
        given.check_targets(logits, token_ids, key_mask)
        return function(logits, token_ids, key_mask)

    loss.__name__ = function.__name__
    return misconception(LOSS, like)(loss)


def all_real(token_ids, key_mask):
    return torch.ones_like(token_ids, dtype=torch.bool) if key_mask is None else key_mask


def mean_loss(predicted, targets, real):
    """Right from here on: the mean cross-entropy over the real targets, 0 without one."""
    predicted = predicted.where(real.unsqueeze(-1), 0.0)
    losses = -torch.log_softmax(predicted, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return losses.where(real, 0.0).sum() / real.sum().clamp(min=1)


@wrong_loss
def not_shifted(logits, token_ids, key_mask):
    return mean_loss(logits, token_ids, all_real(token_ids, key_mask))


@wrong_loss
def shifted_backwards(logits, token_ids, key_mask):
    return mean_loss(logits[:, 1:], token_ids[:, :-1], all_real(token_ids, key_mask)[:, :-1])


@wrong_loss
def rolled_round(logits, token_ids, key_mask):
    """torch.roll: the last logits are asked for the first token."""
    real = all_real(token_ids, key_mask)
    return mean_loss(logits, token_ids.roll(-1, dims=1), real.roll(-1, dims=1))


@wrong_loss
def shifted_after_flattening(logits, token_ids, key_mask):
    """The end of one row predicts the beginning of the next."""
    real = all_real(token_ids, key_mask).flatten()[1:]
    return mean_loss(logits.flatten(0, 1)[:-1], token_ids.flatten()[1:], real)


@wrong_loss
def mask_of_the_input(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:, :-1])


@wrong_loss
def both_must_be_real(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)
    return mean_loss(logits[:, :-1], token_ids[:, 1:], real[:, 1:] & real[:, :-1])


@wrong_loss
def mask_ignored(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, None)[:, 1:])


@wrong_loss
def mask_inverted(logits, token_ids, key_mask):
    real = all_real(token_ids, None if key_mask is None else ~key_mask)
    return mean_loss(logits[:, :-1], token_ids[:, 1:], real[:, 1:])


@wrong_loss
def divided_by_all(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    total = mean_loss(logits[:, :-1], token_ids[:, 1:], real) * real.sum()
    return total / max(real.numel(), 1)


@wrong_loss
def mean_of_row_means(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    rows = zip(logits[:, :-1], token_ids[:, 1:], real, strict=True)
    return torch.stack([mean_loss(*row) for row in rows]).mean()


@wrong_loss
def summed(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    return mean_loss(logits[:, :-1], token_ids[:, 1:], real) * real.sum()


@wrong_loss
def one_loss_per_token(logits, token_ids, key_mask):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")
    return losses.where(all_real(token_ids, key_mask)[:, 1:], 0.0)


@wrong_loss
def softmax_twice(logits, token_ids, key_mask):
    return mean_loss(torch.softmax(logits[:, :-1], -1), token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:])


@wrong_loss
def sign_forgotten(logits, token_ids, key_mask):
    return -mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:])


@wrong_loss
def logarithm_forgotten(logits, token_ids, key_mask):
    """1 - p of the target."""
    real = all_real(token_ids, key_mask)[:, 1:]
    chances = torch.softmax(logits[:, :-1].where(real.unsqueeze(-1), 0.0), -1)
    chosen = chances.gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return (1 - chosen).where(real, 0.0).sum() / real.sum().clamp(min=1)


@wrong_loss
def perplexity(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:]).exp()


@wrong_loss
def in_bits(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:]) / 0.6931471805599453


@wrong_loss
def softmax_over_positions(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    predicted = logits[:, :-1].where(real.unsqueeze(-1), 0.0)
    losses = -torch.log_softmax(predicted, dim=1).gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return losses.where(real, 0.0).sum() / real.sum().clamp(min=1)


@wrong_loss
def nothing_real_is_nan(logits, token_ids, key_mask):
    labels = token_ids.masked_fill(~all_real(token_ids, key_mask), -100)[:, 1:]
    return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), labels.reshape(-1), ignore_index=-100)


@wrong_loss
def padding_multiplied_away(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:].to(logits.dtype)
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")
    return (losses * real).sum() / real.sum().clamp(min=1)


@wrong_loss
def padding_marked_in_place(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)
    loss = mean_loss(logits[:, :-1], token_ids[:, 1:], real[:, 1:])
    token_ids[~real] = -100
    return loss


@wrong_loss
def number_without_gradient(logits, token_ids, key_mask):
    loss = mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:])
    return torch.tensor(loss.item(), dtype=logits.dtype)


@wrong_loss
def converted_to_float32(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1].float(), token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:])


# What is summed, what it is divided by, and how the logarithm is taken


def cut(logits, token_ids, key_mask):
    """The losses (B, L - 1), 0 at padding, and which targets are real."""
    real = all_real(token_ids, key_mask)[:, 1:]
    predicted = logits[:, :-1].where(real.unsqueeze(-1), 0.0)
    losses = -torch.log_softmax(predicted, dim=-1).gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return losses.where(real, 0.0), real


@wrong_loss
def mean_over_all(logits, token_ids, key_mask):
    return cut(logits, token_ids, key_mask)[0].mean()


@wrong_loss
def divided_by_rows(logits, token_ids, key_mask):
    return cut(logits, token_ids, key_mask)[0].sum() / len(logits)


@wrong_loss
def first_tokens_counted(logits, token_ids, key_mask):
    """Divided by the number of real tokens, the first of each row included."""
    return cut(logits, token_ids, key_mask)[0].sum() / all_real(token_ids, key_mask).sum().clamp(min=1)


@wrong_loss
def last_target_left_out(logits, token_ids, key_mask):
    losses, real = cut(logits, token_ids, key_mask)
    return losses[:, :-1].sum() / real[:, :-1].sum().clamp(min=1)


@wrong_loss
def first_target_left_out(logits, token_ids, key_mask):
    losses, real = cut(logits, token_ids, key_mask)
    return losses[:, 1:].sum() / real[:, 1:].sum().clamp(min=1)


@wrong_loss
def mask_of_the_first_row(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:1, 1:].expand(len(logits), -1))


@wrong_loss
def padding_expected_on_the_right(logits, token_ids, key_mask):
    """Lengths are made of the mask."""
    lengths = all_real(token_ids, key_mask).sum(dim=1, keepdim=True)
    return mean_loss(logits[:, :-1], token_ids[:, 1:], torch.arange(1, token_ids.shape[1]) < lengths)


@wrong_loss
def token_zero_left_out(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask) & (token_ids != 0)
    return mean_loss(logits[:, :-1], token_ids[:, 1:], real[:, 1:])


@wrong_loss
def softmax_over_rows(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    predicted = logits[:, :-1].where(real.unsqueeze(-1), 0.0)
    losses = -torch.log_softmax(predicted, dim=0).gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return losses.where(real, 0.0).sum() / real.sum().clamp(min=1)


def of_chances(chances, token_ids, real):
    losses = -chances.log().gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return losses.where(real, 0.0).sum() / real.sum().clamp(min=1)


@wrong_loss
def logarithm_of_softmax(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    predicted = logits[:, :-1].where(real.unsqueeze(-1), 0.0)
    return of_chances(torch.softmax(predicted, dim=-1), token_ids, real)


@wrong_loss
def exponentials_overflow(logits, token_ids, key_mask):
    real = all_real(token_ids, key_mask)[:, 1:]
    powers = torch.exp(logits[:, :-1].where(real.unsqueeze(-1), 0.0))
    return of_chances(powers / powers.sum(dim=-1, keepdim=True), token_ids, real)


@wrong_loss
def probabilities_nudged(logits, token_ids, key_mask):
    """A small number is added, so that no logarithm is infinite."""
    real = all_real(token_ids, key_mask)[:, 1:]
    predicted = logits[:, :-1].where(real.unsqueeze(-1), 0.0)
    return of_chances(torch.softmax(predicted, dim=-1) + 1e-9, token_ids, real)


@wrong_loss
def zero_from_nowhere(logits, token_ids, key_mask):
    """Without a real target a new 0, to which no logit leads."""
    if not all_real(token_ids, key_mask)[:, 1:].any():
        return torch.zeros((), dtype=logits.dtype, requires_grad=True)
    return mean_loss(logits[:, :-1], token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:])


@wrong_loss
def widened_to_float64(logits, token_ids, key_mask):
    return mean_loss(logits[:, :-1].double(), token_ids[:, 1:], all_real(token_ids, key_mask)[:, 1:])


def with_the_mask_of_the_targets(logits, token_ids, key_mask):
    return mean_loss(logits[:, 1:], token_ids[:, :-1], all_real(token_ids, key_mask)[:, 1:])


wrong_loss(with_the_mask_of_the_targets, like="shifted_backwards")
