"""Proves the backward pass by blocks against autograd through dense attention, torch's own, and its memory.

Tolerances: 1e-12 where two float64 computations are compared; in half precision one rounding of what is due, since
everything before the last step is float32, and that of the output, which is given in half precision.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from attention.efficient import blockwise_gradients

DTYPES = {torch.float64: 1e-12, torch.float32: 5e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}
bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)
sizes = st.tuples(*[st.integers(1, 9)] * 5)  # L, S, d_k, d_v, block_size


def inputs(lead, length, keys, d_k, d_v, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    shapes = (length, d_k), (keys, d_k), (keys, d_v), (length, d_v)
    return [torch.randn((*lead, *shape), generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def forward(query, key, value):
    """Output and log-sums, with their whole matrix."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ value, torch.logsumexp(scores, -1)


def by_autograd(attend, query, key, value, upstream):
    leaves = [x.clone().requires_grad_() for x in (query, key, value)]
    return torch.autograd.grad(attend(*leaves), leaves, upstream)


def close(found, right, tolerance=1e-12):
    for one, other in zip(found, right, strict=True):
        torch.testing.assert_close(one, other.to(one.dtype), rtol=tolerance, atol=tolerance)


@bounded
@given(sizes=sizes, seed=st.integers(0, 99))
def test_they_are_what_autograd_finds_through_the_whole_matrix(sizes, seed):
    *shape, block_size = sizes
    query, key, value, upstream = inputs((), *shape, seed)
    found = blockwise_gradients(query, key, value, *forward(query, key, value), upstream, block_size)
    close(found, by_autograd(lambda *x: forward(*x)[0], query, key, value, upstream))


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (0,)], ids=str)
def test_they_are_those_of_torchs_own_attention(lead):
    query, key, value, upstream = inputs(lead, 7, 11, 5, 3)
    found = blockwise_gradients(query, key, value, *forward(query, key, value), upstream, 4)
    close(found, by_autograd(F.scaled_dot_product_attention, query, key, value, upstream))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_kept_and_rounded_once(dtype):
    query, key, value, upstream = inputs((2,), 7, 300, 4, 3, dtype=dtype)
    wide = [x.double() for x in (query, key, value, upstream)]
    output, log_sums = forward(*wide[:3])
    given_sums = log_sums.to(torch.promote_types(dtype, torch.float32))
    found = blockwise_gradients(query, key, value, output.to(dtype), given_sums, upstream, 1)
    assert all(one.dtype == dtype for one in found)
    close(found, by_autograd(F.scaled_dot_product_attention, *wide), DTYPES[dtype])


@pytest.mark.parametrize("level", [1e4, -1e4])
def test_scores_of_ten_thousand_give_finite_gradients(level):
    query, key, value, upstream = inputs((), 4, 6, 1, 2)
    query, key = query.abs() + 1, key + level
    found = blockwise_gradients(query, key, value, *forward(query, key, value), upstream, 4)
    close(found, by_autograd(F.scaled_dot_product_attention, query, key, value, upstream), 1e-9)


@pytest.mark.parametrize("shape", [(0, 5, 2, 3), (4, 0, 2, 3), (4, 5, 2, 0)], ids=str)
def test_empty_sizes_give_gradients_of_zero(shape):
    query, key, value, upstream = inputs((2,), *shape)
    found = blockwise_gradients(query, key, value, *forward(query, key, value), upstream)
    for one, like in zip(found, (query, key, value), strict=True):
        assert one.shape == like.shape and not one.any()


def test_no_tensor_comes_near_the_score_matrix():
    class Largest(TorchDispatchMode):
        entries = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            if isinstance(made, torch.Tensor):
                self.entries = max(self.entries, made.numel())
            return made

    query, key, value, upstream = inputs((), 256, 256, 4, 4)
    given_parts = forward(query, key, value)
    with Largest() as largest:
        blockwise_gradients(query, key, value, *given_parts, upstream, 16)
    assert largest.entries == 256 * 16


def test_the_arguments_stay_as_they_were_and_misfits_are_refused():
    query, key, value, upstream = inputs((2,), 4, 5, 2, 3)
    output, log_sums = forward(query, key, value)
    arguments = {"query": query, "key": key, "value": value, "output": output, "log_sums": log_sums}
    arguments["upstream"] = upstream
    before = {name: one.clone() for name, one in arguments.items()}
    blockwise_gradients(**arguments, block_size=3)
    assert all(torch.equal(arguments[name], before[name]) for name in arguments)
    for name, one in arguments.items():
        with pytest.raises(ValueError, match="must"):
            blockwise_gradients(**arguments | {name: one[:1]})
        with pytest.raises(TypeError, match="must"):
            blockwise_gradients(**arguments | {name: one.int()})
    with pytest.raises(ValueError, match="block_size must be at least 1"):
        blockwise_gradients(**arguments, block_size=0)
