"""The texts of chapter 8: docstrings without the library's name, split by module, and files of the same form."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import docstrings
from docstrings import Docstring, Pair, Text, Vocabulary


@pytest.fixture(scope="module")
def few() -> tuple[Docstring, ...]:
    """Enough to see every rule at work, and read in about a second."""
    return docstrings.collect(8)


def test_docstrings_come_in_an_order_that_depends_on_names_alone(few):
    again = docstrings.collect.__wrapped__(8)
    assert again == few
    assert {item.library for item in few} == set(docstrings.LIBRARIES)


def test_a_package_that_is_not_installed_is_left_out():
    found = docstrings.collect(3, ("numpy", "no_such_package_anywhere"))
    assert {item.library for item in found} == {"numpy"}


def test_a_source_file_that_cannot_be_parsed_is_left_out():
    assert list(docstrings._docstrings("x", "x.y", "def f(:")) == []
    assert list(docstrings._docstrings("x", "x.y", '"""About y."""')) == [Docstring("x", "x.y", "", "About y.")]


def test_code_and_names_of_libraries_are_masked(few):
    words = docstrings.words_of("See :func:`~torch.nn.ReLU`, np.dot or set_data(): NumPy and `pyplot` differ.")
    assert words == ("see", "code", "or", "code", "library", "and", "code", "differ")  # two in a row are one
    everything = {word for text in docstrings.sentences(few) for word in text.words}
    assert not everything & set(docstrings.NAMES.split())


def test_sections_doctests_and_directives_are_no_prose():
    text = """Adds one to it.

    More about it.

    .. note:: Not this.

    >>> nor_this()

    Parameters
    ----------
    x : int
        Nor that.
    """
    assert docstrings._prose(text) == ["Adds one to it.", "More about it."]
    assert docstrings._prose("Does it.\n\nArgs:\n    x: a thing") == ["Does it."]


def test_sentences_are_of_the_wanted_length_and_no_beginning_occurs_twice(few):
    texts = docstrings.sentences(few, per_library=100, per_module=10)
    assert all(6 <= len(text.words) <= 30 for text in texts)
    assert len({text.words[:6] for text in texts}) == len(texts)
    assert max(Counter(text.group for text in texts).values()) <= 10
    assert max(Counter(text.label for text in texts).values()) <= 100


def test_no_module_is_in_training_and_test_and_every_class_is_in_both(few):
    texts = docstrings.sentences(few)
    train, test = docstrings.split(texts)
    assert not {text.group for text in train} & {text.group for text in test}
    assert len(train) + len(test) == len(texts)
    assert {text.label for text in train} == {text.label for text in test} == set(docstrings.LIBRARIES)
    assert 0.2 < len(test) / len(texts) < 0.45  # a quarter, and what the last whole module of each class adds


@pytest.mark.parametrize("same_module", [True, False])
def test_each_summary_and_each_name_is_once_right_and_once_wrong(few, same_module):
    found = docstrings.pairs(few, same_module)
    right, wrong = found[0::2], found[1::2]
    assert all(pair.match for pair in right) and not any(pair.match for pair in wrong)
    assert [pair.summary for pair in right] == [pair.summary for pair in wrong]
    assert Counter(pair.name for pair in right) == Counter(pair.name for pair in wrong)
    if same_module:
        assert all(a.name != b.name for a, b in zip(right, wrong, strict=True))
        own = {(pair.group, pair.name) for pair in right}
        assert all((pair.group, pair.name) in own for pair in wrong)


def test_a_name_falls_into_its_pieces():
    assert docstrings.pieces("set_x_lim") == ("set", "x", "lim")
    assert docstrings.pieces("getHTTPResponse2") == ("get", "http", "response")
    assert docstrings.pieces("__") == ()


def test_a_vocabulary_pads_on_the_right_cuts_and_knows_what_it_does_not_know():
    words = Vocabulary([["a", "b"], ["b", "a"], ["c"]])
    assert words.words == ["(padding)", "(unknown)", "a", "b"]
    assert words.encode([["b", "c"], ["a"] * 5, []], 3).tolist() == [[3, 1, 0], [2, 2, 2], [0, 0, 0]]


# Public data of the same form

RECORDS = [
    {"text": "Rain in the north, says the weather service", "label": "Weather", "paper": "one"},
    {"text": "Two goals in the last minute", "label": "Sports", "paper": "two"},
]


def test_json_lines_and_csv_give_the_same_texts(tmp_path: Path):
    lines = tmp_path / "news.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    table = tmp_path / "news.csv"
    table.write_text(
        "text,label,paper\n" + "".join(f'"{r["text"]}",{r["label"]},{r["paper"]}\n' for r in RECORDS), "utf-8"
    )
    texts = docstrings.read_texts(lines, group="paper")
    assert texts == docstrings.read_texts(table, group="paper")
    assert texts[1] == Text(("two", "goals", "in", "the", "last", "minute"), "Sports", "two")
    assert [text.group for text in docstrings.read_texts(lines)] == ["record 0", "record 1"]


def test_a_file_of_another_form_is_refused_with_what_to_do(tmp_path: Path):
    other = tmp_path / "news.parquet"
    other.write_bytes(b"")
    with pytest.raises(ValueError, match=r"\.jsonl or \.csv"):
        docstrings.read_texts(other)
    lines = tmp_path / "news.jsonl"
    lines.write_text('{"body": "x"}\n', "utf-8")
    with pytest.raises(ValueError, match="no field 'text'; it has body"):
        docstrings.read_texts(lines)


class HubData(list):
    """What a data set of the hub offers, on a small file's records: features, shuffle, select."""

    features = {"text": None, "label": SimpleNamespace(names=["World", "Sports", "Business", "Sci/Tech"])}

    def shuffle(self, seed: int) -> HubData:
        return HubData(self[::-1])

    def select(self, rows: range) -> HubData:
        return HubData(self[row] for row in rows)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str]]:
    """A stand-in for the package `datasets` that reads a small local file of ag_news' form."""
    file = tmp_path / "ag_news.jsonl"
    file.write_text('{"text": "Stocks fall", "label": 2}\n{"text": "A late goal", "label": 1}\n', "utf-8")
    asked: list[tuple[str, str]] = []

    def load_dataset(name: str, split: str) -> HubData:
        asked.append((name, split))
        return HubData(json.loads(line) for line in file.read_text("utf-8").splitlines())

    module = ModuleType("datasets")
    module.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", module)
    return asked


def test_the_hubs_records_become_texts_with_the_names_of_their_classes(hub):
    assert docstrings.hub_texts(count=5) == [
        Text(("a", "late", "goal"), "Sports", "record 0"),
        Text(("stocks", "fall"), "Business", "record 1"),
    ]
    assert hub == [("fancyzhx/ag_news", "train")]


def test_only_colab_asks_the_hub_and_a_failing_hub_falls_back(few, hub, monkeypatch):
    monkeypatch.setattr(docstrings, "collect", lambda: few)
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    texts, line = docstrings.texts_for_this_machine()
    assert hub == [] and {text.label for text in texts} == set(docstrings.LIBRARIES)
    assert "not on Colab" in line and "\n" not in line
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    texts, line = docstrings.texts_for_this_machine()
    assert len(hub) == 1 and len(texts) == 2 and "ag_news" in line

    def unreachable(name: str, split: str) -> HubData:
        raise ConnectionError("no network")

    monkeypatch.setattr(sys.modules["datasets"], "load_dataset", unreachable)
    texts, line = docstrings.texts_for_this_machine()
    assert {text.label for text in texts} == set(docstrings.LIBRARIES) and "ConnectionError" in line


def test_pairs_have_names_and_summaries_to_compare(few):
    assert all(isinstance(pair, Pair) and pair.name and len(pair.summary) >= 3 for pair in docstrings.pairs(few))
