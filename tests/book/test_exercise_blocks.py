"""An exercise block shows what the catalogue, the stubs and the reference say, and nothing else says it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, SoupStrainer, Tag

from autograder.build.exercise_text import chapter_page, label, points_text, slug, solution_text, stub_text
from autograder.build.urls import colab_url
from autograder.course.paths import BOOK, ROOT
from selfcheck.catalogue import Exercise, exercises


def _name(exercise: Exercise) -> str:
    return f"{exercise.number} {exercise.symbol}"


@cache
def _all_blocks(site: Path, page: str) -> dict[str, Tag]:
    """Every exercise block of a page by its id."""
    article = SoupStrainer("article")
    soup = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser", parse_only=article)
    return {block["id"]: block for block in soup.select(".exercise[id]")}


def _blocks(exercise: Exercise, site: Path) -> list[Tag]:
    """The block in the chapter and the block in the problem set."""
    places = [
        (chapter_page(exercise), label(exercise)),
        (f"problem-sets/{exercise.problem_set}", f"{exercise.problem_set}-{slug(exercise)}"),
    ]
    blocks = []
    for page, name in places:
        block = _all_blocks(site, page).get(name.lower().replace("_", "-"))
        assert block is not None, f"{page} does not show exercise {exercise.number}"
        blocks.append(block)
    return blocks


def _words(text: str) -> str:
    return " ".join(text.split())


PAGES = sorted({page for each in exercises() for page in (chapter_page(each), f"problem-sets/{each.problem_set}")})


@pytest.mark.parametrize("page", PAGES)
def test_exercises_stand_in_the_order_of_their_numbers(page: str, site: Path) -> None:
    titles = [block.select_one(".exercise-title").text for block in _all_blocks(site, page).values()]
    numbers = [tuple(map(int, re.search(r"(\d+)\.(\d+)", title).groups())) for title in titles]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("exercise", exercises(), ids=_name)
def test_block_shows_the_catalogue(exercise: Exercise, site: Path) -> None:
    for block in _blocks(exercise, site):
        title = _words(block.select_one(".exercise-title").text).replace("’", "'")  # typeset on the page
        assert title == f"Exercise {exercise.number}: {exercise.title}"
        facts = block.select_one(".exercise-facts").text
        assert points_text(exercise.max_points) in facts
        assert f"about {exercise.minutes} minutes" in facts
        assert f"difficulty {exercise.difficulty} of 5" in facts
        plain = re.search(r"[^`$*_{\[\\<'\"\n]{12,}", exercise.prompt)[0].strip()
        assert _words(plain) in _words(block.text)
        assert len(block.select("details.hint")) == len(exercise.hints) == 3
        assert not any(fold.has_attr("open") for fold in block.select("details"))
        for needed in exercise.depends_on:
            numbers = [other.number for other in exercises() if other.id == needed]
            assert any(number in facts for number in numbers)


@pytest.mark.parametrize("exercise", exercises(), ids=_name)
def test_block_shows_the_stub_the_solution_and_where_to_work(exercise: Exercise, site: Path) -> None:
    for block in _blocks(exercise, site):
        assert block.select_one("details.stub pre").text.strip() == stub_text(exercise).strip()
        assert "NotImplementedError" in block.select_one("details.stub pre").text
        # A solution is two clicks away: it is folded inside a fold that says what to try first.
        shown = block.select_one("details.solution-question > details.solution pre")
        assert shown.text.strip() == solution_text(exercise).strip()
        assert f'check("{exercise.number}")' in block.select_one("details.solution-question > p").text
        assert block.select_one(".exercise-work a")["href"] == colab_url(exercise.problem_set)
        work = block.select_one(".exercise-work").text
        assert f'check("{exercise.number}")' in work and f"python -m selfcheck {exercise.number}." in work


def test_no_page_shows_the_marks_around_solutions(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert "# solution:" not in page.read_text("utf-8"), page.name


def test_a_book_without_solutions_has_none(tmp_path: Path) -> None:
    exercise = next(exercise for exercise in exercises() if exercise.id == "masks.causal_mask")
    reference = os.path.relpath(ROOT / "solutions" / "attention" / "masks.py", tmp_path)
    included = f"```{{literalinclude}} {reference}\n:pyobject: causal_mask\n```\n"
    (tmp_path / "index.md").write_text(f"# A page\n\n```{{exercise}} {exercise.id}\n```\n\n{included}", "utf-8")
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(BOOK / '_extensions')!r})\n"
        "extensions = ['myst_parser', 'exercise_block', 'solution_marks']\nmyst_enable_extensions = ['dollarmath']\n",
        "utf-8",
    )
    paths = [ROOT / "solutions", ROOT / "src", ROOT]
    shown = {}
    for solutions in ("yes", "no"):
        environment = {**os.environ, "SOLUTIONS": solutions, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        command = [sys.executable, "-m", "sphinx", "-q", "-E", "-b", "html", str(tmp_path), str(tmp_path / solutions)]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        soup = BeautifulSoup((tmp_path / solutions / "index.html").read_text("utf-8"), "html.parser")
        shown[solutions] = len(soup.select("details.solution"))
        assert len(soup.select("details.stub")) == 1
        assert ("last_visible = " in soup.text) == (solutions == "yes")
        assert "# solution:" not in soup.text
    assert shown == {"yes": 1, "no": 0}
