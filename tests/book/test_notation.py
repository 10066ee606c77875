"""The table of symbols is complete, gives each symbol one meaning, and makes the notation page."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import Any

import pytest

from autograder.build import generate, notation
from autograder.course.paths import BOOK
from selfcheck.catalogue import exercises

from .formula_symbols import formulas, pages, symbols

ADVICE = "add a row to book/notation.toml, or use the symbol that has this meaning there"
#: Pages about all chapters, which use the symbols of any.
GENERAL = {"glossary", "index", "guides/reader", "guides/learner", "guides/instructor"}
CHAPTER = re.compile(r"chapters/0*(\d+)-")
PAGES = pages(BOOK)
LABELS = {label: name for name, text in PAGES.items() for label in re.findall(r"^\((sec-[\w-]+)\)=$", text, re.M)}
#: Symbols beside the table, on pages and in prompts: whoever edits one uses the table's symbol and takes the line out.
OLDER: dict[str, set[str]] = {}


@cache
def rows() -> list[dict[str, Any]]:
    return [row for section in notation.table()["section"] for row in section["rows"]]


def own_keys(symbol: str) -> set[str]:
    """Of one symbol in the table its own key; the letters of its index are no part of it."""
    first = re.sub(r"(?<=.)_.*", "", symbol) if "_" in symbol else symbol
    return {key for key in symbols(symbol) if key.partition("_")[0] == first}


def scopes(page: str, text: str) -> set[str]:
    """What limits of rows a page meets: its own name, and its chapter's number or those of all that it refers to."""
    names = [page, *(LABELS.get(label, "") for label in re.findall(r"sec-[\w-]+", text))]
    if not page.startswith("chapters/"):
        names += re.findall(r"chapters/\d+-", text)
    elif match := CHAPTER.match(page):
        return {match[1], page.rpartition("/")[2]}
    return {page.rpartition("/")[2], *(match[1] for match in map(CHAPTER.match, names) if match)}


def holds(row: dict[str, Any], at: set[str]) -> bool:
    """Whether a row is about a page with these scopes."""
    limits = {str(limit) for limit in (*row.get("chapters", ()), *row.get("pages", ()))}
    return not limits or bool(limits & at)


def known(at: set[str] | None) -> set[str]:
    """The keys of all rows that hold at these scopes; of all rows where there are none."""
    return {
        key for row in rows() if at is None or holds(row, at) for symbol in row["symbols"] for key in own_keys(symbol)
    }


def missing(page: str, text: str) -> list[str]:
    """The symbols of a page that the table lacks, each with its formula."""
    table = known(None if page in GENERAL else scopes(page, text))
    found: dict[str, str] = {}
    for formula in formulas(text):
        for symbol in symbols(formula) - table - OLDER.get(page, set()):
            found.setdefault(symbol, " ".join(formula.split())[:70])
    return [f"{page}: {symbol} in ${formula}$; {ADVICE}" for symbol, formula in sorted(found.items())]


@pytest.mark.parametrize("page", PAGES)
def test_the_table_has_every_symbol_of_a_page(page: str) -> None:
    assert missing(page, PAGES[page]) == []


def test_the_table_has_every_symbol_of_the_exercises() -> None:
    texts = {}
    for exercise in exercises():
        text = "\n\n".join([exercise.prompt, *exercise.hints, *(one.message for one in exercise.misconceptions)])
        texts[f"chapters/{int(exercise.number.partition('.')[0]):02d}-{exercise.id}"] = text
    assert [line for name, text in texts.items() for line in missing(name, text)] == []


def test_a_symbol_has_one_meaning_in_each_chapter() -> None:
    at: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows():
        for symbol in row["symbols"]:
            for key in own_keys(symbol):
                at[key].append(row)
    twice = []
    for key, several in at.items():
        limits = [limit for row in several for limit in (*row.get("chapters", ()), *row.get("pages", ()))]
        if len(several) > 1 and (len(limits) != len(set(limits)) or not all(map(_is_limited, several))):
            twice.append(f"{key}: {[row['meaning'] for row in several]}")
    assert twice == []


def _is_limited(row: dict[str, Any]) -> bool:
    return bool(row.get("chapters") or row.get("pages"))


def test_every_symbol_of_the_table_is_read_as_one() -> None:
    assert [symbol for row in rows() for symbol in row["symbols"] if len(own_keys(symbol)) != 1] == []


def test_the_page_is_made_from_the_table() -> None:
    ((path, text),) = notation.page().items()
    assert path == BOOK / "notation.md" and path.read_text("utf-8") == text, "run make build"


def test_pages_beside_the_generated_one_are_no_strays() -> None:
    assert generate.strays(notation.page()) == []


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        (r"a_{ij} = \operatorname{softmax}_{j \le t}(s_{tj})", {"a_□□", "s_□□"}),
        (r"W_Q^h + d_\text{model} + d_{k} + W_1", {"W_Q", "h", "d_model", "d_k", "W_□"}),
        (r"\hat x_j - \bar{x} + x'_{t-1} + \mathbf 1", {r"\hat x_□", r"\bar x", "x_□"}),
        (r"E_{p,\,2i} \in \mathbb{R}, \quad \text{where } y", {"E_□□", "y"}),
        (r"e^{s_{ij}} \lVert q \rVert \tag{a}", {"e", "s_□□", "q"}),
    ],
)
def test_symbols_are_read_from_a_formula(formula: str, found: set[str]) -> None:
    assert symbols(formula) == found


def test_formulas_are_read_from_prose_and_not_from_code() -> None:
    page = (
        "---\na: $x$\n---\nIt is $a$ and `$b$`.\n\n$$\nc\n$$ (eq-c)\n\n```python\n$d$\n```\n\n"
        "```{admonition} T\n$f$\n```\n\n```{math}\n:label: l\ng\n```\n"
    )
    assert sorted(" ".join(one.split()) for one in formulas(page)) == ["a", "c", "f", "g"]


def test_a_symbol_that_the_table_lacks_is_found_with_its_formula() -> None:
    (line,) = missing("chapters/07-encoder", r"The weights $\xi_{ij}$ and the scores $s_{ij}$.")
    assert line.startswith(r"chapters/07-encoder: \xi_□□ in $\xi_{ij}$")
    assert missing("chapters/04-masks", r"$\gamma$ and $\mu$") != []  # μ is chapter 7's
