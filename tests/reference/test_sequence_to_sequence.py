"""Proves the reference's `attend`, `local_attention_weights` and `hard_attention` against loops, torch and enumeration.

Tolerances: 1e-12 where two float64 computations are compared; in narrower dtypes, sixteen rounding units of the dtype,
since scores, softmax and sum each round a few times.
"""

import functools
import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from attention.dot_product import scaled_dot_product_attention
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attention.sequence_to_sequence import attend, hard_attention, local_attention_weights

pytestmark = pytest.mark.proof()
EXACT = 1e-12
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=tolerance, atol=tolerance)


def some_mask(*shape, seed=5):
    """A mask with a row that allows nothing."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) > 0.4
    mask[..., 0, :] = False
    return mask


# attend


def bound_scores(d_q, d_k, dtype=torch.float64):
    """Every score with its weights, those of one width where it needs that."""
    w1, w2, weight = drawn(7, d_q + d_k, seed=1), drawn(7, seed=2), drawn(d_q, d_k, seed=3)
    found = {
        "additive": lambda query, key: additive_scores(query, key, w1.to(dtype), w2.to(dtype)),
        "bilinear": lambda query, key: bilinear_scores(query, key, weight.to(dtype)),
    }
    return found | ({"dot": dot_scores, "scaled": scaled_dot_scores} if d_q == d_k else {})


@pytest.mark.parametrize("widths", [(4, 4), (4, 3)])
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_attend_is_the_score_then_a_softmax_then_the_values(widths, lead):
    query, keys, values = drawn(*lead, 5, widths[0]), drawn(*lead, 6, widths[1], seed=4), drawn(*lead, 6, 2, seed=6)
    for score in bound_scores(*widths).values():
        context, weights = attend(query, keys, values, score)
        expected = torch.softmax(score(query, keys), dim=-1)
        close(weights, expected)
        close(context, torch.einsum("...ls,...sd->...ld", expected, values))


@pytest.mark.parametrize("kind", ["additive", "bilinear", "dot", "scaled"])
def test_attend_equals_a_loop_over_queries_and_allowed_keys(kind):
    query, keys, values, mask = drawn(4, 3), drawn(5, 3, seed=1), drawn(5, 2, seed=2), some_mask(4, 5)
    score = bound_scores(3, 3)[kind]
    context, weights = attend(query, keys, values, score, mask)
    for i, j in itertools.product(range(4), range(5)):
        allowed = [s for s in range(5) if mask[i, s]]
        exponentials = {s: math.exp(score(query[i : i + 1], keys[s : s + 1]).item()) for s in allowed}
        expected = {s: value / sum(exponentials.values()) for s, value in exponentials.items()}
        close(weights[i, j], expected.get(j, 0.0))
        close(context[i], sum((expected[s] * values[s] for s in allowed), torch.zeros(2).double()))


@pytest.mark.parametrize("masked", [False, True])
def test_attend_with_the_scaled_score_is_scaled_dot_product_attention_and_torchs(masked):
    query, keys, values = drawn(2, 3, 5, 4), drawn(2, 3, 6, 4, seed=1), drawn(2, 3, 6, 7, seed=2)
    mask = some_mask(2, 1, 5, 6) if masked else None
    context, weights = attend(query, keys, values, scaled_dot_scores, mask)
    expected, expected_weights = scaled_dot_product_attention(query, keys, values, mask)
    close(context, expected)
    close(weights, expected_weights)
    seen = slice(1, None) if masked else slice(None)  # torch's own gives NaN for a query that may attend to nothing
    close(context[..., seen, :], F.scaled_dot_product_attention(query, keys, values, mask)[..., seen, :])


def test_attend_broadcasts_leading_dimensions():
    query, keys, values = drawn(3, 1, 4, 5), drawn(2, 6, 5, seed=1), drawn(2, 6, 7, seed=2)
    context, weights = attend(query, keys, values, dot_scores, some_mask(3, 1, 4, 6))
    assert context.shape == (3, 2, 4, 7) and weights.shape == (3, 2, 4, 6)
    close(context[2, 1], attend(query[2, 0], keys[1], values[1], dot_scores, some_mask(3, 1, 4, 6)[2, 0])[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["additive", "bilinear", "dot", "scaled"])
def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients_in_every_dtype(dtype, kind):
    given = [
        (drawn(*shape, seed=seed) / 2).to(dtype).requires_grad_() for seed, shape in enumerate([(4, 3), (5, 3), (5, 2)])
    ]
    context, weights = attend(*given, bound_scores(3, 3, dtype)[kind], some_mask(4, 5))
    assert context.dtype == weights.dtype == dtype
    assert not context[0].any() and not weights[0].any()
    wide = [one.detach().double() for one in given]
    unit = torch.finfo(dtype).eps
    close(context.detach().double(), attend(*wide, bound_scores(3, 3)[kind], some_mask(4, 5))[0], 16 * unit)
    (context.sum() + weights.square().sum()).backward()
    assert all(one.grad.isfinite().all() for one in given)


def test_attends_gradients_reach_everything_the_scores_weights_included():
    def through(query, keys, values, w1, w2):
        return attend(query, keys, values, lambda q, k: additive_scores(q, k, w1, w2), some_mask(3, 4))

    shapes = [(3, 2), (4, 3), (4, 2), (4, 5), (4,)]
    given = [drawn(*shape, seed=seed).requires_grad_() for seed, shape in enumerate(shapes)]
    assert torch.autograd.gradcheck(through, given)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"values": torch.ones(4, 2)}, ValueError),
        ({"query": torch.ones(3)}, ValueError),
        ({"query": torch.ones(3, 4).long()}, TypeError),
        ({"keys": torch.ones(5, 4).double()}, TypeError),
        ({"mask": torch.ones(3, 5)}, TypeError),
        ({"mask": torch.ones(5, 3).bool()}, ValueError),
        ({"mask": torch.ones(2, 3, 5).bool()}, ValueError),
        ({"keys": torch.ones(2, 5, 4), "query": torch.ones(3, 3, 4)}, ValueError),
    ],
)
def test_attend_refuses_what_does_not_fit(changes, error):
    given = {"query": torch.ones(3, 4), "keys": torch.ones(5, 4), "values": torch.ones(5, 2), "mask": None} | changes
    with pytest.raises(error):
        attend(**given, score=dot_scores)


# local_attention_weights


def by_a_loop(scores, center, window):
    """One row, in Python's own numbers."""
    near = [s for s in range(len(scores)) if abs(s - center) <= window and scores[s] > -math.inf]
    if not near:
        return [0.0] * len(scores)
    largest = max(scores[s] for s in near)
    total = sum(math.exp(scores[s] - largest) for s in near)
    deviation = window / 2
    return [
        math.exp(scores[s] - largest) / total * math.exp(-((s - center) ** 2) / (2 * deviation**2))
        if s in near
        else 0.0
        for s in range(len(scores))
    ]


@bounded
@given(
    st.lists(st.one_of(st.floats(-30, 30), st.just(-math.inf)), min_size=1, max_size=9),
    st.floats(-3.0, 12.0),
    st.floats(0.1, 8.0),
)
def test_local_weights_equal_a_loop(scores, center, window):
    rows = [torch.tensor(one, dtype=torch.float64) for one in (scores, center)]
    got = local_attention_weights(*rows, window)
    close(got, by_a_loop(scores, center, window))
    assert got.sum() <= 1 + EXACT


def test_five_local_weights_worked_by_hand():
    # Equal scores, p = 2, D = 2: all five positions are inside, two of them on the edge, two deviations away.
    got = local_attention_weights(torch.zeros(5).double(), torch.tensor(2.0).double(), 2)
    close(got, [math.exp(-2) / 5, math.exp(-0.5) / 5, 0.2, math.exp(-0.5) / 5, math.exp(-2) / 5])


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (7,)])
def test_rows_of_local_weights_do_not_depend_on_each_other(lead):
    scores, center = drawn(*lead, 7), 3 + 3 * drawn(*lead, seed=1)
    got = local_attention_weights(scores, center, 1.5).reshape(-1, 7)
    for row, own, middle in zip(got, scores.reshape(-1, 7), center.reshape(-1), strict=True):
        close(row, by_a_loop(own.tolist(), middle.item(), 1.5))


def test_a_window_far_wider_than_the_sentence_gives_the_softmax():
    scores = drawn(4, 6)
    # The Gaussian's exponent is -2 (6 / 1e6)² at most, 7.2e-11.
    close(local_attention_weights(scores, torch.full((4,), 2.3).double(), 1e6), torch.softmax(scores, -1), 1e-10)


def test_gradients_reach_scores_and_center_also_beside_an_empty_window():
    scores, center = drawn(4, 6).requires_grad_(), torch.tensor([2.3, 0.1, -4.0, 7.2]).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda s, c: local_attention_weights(s, c, 1.6), (scores, center))
    local_attention_weights(scores, center, 1.6).square().sum().backward()
    assert center.grad[0] != 0 and center.grad[2] == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_local_weights_keep_every_dtype(dtype):
    scores, center = drawn(3, 8, dtype=dtype), torch.tensor([2.25, -3.0, 6.5], dtype=dtype)
    got = local_attention_weights(scores, center, 1.5)
    assert got.dtype == dtype and not got[1].any()
    close(got.double(), local_attention_weights(scores.double(), center.double(), 1.5), 16 * torch.finfo(dtype).eps)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((torch.ones(3, 4), torch.ones(4), 1.0), ValueError),
        ((torch.ones(3, 4), torch.ones(3, 1), 1.0), ValueError),
        ((torch.tensor(1.0), torch.tensor(1.0), 1.0), ValueError),
        ((torch.ones(3, 4), torch.ones(3), 0.0), ValueError),
        ((torch.ones(3, 4), torch.ones(3), math.nan), ValueError),
        ((torch.ones(3, 4), torch.ones(3).long(), 1.0), TypeError),
        ((torch.ones(3, 4), torch.ones(3).double(), 1.0), TypeError),
    ],
)
def test_local_attention_refuses_what_does_not_fit(given, error):
    with pytest.raises(error):
        local_attention_weights(*given)


# hard_attention


def numbered(*shape):
    """Values (..., S, 1) that show the choice."""
    return torch.arange(shape[-1], dtype=torch.float64).expand(shape).unsqueeze(-1)


@pytest.mark.parametrize("scale", [0.0, 1.0, 2.0])
def test_choices_are_drawn_with_the_softmaxs_probabilities(scale):
    draws, choices = 20_000, 6
    scores = scale * drawn(choices)
    value, _ = hard_attention(scores.expand(draws, -1), numbered(draws, choices), torch.Generator().manual_seed(1))
    counts = torch.bincount(value.squeeze(-1).long(), minlength=choices)
    expected = draws * torch.softmax(scores, -1)
    assert expected.min() > 5
    # Chi-square with 5 degrees of freedom exceeds 40 with probability 1.5e-7.
    assert ((counts - expected) ** 2 / expected).sum() < 40


def test_rows_are_drawn_independently():
    draws = 20_000
    value, _ = hard_attention(torch.zeros(draws, 2, 2), numbered(draws, 2, 2).float(), torch.Generator().manual_seed(2))
    pairs = torch.bincount((2 * value[:, 0, 0] + value[:, 1, 0]).long(), minlength=4)
    # Chi-square with 3 degrees of freedom exceeds 35 with probability 1.2e-7.
    assert ((pairs - draws / 4) ** 2 / (draws / 4)).sum() < 35


def test_the_log_probability_is_that_of_the_choice_and_the_value_is_untouched():
    scores, values = drawn(50, 4), drawn(50, 4, 3, seed=1)
    value, log_probability = hard_attention(scores, values, torch.Generator().manual_seed(0))
    choice = (values == value.unsqueeze(1)).all(dim=-1).double().argmax(dim=-1)
    assert torch.equal(values[torch.arange(50), choice], value)
    close(log_probability, -F.cross_entropy(scores, choice, reduction="none"))


def gradients_of_every_choice(scores, values):
    """For each choice, found by drawing with one seed after the other, the gradient of its log-probability."""
    found = {}
    for seed in range(500):
        own = scores.clone().requires_grad_()
        value, log_probability = hard_attention(own, values, torch.Generator().manual_seed(seed))
        assert not value.requires_grad, "nothing passes through the sample"
        choice = int((values == value).all(dim=-1).nonzero())
        found[choice] = torch.autograd.grad(log_probability, own)[0]
        if len(found) == len(scores):
            return found
    raise AssertionError("some choice was never drawn")


def test_reinforce_is_on_average_the_gradient_of_the_expected_reward():
    scores, values = drawn(5), drawn(5, 2, seed=1)
    rewards = values.square().sum(dim=-1)
    weights = torch.softmax(scores, -1)
    gradients = gradients_of_every_choice(scores, values)
    expected = sum(weights[choice] * rewards[choice] * gradient for choice, gradient in gradients.items())
    own = scores.clone().requires_grad_()
    exact = torch.autograd.grad(torch.softmax(own, -1) @ rewards, own)[0]
    close(expected, exact)
    assert exact.abs().max() > 0.1, "the case is one only if there is something to learn"


def test_a_baseline_does_not_change_the_expected_gradient():
    scores, values = drawn(4), drawn(4, 2, seed=1)
    weights = torch.softmax(scores, -1)
    gradients = gradients_of_every_choice(scores, values)
    close(sum(weights[choice] * gradient for choice, gradient in gradients.items()), torch.zeros(4))


def test_the_values_gradient_reaches_the_one_that_was_drawn():
    values = drawn(3, 4, 2).requires_grad_()
    value, _ = hard_attention(drawn(3, 4, seed=1), values, torch.Generator().manual_seed(0))
    value.sum().backward()
    assert torch.equal(values.grad.sum(dim=(1, 2)), torch.full((3,), 2.0).double())
    assert torch.equal((values.grad * values).sum(dim=1), value)


def test_a_generator_is_used_and_torchs_own_left_alone():
    call = functools.partial(hard_attention, torch.zeros(100, 5), drawn(100, 5, 2, dtype=torch.float32))
    before = torch.get_rng_state()
    one, again, other = (call(torch.Generator().manual_seed(seed))[0] for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one, again) and not torch.equal(one, other)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        call()
        assert not torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_of_minus_infinity_give_zeros_and_finite_gradients_in_every_dtype(dtype):
    scores = torch.tensor([[-torch.inf] * 3, [-torch.inf, 2.0, -torch.inf], [0.5, -torch.inf, 1.0]], dtype=dtype)
    scores.requires_grad_()
    values = drawn(3, 3, 2, dtype=dtype).requires_grad_()
    for seed in range(20):
        value, log_probability = hard_attention(scores, values, torch.Generator().manual_seed(seed))
        assert value.dtype == log_probability.dtype == dtype
        assert not value[0].any() and log_probability[0] == 0
        assert torch.equal(value[1], values[1, 1]) and log_probability[1] == 0
        assert not torch.equal(value[2], values[2, 1])
        gradients = torch.autograd.grad(value.sum() + log_probability.sum(), (scores, values))
        assert all(one.isfinite().all() for one in gradients)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (0, 0), (2, 3, 0)], ids=str)
def test_without_a_position_nothing_is_drawn(shape):
    scores, values = torch.ones(shape).requires_grad_(), torch.ones(*shape, 2).requires_grad_()
    value, log_probability = hard_attention(scores, values)
    assert torch.equal(value, torch.zeros(*shape[:-1], 2)) and torch.equal(log_probability, torch.zeros(shape[:-1]))
    (value.sum() + log_probability.sum()).backward()
    assert scores.grad.shape == shape and values.grad.shape == (*shape, 2)


def test_scores_of_thousands_are_no_trouble():
    scores = torch.tensor([[3000.0, -3000.0], [-9000.0, -9001.0]]).double()
    value, log_probability = hard_attention(scores, numbered(2, 2), torch.Generator().manual_seed(0))
    assert value[0] == 0 and log_probability[0] == 0
    close(log_probability[1], -math.log1p(math.exp(-1.0)) - value[1, 0].item())


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((torch.ones(3, 4), torch.ones(3, 5, 2)), ValueError),
        ((torch.ones(3, 4), torch.ones(3, 4)), ValueError),
        ((torch.tensor(1.0), torch.ones(2)), ValueError),
        ((torch.ones(3, 4).long(), torch.ones(3, 4, 2)), TypeError),
        ((torch.ones(3, 4), torch.ones(3, 4, 2).double()), TypeError),
    ],
)
def test_hard_attention_refuses_what_does_not_fit(given, error):
    with pytest.raises(error):
        hard_attention(*given)
