"""Proves attention with changed scores: against torch's own scale, and softcap and bias written out.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import math

import pytest
import torch
from torch.nn import functional as F

from attention.efficient import blockwise_attention, modified_attention
from attention.masks import causal_mask
from attention.positions import alibi_bias

from .test_need_weights import measured

pytestmark = pytest.mark.proof()
LONG = 150  # more than the 128 queries that are attended from at a time


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def inputs(lead=(2, 4), length=LONG, keys=LONG + 3, d_k=3, d_v=2, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = [(*lead, length, d_k), (*lead, keys, d_k), (*lead, keys, d_v)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def written_out(query, key, value, seen, scale, softcap, bias):
    """The formula of torch's flex_attention for a softcap (tanh), then a bias, then a mask."""
    scores = query @ key.mT * scale
    scores = softcap * torch.tanh(scores / softcap) + bias
    return torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1) @ value


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", [(1, 1), (5, 7), (LONG, LONG + 3)], ids=str)
def test_scale_is_torchs_and_softcap_and_bias_are_those_of_the_formula(sizes, is_causal):
    seen = causal_mask(*sizes) if is_causal else torch.ones(sizes, dtype=torch.bool)
    arguments = inputs(length=sizes[0], keys=sizes[1])
    close(modified_attention(*arguments, is_causal), blockwise_attention(*arguments, is_causal=is_causal))
    close(modified_attention(*arguments, is_causal, scale=0.3),
          F.scaled_dot_product_attention(*arguments, attn_mask=seen, scale=0.3))  # fmt: skip
    bias = alibi_bias(4, *sizes).double()
    found = []
    for attend in (
        lambda *x: modified_attention(*x, is_causal, scale=0.7, softcap=1.5, bias=bias),
        lambda *x: written_out(*x, seen, 0.7, 1.5, bias),
    ):
        given = [x.clone().requires_grad_() for x in arguments]
        output = attend(*given)
        output.square().sum().backward()
        found.append([output.detach(), *(x.grad for x in given)])
    for mine, other in zip(*found, strict=True):
        close(mine, other)


def test_a_bias_by_positions_is_the_bias_written_out_aligned_to_the_end():
    arguments, slopes = inputs(), 2.0 ** -(2.0 * torch.arange(1, 5, dtype=torch.float64))
    found = modified_attention(*arguments, True, bias=lambda i, j: -slopes[:, None, None] * (i - j).abs())
    close(found, modified_attention(*arguments, True, bias=alibi_bias(4, LONG, LONG + 3).double()))


def test_a_bias_has_gradients_and_minus_infinity_hides():
    arguments, bias = inputs((), 4, 5), torch.randn(4, 5, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda b: modified_attention(*arguments, softcap=2.0, bias=b), bias)
    hidden = torch.zeros(4, 5, dtype=torch.float64)
    hidden[0, 1:], hidden[1] = -torch.inf, -torch.inf
    output = modified_attention(*arguments, bias=hidden)
    close(output[0], arguments[2][0])
    assert (output[1] == 0).all()
    close(output, modified_attention(*arguments, attn_mask=hidden == 0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_scores_in_half_precision_are_not_rounded(dtype):
    arguments = [4 * x for x in inputs(dtype=dtype)]
    expected = modified_attention(*(x.double() for x in arguments), softcap=20.0)
    output = modified_attention(*arguments, softcap=20.0)
    assert output.dtype == dtype
    # The output alone is rounded: half a unit in the last place, of which a whole one is allowed.
    torch.testing.assert_close(output.double(), expected, rtol=torch.finfo(dtype).eps, atol=torch.finfo(dtype).eps * 8)


def test_alibi_makes_no_matrix_of_all_pairs_in_either_direction():
    arguments, slopes = [x.requires_grad_() for x in inputs((4,), 640, 640)], torch.ones(4, dtype=torch.float64)
    made, kept = measured(
        lambda: modified_attention(*arguments, True, bias=lambda i, j: -slopes[:, None, None] * (i - j).abs())
    )
    assert made <= 640 * 640 * 4 / 4 and kept <= 640 * 640 * 4 / 4


def test_it_can_be_mapped_and_is_empty_where_its_arguments_are():
    samples = inputs((3,), 5, 7)
    close(
        torch.vmap(lambda *x: modified_attention(*x, softcap=1.0))(*samples), modified_attention(*samples, softcap=1.0)
    )
    for length, keys in ((0, 5), (4, 0), (0, 0)):
        output = modified_attention(*inputs((2,), length, keys), True, bias=torch.zeros(length, keys).double())
        assert output.shape == (2, length, 2) and (output == 0).all()


@pytest.mark.parametrize(
    ("more", "error", "match"),
    [
        ({"softcap": 0.0}, ValueError, "softcap must be positive"),
        ({"softcap": math.nan}, ValueError, "softcap must be positive"),
        ({"bias": torch.zeros(3, 4)}, ValueError, r"bias must broadcast to \(2, 4, 5, 7\), got \(3, 4\)"),
        ({"bias": lambda i, j: torch.zeros(3, 4)}, ValueError, "bias must broadcast"),
        ({"bias": torch.ones(5, 7, dtype=torch.bool)}, TypeError, "bias must have a floating-point dtype"),
        ({"attn_mask": torch.zeros(5, 7)}, TypeError, "boolean"),
    ],
)
def test_what_does_not_fit_is_refused(more, error, match):
    with pytest.raises(error, match=match):
        modified_attention(*inputs(length=5, keys=7), **more)
