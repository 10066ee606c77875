"""Proves the reference's blockwise attention against dense attention, torch's own, finite differences, and its memory.

Tolerances: 1e-12 where two float64 computations are compared; 2e-6 in float32; in half precision one rounding of a
number of size 1 to 4, since everything before the last step is float32: 2 · 2⁻¹¹ in float16, 2 · 2⁻⁸ in bfloat16.
"""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import blockwise_attention, online_softmax
from attention.masks import causal_mask

pytestmark = pytest.mark.proof()
ROUNDING = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2 * 2**-11, torch.bfloat16: 2 * 2**-8}
DTYPES = list(ROUNDING)

bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)
sizes = st.tuples(*[st.integers(1, 9)] * 5)  # L, S, d_k, d_v, block_size
seeds = st.integers(0, 99)


def close(got, expected, tolerance=1e-12):
    torch.testing.assert_close(got, expected.to(got.dtype), rtol=tolerance, atol=tolerance)


def numbers(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def inputs(lead, length, keys, d_k, d_v, seed=0, dtype=torch.float64):
    shapes = [(*lead, length, d_k), (*lead, keys, d_k), (*lead, keys, d_v)]
    return [numbers(*shape, seed=seed + place, dtype=dtype) for place, shape in enumerate(shapes)]


def random_mask(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5


def dense(query, key, value, is_causal=False, attn_mask=None):
    """Attention with its whole matrix, by the course's own function."""
    mask = causal_mask(query.shape[-2], key.shape[-2]) if is_causal else None
    if attn_mask is not None:
        mask = attn_mask if mask is None else attn_mask & mask
    return scaled_dot_product_attention(query, key, value, mask)[0]


# Online softmax


@bounded
@given(widths=st.lists(st.integers(1, 5), min_size=1, max_size=6), scale=st.sampled_from([1.0, 1e4]), seed=seeds)
def test_the_online_softmax_is_that_of_the_concatenation(widths, scale, seed):
    chunks = [scale * numbers(2, 3, width, seed=seed + place) for place, width in enumerate(widths)]
    close(online_softmax(iter(chunks)), torch.cat(chunks, dim=-1).softmax(dim=-1))


def test_chunks_are_asked_for_one_after_the_other_and_walked_once():
    asked = []

    def chunks():
        for number in range(3):
            asked.append(number)
            yield numbers(2, number + 1)

    assert online_softmax(chunks()).shape == (2, 6)
    assert asked == [0, 1, 2]

    def broken():
        yield numbers(2, 1)
        yield numbers(3, 1)
        raise AssertionError("asked for a chunk after one that does not fit")

    with pytest.raises(ValueError, match="chunk 1"):
        online_softmax(broken())


@bounded
@given(share=st.floats(0, 1), seed=seeds)
def test_hidden_scores_get_nothing_and_no_order_of_chunks_makes_a_nan(share, seed):
    scores = numbers(4, 12, seed=seed)
    scores[torch.rand(4, 12, generator=torch.Generator().manual_seed(seed)) < share] = -math.inf
    expected = torch.nan_to_num(scores.softmax(dim=-1))
    close(online_softmax(scores.split(2, dim=-1)), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_chunk_of_minus_infinity_before_very_negative_scores_gives_no_nan(dtype):
    chunks = [torch.full((1, 2), -math.inf, dtype=dtype), torch.tensor([[-1000.0, -1000.0]], dtype=dtype)]
    assert online_softmax(chunks).tolist() == [[0.0, 0.0, 0.5, 0.5]]


def test_an_empty_chunk_adds_nothing_and_chunks_without_a_score_are_refused():
    one, empty = numbers(2, 3), numbers(2, 0)
    close(online_softmax([empty, one, empty]), one.softmax(dim=-1))
    with pytest.raises(ValueError, match="at least one score"):
        online_softmax([empty])


def test_the_gradients_of_the_online_softmax_are_right_to_finite_differences():
    chunks = [numbers(2, width, seed=width).requires_grad_() for width in (3, 1, 4)]
    assert torch.autograd.gradcheck(lambda *given: online_softmax(given), chunks)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_slice_of_minus_infinity_gives_zeros_and_finite_gradients(dtype):
    chunks = [numbers(3, 2, seed=seed, dtype=dtype) for seed in range(3)]
    chunks[0][1] = -math.inf
    for chunk in chunks:
        chunk[2] = -math.inf
        chunk.requires_grad_()
    weights = online_softmax(chunks)
    assert weights.dtype == dtype and (weights[2] == 0).all() and weights.isfinite().all()
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        weights.square().sum().backward()
    assert all(chunk.grad.isfinite().all() for chunk in chunks)


# Blockwise attention, against dense attention and torch's


@bounded
@given(sizes=sizes, is_causal=st.booleans(), masked=st.booleans(), seed=seeds)
def test_blocks_give_what_the_whole_matrix_gives(sizes, is_causal, masked, seed):
    length, keys, d_k, d_v, block_size = sizes
    arguments = inputs((2,), length, keys, d_k, d_v, seed)
    mask = random_mask(2, length, keys, seed=seed) if masked else None
    found = blockwise_attention(*arguments, block_size, is_causal, mask)
    close(found, dense(*arguments, is_causal, mask))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
def test_every_dtype_is_rounded_once(dtype, is_causal):
    arguments = inputs((2, 3), 70, 90, 16, 8, dtype=dtype)
    expected = dense(*(x.double() for x in arguments), is_causal)
    found = blockwise_attention(*arguments, 16, is_causal)
    assert found.dtype == dtype
    close(found.double(), expected, ROUNDING[dtype])


@pytest.mark.parametrize("is_causal", [False, True])
def test_output_and_gradients_are_those_of_torch(is_causal):
    ours, theirs = ([x.requires_grad_() for x in inputs((2, 2), 33, 33, 8, 8)] for _ in range(2))
    found = blockwise_attention(*ours, 7, is_causal)
    expected = F.scaled_dot_product_attention(*theirs, is_causal=is_causal)
    close(found, expected)
    found.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad)


def test_is_causal_is_aligned_to_the_end_and_torchs_own_to_the_start():
    query, key, value = inputs((), 3, 5, 2, 2)
    found = blockwise_attention(query, key, value, 2, is_causal=True)
    close(found[-1:], dense(query[-1:], key, value))
    theirs = F.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=True)[0]
    close(theirs[:1], value[:1])
    assert not torch.allclose(found, theirs)


@pytest.mark.parametrize("shape", [(6,), (5, 6), (5, 1), (1, 6), (1, 1), (3, 1, 6), (2, 1, 1, 6), (2, 3, 5, 6), ()])
def test_a_mask_of_any_shape_that_broadcasts_is_the_mask_written_out(shape):
    arguments = inputs((2, 3), 5, 6, 3, 2)
    mask = random_mask(*shape, seed=1)
    close(blockwise_attention(*arguments, 2, False, mask), dense(*arguments, attn_mask=mask.expand(2, 3, 5, 6)))


@pytest.mark.parametrize("lead", [((2, 3), (1, 3), (3,)), ((), (4,), (4,)), ((2,), (), (3, 1)), ((0,), (0,), (1,))])
def test_leading_dimensions_broadcast(lead):
    query, key, value = numbers(*lead[0], 4, 3), numbers(*lead[1], 5, 3, seed=1), numbers(*lead[2], 5, 2, seed=2)
    found = blockwise_attention(query, key, value, 2)
    assert found.shape == (*torch.broadcast_shapes(*lead), 4, 2)
    close(found, dense(query, key, value))


# Gradients


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("length", "keys"), [(5, 5), (3, 7), (6, 4)])
def test_the_backward_pass_is_right_to_finite_differences(is_causal, masked, length, keys):
    arguments = [x.requires_grad_() for x in inputs((), length, keys, 2, 2)]
    mask = random_mask(length, keys, seed=3) if masked else None
    for block_size in (2, 9):
        assert torch.autograd.gradcheck(blockwise_attention, (*arguments, block_size, is_causal, mask))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients(dtype):
    arguments = [x.requires_grad_() for x in inputs((2,), 6, 4, 3, 2, dtype=dtype)]
    mask = random_mask(2, 6, 4, seed=4)
    mask[0, 3] = False
    mask[1, 4, :2] = False  # nothing in the first blocks; the third key is the last that query 4 may see
    mask[1, 4, 2] = True
    output = blockwise_attention(*arguments, 1, True, mask)
    assert (output[:, :2] == 0).all() and (output[0, 3] == 0).all()
    close(output[1, 4], arguments[2][1, 2], ROUNDING[dtype])
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        output.square().sum().backward()
    assert all(x.grad.isfinite().all() for x in arguments)
    assert (arguments[0].grad[0, 3] == 0).all()


@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_scores_of_ten_thousand_are_finite_in_both_directions(factor):
    arguments = [(factor * x).requires_grad_() for x in inputs((), 6, 7, 3, 2)]
    output = blockwise_attention(*arguments, 2)
    close(output, dense(*arguments))
    output.sum().backward()
    assert all(x.grad.isfinite().all() for x in arguments)


# Memory


def largest_made(function):
    """The entries of the largest tensor that a function makes, forward and backward."""
    found = [0]

    class Largest(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            made = operation(*args, **(kwargs or {}))
            for one in made if isinstance(made, (tuple, list)) else [made]:
                if isinstance(one, torch.Tensor):
                    held = one.untyped_storage().nbytes() // one.element_size()
                    found[0] = max(found[0], min(one.numel(), held))
            return made

    with Largest():
        function()
    return found[0]


@pytest.mark.parametrize("is_causal", [False, True])
def test_no_tensor_made_in_either_direction_comes_near_the_score_matrix(is_causal):
    length = 512
    arguments = [x.requires_grad_() for x in inputs((), length, length, 4, 4, dtype=torch.float32)]

    def both_ways():
        blockwise_attention(*arguments, 32, is_causal).sum().backward()

    assert largest_made(both_ways) <= 2 * length * 32  # two tiles of all queries and a block of keys
    assert largest_made(lambda: dense(*arguments, is_causal)) >= length * length


@pytest.mark.parametrize("count", [1, 40])
def test_the_scores_of_a_step_grow_neither_with_the_number_of_queries_nor_of_heads(count):
    query, key = torch.randn(2, 1, generator=torch.Generator().manual_seed(0)).unbind()
    query, key = query.expand(count, 40000 // count, 1), key.expand(count, 96, 1)
    assert largest_made(lambda: blockwise_attention(query, key, key, 32)) <= 2**18


LONG = """
import resource, torch
from attention.efficient import blockwise_attention
torch.set_num_threads(1)
query, key, value = torch.randn(3, 32768, 64).unsqueeze(1).unbind()
blockwise_attention(query[:, :256], key[:, :256], value[:, :256])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
output = blockwise_attention(query, key, value, 256, is_causal=True)
assert output.shape == (1, 32768, 64) and output.isfinite().all()
last = (query[0, -1:] @ key[0].T / 8).softmax(-1) @ value[0]
assert torch.allclose(output[0, -1:], last, atol=1e-5), (output[0, -1:] - last).abs().max()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_32768_positions_fit_into_a_gigabyte_above_the_inputs():
    """Causal, forward: half the blocks. The whole matrix would be 4 GiB. ru_maxrss counts KiB on Linux."""
    folder = Path(__file__).parents[2] / "solutions"
    run = subprocess.run([sys.executable, "-c", LONG], cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 1024 * 1024
