"""The numbers by hand of chapter 10, read from its text and computed again, and what its cells define."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from attention import worked_example
from attention.decoder import DecoderLayer, LanguageModel, generate, next_token_loss, next_token_probabilities
from attention.encoder import layer_norm
from attention.worked_example import EXAMPLE

from .chapter10 import PAGE, as_printed, between, example, numbers, page_names

pytestmark = pytest.mark.proof(depends="book/chapters/10-decoder.md")


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    return page_names()


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# One token at a time


def test_the_table_of_queries_keys_and_values():
    rows = [numbers(line) for line in between("| token | query | key | value |\n", "\n\n").splitlines()[1:]]
    query, key, value = example()
    assert rows == [[t + 1, *query[t].tolist(), *key[t].tolist(), *value[t].tolist()] for t in range(3)]


@pytest.mark.parametrize("t", [1, 2])
def test_a_step_by_hand(t):
    query, key, value = example()
    text = between(f"**Step {t + 1}.**", "$$ " if t == 2 else "\n\n").partition("The scores are")[2]
    raw = (query[t] @ key[: t + 1].T).tolist()
    weights = (query[t] @ key[: t + 1].T / math.sqrt(3)).softmax(-1)
    written, count = numbers(text.partition("\n$$ (")[0]), t + 1
    assert written[:count] == raw
    assert as_printed(query[t] @ key[: t + 1].T / math.sqrt(3), written[count : 2 * count])
    assert as_printed(weights, written[2 * count : 3 * count])


def test_the_outputs_of_the_steps():
    query, key, value = example()
    for t, written in ((1, [1.9990, 7.9941, 0.0029]), (2, [1.9926, 7.4796, 0.7359])):
        assert as_printed((query[t] @ key[: t + 1].T / math.sqrt(3)).softmax(-1) @ value[: t + 1], written)
        assert "[" + ", ".join(f"{number:.4f}" for number in written) + "]" in PAGE


def test_the_sum_of_step_three_is_of_the_weights_and_values_that_stand_there():
    _, _, value = example()
    written = numbers(between("and the output is\n\n$$\n\\begin{aligned}\n", "\\end"))
    terms = torch.tensor(written[:12]).view(3, 4)
    assert terms[:, 1:].tolist() == value.tolist()
    assert torch.allclose(terms[:, 0] @ terms[:, 1:], torch.tensor(written[12:]), atol=1e-3)  # rounded weights


# Cross-attention


def memory() -> torch.Tensor:
    """The encoder layer of chapter 7 on the running example, (3, 4)."""
    weights = {name: torch.tensor(rows).double() for name, rows in EXAMPLE.items()}
    heads = []
    for suffix in ("", "2"):
        parts = [EXAMPLE[f"w_{part}{suffix}"] for part in ("query", "key", "value")]
        heads.append(torch.as_tensor(worked_example.self_attention(EXAMPLE["inputs"], *parts, scale=True)[0]))
    first = layer_norm(weights["inputs"] + torch.cat(heads, dim=-1) @ weights["w_output"])
    hidden = (first @ weights["w_ff1"] + weights["b_ff1"]).relu()
    return layer_norm(first + hidden @ weights["w_ff2"] + weights["b_ff2"])


def test_cross_attention_by_hand():
    rows = torch.tensor([numbers(line)[1:] for line in between("| $j$ | memory |", "\n\n").splitlines()[2:]]).double()
    w_key, w_value = (torch.tensor(EXAMPLE[name]).double() for name in ("w_key", "w_value"))
    assert as_printed(memory(), rows[:, :4].flatten().tolist())
    assert as_printed(memory() @ w_key, rows[:, 4:7].flatten().tolist())
    assert as_printed(memory() @ w_value, rows[:, 7:].flatten().tolist())
    written = numbers(between("so the scores are twice entry 1:", "\n\n"))
    scores = torch.tensor([2.0, 2.0, 2.0]).double() @ (memory() @ w_key).T
    weights = (scores / math.sqrt(3)).softmax(-1)
    wanted = torch.cat([scores, scores / math.sqrt(3), weights, weights @ memory() @ w_value])
    assert as_printed(wanted, written)
    assert torch.allclose((memory() @ w_key)[:, 1], -(memory() @ w_key)[:, 2])  # "entries 2 and 3 cancel"


# The layer and the loss


def test_the_layer_on_the_page_is_the_layer(page):
    torch.manual_seed(0)
    layer = DecoderLayer(8, 2, 32, cross_attention=True).eval()
    x, source = random(2, 5, 8), random(2, 7, 8, seed=1)
    with torch.no_grad():
        assert (page["decode"](layer, x, source) - layer(x, source)).abs().max() < 1e-5  # float32, values of order 1


def test_the_loss_on_the_page_is_cross_entropy_of_the_next_token(page):
    logits, ids = random(6, 10), torch.tensor([3, 1, 4, 1, 5, 9])
    wanted = F.cross_entropy(logits[:-1], ids[1:])
    assert torch.allclose(page["loss_by_hand"](logits, ids), wanted)
    assert torch.allclose(next_token_loss(logits[None], ids[None]), wanted)


def test_with_the_pages_cache_the_same_tokens_are_written(page):
    torch.manual_seed(0)
    model = LanguageModel(17, 16, 2, 32, 2, max_length=20, dropout=0.0).eval()
    lengths = []

    def watched(ids):
        logits = cached(ids)
        lengths.append(logits.shape[1])
        return logits

    cached, prompt = page["with_cache"](model), torch.tensor([[3, 1, 4]])
    assert torch.equal(generate(watched, prompt, 12), generate(model, prompt, 12))
    assert lengths == [3] + [1] * 11  # the prompt at once, then one token at a time


# Sampling


def test_the_cut_distributions_by_hand():
    text = between("By hand, with logits $[2, 1, 0]$:", "for $0.6652$ alone")
    plain, sharp, kept = (numbers(text)[start : start + 3] for start in (0, 4, 8))
    logits = torch.tensor([2.0, 1.0, 0.0])
    assert "$T = 0.5$" in text and "top-k 2" in text and "top-p 0.9" in text
    assert as_printed(next_token_probabilities(logits), plain)
    assert as_printed(next_token_probabilities(logits, temperature=0.5), sharp)
    assert as_printed(next_token_probabilities(logits, top_k=2), kept)
    assert as_printed(next_token_probabilities(logits, top_p=0.9), kept)


# Find the mistake


def test_a_copier_has_no_loss_without_the_shift():
    ids = torch.randint(10, (1, 50), generator=torch.Generator().manual_seed(1))
    copies = 10.0 * F.one_hot(ids, 10)
    assert F.cross_entropy(copies[0], ids[0]) < 0.01 and next_token_loss(copies, ids) > 2


def test_a_mask_aligned_to_the_start_shows_the_newest_query_the_oldest_key_alone():
    query, key, value = example()
    mask = torch.ones(1, 3, dtype=torch.bool).tril()
    scores = (query[2:] @ key.T / math.sqrt(3)).masked_fill(~mask, -math.inf)
    assert (scores.softmax(-1) @ value).tolist() == [[1, 2, 3]]


def test_a_temperature_after_the_softmax_changes_nothing():
    chances = random(10).softmax(-1)
    assert torch.allclose((chances / 0.5) / (chances / 0.5).sum(), chances)
    assert not torch.allclose(next_token_probabilities(random(10), temperature=0.5), chances)


def test_a_zero_key_takes_weight():
    query, key, value = example()
    padded = torch.cat([key[:1], torch.zeros(2, 3).double()])
    assert (query[0] @ padded.T).tolist() == [2, 0, 0]
    assert (query[0] @ padded.T / math.sqrt(3)).softmax(-1)[1:].min() > 0.1
