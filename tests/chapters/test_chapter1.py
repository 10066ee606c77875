"""What chapter 1 says: numbers by hand are worked again from its text, measured ones are those of the study."""

from __future__ import annotations

import math
import re
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
import torch

from attention import worked_example
from attention.scores import scaled_dot_scores
from studies import why_attention

pytestmark = pytest.mark.proof(depends=["book/chapters/01-why-attention.md", "book/studies/results/why_attention.json"])

BOOK = Path(__file__).resolve().parents[2] / "book"
SOURCE = (BOOK / "chapters" / "01-why-attention.md").read_text("utf-8")
PAGE = " ".join(SOURCE.split())
EXAMPLE = worked_example.EXAMPLE
STUDIES = why_attention.RECORD.load()
WORDS, RECALL = STUDIES["words"]["found"], STUDIES["recall"]["found"]
QUERIES, KEYS, VALUES = worked_example.project(*(EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value")))


def vectors(text: str) -> list[list[float]]:
    """The vectors that are written in brackets, in their order."""
    return [[float(x) for x in found.split(",")] for found in re.findall(r"\[(-?\d[\d., -]*)\]", text)]


def table(first: str) -> dict[str, list[str]]:
    """The rows of the table whose head begins with a word: first cell → the others."""
    rows = SOURCE[SOURCE.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0]: row[1:] for row in cells}


def column(case: str, pairs: int) -> list[float]:
    return [right[RECALL["counts"].index(pairs)] for right in RECALL["cases"][case]["right"]]


# By hand


def test_the_table_of_three_rows_is_the_running_example() -> None:
    for i, row in enumerate(table("token").values()):
        assert [vectors(cell)[0] for cell in row] == [list(part[i]) for part in (QUERIES, KEYS, VALUES)]


def test_the_dot_products_are_worked_right() -> None:
    lines = re.findall(r"(\[2, 1, 3\] \\cdot \[.*?\]) &= (\d+) \+ (\d+) \+ (\d+) = (\d+)", SOURCE)
    assert len(lines) == 3
    for (product, *terms, total), key in zip(lines, KEYS, strict=True):
        query, written = vectors(product)
        assert written == list(key)
        assert [int(term) for term in terms] == [a * b for a, b in zip(query, written, strict=True)]
        assert int(total) == sum(map(int, terms))


def test_the_weights_and_their_mean_are_worked_right() -> None:
    counts = [math.exp(score - 12) for score in (4, 12, 10)]
    assert f"key 3 counts $e^{{-2}} = {counts[2]:.4f}$, key 1 counts $e^{{-8}} = {counts[0]:.4f}$" in PAGE
    assert f"The sum is ${sum(counts):.4f}$" in PAGE
    weights = [count / sum(counts) for count in counts]
    assert "$[" + ", ".join(f"{weight:.4f}" for weight in weights) + "]$" in PAGE
    answer = np.array(weights) @ np.array(VALUES)
    line = re.search(r"&0\.0003\\,.*?&= (\[.*?\])", SOURCE, re.S)
    assert vectors(line[1])[0] == answer.round(4).tolist()
    factors = [float(factor) for factor in re.findall(r"(0\.\d{4})\\,\[", line[0])]
    assert factors == [round(weight, 4) for weight in weights]
    assert vectors(line[0])[:3] == [list(value) for value in VALUES]


def test_the_lookup_on_the_page_is_attention() -> None:
    (cell,) = re.findall(r"```\{code-cell\} ipython3\n(table = .*?)```", SOURCE, re.S)
    names = {"math": math, "print": lambda *parts: None}
    exec(cell, names)
    query = QUERIES[2].tolist()
    weights = worked_example.softmax(worked_example.dot_scores([query], KEYS) / 2.5)
    assert names["lookup"](query, 2.5) == pytest.approx((weights @ VALUES)[0].tolist(), abs=5e-5)
    assert np.allclose(names["lookup"]((4, 4, 0)), VALUES[1], atol=1e-4)


def test_the_temperature_goes_from_the_best_value_to_the_mean() -> None:
    scores = worked_example.dot_scores(QUERIES, KEYS)[2]
    assert np.allclose(worked_example.softmax(scores / 1e-3) @ VALUES, VALUES[1])
    assert np.allclose(worked_example.softmax(scores / 1e9) @ VALUES, np.mean(VALUES, axis=0))


# The map and its controls


def test_the_table_of_hidden_words_is_that_of_the_study() -> None:
    shown = table("weights")
    rows = dict(zip(list(shown)[1:], WORDS["right"].values(), strict=True))
    for name, right in rows.items():
        assert shown[name] == [f"{100 * mean(right):.1f} % ± {100 * stdev(right):.1f}"], name
    word, share = WORDS["commonest"]
    assert shown[f'(always "{word}")'] == [f"{100 * share:.1f} %"]
    equal, distance, both = WORDS["right"].values()
    assert all(b > d > e for e, d, b in zip(equal, distance, both, strict=True))  # "though with every seed"
    assert 0.004 < mean(both) - mean(distance) < 0.006  # "adds half a point"
    assert (
        "one word in five instead of one in seven" in PAGE
        and round(1 / mean(both)) == 5
        and round(1 / mean(equal)) == 7
    )


def test_the_map_is_read_right() -> None:
    words, shown = WORDS["sentence"], WORDS["map"]
    assert " ".join(words) in PAGE
    assert all(sum(row) == pytest.approx(1, abs=1e-3) and row[i] == 0 for i, row in enumerate(shown))
    last = shown[-1]
    assert f"it looks at *file* ({100 * last[-2]:.0f} %) and *a* ({100 * last[-3]:.0f} %)" in PAGE
    guesses = list(zip(*WORDS["guesses"], strict=True))
    assert set(guesses[-1]) == {"object"} and 'all five say "object"' in PAGE
    assert sorted(guesses[3]) == ["descriptor"] + ["object"] * 4
    assert f"{WORDS['sentences']:,} sentences" in PAGE and f"{WORDS['unseen']} sentences from unseen" in PAGE
    assert len(STUDIES["words"]["seeds"]) == 5
    assert f"(largest standard deviation {100 * WORDS['deviation']:.0f})" in PAGE
    for i, row in enumerate(shown):  # the alt text: the largest weight of each row is next to the diagonal
        assert abs(row.index(max(row)) - i) == 1


@pytest.mark.full
def test_a_mean_gives_one_word_among_n_the_share_one_over_n() -> None:
    for n in (4, 64):
        x = torch.ones(n, 3, requires_grad=True)
        x.mean(0).sum().backward()
        assert torch.allclose(x.grad, torch.full_like(x, 1 / n))


# A summary of fixed size


@pytest.mark.full
def test_twelve_keys_with_values_fit_into_fewer_than_50_bits() -> None:
    assert max(math.log2(math.comb(16, n)) + n * math.log2(8) for n in range(1, 13)) < 50
    assert "fewer than 50 bits, and 64 numbers in float32 have 2048" in PAGE and 64 * 32 == 2048


def test_the_study_of_recall_has_five_seeds_and_says_what_the_page_says() -> None:
    assert len(STUDIES["recall"]["seeds"]) == 5 == len(column("attention, d = 16", 16))
    assert set(column("attention, d = 16", 12) + column("attention, d = 16", 16)) == {1.0}
    short, long = column("GRU, d = 64", 12), column("GRU, d = 64, 4× training", 12)
    assert f"from {100 * mean(short):.0f} % to {100 * mean(long):.0f} % at twelve pairs" in PAGE
    for pairs in (4, 6, 8, 12):  # each seed of the mean is ahead of each of the GRU
        assert min(column("mean, d = 64", pairs)) > max(column("GRU, d = 64", pairs))
    for case in RECALL["cases"]:
        averages = [mean(column(case, pairs)) for pairs in RECALL["counts"]]
        if not case.startswith("attention"):
            assert averages == sorted(averages, reverse=True) and averages[-1] < 0.7
            assert min(averages[-1], averages[-2]) > RECALL["floor"][-1]


def test_attention_recalls_any_number_of_pairs_from_orthogonal_keys_of_one_width() -> None:
    width, values = 16, torch.arange(80.0).reshape(16, 5).double()
    keys = 20 * torch.eye(width, dtype=torch.float64)
    for n in (1, 8, 16):
        recalled = torch.softmax(scaled_dot_scores(keys[:n], keys[:n]), dim=-1) @ values[:n]
        assert torch.allclose(recalled, values[:n])


@pytest.mark.full
def test_a_linear_summary_narrower_than_the_pairs_forgets() -> None:
    summary = torch.randn(8, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    forgotten = torch.linalg.svd(summary).Vh[-1]  # a change of the values that it cannot see
    assert torch.allclose(summary @ forgotten, torch.zeros(8, dtype=torch.float64), atol=1e-12)
    assert forgotten.norm() == pytest.approx(1.0)


# Costs


def test_counted_and_measured_costs_are_those_of_the_page() -> None:
    d, clock = 64, STUDIES["clock"]["found"]
    times = clock["milliseconds"]
    shown = table("$n$")
    assert [int(n) for n in shown] == clock["lengths"]
    for at, (n, (counted, measured)) in enumerate(zip(clock["lengths"], shown.values(), strict=True)):
        assert counted == f"{(4 * n * d * d + 2 * n * n * d) / (6 * n * d * d):.2f}"
        assert measured == f"{times['attention'][at] / times['GRU'][at]:.2f}"
    deeper = " ".join((BOOK / "deeper" / "what-a-layer-costs.md").read_text("utf-8").split())
    assert f"it takes {shown['1024'][1]} of its time there, and {shown['256'][1]} at $n = 256$" in deeper
    growth = [times[name][3] / times[name][2] for name in ("GRU", "attention")]
    assert "the GRU takes {:.0f} times as long in the study, attention {:.0f} times".format(*growth) in deeper
    kept = STUDIES["clock, kept memory"]["found"]["milliseconds"]["attention"]
    assert (
        f"In a process that keeps the memory it frees attention takes {kept[3] / kept[2]:.0f} times as long" in deeper
    )
    assert all(c < a for c, a in zip(times["convolution"], times["attention"], strict=True))
    assert f"medians of {clock['rounds']} runs" in PAGE and f"medians of {clock['rounds']} runs" in deeper
