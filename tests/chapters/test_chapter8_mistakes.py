"""The mistakes that chapter 8 names, made on purpose."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention.classifier import train_step

from .test_chapter8 import MAIN, PAGES, ROUNDING, shown

pytestmark = pytest.mark.proof(depends=PAGES)


@pytest.mark.full
def test_torchs_encoder_layer_mixes_the_batch_unless_told_otherwise():
    torch.manual_seed(4)
    batch = torch.randn(2, 5, 8)
    other = torch.cat([batch[:1], torch.randn(1, 5, 8)])
    layers = [nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=flag).eval() for flag in (False, True)]
    with torch.no_grad():
        wrong, right = ((layer(other) - layer(batch))[0].abs().max() for layer in layers)
    assert wrong > 0.1 and right < ROUNDING


@pytest.mark.full
def test_a_sigmoid_before_a_loss_with_logits_keeps_it_from_zero():
    surest, target = torch.tensor([30.0, -30.0]), torch.tensor([1.0, 0.0])
    twice = F.binary_cross_entropy_with_logits(surest.sigmoid(), target, reduction="none")
    assert shown(twice, 0.3133, 0.6931) and "= 0.3133$ for yes" in MAIN and "= 0.6931$ for no" in MAIN
    assert twice[0].item() == pytest.approx(math.log(1 + math.exp(-1)), abs=1e-6)
    assert F.binary_cross_entropy_with_logits(surest, target) < 1e-12


def test_train_step_is_the_five_lines():
    torch.manual_seed(0)
    model, batch = nn.Linear(3, 2), (torch.randn(4, 3), torch.tensor([0, 1, 0, 1]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = [train_step(model, batch, optimizer, F.cross_entropy) for _ in range(20)]
    assert losses == sorted(losses, reverse=True) and model.training
