"""Spelling, by codespell, and the field's words in place of others, by a list of our own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from codespell_lib import main as codespell

from autograder.course.paths import ROOT

from .files import names
from .files import text as text_of

#: What readers see, and docstrings. Tests misspell on purpose.
SPELLED = ("book/", "src/selfcheck/", "solutions/", "autograder/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")
GENERATED = ("book/notebooks/", "book/executed/", "src/selfcheck/recorded/")
#: Words that codespell takes for mistakes: ours, and one of Python's grammar.
KNOWN = ("regraded", "NotIn", "nd", "3nd")
#: A pattern, and what we write instead.
OTHER_WORDS = {
    r"empty rows?": "fully masked row",
    r"(?:a|nothing|the|both) bends?": "a nonlinearity",
    r"non-linear\w*": "nonlinear, nonlinearity",
    r"(?:key|query|token|word)'s place": "position",
    r"(?:by|by one|next|later|earlier) place(?! (?:of|where|to|in))": "position",
    r"(?:neighbor|behavior|normaliz|sanitiz|memoriz|initializ)\w*": "British spelling",
    r"pre-comput\w*": "precomputed",
}
#: Pages and catalogues that still say it otherwise: whoever edits one takes its line out.
OLDER = {
    "book/glossary.md": {"empty row"},  # names it as other texts' word
}
CODE = re.compile(
    r"^(`{3,})(?:\{code-cell\}|\w).*?^\1[ \t]*$|`[^`\n]+`|\$\$.*?\$\$|^---\n.*?^---$|\]\([^)\n]*\)", re.M | re.S
)


def read(prefixes: tuple[str, ...], suffixes: set[str]) -> Iterator[tuple[str, str]]:
    """Name and text of the tracked files below these folders, generated ones left out."""
    for name in names():
        if name.startswith(prefixes) and not name.startswith(GENERATED) and Path(name).suffix in suffixes:
            yield name, text_of(name)


def other_words(text: str) -> list[tuple[str, str]]:
    """What a text says that we say otherwise, and how; code and formulas are none of it."""
    prose = CODE.sub(" ", text)
    return [
        (match[0], instead)
        for pattern, instead in OTHER_WORDS.items()
        for match in re.finditer(rf"\b{pattern}\b", prose, re.I)
    ]


def test_codespell_finds_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    files = [str(ROOT / name) for name, _ in read(SPELLED, {".md", ".toml", ".py"})]
    assert len(files) > 200
    codespell("--ignore-words-list", ",".join(KNOWN).lower(), *files)
    assert capfd.readouterr().out == ""


def test_codespell_finds_a_mistake(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("The atention weigths.\n", "utf-8")
    codespell("--ignore-words-list", ",".join(KNOWN).lower(), str(page))
    assert "attention" in capfd.readouterr().out


def test_pages_and_catalogue_use_the_fields_words() -> None:
    texts = [*read(("book/", "README.md", "CONTRIBUTING.md"), {".md"}), *read(("src/selfcheck/catalogue/",), {".toml"})]
    found = [
        f"{name}: {word!r}, better {instead!r}"
        for name, text in texts
        for word, instead in other_words(text)
        if word.lower() not in OLDER.get(name, set())
    ]
    assert len(texts) > 30 and found == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("An empty row gives NaN.", ["empty row"]),
        ("There is a bend between them; ReLU bends.", ["a bend"]),
        ("The token's place, moved by one place.", ["token's place", "by one place"]),
        ("In place of it, take the place of `empty row` and\n\n```python\nempty row\n```\n", []),
        ("A fully masked row; a nonlinearity; its position.", []),
    ],
)
def test_other_words_are_found_in_prose_and_not_in_code(text: str, words: list[str]) -> None:
    assert [word for word, _ in other_words(text)] == words
