"""Proves blockwise attention where the ordinary case ends: empty sizes, second derivatives, transforms, one graph.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import pytest
import torch
from torch.nn import functional as F

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import blockwise_attention
from attention.masks import causal_mask

pytestmark = pytest.mark.proof()


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def inputs(lead, length, keys, d_k=3, d_v=2):
    generator = torch.Generator().manual_seed(0)
    shapes = [(*lead, length, d_k), (*lead, keys, d_k), (*lead, keys, d_v)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def some_mask(*shape):
    """Query 1 of the first sequence sees nothing; the first block of two keys is hidden from the first four queries."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[0, 1], mask[..., :4, :2] = False, False
    return mask


def dense(query, key, value, is_causal=False, mask=None):
    seen = causal_mask(query.shape[-2], key.shape[-2]) if is_causal else torch.tensor(True)
    return scaled_dot_product_attention(query, key, value, seen if mask is None else seen & mask)[0]


# Empty sizes


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", [(0, 5, 2), (4, 0, 2), (4, 5, 0), (0, 0, 2), (0, 0, 0)], ids=str)
@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (0,), (2, 0)], ids=str)
def test_empty_sizes_are_answered_as_by_dense_attention(lead, sizes, masked, is_causal):
    length, keys, d_v = sizes
    arguments = [x.requires_grad_() for x in inputs(lead, length, keys, d_v=d_v)]
    mask = torch.ones(length, keys, dtype=torch.bool) if masked else None
    output = blockwise_attention(*arguments, 2, is_causal, mask)
    assert output.shape == (*lead, length, d_v)
    close(output, dense(*arguments, is_causal, mask))
    output.sum().backward()
    assert all((x.grad == 0).all() for x in arguments)
