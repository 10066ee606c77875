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


# Second derivatives


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_a_gradient_penalty_is_that_of_dense_attention(is_causal, masked):
    mask = some_mask(2, 5, 7) if masked else None
    found = []
    for attend in (lambda *x: blockwise_attention(*x, 2, is_causal, mask), lambda *x: dense(*x, is_causal, mask)):
        arguments = [x.requires_grad_() for x in inputs((2,), 5, 7)]
        gradients = torch.autograd.grad(attend(*arguments).sum(), arguments, create_graph=True)
        assert all(gradient.requires_grad for gradient in gradients[:2])
        sum(gradient.square().sum() for gradient in gradients).backward()
        found.append([*gradients, *(x.grad for x in arguments)])
    for mine, other in zip(*found, strict=True):
        close(mine, other)
    assert any((gradient != 0).any() for gradient in found[0][3:])


def test_second_derivatives_are_right_to_finite_differences():
    arguments = [x.requires_grad_() for x in inputs((), 3, 4)]
    mask = torch.tensor([[True, False, True, True], [False, False, False, False], [True, True, True, False]])
    assert torch.autograd.gradgradcheck(lambda *x: blockwise_attention(*x, 2, True, mask), arguments)


# Transforms and graphs


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # raised by torch's own forward derivatives
@pytest.mark.parametrize("masked", [False, True])
def test_it_can_be_mapped_and_differentiated_by_torchs_transforms(masked):
    samples, mask = inputs((4,), 5, 7), some_mask(1, 5, 7)[0] if masked else None

    def loss(attend):
        return lambda *x: attend(*x).square().sum()

    def ours(*x):
        return blockwise_attention(*x, 2, True, mask)

    def theirs(*x):
        return dense(*x, True, mask)

    close(torch.vmap(ours)(*samples), theirs(*samples))
    close(torch.vmap(ours, in_dims=(0, None, None))(samples[0], samples[1][0], samples[2][0]),
          theirs(samples[0], samples[1][0], samples[2][0]))  # fmt: skip
    each = torch.vmap(torch.func.grad(loss(ours), argnums=(0, 1, 2)))(*samples)
    expected = [x.clone().requires_grad_() for x in samples]
    loss(theirs)(*expected).backward()
    for mine, other in zip(each, expected, strict=True):
        close(mine, other.grad)
    one = [x[0] for x in samples]
    close(torch.func.jacrev(ours)(*one), torch.autograd.functional.jacobian(theirs, tuple(one))[0])
    tangents = tuple(x.flip(0) for x in one)
    forward, backward = torch.func.jvp(ours, tuple(one), tangents)[1], torch.func.jvp(theirs, tuple(one), tangents)[1]
    close(forward, backward)


def test_a_mask_for_each_sample_can_be_mapped():
    samples, masks = inputs((4,), 5, 7), some_mask(4, 5, 7)
    found = torch.vmap(lambda q, k, v, mask: blockwise_attention(q, k, v, 2, False, mask))(*samples, masks)
    close(found, dense(*samples, mask=masks))


@pytest.mark.filterwarnings("ignore:.*Function'> should not be instantiated")  # which torch's own tracer does
def test_with_a_mask_it_compiles_into_one_graph_with_its_backward_pass():
    torch._dynamo.reset()
    mask = some_mask(2, 5, 7)
    compiled = torch.compile(blockwise_attention, backend="aot_eager", fullgraph=True)
    found = []
    for attend in (blockwise_attention, compiled):
        arguments = [x.requires_grad_() for x in inputs((2,), 5, 7)]
        output = attend(*arguments, 2, True, mask)
        output.square().sum().backward()
        found.append([output.detach(), *(x.grad for x in arguments)])
    for mine, other in zip(*found, strict=True):
        close(mine, other)


def test_masks_without_data_give_shapes():
    arguments = [x.to("meta") for x in inputs((2,), 5, 7)]
    assert blockwise_attention(*arguments, 2, True, some_mask(2, 5, 7).to("meta")).shape == (2, 5, 2)


def test_a_block_that_is_hidden_throughout_is_passed_over():
    """Keys without a number, in a block that no query of the mask sees, are never multiplied."""
    query, key, value = inputs((2,), 5, 7)
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[:, 2:4] = False
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    value[:, 2:4] = torch.nan
    close(blockwise_attention(query, key, value, 2, False, mask), expected)


# Scores that are small, that turn out large, and that only look large


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("large", [None, 0, 5, 6], ids=str)
def test_scores_that_turn_out_large_are_summed_as_dense_attention_does(large, is_causal):
    """Key `large` has scores of some thousand; its block of two comes first, in the middle or last."""
    query, key, value = (x.requires_grad_() for x in inputs((2,), 5, 7))
    with torch.no_grad():
        query[0, 3] *= 40  # too long a query for the bound
        key[:, :, :] /= 40
        if large is not None:
            key[:, large] *= 10**5
    found = []
    for attend in (lambda *x: blockwise_attention(*x, 2, is_causal), lambda *x: dense(*x, is_causal)):
        output = attend(query, key, value)
        found.append([output, *torch.autograd.grad(output.square().sum(), (query, key, value))])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-9)  # gradients of some thousand


def test_a_score_far_below_all_others_in_its_row_and_a_row_of_low_scores_are_exact():
    query = torch.tensor([[1.0], [-1.0]], dtype=torch.float32)
    key, value = torch.tensor([[800.0], [801.0], [0.0]]), torch.tensor([[1.0], [2.0], [3.0]])
    torch.testing.assert_close(blockwise_attention(query, key, value, 1), dense(query, key, value))
    below = torch.tensor([[800.0], [801.0]])  # the second query's scores are all far below 0
    torch.testing.assert_close(blockwise_attention(query, below, value[:2], 1), dense(query, below, value[:2]))
