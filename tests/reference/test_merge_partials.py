"""Proves the merge of two parts of attention: against attention over all keys, in any order, with empty parts.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import functools
import itertools

import pytest
import torch

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import blockwise_attention, merge_partials


def close(got, expected, tolerance=1e-12):
    torch.testing.assert_close(got, expected, rtol=0, atol=tolerance)


def partial(query, key, value):
    """The triple of attention over these keys, worked out from its definition; no key is an empty part."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if not key.shape[-2]:
        return scores.new_full(scores.shape[:-1], -torch.inf), scores.sum(-1), scores @ value
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    return scores.amax(-1), weights.sum(-1), weights @ value


def output(triple):
    return triple[2] / triple[1].unsqueeze(-1)


def inputs(keys=11):
    generator = torch.Generator().manual_seed(0)
    shapes = [(2, 3, 5, 4), (2, 3, keys, 4), (2, 3, keys, 6)]
    return [3 * torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("cuts", [(4,), (1, 10), (0, 4, 4, 9), (2, 3, 5, 7, 11)], ids=str)
def test_parts_merged_in_any_order_are_attention_over_all_keys(cuts):
    query, key, value = inputs()
    edges = [0, *cuts, 11]
    parts = [partial(query, key[..., a:b, :], value[..., a:b, :]) for a, b in itertools.pairwise(edges)]
    whole = partial(query, key, value)
    tree = (
        functools.reduce(merge_partials, parts[: len(parts) // 2]),
        functools.reduce(merge_partials, parts[len(parts) // 2 :]),
    )
    for merged in (
        functools.reduce(merge_partials, parts),
        functools.reduce(merge_partials, reversed(parts)),
        merge_partials(*tree),
    ):
        for got, expected in zip(merged, whole, strict=True):
            close(got, expected, 1e-11)
        close(output(merged), scaled_dot_product_attention(query, key, value)[0])
        close(output(merged), blockwise_attention(query, key, value, 2))


def test_the_gradients_are_those_of_attention_over_all_keys():
    ours, theirs = ([x.requires_grad_() for x in inputs()] for _ in range(2))
    query, key, value = ours
    parts = [partial(query, key[..., some, :], value[..., some, :]) for some in (slice(7), slice(7, None))]
    output(merge_partials(*parts)).square().sum().backward()
    scaled_dot_product_attention(*theirs)[0].square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad, 1e-10)


def test_the_gradients_are_right_to_finite_differences():
    triples = [[x.requires_grad_() for x in partial(*(x[0] for x in inputs()))] for _ in range(2)]
    triples[1][0] = (triples[1][0].detach() + 0.3).requires_grad_()  # no tie, at which a maximum has a kink
    assert torch.autograd.gradcheck(lambda *x: merge_partials(x[:3], x[3:]), [*triples[0], *triples[1]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_parts_without_a_key_change_nothing_and_make_no_nan(dtype):
    empty = [torch.full((3,), -torch.inf), torch.zeros(3), torch.zeros(3, 2)]
    some = [torch.tensor([1.5, -1e4, 2.0]), torch.tensor([1.0, 2.0, 3.0]), torch.ones(3, 2)]
    for first, second, expected in ((empty, some, some), (some, empty, some), (empty, empty, empty)):
        first, second = ([x.to(dtype).requires_grad_() for x in part] for part in (first, second))
        merged = merge_partials(first, second)
        for got, part in zip(merged, expected, strict=True):
            assert got.dtype == dtype and torch.equal(got, part.to(dtype))
        with torch.autograd.set_detect_anomaly(True, check_nan=True):
            (merged[1].sum() + merged[2].square().sum()).backward()
        assert all(x.grad is None or x.grad.isfinite().all() for x in (*first, *second))


GOOD = (torch.zeros(3), torch.ones(3), torch.ones(3, 2))


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ((torch.zeros(3), torch.ones(3)), TypeError),
        (torch.ones(3), TypeError),
        ((torch.zeros(3), torch.ones(3), [1.0]), TypeError),
        ((torch.zeros(3), torch.ones(3), torch.ones(3, 2).double()), TypeError),
        (tuple(x.double() for x in GOOD), TypeError),
        ((torch.zeros(3), torch.ones(3), torch.ones(3, 2).long()), TypeError),
        ((torch.zeros(3), torch.ones(4), torch.ones(3, 2)), ValueError),
        ((torch.zeros(3), torch.ones(3), torch.ones(2, 3)), ValueError),
        ((torch.zeros(3, 2), torch.ones(3, 2), torch.ones(3, 2)), ValueError),
        ((torch.zeros(4), torch.ones(4), torch.ones(4, 2)), ValueError),
        ((torch.zeros(3), torch.ones(3), torch.ones(3, 4)), ValueError),
        ((torch.tensor(0.0), torch.tensor(1.0), torch.tensor(1.0)), ValueError),
    ],
    ids=range(12),
)
def test_what_does_not_fit_is_refused(bad, error):
    for arguments in ((GOOD, bad), (bad, GOOD)):
        with pytest.raises(error, match=r"first|second"):
            merge_partials(*arguments)
