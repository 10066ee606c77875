"""Proves loss and probabilities of the reference: against torch and a slow version.

Tolerance: 1e-12 where two float64 computations are compared.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from attention.decoder import generate, next_token_loss, next_token_probabilities

pytestmark = pytest.mark.proof()
bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)


def close(got, expected, tolerance=1e-12):
    torch.testing.assert_close(got, expected, rtol=0, atol=tolerance)


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def ids(*shape, seed=0, high=5):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed))


# The loss


@pytest.mark.parametrize("sizes", [(2, 6, 5), (1, 2, 3), (4, 4, 4), (3, 5, 1)], ids=str)
def test_the_loss_is_torchs_cross_entropy_of_the_shifted_targets(sizes):
    ours, theirs = (numbers(*sizes).requires_grad_() for _ in "ab")
    tokens = ids(*sizes[:2], high=sizes[2])
    found = next_token_loss(ours, tokens)
    expected = F.cross_entropy(theirs[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    close(found, expected)
    assert torch.autograd.gradcheck(lambda logits: next_token_loss(logits, tokens), ours)
    found.backward()
    expected.backward()
    close(ours.grad, theirs.grad)


@bounded
@given(seed=st.integers(0, 999), batch=st.integers(1, 3), length=st.integers(1, 5))
def test_the_mask_of_the_target_decides(seed, batch, length):
    logits, tokens = numbers(batch, length, 4, seed=seed).requires_grad_(), ids(batch, length, seed=seed, high=4)
    mask = ids(batch, length, seed=seed + 1, high=2).bool()
    labels = tokens.masked_fill(~mask, -100)[:, 1:]
    found = next_token_loss(logits, tokens, mask)
    if (labels == -100).all():
        assert found.item() == 0
        found.backward()
        assert (logits.grad == 0).all()
    else:
        close(found, F.cross_entropy(logits[:, :-1].flatten(0, 1), labels.flatten()))


def test_what_stands_at_padding_has_no_influence_not_even_nan():
    logits, tokens = numbers(2, 4, 5), ids(2, 4)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    expected = next_token_loss(logits, tokens, mask)
    logits[1, 1:] = math.nan
    logits[0, 3] = math.inf  # the last logits predict nothing
    logits.requires_grad_()
    found = next_token_loss(logits, tokens, mask)
    close(found, expected)
    found.backward()
    assert logits.grad.isfinite().all()


@pytest.mark.parametrize("sizes", [(2, 1, 5), (2, 0, 5), (0, 4, 5)], ids=str)
def test_without_a_target_the_loss_is_zero_with_zero_gradients(sizes):
    logits = numbers(*sizes).requires_grad_()
    loss = next_token_loss(logits, ids(*sizes[:2]))
    loss.backward()
    assert loss.shape == () and loss.item() == 0 and (logits.grad == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_the_loss_keeps_the_dtype_and_is_rounded_once(dtype):
    logits, tokens = (20 * numbers(3, 40, 50)).to(dtype), ids(3, 40, high=50)
    found, exact = next_token_loss(logits, tokens), next_token_loss(logits.double(), tokens)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), exact, rtol=torch.finfo(dtype).eps, atol=0)


def test_the_loss_can_be_mapped_and_compiled():
    logits, tokens = numbers(3, 2, 4, 5), ids(3, 2, 4)
    mask = ids(3, 2, 4, seed=2, high=2).bool()
    close(
        torch.vmap(next_token_loss)(logits, tokens, mask),
        torch.stack([next_token_loss(*one) for one in zip(logits, tokens, mask, strict=True)]),
    )
    torch._dynamo.reset()
    compiled = torch.compile(next_token_loss, backend="aot_eager", fullgraph=True)
    close(compiled(logits[0], tokens[0], mask[0]), next_token_loss(logits[0], tokens[0], mask[0]))


# The probabilities


def slowly(logits, temperature, top_k, top_p):
    """The definition for one list of logits, in Python: pairs (probability, place), the most probable first."""
    order = sorted(range(len(logits)), key=lambda place: -logits[place])
    if temperature == 0:
        return {order[0]: 1.0}
    largest = max(logits)
    weights = [(math.exp((logits[place] - largest) / temperature), place) for place in order]
    if top_k is not None:
        weights = weights[:top_k]
    total = math.fsum(weight for weight, _ in weights)
    weights = [(weight / total, place) for weight, place in weights]
    if top_p is not None and top_p < 1:  # only all together reach 1, though a rounded sum may do so earlier
        kept, reached = [], 0.0
        for weight, place in weights:
            kept.append((weight, place))
            reached += weight
            if reached >= top_p:
                break
        total = math.fsum(weight for weight, _ in kept)
        weights = [(weight / total, place) for weight, place in kept]
    return {place: weight for weight, place in weights}


settings_of_sampling = {
    "temperature": st.sampled_from([0, 0.1, 0.7, 1, 1.0, 2.5]),
    "top_k": st.sampled_from([None, 1, 2, 3, 7, 50]),
    "top_p": st.sampled_from([None, 0.05, 0.3, 0.611, 0.87, 0.9731, 1.0, 1]),
}


@bounded
@given(seed=st.integers(0, 9999), size=st.integers(1, 8), tied=st.booleans(), **settings_of_sampling)
def test_probabilities_are_those_of_the_slow_version(seed, size, tied, temperature, top_k, top_p):
    logits = numbers(3, size, seed=seed)
    if tied:
        logits = logits.round()  # ties may be broken anyhow: the probabilities are then the same, in some order
    found = next_token_probabilities(logits, temperature, top_k, top_p)
    for row, given_row in zip(found, logits.tolist(), strict=True):
        expected = slowly(given_row, temperature, top_k, top_p)
        if tied:
            values = sorted(expected.values(), reverse=True) + [0.0] * (size - len(expected))
            close(row.sort(descending=True).values, torch.tensor(values, dtype=row.dtype))
            kept = [value for value, weight in zip(given_row, row.tolist(), strict=True) if weight > 0]
            assert sorted(kept) == sorted(given_row[place] for place in expected)
        else:
            close(row, torch.tensor([expected.get(place, 0.0) for place in range(size)], dtype=row.dtype))


def test_exactly_top_k_are_kept_where_logits_are_tied():
    for top_k in range(1, 6):
        found = next_token_probabilities(torch.zeros(3, 5), top_k=top_k)
        assert ((found > 0).sum(dim=-1) == top_k).all()
        close(found.sum(dim=-1), torch.ones(3), 1e-6)


def test_the_token_that_crosses_top_p_is_kept_and_top_k_comes_first():
    logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    kept = {0.4: 1, 0.5: 1, 0.51: 2, 0.75: 2, 0.76: 3, 0.875: 3, 0.9: 4, 1.0: 4}
    assert {p: int((next_token_probabilities(logits, top_p=p) > 0).sum()) for p in kept} == kept
    close(next_token_probabilities(logits, top_k=2, top_p=0.6), torch.tensor([1.0, 0, 0, 0]), 1e-6)  # 2/3 ≥ 0.6


def test_ids_of_logit_minus_infinity_are_never_kept_and_a_row_of_them_is_zero():
    logits = torch.tensor([[0.0, -math.inf, 1.0], [-math.inf] * 3])
    for settings_ in ({}, {"temperature": 0}, {"top_k": 2}, {"top_p": 0.99}, {"temperature": 0.01, "top_p": 0.5}):
        found = next_token_probabilities(logits, **settings_)
        assert found[0, 1] == 0 and found[0].sum().item() == pytest.approx(1) and (found[1] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_every_dtype_is_kept_and_small_temperatures_do_not_overflow(dtype):
    logits = (100 * numbers(4, 7)).to(dtype)
    for temperature in (0, 1e-4, 1.0, 1e4):
        found = next_token_probabilities(logits, temperature, 5, 0.9)
        assert found.dtype == dtype and found.isfinite().all()
        close(found.double().sum(dim=-1), torch.ones(4, dtype=torch.float64), 4 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(5,), (2, 5), (2, 3, 4, 5), (0, 5), (2, 0, 5)], ids=str)
def test_any_leading_axes_are_kept_empty_ones_too(shape):
    assert next_token_probabilities(numbers(*shape), 0.5, 3, 0.9).shape == shape


def test_gradients_are_those_of_the_kept_logits():
    logits = numbers(2, 6).requires_grad_()
    for more in ({}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.8}, {"top_k": 4, "top_p": 0.6}):
        assert torch.autograd.gradcheck(lambda one, more=more: next_token_probabilities(one, **more), logits)


def test_probabilities_can_be_mapped_and_compiled():
    logits = numbers(4, 3, 6)
    for one in (lambda x: next_token_probabilities(x, 0.8, 4, 0.7), lambda x: next_token_probabilities(x, 0)):
        close(torch.vmap(one)(logits), one(logits))
        torch._dynamo.reset()
        close(torch.compile(one, backend="aot_eager", fullgraph=True)(logits), one(logits))


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"temperature": -0.1}, ValueError),
        ({"temperature": math.nan}, ValueError),
        ({"temperature": math.inf}, ValueError),
        ({"temperature": None}, TypeError),
        ({"temperature": "hot"}, TypeError),
        ({"top_k": 0}, ValueError),
        ({"top_k": 2.0}, TypeError),
        ({"top_p": 0.0}, ValueError),
        ({"top_p": 1.01}, ValueError),
        ({"top_p": math.nan}, ValueError),
        ({"top_p": True}, TypeError),
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused_in_a_sentence_by_both(more, kind):
    (name,) = more
    for use in (
        lambda: next_token_probabilities(numbers(3), **more),
        lambda: generate(lambda tokens: numbers(*tokens.shape, 3), ids(1, 2, high=3), 0, **more),
    ):
        with pytest.raises(kind, match=f"{name} must be"):
            use()


def test_logits_and_targets_that_do_not_fit_are_refused_in_a_sentence():
    for logits in (numbers(2, 0), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="logits must be"):
            next_token_probabilities(logits)
    for logits in (torch.zeros(2, 3, dtype=torch.long), [[0.5]]):
        with pytest.raises(TypeError, match="logits must"):
            next_token_probabilities(logits)
    logits, tokens = numbers(2, 3, 4), ids(2, 3, high=4)
    for arguments, kind, text in (
        ((logits, tokens[:, 1:]), ValueError, r"token_ids must be \(B, L\)"),
        ((logits[0], tokens), ValueError, "logits must be"),
        ((logits, tokens + 2), ValueError, "between 0 and 3"),
        ((logits, tokens.float()), TypeError, "integer dtype"),
        ((logits, tokens, torch.ones(2, 1, dtype=torch.bool)), ValueError, "key_mask must be"),
        ((logits, tokens, torch.ones(2, 3)), TypeError, "boolean"),
        ((logits.long(), tokens), TypeError, "floating-point"),
    ):
        with pytest.raises(kind, match=text):
            next_token_loss(*arguments)
