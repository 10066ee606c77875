"""Proves loss, probabilities and generation of the reference: against torch, a slow version, a plain loop, statistics.

Tolerance: 1e-12 where two float64 computations are compared.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from attention.decoder import LanguageModel, generate, next_token_loss, next_token_probabilities

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


# Generation


class Spelling(nn.Module):
    """Logits that depend on the whole text so far and on the mode, and the modes of its calls."""

    def __init__(self, vocab=5):
        super().__init__()
        self.table = nn.Parameter(2 * numbers(vocab, vocab, seed=3))
        self.part = nn.Dropout(0.5).eval()
        self.calls = []

    def forward(self, tokens):
        self.calls.append((tuple(tokens.shape), self.training, torch.is_grad_enabled()))
        places = torch.arange(1, tokens.shape[1] + 1)
        states = (tokens * places).cumsum(dim=1) % len(self.table)
        return self.table[states] * (-1 if self.training else 1)


def by_a_plain_loop(model, prompt, count, end_id=None):
    rows = []
    for row in prompt.tolist():
        for _ in range(count):
            if end_id is not None and end_id in row[prompt.shape[1] :]:
                row.append(end_id)
            else:
                row.append(int(model(torch.tensor([row]))[0, -1].argmax()))
        rows.append(row)
    while end_id is not None and len(rows[0]) > prompt.shape[1] + 1 and all(row[-2:] == [end_id] * 2 for row in rows):
        if not all(end_id in row[prompt.shape[1] : -1] for row in rows):
            break
        rows = [row[:-1] for row in rows]
    return torch.tensor(rows)


@pytest.mark.parametrize("end_id", [None, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_greedy_text_is_that_of_a_plain_loop(seed, end_id):
    model, prompt = Spelling().eval(), ids(3, 4, seed=seed)
    with torch.no_grad():
        expected = by_a_plain_loop(model, prompt, 9, end_id)
    assert torch.equal(generate(model, prompt, 9, end_id=end_id), expected)


def test_rows_that_have_ended_are_filled_and_it_stops_when_all_have():
    texts = torch.tensor([[1, 2, 0, 3, 3], [1, 3, 3, 0, 3]])
    calls = []

    def model(tokens):
        calls.append(tokens.shape[1])
        return F.one_hot(texts[:, tokens.shape[1] - 1 : tokens.shape[1]], 4).float()

    prompt = torch.tensor([[0], [0]])  # an end_id in the prompt does not count
    found = generate(model, prompt, 5, end_id=0)
    assert found.tolist() == [[0, 1, 2, 0, 0], [0, 1, 3, 3, 0]] and calls == [1, 2, 3, 4]
    assert generate(model, prompt, 2, end_id=0).tolist() == [[0, 1, 2], [0, 1, 3]]


@pytest.mark.parametrize("more", [{}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.7}, {"top_k": 3, "top_p": 0.6}])
def test_samples_are_as_frequent_as_the_probabilities_say(more):
    model, count = Spelling().eval(), 20_000
    prompt = torch.tensor([[1, 2]]).expand(count, 2)
    more = {"temperature": 1.0} | more
    found = generate(model, prompt, 1, **more, generator=torch.Generator().manual_seed(0))[:, -1]
    expected = next_token_probabilities(model(prompt[:1])[0, -1].detach(), **more)
    close(found.bincount(minlength=5) / count, expected.float(), 4 * 0.5 / count**0.5)  # four standard deviations


def test_each_step_samples_given_what_was_sampled_before():
    model, count = Spelling().eval(), 20_000
    found = generate(model, ids(1, 2).expand(count, 2), 2, 1.0, generator=torch.Generator().manual_seed(0))
    first = found[:, 2] == found[0, 2]
    expected = next_token_probabilities(model(found[:1, :3])[0, -1].detach())
    shares = found[first, 3].bincount(minlength=5) / first.sum()
    close(shares, expected.float(), 4 * 0.5 / int(first.sum()) ** 0.5)


def test_the_generator_is_the_only_source_of_chance():
    model, prompt = Spelling(), ids(3, 2)
    state = torch.random.get_rng_state()
    first, second = (generate(model, prompt, 12, 2.0, generator=torch.Generator().manual_seed(seed)) for seed in (5, 5))
    assert torch.equal(first, second)
    other = generate(model, prompt, 12, 2.0, generator=torch.Generator().manual_seed(6))
    assert not torch.equal(first, other)
    generate(model, prompt, 3)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("training", [True, False])
def test_it_runs_in_evaluation_without_gradients_and_restores_each_part(training):
    model = Spelling().train(training)
    model.part.eval()
    generate(model, ids(2, 3), 2)
    assert model.calls == [((2, 3), False, False), ((2, 4), False, False)]
    assert model.training is training and model.part.training is False and torch.is_grad_enabled()


def test_the_mode_is_restored_where_the_model_fails():
    model = LanguageModel(5, 4, 1, 4, 1, max_length=4).train()
    with pytest.raises(ValueError, match="max_length = 4"):
        generate(model, ids(1, 3), 3)
    assert all(part.training for part in model.modules()) and torch.is_grad_enabled()
    assert generate(model, ids(1, 3), 2).shape == (1, 5)  # the last token is not read


def test_with_caches_fed_the_newest_tokens_it_writes_the_same_text():
    torch.manual_seed(0)
    model = LanguageModel(5, 8, 2, 8, 2, max_length=16).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    caches, lengths = model.new_caches(), []

    def newest_alone(tokens):
        tokens = tokens[:, caches[0].length :]
        lengths.append(tokens.shape[1])
        return model(tokens, caches)

    prompt = ids(2, 4)
    assert torch.equal(generate(newest_alone, prompt, 8), generate(model, prompt, 8))
    assert lengths == [4] + [1] * 7


def test_nothing_new_is_the_prompt_and_empty_batches_are_answered():
    model, prompt = Spelling(), ids(3, 2)
    assert torch.equal(generate(model, prompt, 0), prompt)
    assert generate(model, prompt[:0], 2).shape[0] == 0
    assert generate(model, prompt[:0], 2, temperature=1.0).shape == (0, 4)
    kept = prompt.clone()
    assert generate(model, prompt.int(), 3).dtype == torch.int32
    assert torch.equal(prompt, kept)


def test_prompts_that_do_not_fit_are_refused_in_a_sentence():
    model, prompt = Spelling(), ids(2, 3)
    for arguments, kind, text in (
        ((prompt[:, :0], 2), ValueError, "at least one token"),
        ((prompt[0], 2), ValueError, "2 axes"),
        ((prompt.float(), 2), TypeError, "integer dtype"),
        (([[1, 2]], 2), TypeError, "must be an integer tensor"),
        ((prompt, -1), ValueError, "max_new_tokens must be at least 0"),
        ((prompt, 2.0), TypeError, "max_new_tokens must be an int"),
        ((prompt, 2, 0.0, None, None, -1), ValueError, "end_id must be at least 0"),
    ):
        with pytest.raises(kind, match=text):
            generate(model, *arguments)


@pytest.mark.parametrize(
    ("model", "kind", "text"),
    [
        (lambda tokens: numbers(2, 5), ValueError, r"logits \(B, L, V\), B = 2 as in the prompt, got shape \(2, 5\)"),
        (lambda tokens: numbers(3), ValueError, r"got shape \(3,\); .*the last axis"),
        (lambda tokens: numbers(tokens.shape[1], 2, 5), ValueError, r"got shape \(3, 2, 5\)"),
        (lambda tokens: numbers(2, 0, 5), ValueError, r"got shape \(2, 0, 5\)"),
        (lambda tokens: numbers(2, 3, 0), ValueError, r"got shape \(2, 3, 0\)"),
        (lambda tokens: (numbers(2, 3, 5), None), TypeError, "the model must return one tensor of logits, got tuple"),
        (lambda tokens: tokens, TypeError, "the model's logits must have a floating-point dtype, got torch.int64"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"temperature": 1.0}, {"end_id": 0}])
def test_a_model_that_returns_no_logits_is_refused_in_a_sentence(model, kind, text, more):
    with pytest.raises(kind, match=text):
        generate(model, ids(2, 3), 2, **more)
