"""Times on pages come from committed studies: no page reads a clock, and what the studies found is what pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.course.paths import BOOK
from studies import clocks

CLOCK = re.compile(r"\b(perf_counter|process_time|monotonic|timeit|time\.time)\b(?!\(\)`)")
PAGES = [path for folder in ("chapters", "deeper") for path in sorted((BOOK / folder).glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_page_reads_a_clock_itself(page: Path) -> None:
    cells = re.findall(r"(?ms)^```\{code-cell\}.*?^```$", page.read_text("utf-8"))
    assert [found for cell in cells for found in CLOCK.findall(cell)] == []


def test_each_part_says_where_and_when_it_was_measured() -> None:
    assert set(clocks.RECORD.load()) == set(clocks.PARTS)
    for part in clocks.PARTS:
        assert re.match(r"\d{4}-\d\d-\d\d, .+, 1 thread, torch \d", clocks.machine(part))


def test_the_pages_tell_what_the_studies_found() -> None:
    scores, layers = clocks.RECORD.found("scores"), clocks.RECORD.found("layers")
    assert scores["additive"] > 5 * scores["dot"]
    far = clocks.LENGTHS.index(4 * clocks.WIDTH)
    assert layers["attention"][far] < min(layers["GRU"][far], layers["tanh recurrence"][far])
    assert all(a > c for a, c in zip(layers["attention"], layers["convolution"], strict=True))
    spelled = clocks.RECORD.found("spellings")
    assert spelled["flex, not compiled"] == max(spelled.values())
    assert spelled["compile(naive, masked_fill)"] > 2 * spelled["SDPA, is_causal"]
    times = [f"{times:.1f}" for _, times, _ in clocks.RECORD.found("flex").values()]
    assert f"it was {', '.join(times[:3])} and {times[3]} times" in (BOOK / "deeper" / "sdpa-backends.md").read_text()
