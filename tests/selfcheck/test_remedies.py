"""A first message names cause and place; the remedy comes as the next hint, and in graded feedback at once."""

import ast
import importlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from autograder.judge.task import _check_outcome
from selfcheck import (
    advice,
    arrays,
    aspects,
    axis_advice,
    compare,
    exception_words,
    exceptions,
    generic,
    module_state,
    shapes,
    trees,
    words,
)
from selfcheck.catalogue import exercises, parts_of
from selfcheck.generic_slips import SLIPS
from selfcheck.hints import hint
from selfcheck.learner import check
from selfcheck.memory import NAME, Memory, remember
from selfcheck.show import exercise_text, report_text
from selfcheck.slip_remedies import REMEDIES

(EXERCISE,) = parts_of("masks.causal_mask")
REMEDY = "Let the diagonal end in the last row and column."
WRONG = """
import torch


def causal_mask(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    return torch.ones(query_length, key_length, dtype=torch.bool, device=device).tril()
"""
RIGHT = WRONG.replace(".tril()", ".tril(key_length - query_length)")

#: Each tells what to do, where it begins a sentence or stands behind a colon or semicolon. Verbs that name a function
#: of torch, as reshape and detach do, are left out: sentences begin with the function that was used.
VERBS = """add apply ask assign avoid begin bring build call cast choose clone collect compare compute convert copy
    count create cut delete divide don't drop fill give hand import insert join keep leave let look make move multiply
    name normalise pass print put reduce remove replace return scale set shift start stay subtract swap take transpose
    try turn use work write"""
GENERIC = [path.stem for path in sorted(Path(generic.__file__).parent.glob("generic_*.py"))]
TO_DO = re.compile(rf"(?i)(?:^|[.:;!?]\s+)\(?((?:{'|'.join(VERBS.split())}) [^.:;]*)")


@pytest.fixture
def entry():
    """The misconception of a mask that begins in the wrong corner, with a remedy of its own for the time of a test."""
    found = EXERCISE.message_of("aligned_to_start")
    before = found.remedy
    object.__setattr__(found, "remedy", REMEDY)
    yield found
    object.__setattr__(found, "remedy", before)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes the learner's `masks`."""
    folder = tmp_path / "attention"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    return (folder / "masks.py").write_text


def test_a_learner_reads_the_cause_and_where_the_remedy_is(entry, write):
    write(WRONG)
    report = check("4.2")
    text, in_terminal, page = repr(report), report_text(report.results, in_terminal=True), report._repr_html_()
    assert entry.message in text and 'hint("4.2") says how to mend it' in text
    assert "python -m selfcheck hint 4.2 says how to mend it" in in_terminal
    assert '<code>hint("4.2")</code> says how to mend it' in page
    assert all(REMEDY not in one for one in (text, in_terminal, page))
    assert text.count("says how to mend it") == page.count("says how to mend it") == 1


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_a_first_message_does_not_say_what_to_do(exercise):
    said = {entry.id: TO_DO.findall(entry.message) for entry in exercise.misconceptions}
    assert not any(said.values()), {name: found for name, found in said.items() if found}


#: Whose parts beside constants are a case's own names and numbers.
MODULES = (advice, arrays, aspects, axis_advice, compare, exception_words, exceptions, shapes, trees, words)
MODULES += (generic, *(importlib.import_module(f"selfcheck.{name}") for name in GENERIC), module_state)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_what_is_said_of_slips_does_not_say_what_to_do_either(module):
    said = {text: TO_DO.findall(text) for text in texts_in(module) if "\\" not in text}  # which is a pattern
    assert not any(said.values()), {text: found for text, found in said.items() if found}


def texts_in(module):
    """The texts of a module that are no docstrings, those of f-strings put together."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def test_every_remedy_belongs_to_a_slip():
    assert set(REMEDIES) <= set(SLIPS)
    assert all(text.endswith(".") for text in REMEDIES.values())


@pytest.mark.parametrize(
    ("line", "cause", "remedy"),
    [
        ("return math.pi", "not_imported", "Import it at the top of the file"),
        ("return masked_softmax(1)", "not_imported", "from .masks import causal_mask"),
        ("if torch.ones(2): return 1", "truth_value", "For each entry use &, | and ~"),
        ("print(torch.ones(2))", "printed", "Hand the answer back with return"),
        ("yield 1", "generator", "return that"),
        ("return torch.ones(2, 2).max(dim=-1) - 1", "values_and_positions", "amax and amin"),
        (
            "return torch.ones(query_length, key_length or query_length).tril().tolist()",
            "no_tensor",
            "torch's functions",
        ),
    ],
)
def test_the_remedy_of_a_slip_of_any_code_waits_too(write, line, cause, remedy):
    write(WRONG.partition("    key_length =")[0] + f"    {line}\n")
    report = check("4.2")
    assert f"generic.{cause}" in report.results[0].misconceptions
    assert remedy not in repr(report) and "says how to mend it" in repr(report)
    assert remedy in str(hint("4.2"))


def test_graded_feedback_has_the_remedy_behind_the_message(entry, write):
    write(WRONG)
    (result,) = check("4.2").results
    text = exercise_text(result, whole=True)
    assert f"{entry.message} {REMEDY}" in text and "hint(" not in text
    named = next(one for one in result.checks if one.misconception == entry.id)
    assert _check_outcome(named).message == f"{entry.message} {REMEDY}"


def test_the_next_hint_is_the_remedy_and_then_come_the_graded_ones(entry, write):
    write(WRONG)
    check("4.2")
    first, second = hint("4.2"), hint("4.2")
    assert str(first) == f"4.2 how to mend it: {REMEDY}" and REMEDY in first._repr_markdown_()
    assert str(second) == f"4.2 hint 1 of 3: {EXERCISE.hints[0]}"
    check("4.2")
    assert REMEDY in str(hint("4.2")) and "hint 2 of 3" in str(hint("4.2"))


def test_what_passes_by_now_needs_no_remedy(entry, write):
    write(WRONG)
    check("4.2")
    write(RIGHT)
    check("4.2")
    assert "hint 1 of 3" in str(hint("4.2"))


def test_a_misconception_without_a_remedy_offers_none(entry, write):
    object.__setattr__(entry, "remedy", "")
    write(WRONG)
    text = repr(check("4.2"))
    assert entry.message in text and "mend" not in text
    assert "hint 1 of 3" in str(hint("4.2"))


def test_of_several_exercises_it_is_the_hint_of_one_that_is_wanted(entry, write, tmp_path):
    assert str(hint("masks")).startswith("4.1 hint 1")
    write(WRONG)
    check("4.2")
    assert str(hint("masks")) == f"4.2 how to mend it: {REMEDY}"
    memory = Memory(tmp_path)
    memory.passed = {"4.1": "as it was", "4.2": "likewise"}
    memory.write()
    assert str(hint("masks")).startswith("4.3 hint 1") and str(hint("4.1")).startswith("4.1")


def test_a_memory_of_an_earlier_version_is_read_and_a_damaged_one_is_empty(tmp_path):
    path = tmp_path / ".selfcheck.json"
    path.write_text('{"4.2": 2}')
    assert (Memory(tmp_path).hints, Memory(tmp_path).named) == ({"4.2": 2}, {})
    for text in ("[]", "{", '{"4.2": "x"}', '{"named": 3}', '{"4.2": 1e999}'):
        path.write_text(text)
        assert Memory(tmp_path).named == {}


def test_a_folder_that_cannot_be_written_costs_the_memory_and_nothing_else(entry, write, tmp_path):
    write(WRONG)
    results = check("4.2").results
    remember(tmp_path / "attention" / "masks.py", results, {})  # no folder
    assert json.loads((tmp_path / ".selfcheck.json").read_text()) == {"named": {"4.2": "aligned_to_start"}}


@pytest.mark.parametrize("folder", ["", "src/", "solutions/", "somewhere/below/"])
def test_git_ignores_the_memory_wherever_it_lies(folder):
    root = Path(__file__).resolve().parents[2]
    command = ["git", "-c", "safe.directory=*", "check-ignore", "--no-index", "-v", f"{folder}{NAME}"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout
    assert said.startswith(".gitignore:")  # by the repository's own rules, not by those of whoever tests
