"""Chapter 8's task of names and their roles: its data, what its models see, and the study's numbers in the text."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from studies import classifier as study
from studies import names, roles
from studies.names import PADDING, ROLES, Function, Functions, functions, programmers_rule

pytestmark = [pytest.mark.proof(depends=["book/chapters/08-classifier.md", "book/studies/results/classifier.json"])]

PAGE = (Path(__file__).resolve().parents[2] / "book" / "chapters" / "08-classifier.md").read_text("utf-8")
SOURCE = '''
import os

def between(low, high, more, key=None):
    """Says x; this is no code: x = 1."""
    # low = 1
    for item in more:
        found = low < item < high
        if found: return os(item.low, key(undefined))

def outer(a):
    return lambda b: a + b
'''


@pytest.fixture(scope="module")
def function() -> Function:
    (one,) = functions(SOURCE)  # the other has a scope of its own inside
    return one


def test_each_name_has_the_role_that_python_gives_it(function):
    assert function.roles == {
        **dict.fromkeys(("low", "high", "more", "key"), "parameter"),
        **dict.fromkeys(("item", "found"), "local"),
        **dict.fromkeys(("os", "undefined"), "outside"),
    }


def test_what_is_asked_is_read_in_the_body_and_no_attribute_or_text_is_a_name(function):
    asked = [name for name, ask in zip(function.names, function.asked, strict=True) if ask]
    assert sorted(asked) == sorted(["more", "low", "item", "high", "found", "os", "item", "key", "undefined"])
    assert "Says" not in function.tokens and "#" not in function.tokens
    attribute = [at for at, token in enumerate(function.tokens) if token == "low" and function.names[at] is None]
    assert len(attribute) == 1 and function.tokens[attribute[0] - 1] == "."


def test_the_programmers_rule_knows_these(function):
    assert {name: programmers_rule(function, name) for name in function.roles} == function.roles


@pytest.fixture(scope="module")
def few(function: Function) -> Functions:
    many = [function] * names.LEAST
    return Functions({"train": many, "validation": [function], "test": [function]})


def test_renaming_keeps_which_names_are_the_same_and_forgets_which_they_are(few):
    ids, wanted = few.train
    new = few.renamed(ids, torch.Generator().manual_seed(0))
    assert ((new >= few.first_name) == (ids >= few.first_name)).all() and (
        new[new < few.first_name] == ids[new < few.first_name]
    ).all()
    for before, after in zip(ids, new, strict=True):
        assert torch.equal(before[:, None] == before, after[:, None] == after)
    assert len({tuple(row) for row in new.tolist()}) > 1
    roles_asked = [ROLES[role] for role in wanted[0][wanted[0] >= 0].tolist()]
    assert roles_asked.count("parameter") == 4 and roles_asked.count("local") == 3 and roles_asked.count("outside") == 2


@pytest.mark.parametrize("name", ["encoder", "mean pooling"])  # the others read padding, the same in training and test
def test_padding_moves_no_answer(few, name):
    torch.manual_seed(0)
    model, ids = roles.MODELS[name](few.size).eval(), few.test[0]
    real = int((ids != PADDING).sum())
    with torch.no_grad():
        short, whole = model(ids[:, :real]), model(ids)
    assert real < ids.shape[1]
    assert (short - whole[:, :real]).abs().max() < 1e-4
    assert whole.shape == (1, names.LENGTH, len(ROLES))


def test_the_budgets_are_alike():
    sizes = {name: sum(p.numel() for p in make(167).parameters()) for name, make in roles.MODELS.items()}
    assert max(sizes.values()) < 1.25 * min(sizes.values()), sizes


def test_no_function_stands_in_two_parts():
    found = names.parts()
    shapes = {
        part: {tuple("·" if name else token for token, name in zip(one.tokens, one.names, strict=True)) for one in some}
        for part, some in found.items()
    }
    assert not shapes["train"] & (shapes["validation"] | shapes["test"]) and not shapes["validation"] & shapes["test"]
    assert len(shapes["test"]) > 200


# The study's numbers


def spread_of(found: dict[str, Any], name: str) -> tuple[float, float]:
    shares = [100 * run["test"] for run in found["models"][name]["runs"]]
    return mean(shares), stdev(shares)


def test_the_page_tells_what_the_study_found():
    found = study.RECORD.found("roles")
    for name in ("encoder", "GRU + attention", "GRU", "neighbours"):
        average, deviation = spread_of(found, name)
        assert f"{average:.1f} ± {deviation:.1f}" in PAGE, (name, average, deviation)
    for name in ("table of the real names", "programmer's rule"):
        assert f"{100 * found['counted'][name]:.1f} %" in PAGE, name


def test_each_seed_of_the_encoder_is_ahead_of_every_other_model():
    found = study.RECORD.found("roles")["models"]
    others = [run["test"] for name, one in found.items() if name != "encoder" for run in one["runs"]]
    assert min(run["test"] for run in found["encoder"]["runs"]) > max(others)
    assert all(len(one["runs"]) == 3 and one["rate"] in roles.RATES for one in found.values())


def test_a_name_that_is_renamed_in_the_head_is_no_parameter_any_more():
    for one in study.RECORD.found("roles")["attention"]:
        assert one["same_name"]["most"] > 3 * one["same_name"]["even"]
        assert one["still_parameter"]["its own"] < 0.3 < 0.8 < one["still_parameter"]["another"]
