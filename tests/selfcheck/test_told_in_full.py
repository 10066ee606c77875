"""What a failing check tells besides its message: what to read again, the way to an exception, prints, its call."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner

from selfcheck import learner, supervision
from selfcheck.catalogue import parts_of
from selfcheck.commands import main
from selfcheck.editing import Opened, edit
from selfcheck.failures import Comparison, Failing, compare
from selfcheck.learner import check
from selfcheck.plan import call
from selfcheck.sections import address_of, title_of
from selfcheck.show import Report
from selfcheck.verdict import CheckResult

HEAD = """
import torch


def causal_mask(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
"""
TO_THE_START = HEAD + "    return torch.ones(query_length, key_length, dtype=torch.bool, device=device).tril()\n"
PRINTS = '    print("a <b>bold</b> & square", query_length)\n'
BY_WAY_OF_LOWER = """    sizes = torch.tensor([query_length, 2])
    return lower(sizes, torch.zeros(9, 3))


def lower(pair, large):
    return large + pair
"""
ONCE_MORE = "with fewer keys than queries, the last query still sees every key"


@pytest.fixture
def attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Report]:
    """Checks the causal mask in a module `masks` with the given text."""
    folder = tmp_path / "attention"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)

    def report(text: str) -> Report:
        (folder / "masks.py").write_text(text, "utf-8")
        made = check("4.2")
        assert isinstance(made, Report)
        return made

    return report


def row(report: Report, sees: str) -> BeautifulSoup:
    """The item of a notebook's list for the check that sees something."""
    items = BeautifulSoup(report._repr_html_(), "html.parser").find_all("li")
    return next(item for item in items if sees in item.get_text())


@pytest.fixture
def section() -> str:
    """The label of the section that treats a mask which begins in the wrong corner."""
    (exercise,) = parts_of("masks.causal_mask")
    label = exercise.message_of("aligned_to_start").section
    assert address_of(label).startswith("https://")
    return label


def test_a_terminal_names_the_section_to_read_again_and_its_address(
    attempt: Callable[[str], Report], section: str
) -> None:
    attempt(TO_THE_START)
    said = CliRunner().invoke(main, ["4.2"]).output.splitlines()
    (line,) = [number for number, text in enumerate(said) if "Reread" in text]
    assert said[line].strip() == f"Reread: {title_of(section)}" and said[line + 1].strip() == address_of(section)


def test_a_slip_of_any_code_leads_to_the_learners_guide_once(attempt: Callable[[str], Report]) -> None:
    report = attempt(TO_THE_START.replace("return ", ""))
    label = "sec-slips-none"
    assert repr(report).count(f"Reread: {title_of(label)}\n      {address_of(label)}\n      in causal_mask(") == 1
    assert repr(report).count("Reread") == 1 < repr(report).count("is the return statement missing?")
    (link,) = BeautifulSoup(report._repr_html_(), "html.parser").find_all("a")
    assert (link["href"], link.get_text()) == (address_of(label), title_of(label))


def test_a_message_that_says_all_of_a_slip_leads_nowhere(attempt: Callable[[str], Report]) -> None:
    report = attempt(TO_THE_START.replace("torch.ones", "torch.onse"))
    assert "torch.onse" in repr(report)
    assert "Reread" not in repr(report) + report._repr_html_()


def test_a_notebook_links_to_the_section_to_read_again(attempt: Callable[[str], Report], section: str) -> None:
    page = BeautifulSoup(attempt(TO_THE_START)._repr_html_(), "html.parser")
    (link,) = page.find_all("a")
    assert (link["href"], link.get_text()) == (address_of(section), title_of(section))
    assert "Reread" in link.parent.get_text()


def test_a_notebook_has_what_is_printed_below_its_check_as_it_is(attempt: Callable[[str], Report]) -> None:
    report = attempt(TO_THE_START.replace("    return", PRINTS + "    return"))
    for sees in ("the last query sees every key", "the mask is boolean"):  # one that fails, one that passes
        item = row(report, sees)
        printed = item.find("pre").get_text().splitlines()
        assert printed and all(line.startswith("│ a <b>bold</b> & square ") for line in printed)
        assert not item.find("b")


def test_the_way_to_an_exception_is_told_with_the_values_of_small_arrays(attempt: Callable[[str], Report]) -> None:
    report = attempt(HEAD + BY_WAY_OF_LOWER)
    way = [
        "│ masks.py, line 8, in causal_mask: return lower(sizes, torch.zeros(9, 3))",
        "│     sizes = [6, 2], Tensor of shape (2,), int64",
        "│ masks.py, line 12, in lower: return large + pair",
        "│     large = Tensor of shape (9, 3), float32",
        "│     pair = [6, 2], Tensor of shape (2,), int64",
    ]
    assert [line.strip() for line in repr(report).splitlines() if "│" in line][:5] == way
    assert row(report, "the future is hidden").find("pre").get_text().splitlines() == way


def test_the_way_to_an_exception_is_told_once(attempt: Callable[[str], Report]) -> None:
    report = attempt(HEAD + BY_WAY_OF_LOWER)
    assert sum(one.verdict == "failed" for one in report.results[0].checks) > 2
    assert repr(report).count("in lower: return") == report._repr_html_().count("in lower: return") == 1


def test_the_call_is_told_once_where_several_checks_have_one_cause(attempt: Callable[[str], Report]) -> None:
    said = repr(attempt(HEAD + BY_WAY_OF_LOWER))
    assert said.count("in causal_mask(query_length=6)") == 1
    assert said.count("in causal_mask(") - said.count("in causal_mask(-1, 5)") == 1
    assert f"{ONCE_MORE}: the same\n" in said


def test_no_call_is_told_where_every_check_has_one_cause(attempt: Callable[[str], Report]) -> None:
    report = attempt(HEAD + "    return np.ones(2)\n")
    said, page = repr(report), BeautifulSoup(report._repr_html_(), "html.parser").get_text()
    for text in (said, page):
        assert "every check" in text and text.count("np.ones(2)") == 1 and "in causal_mask(" not in text


def test_code_that_never_ends_is_ended_and_the_check_says_where_it_was(
    attempt: Callable[[str], Report], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    soon = functools.partial(supervision.supervised, limit=1.0, notice=0.1)
    monkeypatch.setattr(learner, "supervised", soon)
    monkeypatch.setattr(learner, "TIME_LIMIT", 1.0)
    report = attempt(HEAD + "    while True:\n        key_length += 1\n")
    assert "still running, in line " in capsys.readouterr().out
    for text in (repr(report), BeautifulSoup(report._repr_html_(), "html.parser").get_text()):
        assert "your code was ended after 1 s, in line " in text and " of masks.py: " in text
        assert "Does a loop never end?" in text and "0 of 6 visible checks pass" in text


def tables(page: BeautifulSoup) -> dict[str, list[list[str]]]:
    """The entries of each table of a page, by its caption."""
    return {
        table.caption.get_text(): [[cell.get_text() for cell in line.find_all("td")] for line in table.find_all("tr")]
        for table in page.find_all("table")
    }


def test_compare_shows_both_arrays_in_a_notebook_and_marks_what_differs(attempt: Callable[[str], Report]) -> None:
    attempt(TO_THE_START)
    compared = compare("4.2")
    assert isinstance(compared, Comparison)
    page = BeautifulSoup(compared._repr_html_(), "html.parser")
    assert page.find("code").get_text() == "in causal_mask(3, 8)"
    assert tables(page) == {
        "yours (3, 8)": [list("T" * seen + "F" * (8 - seen)) for seen in (1, 2, 3)],
        "expected (3, 8)": [list("T" * seen + "F" * (8 - seen)) for seen in (6, 7, 8)],
    }
    marked = [cell.get_text() for cell in page.find_all("td") if "2px solid" in cell["style"]]
    assert marked == ["F"] * 15 + ["T"] * 15


def test_compare_shows_a_call_in_a_notebook_as_it_is() -> None:
    (exercise,) = parts_of("masks.causal_mask")
    shown = call("<b>&amp;").packed(), {}, {}
    compared = Comparison(Failing(exercise, CheckResult("a", "a", "failed", 0, 1, shown=shown)))
    page = BeautifulSoup(compared._repr_html_(), "html.parser")
    assert page.find("code").get_text() == "in causal_mask('<b>&amp;')" and not page.find("b")


@pytest.mark.parametrize("has_widgets", [True, False])
def test_without_ipywidgets_an_opened_exercise_has_no_buttons_and_all_else(
    has_widgets: bool, attempt: Callable[[str], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    if not has_widgets:
        monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert repr(attempt(TO_THE_START)).startswith("4.2 ")
    opened = edit("4.2")
    assert isinstance(opened, Opened)
    opened._ipython_display_()
    link, *buttons = shown
    assert "masks.py" in link["text/plain"] and "masks.py" in link["text/html"]
    assert [one["text/plain"] for one in buttons] == ['check("4.2"), hint("4.2"), failing("4.2")'] * has_widgets
