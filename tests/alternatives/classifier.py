"""Right answers of the classifier written in other ways."""

import torch
from torch.optim import Optimizer

from attention.classifier import check_batched, check_floating, check_key_mask

from . import (
    _classifier_models,  # noqa: F401  (registers the text classifiers)
    _classifier_pairs,  # noqa: F401
    alternative,
)

MEAN, STEP = "classifier.masked_mean", "classifier.train_step"


def given(x, key_mask):
    check_floating(x=x)
    check_batched(x=x)
    if key_mask is not None:
        check_key_mask(key_mask, x.shape[:2])


@alternative(MEAN)
def row_by_row(x, key_mask=None):
    given(x, key_mask)
    rows = []
    for place, row in enumerate(x):
        real = row if key_mask is None else row[key_mask[place]]
        rows.append(real.mean(dim=0) if len(real) else row.new_zeros(row.shape[1]))
    return torch.stack(rows)


@alternative(MEAN)
def in_float32(x, key_mask=None):
    given(x, key_mask)
    if key_mask is None:
        return x.mean(dim=1)
    wide = x.masked_fill(~key_mask[..., None], 0).to(torch.promote_types(x.dtype, torch.float32))
    return (wide.sum(dim=1) / key_mask.sum(dim=1, keepdim=True).clamp(min=1)).to(x.dtype)


@alternative(MEAN)
def weights_times_values(x, key_mask=None):
    """Attention with equal weights."""
    given(x, key_mask)
    mask = x.new_ones(x.shape[:2]) if key_mask is None else key_mask.to(x.dtype)
    weights = mask / mask.sum(dim=1, keepdim=True).clamp(min=1)
    return torch.einsum("bl,bld->bd", weights, torch.where(mask[..., None] > 0, x, torch.zeros_like(x)))


@alternative(MEAN)
def nan_mean(x, key_mask=None):
    """torch's nanmean on what is real; its 0 / 0 is replaced before anything is differentiated."""
    given(x, key_mask)
    if key_mask is None:
        key_mask = torch.ones_like(x[..., 0], dtype=torch.bool)
    key_mask = key_mask[..., None]
    wide = torch.where(key_mask, x, torch.zeros((), dtype=x.dtype)).double().sum(dim=1)
    return torch.where(key_mask.any(dim=1), wide / key_mask.sum(dim=1).clamp(min=1), 0.0).to(x.dtype)


def checked(batch):
    if len(batch) < 2:
        raise ValueError("batch must be (*inputs, target)")


@alternative(STEP)
def by_index(model, batch, optimizer, loss_fn):
    checked(batch)
    optimizer.zero_grad(set_to_none=False)
    model.train(True)
    loss = loss_fn(model(*batch[:-1]), batch[-1])
    loss.backward()
    optimizer.step()
    return float(loss)


@alternative(STEP)
def cleared_late(model, batch, optimizer, loss_fn):
    """Gradients are cleared between forward and backward."""
    checked(batch)
    inputs, target = tuple(batch)[:-1], batch[len(batch) - 1]
    model.train()
    output = model(*inputs)
    loss = loss_fn(output, target)
    value = loss.detach().cpu().numpy().tolist()
    model.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()
    return value


@alternative(STEP)
def with_a_closure(model, batch, optimizer: Optimizer, loss_fn):
    checked(batch)
    *inputs, target = batch
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(*inputs), target)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
