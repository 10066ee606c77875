"""The claims of chapter 8 and of its deeper pages, measured with the functions that these show."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import docstrings
from attention.classifier import TextClassifier, masked_mean
from attention.worked_example import EXAMPLE, self_attention
from studies import order

#: Trains models; a time limit is there to end what hangs, also on a machine with much else to do.
PAGES = [
    "book/chapters/08-classifier.md",
    *(f"book/deeper/{name}.md" for name in ("which-library", "order-and-reach", "pairs-and-pooling")),
]
pytestmark = [pytest.mark.proof(depends=PAGES), pytest.mark.timeout(1800)]

ROOT = Path(__file__).resolve().parents[2]
MAIN = (ROOT / PAGES[0]).read_text("utf-8")
NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
ROUNDING = 1e-5  # float32, logits of order 1 after some hundred additions
#: The cells whose definitions are tested, and the line at which each begins to measure.
CELLS = {
    "import textwrap": "matrices = ",
    "import os\n": None,
    "from collections import Counter": None,
    "def descend": "print(",
    "def classify": None,
    "class BagOfWords": "train_data, test_data",
    "def bootstrap": "modules = ",
    "def without(": "poorer = ",
    "def shared": "all_docstrings = ",
    "def choose": "pair_train_data, pair_test_data",
    "class QueryTower": "brief = ",
    "def keras_tower": "tower = padding",
}


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the page's cells define, up to where they begin to measure: code shown is code tested."""
    names: dict[str, Any] = {}
    threads = torch.get_num_threads()
    text = "".join((ROOT / name).read_text("utf-8") for name in PAGES)
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", text, re.S):
        cell = re.sub(r"\A(?:---\n.*?\n---\n|:tags:[^\n]*\n)", "", cell, flags=re.S)
        for start, end in CELLS.items():
            if start not in cell:
                continue
            code = cell.split(f"\n{end}")[0] if end else cell
            if start == "class BagOfWords":  # its words come from the docstrings, which other tests read
                code = code.replace("vocabulary = docstrings.Vocabulary([text.words for text in train])", "")
                names["vocabulary"] = None
            if start == "def without(":
                code = code[code.index("def without(") :]
            exec(code, names)
    torch.set_num_threads(threads)
    return names


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """As on the page."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def shown(row: torch.Tensor, *numbers: float) -> bool:
    return torch.allclose(row, torch.tensor(numbers, dtype=row.dtype), rtol=0, atol=PRINTED)


# Pooling the running example


def example_rows(padding: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and weights of the running example's first head, with rows of zeros behind its inputs."""
    matrices = [EXAMPLE[name] for name in ("w_query", "w_key", "w_value")]
    inputs = EXAMPLE["inputs"] + [[0, 0, 0, 0]] * padding
    outputs, weights = self_attention(inputs, *matrices, scale=True)
    return torch.as_tensor(outputs), torch.as_tensor(weights)


def written(start: str, end: str) -> torch.Tensor:
    """The numbers of the main page between `start` and the next `end`."""
    assert MAIN.count(start) == 1, start
    text = MAIN.split(start)[1].partition(end)[0]
    return torch.tensor([float(number.replace("−", "-")) for number in NUMBER.findall(text)], dtype=torch.float64)


def test_sum_and_mean_of_the_running_examples_rows():
    rows, _ = example_rows()
    for number in range(3):
        assert shown(rows[number], *written(f"y_{number + 1} &= [", "]").tolist())
    assert shown(rows.sum(0), *written("Their sum is $[", "]").tolist())
    assert shown(rows.mean(0), *written("a third of it, is $[", "]").tolist())


def test_the_table_of_ways_to_pool_a_padded_text():
    rows, weights = example_rows(padding=1)
    masked, real = torch.cat([example_rows()[0], rows[3:]]), torch.tensor([[True, True, True, False]])
    ways = [rows.mean(0), masked.mean(0), masked[:3].sum(0) / 4, masked_mean(masked[None], real)[0]]
    names = ("no mask; mean of four |", "mask in attention; mean of four |", "divided by 4 |", "| mask in both |")
    for name, way in zip(names, ways, strict=True):
        assert shown(way, *written(name, "|").tolist()), name
    assert rows[3].tolist() == written("quarter of the sum of the values, $[", "]").tolist()
    assert weights[3].tolist() == [0.25] * 4 and "each weight is $0.25$" in MAIN
    assert shown(weights[0, 3:], *written("takes weight from the real rows, $", "$").tolist())
    assert not torch.allclose(rows.sum(0), example_rows()[0].sum(0), atol=0.5)


# The classifier and its step


def test_padding_moves_no_logit_order_does_and_an_empty_text_is_finite():
    torch.manual_seed(0)
    model = TextClassifier(50, 4, 32, 2, 64, 1).eval()
    ids = torch.tensor([[7, 21, 33, 9, 40]])
    for length in (8, 64, 512):
        assert (model(F.pad(ids, (0, length - 5))) - model(ids)).abs().max() < ROUNDING
    assert (model(ids[:, [1, 0, 2, 3, 4]]) - model(ids)).abs().max() > 1e-3
    assert model(torch.zeros(1, 5, dtype=torch.long)).isfinite().all()


def test_the_five_lines_of_a_classifier_are_the_text_classifiers_way(page):
    seen = []

    def pool(x: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        seen.append(real)
        return masked_mean(x, real)

    parts = page["TextClassifier"](50, 4, 32, 2, 64, num_layers=1).eval()
    embedding, output = nn.Embedding(50, 32), nn.Linear(32, 4)
    ids = torch.tensor([[7, 21, 0]])
    whole = page["classify"](ids, embedding, nn.Identity(), lambda x, key_mask: x, pool, output)
    assert whole.shape == parts(ids).shape == (1, 4)
    assert torch.equal(whole, output(masked_mean(embedding(ids), ids != 0))) and seen[0].tolist() == [
        [True, True, False]
    ]


def test_gradients_that_are_not_cleared_swing_past_the_minimum(page):
    clear, added = page["descend"](True, steps=12), page["descend"](False, steps=12)
    assert clear == sorted(clear) and max(clear) < 3 and clear[-1] > 2.9
    assert max(added) > 4 and min(added[added.index(max(added)) :]) < 2
    assert clear[:2] == [1.2, 1.92] and added[:2] == [1.2, 3.12]
    for number in ("$2(0 - 3) = -6$", "$w = 1.2$", "1.2 + 0.2 \\cdot 3.6 = 1.92", "$-9.6$", "$w = 3.12$"):
        assert number in MAIN, number


def test_a_sum_of_two_sides_cannot_prefer_both_matching_pairs():
    f, g = torch.randn(2, 2, generator=torch.Generator().manual_seed(0)).double()
    logits = f[:, None] + g  # rows: left A, B; columns: right A, B
    assert (logits.trace() - logits.flip(1).trace()).abs() < 1e-12


# Comparing


def test_a_bootstrap_over_alike_groups_is_wider_than_one_over_their_members(page):
    values = torch.tensor([0.0, 1.0] * 20).repeat_interleave(10)  # 40 groups of 10, alike within
    low, high = page["bootstrap"](values, [k // 10 for k in range(400)])
    alone = page["bootstrap"](values, list(range(400)))
    assert low < 0.5 < high
    # sqrt(10) wider in expectation; 2000 draws put the ends within a few percent
    assert (high - low) / (alone[1] - alone[0]) == pytest.approx(math.sqrt(10), rel=0.15)


def test_a_bag_of_words_is_logistic_regression_on_counts(page):
    bag = page["BagOfWords"](6, 3)
    nn.init.normal_(bag.weight.weight, generator=torch.Generator().manual_seed(0))
    ids = torch.tensor([[2, 3, 3, 0, 0]])
    assert torch.allclose(bag(ids)[0], bag.weight.weight[2] + 2 * bag.weight.weight[3] + bag.bias, atol=1e-6)


def test_pooling_weights_of_the_recurrent_model_leave_padding_out(page):
    model = page["RecurrentAttention"](9, 3).eval()
    _, weights = model(torch.tensor([[2, 3, 4, 0, 0]]), return_weights=True)
    assert weights[0, 3:].tolist() == [0, 0] and weights.sum().item() == pytest.approx(1, abs=1e-6)


def test_the_pooled_recurrent_model_is_the_mean_of_the_same_states(page):
    torch.manual_seed(0)
    pooled, ids = page["recurrent_mean"](9, 3).eval(), torch.tensor([[2, 3, 4]])
    states = pooled.gru(pooled.embedding(ids))[0]
    assert torch.allclose(pooled(ids), pooled.output(states.mean(1)), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", ["BagOfWords", "MeanPooling", "RecurrentAttention", "recurrent_mean", "encoder"])
def test_padding_moves_no_logit_of_any_model_compared(page, name):
    torch.manual_seed(0)
    model = page[name](50, 4).eval()
    ids = torch.tensor([[7, 21, 33, 9, 40], [7, 21, 0, 0, 0], [0, 0, 0, 0, 0]])
    with torch.no_grad():
        assert (model(F.pad(ids, (0, 25))) - model(ids)).abs().max() < ROUNDING


def test_batches_hold_each_text_once_and_texts_of_like_length_together(page):
    lengths = torch.randint(1, 31, (200,), generator=torch.Generator().manual_seed(0))
    ids = (torch.arange(30) < lengths[:, None]).long()
    rng = page["generator"](0)
    first, second = page["batches"](ids, rng, 20), page["batches"](ids, rng, 20)
    assert (
        sorted(torch.cat(first).tolist()) == list(range(200))
        and torch.cat(first).tolist() != torch.cat(second).tolist()
    )
    # the noise is below 4 tokens; a tenth of lengths spread over 30 spans 3 more
    assert max((lengths[batch].max() - lengths[batch].min()).item() for batch in first) <= 8
    assert page["shorter"](ids[:3]).shape == (3, lengths[:3].max()) and page["shorter"](ids[:2] * 0).shape == (2, 1)


# Docstrings


@pytest.fixture(scope="module")
def sentences(page: dict[str, Any]) -> dict[str, Any]:
    """The page's texts, split as the page splits them, for functions that look them up."""
    texts = docstrings.sentences(docstrings.collect())
    train, test = docstrings.split(texts)
    page["labels"] = sorted({text.label for text in texts})
    return {"texts": texts, "train": train, "test": test}


def trained(page: dict[str, Any], make: Any, train: list[Any], test: list[Any]) -> float:
    """Test accuracy after the page's training, seed 0."""
    words = docstrings.Vocabulary([text.words for text in train])
    data = [page["to_tensors"](part, words) for part in (train, test)]
    return page["train_classifier"](make, 0, *data, len(words))[1][-1][1]


def test_the_bag_of_words_is_ahead_of_the_encoder_and_both_of_the_majority(page, sentences):
    train, test = sentences["train"], sentences["test"]
    majority = max(sum(text.label == label for text in test) for label in page["labels"]) / len(test)
    bag, encoder = (trained(page, page[name], train, test) for name in ("BagOfWords", "encoder"))
    assert bag > encoder + 0.01 and encoder > majority + 0.2


def test_a_split_at_random_flatters_the_bag_of_words(page, sentences):
    texts, train, test = sentences["texts"], sentences["train"], sentences["test"]
    order = torch.randperm(len(texts), generator=torch.Generator().manual_seed(7)).tolist()
    mixed, quarter = [texts[k] for k in order], len(texts) // 4
    at_random = trained(page, page["BagOfWords"], mixed[quarter:], mixed[:quarter])
    assert at_random > trained(page, page["BagOfWords"], train, test) + 0.05


def test_wrong_names_of_the_same_module_make_the_rule_of_shared_words_weaker(page, sentences):
    found = docstrings.collect()
    anywhere, same = (page["rule"](docstrings.split(docstrings.pairs(found, flag))[1]).mean() for flag in (False, True))
    assert anywhere > same + 0.03 and same > 0.7


# Order and distance


def test_without_positions_exchanging_a_and_b_changes_no_logit():
    torch.manual_seed(0)
    model = order.WithoutPositions(20, 2).eval()
    ids, first = order.before_or_after(50, torch.Generator().manual_seed(1))
    exchanged = ids.clone()
    exchanged[ids == 1], exchanged[ids == 2] = 2, 1
    assert torch.equal(first, (ids == 1).int().argmax(1).lt((ids == 2).int().argmax(1)).long())
    assert (model(exchanged) - model(ids)).abs().max() < ROUNDING


def test_positions_decide_whether_order_is_learnt():
    ids, first = order.before_or_after(2000, torch.Generator().manual_seed(9))

    def accuracy(make: Any) -> float:
        model = order.trained(make, order.before_or_after, seed=0)
        return (model(ids).argmax(-1) == first).float().mean().item()

    assert accuracy(lambda: TextClassifier(20, 2, 32, 2, 64, 1, dropout=0.0)) > 0.9
    assert accuracy(lambda: order.WithoutPositions(20, 2)) == pytest.approx(0.5, abs=0.05)


def test_three_convolutions_of_width_5_see_13_positions():
    torch.manual_seed(0)
    network = order.Convolutions()
    ids = torch.randint(1, 17, (1, 32), generator=torch.Generator().manual_seed(0))
    embedded = network.embedding(ids).detach().requires_grad_()
    network.embedding.forward = lambda _: embedded
    network(ids).sum().backward()
    seen = embedded.grad[0].abs().sum(1) > 0
    assert seen.tolist() == [False] * 19 + [True] * 13


def test_convolutions_end_at_their_receptive_field_and_a_mean_behind_them_does_not():
    for pool, far in ((False, 0.2), (True, 0.9)):
        model = order.trained(lambda pool=pool: order.Convolutions(pool=pool), order.marked_token, seed=0, rate=0.01)
        right = {}
        for distance in (12, 13):
            ids, kind = order.marked_token(500, torch.Generator().manual_seed(distance), distance)
            right[distance] = (model(ids).argmax(-1) == kind).float().mean().item()
        assert right[12] > 0.8
        assert right[13] > far if pool else right[13] < far  # chance is 0.125


def test_attention_is_right_at_every_distance():
    model = order.trained(order.OneLayer, order.marked_token, seed=0, rate=0.01)
    for distance in (1, 12, 13, 31):
        ids, kind = order.marked_token(300, torch.Generator().manual_seed(distance), distance)
        assert (model(ids).argmax(-1) == kind).float().mean() > 0.98


# Sum or mean


@pytest.mark.parametrize("pool", ["sum", "mean"])
def test_only_the_mask_makes_the_query_tower_independent_of_padding(page, pool):
    torch.manual_seed(0)
    ids = torch.randint(1, 50, (20, 6), generator=torch.Generator().manual_seed(0))
    for masked in (True, False):
        model = page["QueryMatcher"](pool, masked, 50).eval()
        with torch.no_grad():
            moved = (model(ids, F.pad(ids, (0, 58))) - model(ids, ids)).abs().max()
        assert moved < ROUNDING if masked else moved > 0.05


def test_the_second_method_adds_a_sum_of_attention_to_a_mean_of_the_input(page):
    torch.manual_seed(0)
    tower, ids = page["QueryTower"]("sum and input mean", True, 50), torch.tensor([[7, 21, 33, 0, 0]])
    with torch.no_grad():
        x = tower.embedding(ids[:, :3])
        key = tower.key(x)
        attended = (tower.query(x) @ key.mT).softmax(-1) @ key
        wanted = attended.sum(1) + x.mean(1)
        assert torch.allclose(tower(ids), wanted, rtol=0, atol=ROUNDING)
        assert torch.allclose(tower(F.pad(ids, (0, 50))), wanted, rtol=0, atol=ROUNDING)


def test_zeros_in_the_embedding_do_not_keep_a_sum_from_counting_padding(page):
    torch.manual_seed(3)
    tower = page["QueryTower"]("sum", False, vocab_size=50)
    with torch.no_grad():
        tower.embedding.weight[0] = 0.0
        text = torch.tensor([[7, 21, 33]])
        sizes = [tower(F.pad(text, (0, length - 3))).norm().item() for length in (3, 8, 64)]
    assert sizes[2] > 5 * sizes[0]


def test_the_query_tower_is_the_keras_model_and_mask_zero_does_not_mend_the_sum(page):
    torch.manual_seed(0)
    tower = page["QueryTower"]("sum", False, 50)
    plain, with_mask = page["keras_tower"](50), page["keras_tower"](50, mask_zero=True)
    for model in (plain, with_mask):
        page["copy_tower"](tower, model)
    names = [weight.path for weight in plain.weights]
    assert sum("norm" in name for name in names) == 2 and not any("value" in name for name in names)
    ids = torch.randint(1, 50, (5, 6), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.allclose(plain(ids)[1], tower(ids), rtol=0, atol=1e-4)  # sums of order 1 to 10 in float32
        for model, steady in ((plain, False), (with_mask, True)):
            (rows, pooled), (padded_rows, padded_sum) = model(ids), model(F.pad(ids, (0, 58)))
            assert ((padded_rows[:, :6] - rows).abs().max() < ROUNDING) == steady
            assert (padded_sum - pooled).abs().max() > 1


# Pairs


def test_the_rule_of_shared_words_by_hand(page):
    name, other = ("sort", "keys"), ("open",)
    pairs = [
        docstrings.Pair(name, ("sorts", "all", "keys"), True, "m"),
        docstrings.Pair(other, ("sorts", "all", "keys"), False, "m"),
    ]
    assert page["shared"](pairs[0]) == 1 and page["rule"](pairs).tolist() == [1.0]
    assert page["rule"](
        [docstrings.Pair(name, ("x",), True, "m"), docstrings.Pair(other, ("x",), False, "m")]
    ).tolist() == [0.5]


def test_convolutions_take_any_length():
    network = order.Convolutions(pool=True)
    assert all(network(torch.ones(1, length, dtype=torch.long)).shape == (1, 8) for length in (8, 16, 64))
