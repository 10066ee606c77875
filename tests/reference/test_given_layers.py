"""Proves what is given beside the exercises: RMSNorm, SwiGLU, rotation at given positions, the two layouts.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention.encoder import FeedForward, RMSNorm, SwiGLU
from attention.multi_head import split_heads
from attention.positions import apply_rotary, apply_rotary_at, half_split, interleaved, longer_base

pytestmark = pytest.mark.proof()


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def numbers(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


# RMSNorm, SwiGLU


@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_rms_norm_is_torchs_in_output_and_gradients(eps):
    found = []
    for kind in (RMSNorm, nn.RMSNorm):
        module, x = kind(6, eps=eps).double(), numbers(2, 3, 6).requires_grad_()
        module.load_state_dict({"weight": numbers(6)})
        output = module(x)
        output.square().sum().backward()
        found.append([output.detach(), x.grad, module.weight.grad])
    for mine, other in zip(*found, strict=True):
        close(mine, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rms_norm_of_large_features_does_not_overflow(dtype):
    x = torch.full((1, 4), 300.0, dtype=dtype)
    assert (RMSNorm(4).to(dtype)(x) == 1).all()


def test_swiglu_is_the_formula_and_two_thirds_as_wide_as_large_as_feed_forward():
    module, x = SwiGLU(6, 8).double(), numbers(2, 3, 6)
    state = module.state_dict()
    inner = F.silu(F.linear(x, state["gate.weight"])) * F.linear(x, state["linear1.weight"])
    close(module(x), F.linear(inner, state["linear2.weight"]))
    weights = sum(one.numel() for name, one in FeedForward(6, 12).named_parameters() if "weight" in name)
    assert sum(one.numel() for one in module.parameters()) == weights
    assert not torch.equal(SwiGLU(6, 64, dropout=0.5).double()(x), module(x))


# Rotation


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_rotation_at_positions_is_that_of_rows_cut_out(lead):
    x, ids = numbers(*lead, 4, 6), torch.tensor([7, 0, 7, 3])
    whole = torch.stack([apply_rotary(x[..., i : i + 1, :], 100.0, int(ids[i]))[..., 0, :] for i in range(4)], dim=-2)
    close(apply_rotary_at(x, ids, 100.0), whole)
    close(apply_rotary_at(x, torch.arange(4)), apply_rotary(x))


def test_positions_of_each_sequence_and_gradients():
    x, ids = numbers(2, 1, 3, 4), torch.tensor([[[0, 1, 2]], [[0, 0, 1]]])  # the second is padded on the left
    found = apply_rotary_at(x, ids)
    close(found[0], apply_rotary(x[0]))
    close(found[1, :, 1:], apply_rotary(x[1, :, 1:]))
    assert torch.autograd.gradcheck(lambda y: apply_rotary_at(y, ids), x.requires_grad_())
    assert apply_rotary_at(x.half(), ids.int()).dtype == torch.float16
    assert apply_rotary_at(x[:, :, :0], ids[..., :0]).shape == (2, 1, 0, 4)


def test_positions_that_do_not_fit_are_refused():
    for ids, error, match in (
        (torch.tensor([0.0, 1.0, 2.0]), TypeError, "position_ids must have an integer dtype"),
        (torch.tensor([0, 1]), ValueError, r"position_ids must broadcast to \(2, 3\), got \(2,\)"),
        (torch.tensor([-1, 0, 1]), ValueError, "at least 0, got -1"),
    ):
        with pytest.raises(error, match=match):
            apply_rotary_at(numbers(2, 3, 4), ids)


def test_a_longer_base_slows_the_slowest_pair_by_the_factor_and_the_fastest_not_at_all():
    d_head, base, factor = 8, 10000.0, 4.0
    before, after = (one ** (-torch.arange(0, d_head, 2) / d_head) for one in (base, longer_base(base, factor, d_head)))
    assert after[0] == before[0] and torch.isclose(after[-1] * factor, before[-1], rtol=1e-6)
    assert ((after <= before) & (after * factor >= before * (1 - 1e-6))).all()
    assert longer_base(base, 1.0, d_head) == base
    for wrong in ((base, 0.5, 8), (base, 2.0, 2), (0.0, 2.0, 8), (base, 2.0, 5)):
        with pytest.raises(ValueError):
            longer_base(*wrong)


def rotate_half(x, base=10000.0):
    """x · cos + rotate_half(x) · sin, as Hugging Face's Llama and GPT-NeoX write it."""
    length, d_head = x.shape[-2:]
    angles = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_head, 2).double() / d_head)
    cos, sin = (torch.cat((one, one), dim=-1) for one in (angles.cos(), angles.sin()))
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


def test_the_half_split_layout_is_that_of_rotate_half():
    x = numbers(2, 3, 5, 8)
    close(half_split(interleaved(x)), x)
    close(interleaved(half_split(x)), x)
    assert half_split(torch.arange(6)).tolist() == [0, 2, 4, 1, 3, 5]
    close(half_split(apply_rotary(interleaved(x))), rotate_half(x))


def test_projections_converted_once_give_the_scores_of_the_other_layout():
    x, heads = numbers(1, 5, 8), 2
    query, key = numbers(8, 8), numbers(8, 8).flip(0)

    def scores(rotate, weights):
        q, k = (rotate(split_heads(x @ weight.T, heads)) for weight in weights)
        return q @ k.mT

    converted = [interleaved(w.unflatten(0, (heads, -1)).mT).mT.flatten(0, 1) for w in (query, key)]
    close(scores(apply_rotary, converted), scores(rotate_half, (query, key)))
