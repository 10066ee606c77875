"""The questions of the chapters: each answer has its sentence, and each number is recomputed from the reference."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from autograder.build.quick_questions import FOLDER, KINDS, Option, Question, find, in_chapter, named_parts, plain
from autograder.course.paths import BOOK

from .question_names import names

CHAPTERS = {re.sub(r"^\d+-", "", path.stem): path for path in sorted((BOOK / "chapters").glob("*.md"))}
ALL = [question for chapter in CHAPTERS for question in in_chapter(chapter)]
USED = re.compile(r"^```\{quick-question\} (\S+)$", re.MULTILINE)
DECIMAL = re.compile(r"(?<![\w.])−?-?\d+\.\d+(?!\w)")
WORDS_OF_A_PROMPT, WORDS_OF_A_SENTENCE = 50, 50


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small operations by the thousand: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(one, id=one.id) for one in ALL if one.kind in kinds]


def value_of(expression: str) -> Any:
    return eval(expression, names())


def number_of(expression: str) -> float:
    return float(value_of(expression))


def ran(question: Question, lines: list[str]) -> dict[str, Any]:
    """The names as they are after the question's set-up and these lines."""
    space = names()
    exec(question.proof["setup"], space)
    exec("\n".join(lines), space)
    return space


def agree(one: Any, other: Any) -> bool:
    one, other = (torch.as_tensor(value, dtype=torch.float64).detach() for value in (one, other))
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-6)


def works(question: Question, lines: list[str]) -> bool:
    """Whether these lines give what is expected; lines that raise do not."""
    with contextlib.suppress(Exception):
        space = ran(question, lines)
        return agree(eval(question.proof["result"], space), eval(question.proof["expected"], space))
    return False


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_asks_each_of_its_five_to_eight_questions_once(chapter: str) -> None:
    asked = USED.findall(CHAPTERS[chapter].read_text("utf-8"))
    assert Counter(asked) == Counter(one.id for one in in_chapter(chapter))
    assert 5 <= len(asked) <= 8
    assert len({one.kind for one in in_chapter(chapter)}) >= 3


def test_there_is_no_file_without_a_chapter_and_every_kind_is_used() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(CHAPTERS)
    assert {one.kind for one in ALL} == set(KINDS)


@pytest.mark.parametrize("question", [pytest.param(one, id=one.id) for one in ALL])
def test_every_answer_has_its_own_sentence(question: Question) -> None:
    says = [text for _, text in named_parts(question)]
    assert len(set(says)) == len(says) and len(question.options) >= 2
    for text in says:
        assert text.endswith((".", "?")) and 3 <= len(text.split()) <= WORDS_OF_A_SENTENCE, text
    assert len(question.prompt.split()) <= WORDS_OF_A_PROMPT
    chosen = [option.chosen for option in question.options]
    assert len(set(chosen)) == len(chosen)
    if question.kind != "order":
        assert [option.right for option in question.options].count(True) == 1
        assert question.kind == "mistake" or len(question.options) >= 3 or question.id.endswith("axis")


@pytest.mark.parametrize("question", of_kind("number"))
def test_numbers_are_those_of_the_reference_and_of_the_named_mistakes(question: Question) -> None:
    for option in question.options:
        got = number_of(option.proof["expression"])
        assert got == pytest.approx(option.chosen, abs=max(question.tolerance / 4, 1e-9)), option.says
    for one, other in itertools.combinations(question.options, 2):
        assert abs(one.chosen - other.chosen) > 2 * question.tolerance, "one answer would get two sentences"


@pytest.mark.parametrize("question", of_kind("mask"))
def test_masks_are_those_of_the_reference_and_of_the_named_mistakes(question: Question) -> None:
    for option in question.options:
        mask = value_of(option.proof["expression"])
        assert mask.dtype == torch.bool
        assert tuple("".join(str(int(may)) for may in row) for row in mask) == option.chosen, option.says
    assert len({(len(one.chosen), len(one.chosen[0])) for one in question.options}) == 1


@pytest.mark.parametrize("question", of_kind("shape"))
def test_shapes_are_those_of_the_reference_and_of_the_named_mistakes(question: Question) -> None:
    for option in question.options:
        got = value_of(option.proof["expression"])
        shapes = [tuple(one.shape) for one in (got if isinstance(got, tuple) else (got,))]
        assert " and ".join(map(str, shapes)) == option.chosen, option.says


@pytest.mark.parametrize("question", of_kind("order"))
def test_an_order_is_right_exactly_where_its_lines_give_the_result(question: Question) -> None:
    assert works(question, list(question.lines))
    for order in itertools.permutations(range(len(question.lines))):
        lines = [question.lines[at] for at in order]
        assert works(question, lines) == question.keeps_order(list(order)), lines
    assert not question.keeps_order(question.shown)


@pytest.mark.parametrize("question", of_kind("mistake"))
def test_the_line_called_wrong_is_wrong_and_the_only_one(question: Question) -> None:
    lines = [option.chosen for option in question.options]
    mended = [option.proof.get("fixed", option.chosen) for option in question.options]
    assert [one.right for one in question.options] == [one != other for one, other in zip(lines, mended, strict=True)]
    space = ran(question, lines)  # none raises: the mistake shows in the numbers alone
    assert not agree(eval(question.proof["result"], space), eval(question.proof["expected"], space))
    assert works(question, mended)


def test_decimals_in_a_text_are_answers_given_or_recomputed() -> None:
    for question in ALL:
        sources: list[Question | Option] = [question, *question.options]
        claims = {text: expression for one in sources for text, expression in one.proof.get("claims", {}).items()}
        for text, expression in claims.items():
            places = len(text.partition(".")[2])
            assert number_of(expression) == pytest.approx(float(text), abs=0.5 * 10**-places + 1e-9), question.id
        known = {*claims, *question.proof.get("given", ())}
        for text in (question.prompt, *(says for _, says in named_parts(question))):
            for found in DECIMAL.findall(re.sub(r"`[^`]*`", "", text)):
                plain_number = found.replace("−", "-")
                values = [option.chosen for option in question.options if question.kind == "number"]
                assert plain_number in known or float(plain_number) in values, f"{question.id}: {found} in {text!r}"


def test_the_right_answer_has_no_place_of_its_own() -> None:
    shown = [one for one in ALL if one.kind in ("mask", "shape")]
    places = Counter(next(n for n, at in enumerate(one.shown) if one.options[at].right) for one in shown)
    assert max(places.values()) <= len(shown) / 2, places


def test_a_notebook_gets_question_and_folded_answers_in_plain_markdown() -> None:
    text = plain(find("masks.window-two"))
    assert text.startswith("**Question: choose the mask.** Four tokens") and "1100\n0110" in text
    before, folded = text.split("<details>")
    assert "each token sees itself" not in before.lower() and "C, right: Each token sees itself" in folded


@pytest.mark.parametrize(
    ("name", "message"),
    [("masks.nothing", "known: masks.padding-axis"), ("nowhere.x", "no book/questions/nowhere.toml")],
)
def test_an_unknown_question_is_refused(name: str, message: str) -> None:
    with pytest.raises(LookupError, match=message):
        find(name)
