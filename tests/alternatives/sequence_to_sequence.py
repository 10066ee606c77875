"""Right answers of attention before Transformers written in other ways."""

import math

import torch

from attention._arguments import check_batch, check_floating, check_mask, check_sequence
from attention.masks import masked_softmax

from . import _sequence_to_sequence_modules, alternative  # noqa: F401  (the classes have a file of their own)

ATTEND, LOCAL, HARD = (
    f"sequence_to_sequence.{name}" for name in ("attend", "local_attention_weights", "hard_attention")
)


def refuse_attend(query, keys, values, mask):
    check_floating(query=query, keys=keys, values=values)
    check_sequence(query=query, keys=keys, values=values)
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError("two lengths")
    check_batch(query=query, keys=keys, values=values)
    if mask is not None:
        check_mask("mask", mask, (*check_batch(query=query, keys=keys), query.shape[-2], keys.shape[-2]))


@alternative(ATTEND)
def by_hand(query, keys, values, score, mask=None):
    refuse_attend(query, keys, values, mask)
    scores = score(query, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    largest = scores.amax(dim=-1, keepdim=True).detach()
    largest = largest.masked_fill(largest == float("-inf"), 0.0)
    exponentials = torch.exp(scores - largest)
    total = exponentials.sum(dim=-1, keepdim=True)
    weights = exponentials / total.masked_fill(total == 0, 1.0)
    return torch.matmul(weights, values), weights


@alternative(ATTEND)
def query_by_query(query, keys, values, score, mask=None):
    refuse_attend(query, keys, values, mask)
    scores, contexts, rows = score(query, keys), [], []
    for i in range(query.shape[-2]):
        row = scores[..., i : i + 1, :]
        allowed = None
        if mask is not None:
            allowed = mask if mask.dim() < 2 or mask.shape[-2] == 1 else mask[..., i : i + 1, :]
        rows.append(masked_softmax(row, allowed))
        contexts.append(torch.einsum("...ls,...sd->...ld", rows[-1], values))
    return torch.cat(contexts, dim=-2), torch.cat(rows, dim=-2)


@alternative(ATTEND)
def values_summed_with_an_axis_more(query, keys, values, score, mask=None):
    refuse_attend(query, keys, values, mask)
    scores = score(query, keys)
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    some = allowed.any(dim=-1, keepdim=True)
    bias = torch.zeros_like(scores).masked_fill(~allowed & some, -torch.inf)
    weights = (scores + bias).softmax(dim=-1) * some
    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(dim=-2), weights


def refuse_local(scores, center, window):
    check_floating(scores=scores, center=center)
    if scores.dim() == 0 or scores.shape[:-1] != center.shape or window <= 0:
        raise ValueError("does not fit")


@alternative(LOCAL)
def position_by_position(scores, center, window):
    refuse_local(scores, center, window)
    near, factors = [], []
    for s in range(scores.shape[-1]):
        distance = s - center
        near.append((distance.abs() <= window) & (scores[..., s] > -torch.inf))
        factors.append(torch.exp(-(distance**2) / (2 * (window / 2) ** 2)))
    near, factors = torch.stack(near, dim=-1), torch.stack(factors, dim=-1)
    largest = scores.detach().masked_fill(~near, -torch.inf).amax(dim=-1, keepdim=True)
    exponentials = torch.exp(torch.where(near, scores - largest, -torch.inf))
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / torch.where(total > 0, total, 1.0) * factors


@alternative(LOCAL)
def row_by_row(scores, center, window):
    refuse_local(scores, center, window)
    length = scores.shape[-1]
    found = []
    for row, middle in zip(scores.reshape(-1, length), center.reshape(-1), strict=True):
        first = max(math.ceil(middle.item() - window), 0)
        last = min(math.floor(middle.item() + window), length - 1)
        weights = torch.zeros_like(row)
        if first <= last:
            positions = torch.arange(first, last + 1).to(row.dtype)
            inside = masked_softmax(row[first : last + 1])
            gauss = torch.exp(-0.5 * ((positions - middle) / (window / 2)) ** 2)
            parts = [row.new_zeros(first), inside * gauss, row.new_zeros(length - 1 - last)]
            weights = torch.cat(parts)
        found.append(weights)
    return torch.stack(found).reshape(scores.shape)


@alternative(LOCAL)
def with_a_normal_distribution(scores, center, window):
    refuse_local(scores, center, window)
    positions = torch.arange(scores.shape[-1])
    low, high = (center - window).unsqueeze(-1), (center + window).unsqueeze(-1)
    weights = masked_softmax(scores, (positions >= low) & (positions <= high))
    middle = center.unsqueeze(-1)
    log_density = torch.distributions.Normal(middle, window / 2, validate_args=False).log_prob(positions.to(scores))
    return weights * torch.exp(log_density + math.log(window / 2) + 0.5 * math.log(2 * math.pi))


def refuse_hard(scores, values):
    check_floating(scores=scores, values=values)
    if scores.dim() == 0 or scores.shape != values.shape[:-1]:
        raise ValueError("does not fit")


def looked_up(scores, values, choice, log_weights):
    """choice: (...) positions; both results, zero in rows without anything to draw."""
    nothing = torch.isneginf(scores).all(dim=-1)
    index = choice[..., None, None].expand(*choice.shape, 1, values.shape[-1])
    value = torch.gather(values, -2, index)[..., 0, :]
    log_probability = torch.gather(log_weights, -1, choice[..., None])[..., 0]
    return value.masked_fill(nothing[..., None], 0.0), log_probability.masked_fill(nothing, 0.0)


def harmless(scores):
    """The scores, with 0 in rows where all are -inf."""
    return scores.masked_fill(torch.isneginf(scores).all(dim=-1, keepdim=True), 0.0)


@alternative(HARD)
def with_gumbel_noise(scores, values, generator=None):
    refuse_hard(scores, values)
    log_weights = harmless(scores).log_softmax(dim=-1)
    uniform = torch.rand(scores.shape, generator=generator, dtype=torch.float64).clamp(min=1e-300)
    choice = (log_weights.detach() - torch.log(-torch.log(uniform))).argmax(dim=-1)
    return looked_up(scores, values, choice, log_weights)


@alternative(HARD)
def by_the_inverse_of_the_distribution(scores, values, generator=None):
    refuse_hard(scores, values)
    safe = harmless(scores)
    log_weights = safe - safe.logsumexp(dim=-1, keepdim=True)
    edges = log_weights.detach().double().exp().cumsum(dim=-1)
    u = torch.rand(scores.shape[:-1], generator=generator, dtype=torch.float64)
    choice = (edges <= u[..., None] * edges[..., -1:]).sum(dim=-1).clamp(max=scores.shape[-1] - 1)
    return looked_up(scores, values, choice, log_weights)


@alternative(HARD)
def with_exponential_clocks(scores, values, generator=None):
    refuse_hard(scores, values)
    log_weights = harmless(scores).log_softmax(dim=-1)
    clocks = torch.empty(scores.shape, dtype=torch.float64).exponential_(generator=generator)
    choice = (log_weights.detach().exp() / clocks).argmax(dim=-1)
    one_hot = torch.nn.functional.one_hot(choice, scores.shape[-1]).to(scores.dtype)
    value = torch.einsum("...s,...sd->...d", one_hot, values)
    log_probability = torch.where(one_hot.bool(), log_weights, 0.0).sum(dim=-1)
    some = torch.isfinite(scores).any(dim=-1)
    return torch.where(some[..., None], value, 0.0), torch.where(some, log_probability, 0.0)


@alternative(HARD)
def row_by_row_in_a_loop(scores, values, generator=None):
    refuse_hard(scores, values)
    taken, logs = [], []
    for row, table in zip(scores.reshape(-1, scores.shape[-1]), values.reshape(-1, *values.shape[-2:]), strict=True):
        if bool((row == float("-inf")).all()):
            taken.append(torch.zeros_like(table[0]))
            logs.append(torch.zeros_like(row[0]))
            continue
        choice = int(torch.multinomial(row.detach().double().softmax(dim=-1), 1, generator=generator))
        taken.append(table[choice])
        logs.append(torch.log_softmax(row, dim=-1)[choice])
    value = torch.stack(taken).reshape(*scores.shape[:-1], values.shape[-1])
    return value, torch.stack(logs).reshape(scores.shape[:-1])
