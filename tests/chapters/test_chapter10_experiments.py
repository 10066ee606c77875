"""The experiments of chapter 10: their tasks and baselines, and that the page states what the results file holds."""

from __future__ import annotations

import math
import re
from collections import Counter
from statistics import mean

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import translation
from attention.decoder import generate
from docstrings import Docstring
from studies import decoding, induction, language, ngrams, translators
from studies.decoder import PARTS, RECORD
from studies.recording import spread

from .chapter10 import PAGE

pytestmark = pytest.mark.proof(depends=["book/chapters/10-decoder.md", "book/studies/results/decoder.json"])


# n-grams


def test_an_interpolated_bigram_is_the_formula_written_with_counters():
    train, asked, discount = "abracadabra abracadabra", "cabra d", 0.75
    symbols = sorted({*train, *asked})
    ids = {symbol: torch.tensor([symbols.index(c) for c in text]) for symbol, text in (("t", train), ("a", asked))}
    bits = ngrams.bits_of_ngrams(ids["t"], ids["a"], 2, discount, len(symbols))
    alone, pairs = Counter(train), Counter(zip(train, train[1:], strict=False))
    before = Counter(train[:-1])

    def one(c: str) -> float:
        count = len(train)
        return (max(alone[c] - discount, 0) + discount * len(alone) / len(symbols)) / count

    def two(h: str, c: str) -> float:
        kinds = sum(1 for pair in pairs if pair[0] == h)
        return (max(pairs[h, c] - discount, 0) + discount * kinds * one(c)) / before[h] if before[h] else one(c)

    wanted = [mean(-math.log2(two(h, c)) for h, c in zip(asked, asked[1:], strict=False))]
    assert bits[1] == pytest.approx(wanted[0], abs=1e-9)
    assert sum(two("a", c) for c in symbols) == pytest.approx(1)


def test_more_context_helps_where_the_text_repeats():
    rng = torch.Generator().manual_seed(0)
    period = torch.randint(5, (12,), generator=rng).repeat(200)
    chosen = ngrams.chosen(period[:1200], period[1200:1800], period[1800:], 5, longest=5)
    assert chosen["test"][0] > chosen["test"][3] and chosen["best"] > 1


# The language model


def some_docstrings() -> list[Docstring]:
    return [Docstring("python", f"python.module{n}", "f", f"Return the number {n} of them. " * 12) for n in range(40)]


def test_modules_go_whole_into_one_of_three_texts():
    texts = language.Texts(some_docstrings())
    parts = [texts.characters.decode(ids) for ids in (texts.train, texts.validation, texts.test)]
    found = [set(re.findall(r"number (\d+) of", part.replace("�", "?"))) for part in parts]
    assert all(found) and not (found[0] & found[1] or found[0] & found[2] or found[1] & found[2])


def test_a_model_that_knows_nothing_needs_the_logarithm_of_the_vocabulary():
    texts = language.Texts(some_docstrings())
    model = language.make_model(len(texts.characters), seed=0)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    bits = language.bits_of_model(model.eval(), texts.test)
    assert bits == pytest.approx(math.log2(len(texts.characters)), abs=1e-4)


def test_a_few_steps_of_training_lower_the_bits_and_samples_begin_with_the_prompt():
    texts = language.Texts(some_docstrings())
    model = language.make_model(len(texts.characters), seed=0)
    before = language.bits_of_model(model, texts.test)
    assert len(list(language.train(model, texts.train, 0, lambda step: None, steps=20))) == 20
    assert language.bits_of_model(model, texts.test) < before - 1
    written = language.write(model, texts, "Return", 60, temperature=0.8)
    assert written.startswith("Return") and len(written) == 66


# Induction


def test_rows_repeat_with_their_own_period_and_successors_are_one_after_the_copy():
    ids, period = induction.repeats(50, torch.Generator().manual_seed(0))
    assert {*period.flatten().tolist()} <= set(range(induction.SHORTEST, induction.LONGEST + 1)) and len(
        period.unique()
    ) > 5
    marked = induction.successors(period)
    for row, length, frames in zip(ids, period.flatten().tolist(), marked, strict=True):
        assert torch.equal(row[length:], row[:-length])
        i, j = frames.nonzero().unbind(1)
        assert (j <= i).all() and (row[j - 1] == row[i])[j > 0].all()
        later = torch.arange(length + 1, induction.LENGTH)
        assert frames[later].any(dim=-1).all()


def test_the_one_layer_model_has_more_parameters():
    sizes = {
        name: sum(p.numel() for p in induction.AttentionOnly(*how).parameters())
        for name, how in induction.MODELS.items()
    }
    assert sizes["one layer"] == 49_600 and sizes["two layers"] == 41_408
    assert "49,600 against 41,408" in PAGE


# Translators


def test_both_translators_have_nearly_as_many_parameters_and_look_at_no_padding():
    batch, sizes = translation.dates(20, seed=3), []
    for make, _ in translators.MODELS.values():
        torch.manual_seed(0)
        model = make()
        weights = translators.alignment(model, batch)
        assert weights.shape == batch.right.shape
        assert weights[~batch.real[:, None].expand_as(weights)].abs().max() == 0
        assert torch.allclose(weights.sum(-1), torch.ones(weights.shape[:2]), atol=1e-5)
        sizes.append(sum(p.numel() for p in model.parameters()))
    assert max(sizes) < 1.03 * min(sizes) and all(round(size / 1000) == 19 for size in sizes)


# Decoding


def test_the_operations_of_writing_are_those_that_run():
    model, prompt = decoding.make_model(), torch.zeros(1, 1, dtype=torch.long)
    for way, wanted in zip((model, decoding.cached(model)), decoding.operations(20), strict=True):
        with FlopCounterMode(display=False) as counter:
            generate(way, prompt, 20)
        assert counter.get_total_flops() == wanted


# What the page says of the results file


def found(part: str) -> dict:
    return RECORD.load()[part]["found"]


def test_every_part_names_its_machine_date_versions_and_seeds():
    for part, how in PARTS.items():
        study = RECORD.load()[part]
        assert study["seeds"] == list(range(how.seeds))
        assert study["environment"]["threads"] == 1 and study["environment"]["torch"] in RECORD.machine(part)
        assert study["environment"]["date"][:10] in RECORD.machine(part)


def test_the_bits_on_the_page_are_those_of_the_study():
    counted = found("language")["ngrams"]
    bits = [one["test"] for one in found("language")["model"]]
    best = counted["best"] - 1
    assert counted["best"] == 6 and "With $n = 6$" in PAGE
    assert f"needs {mean(bits):.2f} bits per character, the trigram {counted['test'][2]:.2f}" in PAGE
    assert f"counting needs {counted['test'][best]:.2f} on the test modules" in PAGE
    assert f"ahead by {counted['test'][best] - mean(bits):.2f} bits with each of three seeds" in PAGE
    assert max(bits) < counted["test"][best] and len(bits) == 3
    ends = [one["curve"][-1][1] for one in found("language")["model"]]
    assert f"it is behind by {mean(ends) - counted['validation'][best]:.2f}" in PAGE
    assert min(ends) > counted["validation"][best]


def test_two_layers_find_the_repetition_with_every_seed_and_one_does_not():
    start = list(induction.PLACES).index(2)
    late = {name: [mean(s["by_place"][start:]) for s in seeds] for name, seeds in found("induction").items()}
    assert all(round(value, 1) in (2.7, 2.8, 2.9) for value in late["one layer"])
    assert all(0.2 < value < 0.45 for value in late["two layers"])
    assert mean(late["one layer"]) == pytest.approx(math.log(16), abs=0.1)
    shares = {name: mean(s["on_successor"] for s in seeds) for name, seeds in found("induction").items()}
    assert shares["two layers"] == pytest.approx(0.70, abs=0.02)
    assert shares["one layer"] == pytest.approx(0.14, abs=0.006)


def test_the_gru_is_ahead_at_three_checkpoints_with_every_seed():
    gru, both = (found("translators")[name] for name in translators.MODELS)
    for checkpoint in (1, 2, 3):  # 100, 150, 200 steps
        assert min(s["right"][checkpoint] for s in gru) > max(s["right"][checkpoint] for s in both)
    assert round(100 * mean(s["on_source"] for s in gru)) == 88 and "88 % of the symbols" in PAGE
    assert round(100 * mean(s["on_source"] for s in both)) == 70 and "in cross-attention for 70 %" in PAGE


def test_tokens_per_second_are_as_the_page_says():
    speed = found("decoding")
    assert f"takes {1000 * speed['overhead']:.1f} ms" in PAGE
    too_high = [p / m - 1 for row in speed["rows"] for p, m in zip(row["predicted"], row["measured"], strict=True)]
    low, high = round(100 * min(too_high)), round(100 * max(too_high))
    assert f"{low} to {high} % too high" in PAGE and f"{low} to {high} per cent" in PAGE
    last = speed["rows"][-1]
    assert 3 < last["measured"][1] / last["measured"][0] < 4 and "less than four times" in PAGE
    assert math.ceil(last["megaflops"][0] / last["megaflops"][1]) == 135 and "factor of 135" in PAGE


def test_deviation_is_that_of_a_sample():
    assert spread([1.0, 2.0, 3.0]) == (2.0, 1.0)
    assert spread([4.0]) == (4.0, 0.0)
