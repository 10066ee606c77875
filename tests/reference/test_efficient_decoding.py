"""Proves grouped heads and the cache of the reference: against dense attention, and decoding against causal attention.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import KeyValueCache, blockwise_attention, grouped_query_attention
from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention, merge_heads, split_heads

pytestmark = pytest.mark.proof()
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]

bounded = settings(max_examples=30, derandomize=True, deadline=None, database=None)


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def heads(query_heads, groups, seed=0, sizes=(2, 4, 5, 3, 2)):
    batch, length, keys, d_k, d_v = sizes
    shapes = [(batch, query_heads, length, d_k), (batch, groups, keys, d_k), (batch, groups, keys, d_v)]
    return [numbers(*shape, seed=seed + place) for place, shape in enumerate(shapes)]


# Grouped heads


@bounded
@given(groups=st.integers(1, 4), times=st.integers(1, 4), masked=st.booleans(), seed=st.integers(0, 99))
def test_grouped_heads_are_dense_attention_with_repeated_heads(groups, times, masked, seed):
    query, key, value = heads(groups * times, groups, seed)
    mask = None
    if masked:
        mask = torch.rand(2, groups * times, 4, 5, generator=torch.Generator().manual_seed(seed)) < 0.5
    repeated = (x.repeat_interleave(times, dim=1) for x in (key, value))
    found = grouped_query_attention(query, key, value, mask)
    for one, other in zip(found, scaled_dot_product_attention(query, *repeated, mask), strict=True):
        close(one, other)


def test_with_as_many_groups_as_heads_it_is_plain_attention():
    arguments = heads(3, 3)
    for one, other in zip(grouped_query_attention(*arguments), scaled_dot_product_attention(*arguments), strict=True):
        close(one, other)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_output_and_gradients_are_those_of_torch_with_enable_gqa(groups):
    ours, theirs = ([x.requires_grad_() for x in heads(6, groups)] for _ in range(2))
    found, _ = grouped_query_attention(*ours)
    expected = F.scaled_dot_product_attention(*theirs, enable_gqa=True)
    close(found, expected)
    found.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad)


@pytest.mark.parametrize("shape", [(5,), (4, 5), (4, 1), (6, 1, 5), (2, 1, 1, 5), (1, 6, 4, 5), (2, 6, 4, 5), ()])
def test_a_mask_of_any_shape_that_broadcasts_is_the_mask_written_out(shape):
    arguments = heads(6, 2)
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    whole = mask.expand(2, 6, 4, 5).clone()
    for one, other in zip(*(grouped_query_attention(*arguments, m) for m in (mask, whole)), strict=True):
        close(one, other)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients(dtype):
    arguments = [x.to(dtype).requires_grad_() for x in heads(4, 2)]
    mask = torch.ones(4, 4, 5, dtype=torch.bool)
    mask[1, 2] = False
    output, weights = grouped_query_attention(*arguments, mask)
    assert output.dtype == weights.dtype == dtype
    assert (output[:, 1, 2] == 0).all() and (weights[:, 1, 2] == 0).all()
    (output.sum() + weights.square().sum()).backward()
    assert all(x.grad.isfinite().all() for x in arguments)


# The cache


def steps_of(total):
    """Ways to bring so many positions: one by one, all at once, a prompt and then one by one."""
    return [[1] * total, [total], [total - 3, 1, 1, 1]]


@pytest.mark.parametrize("steps", steps_of(7), ids=str)
@pytest.mark.parametrize("attend", ["dense", "blockwise"])
def test_decoding_step_by_step_is_causal_attention_at_once(steps, attend):
    torch.manual_seed(0)
    model = MultiHeadAttention(12, 3).double()
    x = numbers(2, 7, 12)
    at_once, _ = model(x, x, x, attn_mask=causal_mask(7))
    cache, found, start = KeyValueCache(7), [], 0
    for length in steps:
        new = x[:, start : start + length]
        start += length
        query, *pair = (split_heads(layer(new), 3) for layer in (model.q_proj, model.k_proj, model.v_proj))
        keys, values = cache.append(*pair)
        if attend == "dense":
            output, _ = scaled_dot_product_attention(query, keys, values, causal_mask(length, start))
        else:
            output = blockwise_attention(query, keys, values, 2, is_causal=True)
        found.append(model.out_proj(merge_heads(output)))
    close(torch.cat(found, dim=1), at_once)


def test_decoding_with_grouped_heads_is_causal_attention_at_once():
    query, key, value = heads(6, 2, sizes=(2, 5, 5, 3, 2))
    at_once, _ = grouped_query_attention(query, key, value, causal_mask(5))
    cache, found = KeyValueCache(5), []
    for i in range(5):
        keys, values = cache.append(key[:, :, i : i + 1], value[:, :, i : i + 1])
        found.append(grouped_query_attention(query[:, :, i : i + 1], keys, values)[0])
    close(torch.cat(found, dim=2), at_once)


def test_gradients_through_the_cache_are_those_of_causal_attention_at_once():
    ours, theirs = ([x.requires_grad_() for x in heads(2, 2, sizes=(1, 4, 4, 3, 2))] for _ in range(2))
    cache, total = KeyValueCache(4), 0.0
    for i in range(4):
        query, *pair = (x[:, :, i : i + 1] for x in ours)
        total = total + scaled_dot_product_attention(query, *cache.append(*pair))[0].square().sum()
    total.backward()
    scaled_dot_product_attention(*theirs, causal_mask(4))[0].square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad)


def test_what_was_returned_earlier_and_what_was_passed_in_do_not_change():
    cache, given = KeyValueCache(6), numbers(2, 2, 3)
    first = cache.append(given, given)
    was = [x.clone() for x in first]
    given.zero_()  # the caller uses its tensor for something else
    second = cache.append(numbers(2, 3, 3, seed=1), numbers(2, 3, 3, seed=2))
    assert all(torch.equal(one, other) for one, other in zip(first, was, strict=True))
    assert all(torch.equal(one[:, :2], other) for one, other in zip(second, was, strict=True))


def test_who_edits_what_was_returned_does_not_edit_the_cache():
    cache, steps = KeyValueCache(4), [numbers(2, 1, 3, seed=seed) for seed in range(4)]
    for place, step in enumerate(steps):
        keys, values = cache.append(step, -step)
        assert torch.equal(keys, torch.cat(steps[: place + 1], dim=1)) and torch.equal(values, -keys)
        keys.zero_()
        values.add_(1)


def test_a_refused_append_leaves_the_cache_as_it_was():
    cache, step = KeyValueCache(3), numbers(2, 2, 4)
    with pytest.raises(ValueError, match="holds 3 positions, these would be 4"):
        cache.append(numbers(2, 4, 4), numbers(2, 4, 4))
    cache.append(step, step)
    for wrong in (step, step[:1], step[..., :2]):
        with pytest.raises(ValueError):
            cache.append(wrong, wrong)
    with pytest.raises(TypeError, match="dtype"):
        cache.append(step[:, :1].float(), step[:, :1].float())
    keys, _ = cache.append(step[:, :1], step[:, :1])
    assert torch.equal(keys, torch.cat([step, step[:, :1]], dim=1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (1, 2, 3)])
def test_every_dtype_and_any_leading_axes_are_kept(dtype, lead):
    cache = KeyValueCache(4)
    for length in (1, 3):
        keys, values = cache.append(numbers(*lead, length, 3).to(dtype), numbers(*lead, length, 2).to(dtype))
    assert keys.shape == (*lead, 4, 3) and values.shape == (*lead, 4, 2)
    assert keys.dtype == values.dtype == dtype


def test_two_caches_share_nothing():
    one, other = KeyValueCache(2), KeyValueCache(2)
    one.append(numbers(1, 2, 3), numbers(1, 2, 3))
    assert other.append(numbers(1, 1, 3), numbers(1, 1, 3))[0].shape == (1, 1, 3)


def test_the_length_is_what_the_cache_holds():
    cache = KeyValueCache(5)
    assert cache.length == 0
    for length, total in ((2, 2), (0, 2), (3, 5)):
        cache.append(numbers(2, length, 3), numbers(2, length, 4))
        assert cache.length == total
    with pytest.raises(ValueError):
        cache.append(numbers(2, 1, 3), numbers(2, 1, 4))
    assert cache.length == 5
