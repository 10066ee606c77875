"""What pages can refer to, read from their source."""

from pathlib import Path

from autograder.build.book_index import BookIndex

PAGE = """---
x: y
---
(sec-whole)=
# Masks

## Before

(sec-first)=
(sec-second)=

## Two labels and one heading

(sec-alone)=
A paragraph.
"""


def test_a_heading_may_have_several_labels(tmp_path: Path) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "04-masks.md").write_text(PAGE, "utf-8")
    index = BookIndex(tmp_path)
    titles = {name: index.labels[name].title for name in ("sec-whole", "sec-first", "sec-second")}
    assert titles == {
        "sec-whole": "Masks",
        "sec-first": "Two labels and one heading",
        "sec-second": "Two labels and one heading",
    }
    assert "sec-alone" not in index.labels
