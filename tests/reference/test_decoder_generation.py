"""Proves generation of the reference: against a plain loop over the whole text, and by statistics.

Samples are compared with the probabilities at a tolerance of their standard error.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention.decoder import LanguageModel, generate, next_token_probabilities

from .test_decoder_sampling import close, ids, numbers

pytestmark = pytest.mark.proof()


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
