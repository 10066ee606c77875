"""Rules that every file of the repository keeps."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from .files import ROOT, SAMPLE_CLASS, names, ours, text

LONGEST = 400  # lines of a test file
SHIPPED = ("autograder/", "src/selfcheck/", "solutions/")
LONGEST_SHIPPED = 300  # lines of a module that is shipped
# Written in halves, so that this file keeps its own rules.
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
REGISTRIES = re.compile(
    r"pypi\."
    + r"org|pythonhosted\."
    + r"org|npmjs\."
    + r"(?:org|com)|download\.pytorch\."
    + r"org|mcr\.microsoft|ghcr\."
    + r"io"
)
HOMES = re.compile(r"(?<![\w.])/(?:home|Users)" + r"/[a-z]\w+/|[A-Z]:\\\\?Users")


def offenders(pattern: re.Pattern[str]) -> list[str]:
    """file:line of every match."""
    found = []
    for name in names():
        for number, line in enumerate(text(name).splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    return found


def test_no_committed_notebook_has_outputs() -> None:
    notebooks = ours(".ipynb")
    assert notebooks, "book/notebooks is empty; run make build"
    for name in notebooks:
        for number, cell in enumerate(json.loads(text(name))["cells"]):
            assert not cell.get("outputs"), f"{name}: cell {number} has outputs"
            assert cell.get("execution_count") is None, f"{name}: cell {number} has an execution count"


def test_no_file_names_a_path_of_one_machine() -> None:
    assert not offenders(HOMES)
    assert not offenders(re.compile(re.escape(str(ROOT)) + r"\b"))


def test_no_file_names_a_package_registry() -> None:
    assert not offenders(REGISTRIES)


def test_nothing_is_left_to_be_done() -> None:
    assert not offenders(UNFINISHED)


def test_python_files_read_in_one_sitting() -> None:
    lines = {name: len(text(name).splitlines()) for name in ours(".py")}
    most = {name: LONGEST_SHIPPED if name.startswith(SHIPPED) else LONGEST for name in lines}
    assert not {name: count for name, count in lines.items() if count > most[name]}


def test_every_module_says_what_it_is_for() -> None:
    hostile = "tests/attacks/code/"  # begins with a block that says what it tries
    modules = [name for name in ours(".py") if Path(name).name != "__init__.py" and not name.startswith(hostile)]
    silent = [name for name in modules if ast.get_docstring(ast.parse(text(name))) is None]
    assert not silent


def test_every_skipped_test_gives_its_reason() -> None:
    bare = re.compile(r"pytest\.skip\(\)|mark\.(?:skip|xfail)\b(?!\()|mark\.(?:skip|xfail)\(\)")
    assert not [
        name for name in ours(".py") if name.startswith("tests/") and bare.search(text(name)) and name != here()
    ]


def here() -> str:
    """This file's own name: it spells out what it looks for."""
    return Path(__file__).relative_to(ROOT).as_posix()


def test_nothing_built_is_committed() -> None:
    built = ("book/_build/", "course/", "node_modules/", ".venv/")
    assert not [name for name in names() if name.startswith(built) or "__pycache__" in name]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_within_the_repository_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text(name))
    assert not [target for target in targets if not (ROOT / target).exists()]


def test_the_sample_class_is_where_the_exceptions_above_expect_it() -> None:
    assert any(name.startswith(SAMPLE_CLASS) for name in names())
