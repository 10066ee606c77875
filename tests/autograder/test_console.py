"""What commands print is cut between words, and its lines end where their words do."""

import io
import os
import subprocess
import sys

import pytest

from autograder import console
from autograder.console import PatientConsole, remarks_line, show
from autograder.course.paths import ROOT


@pytest.fixture
def printed(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(console, "console", PatientConsole(file=file, width=20, highlight=False))
    return file.getvalue


def test_a_long_line_goes_on_at_its_indentation_and_no_line_ends_in_blanks(printed):
    show("  a line that is longer than the terminal\n\nlast", style="red")
    assert printed() == "  a line that is\n  longer than the\n  terminal\n\nlast\n"


@pytest.mark.parametrize(
    ("remark", "shown"),
    [
        ("which is what is graded", "which is what is …"),
        ("which is what is g", "which is what is g"),
        ("which is what graded at last", "which is what …"),
        ("a verylongwordverylongword", "a verylongwordvery…"),
        ("attention/worked_example.py", "attention/worked_e…"),
    ],
)
def test_a_remark_is_cut_between_words_where_it_has_any(remark, shown):
    assert remarks_line([remark], longest=18) == shown


def test_a_terminal_without_a_width_shows_everything():
    program = "from autograder.console import console; console.print('everything')"
    environment = os.environ | {"COLUMNS": "0"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "everything\n"


def test_a_sentence_before_another_remark_has_no_full_stop_and_a_semicolon():
    assert remarks_line(["Write it yourself.", "ps1.ipynb is missing", "Late."]) == (
        "Write it yourself; ps1.ipynb is missing; Late."
    )
    assert remarks_line([]) == "" and remarks_line(["One.", "two"], most=1) == "One; and 1 more: see the report"
