"""tests/coverage.toml is true: every seed item has its section in the book and a test that exists."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ITEMS = tomllib.loads((ROOT / "tests" / "coverage.toml").read_text(encoding="utf-8"))["item"]
LABELS = {
    label: path
    for path in (ROOT / "book").rglob("*.md")
    if "_build" not in path.parts
    for label in re.findall(r"^\((sec-[\w-]+)\)=$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item['seed']}-{item['fact'][:40]}")
def test_each_item_has_a_section_and_a_test(item):
    assert set(item) == {"seed", "fact", "section", "test"}
    assert item["seed"] in {"000", "001", "002", "003", "004"}
    assert item["section"] in LABELS, f"no section is labelled {item['section']}"
    path, _, name = item["test"].partition("::")
    assert (ROOT / path).is_file(), path
    name = name.partition("[")[0]
    assert re.search(rf"^def {re.escape(name)}\(", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE), name


def test_no_item_is_there_twice():
    pairs = [(item["seed"], item["fact"]) for item in ITEMS]
    assert len(set(pairs)) == len(pairs)


def test_every_seed_is_covered():
    assert {item["seed"] for item in ITEMS} == {"000", "001", "002", "003", "004"}


def test_every_message_points_to_a_section_that_exists():
    from selfcheck.catalogue import exercises

    for exercise in exercises():
        wanted = {exercise.section, *(one.section for one in exercise.misconceptions)}
        assert wanted <= set(LABELS), f"{exercise.id}: {sorted(wanted - set(LABELS))}"
