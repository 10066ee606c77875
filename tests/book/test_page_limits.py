"""A chapter's main page is read in one sitting: its length, its code and its headings have limits."""

from __future__ import annotations

import pytest

from .page_measures import chapters, measure

WORDS, CODE_LINES, CHARACTERS, HEADINGS = 2500, 120, 72, 12
PAGE = """---
kernelspec: {name: python3}
---
(sec-x)=
# A title

Reading takes about 15 minutes. Two words, $x$, {ref}`here <sec-x>`.

$$
a = b
$$ (eq-x)

```{code-cell} ipython3
:tags: [hide-input]

hidden = 1
```

```{code-cell} ipython3
---
mystnb:
  image:
    alt: not prose
---
visible = 1

long_line = "0123456789"
```

:::{admonition} Title of it
:class: dropdown
Folded text.
:::

```{exercise} masks.causal_mask
```
"""


def over_the_limits(source: str) -> list[str]:
    got = measure(source)
    limits = (
        (got.words, WORDS, "words"),
        (got.code_lines, CODE_LINES, "visible lines of code"),
        (got.longest_line, CHARACTERS, "characters in a line of code"),
        (got.headings, HEADINGS, "headings"),
    )
    over = [f"{count} {name}, at most {limit}" for count, limit, name in limits if count > limit]
    if got.stated_minutes != got.minutes:
        over.append(f"it says {got.stated_minutes} minutes, the rule gives {got.minutes}")
    if got.minutes > 25:
        over.append(f"{got.minutes} minutes, at most 25")
    return over


@pytest.mark.parametrize("chapter", chapters())
def test_a_chapter_keeps_the_limits(chapter: str) -> None:
    assert over_the_limits(chapters()[chapter].read_text("utf-8")) == []


def test_words_code_and_headings_are_counted_as_they_are_seen() -> None:
    got = measure(PAGE)
    # "A title" 2, the paragraph 5 + 4 ("Two words, x, here sec-x"), the fold's title 3 and text 2
    assert (got.code_lines, got.longest_line, got.headings, got.shown, got.stated_minutes) == (2, 24, 1, 2, 15)
    assert got.prose == 2 + 5 + 5 + 3 + 2
    # label 1, heading 3, paragraph 5 + 5, formula 6, fold 9, exercise 3
    assert got.words == 1 + 3 + 10 + 6 + 9 + 3


@pytest.mark.parametrize(
    ("more", "finding"),
    [
        ("word " * 2500, "words"),
        ("```python\n" + "x = 1\n" * 121 + "```", "visible lines of code"),
        (f"```python\nx = '{'y' * 80}'\n```", "characters in a line"),
        ("# One\n\n" * 12, "headings"),
    ],
)
def test_what_is_over_a_limit_is_found(more: str, finding: str) -> None:
    assert any(finding in text for text in over_the_limits(f"{PAGE}\n{more}\n"))
