"""The import closure: what a piece of code depends on, told from its source."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.build.import_closure import closure_of, closure_of_code
from autograder.course.paths import BOOK, REFERENCE, ROOT

LAZY_PACKAGE = "import importlib\ndef __getattr__(name):\n    return importlib.import_module(f'.{name}', __name__)\n"
FILES = {
    "pack/__init__.py": LAZY_PACKAGE,
    "pack/first.py": "from . import second\n",
    "pack/second.py": "import json\n",
    "pack/third.py": "VALUE = 3\n",
    "pack/data/table.csv": "1,2\n",
    "pack/inner/__init__.py": "from ..third import VALUE\n",
    "pack/inner/deep.py": "def f():\n    import numpy.linalg\n",
    "alone.py": "from pathlib import Path\nSTYLE = Path(__file__).parent / 'styles' / 'one.style'\n",
    "styles/one.style": "red\n",
    "styles/two.style": "blue\n",
    "program/__init__.py": "",
    "program/__main__.py": "import alone\n",
    "by_name/__init__.py": "import importlib\ndef load(name):\n    importlib.import_module(f'{__name__}.{name}')\n",
    "by_name/part.py": "",
    "computed.py": "import importlib\ndef load(name):\n    return importlib.import_module(name)\n",
}
LAZY = {"pack/__init__.py", "pack/data/table.csv"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("import pack", LAZY),
        ("import pack\npack.third.VALUE", {*LAZY, "pack/third.py"}),
        ("import pack as p\np.first", {*LAZY, "pack/first.py", "pack/second.py"}),
        ("from pack import third", {*LAZY, "pack/third.py"}),
        ("def f():\n    from pack.third import VALUE", {*LAZY, "pack/third.py"}),
        ("import pack.inner.deep", {*LAZY, "pack/inner/__init__.py", "pack/inner/deep.py", "pack/third.py"}),
        ("from pack import VALUE", {*LAZY, "pack/first.py", "pack/second.py", "pack/third.py"}),
        ("import alone", {"alone.py", "styles/one.style"}),
        (
            "run([python, '-m', 'program'])",
            {"program/__init__.py", "program/__main__.py", "alone.py", "styles/one.style"},
        ),
        ("import_module('pack.second')", {*LAZY, "pack/second.py"}),
        ("import by_name", {"by_name/__init__.py", "by_name/part.py"}),
        ("open('two.style')", {"styles/two.style"}),
        ("import numpy", set()),
    ],
)
def test_code_depends_on_what_it_imports_runs_and_reads(code: str, files: set[str], tree: Path) -> None:
    closure = closure_of_code(code, tree, (tree,))
    assert {file.relative_to(tree).as_posix() for file in closure.files} == files
    assert closure.unresolved == frozenset()


def test_packages_from_elsewhere_are_named_by_their_top_level(tree: Path) -> None:
    assert {"numpy", "json"} <= closure_of_code("import pack.inner.deep, pack.second", tree, (tree,)).packages


def test_an_import_whose_name_is_computed_is_reported(tree: Path) -> None:
    assert closure_of([tree / "computed.py"], (tree,)).unresolved == {"computed.py:3"}


def test_a_changed_module_is_read_again(tree: Path) -> None:
    assert tree / "alone.py" not in closure_of([tree / "pack" / "third.py"], (tree,)).files
    (tree / "pack" / "third.py").write_text("import alone  # from now on\n", "utf-8")
    assert tree / "alone.py" in closure_of([tree / "pack" / "third.py"], (tree,)).files


def test_a_chapters_imports_lead_to_the_reference_and_no_further_than_needed() -> None:
    closure = closure_of_code("import figures\nfrom attention.masks import causal_mask", BOOK / "chapters")
    needed = {REFERENCE / name for name in ("__init__.py", "masks.py", "_arguments.py")}
    assert closure.files == needed | {BOOK / "figures.py", BOOK / "_static" / "attention.mplstyle"}
    results = closure_of_code("from benchmarks import results", BOOK / "measuring").files
    assert set(ROOT.glob("solutions/benchmarks/results/*.json")) <= results


REPOSITORY = {
    "first/library/__init__.py": "",
    "first/library/base.py": "import torch\n",
    "first/library/above.py": "from .base import thing\n\ndef later():\n    from . import late\n",
    "first/library/late.py": "import json, numpy.linalg\n",
    "first/lazy/__init__.py": (
        'import importlib\n_HOMES = {"shown": "one", "told": "two"}\n\n\n'
        "def __getattr__(name):\n    return importlib.import_module(f'.{_HOMES[name]}', __name__)\n"
    ),
    "first/lazy/one.py": "",
    "first/lazy/two.py": "",
    "first/lazy/three.py": "",
    "src/library/__init__.py": "",
    "src/library/base.py": "",
    "commands/__init__.py": "",
    "commands/main.py": (
        'import importlib\nMODULES = {"grade": "grading"}\n\n\n'
        "def run(name):\n    importlib.import_module(f'.{MODULES[name]}', __package__)\n"
    ),
    "commands/grading.py": "from library import base\n",
    "commands/other.py": "",
    "broken.py": "def f(:\n",
}
BASE = {"first/library/__init__.py", "first/library/base.py"}
SHOWN = {"first/lazy/__init__.py", "first/lazy/one.py", "first/lazy/two.py"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in {**REPOSITORY, "tests/test_it.py": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "files", "packages"),
    [
        ("import os, sys", set(), set()),
        ("import library.base", BASE, {"torch"}),
        ("from library.base import thing", BASE, {"torch"}),
        ("from library import base", BASE, {"torch"}),
        ("from library.above import x", BASE | {"first/library/above.py", "first/library/late.py"}, {"torch", "numpy"}),
        ("import importlib\nimportlib.import_module('library.base')", BASE, {"torch"}),
        ("from lazy import shown", SHOWN, set()),
        ("import lazy", {"first/lazy/__init__.py"}, set()),
        ("from lazy import three", {"first/lazy/__init__.py", "first/lazy/three.py"}, set()),
        ("import lazy\nlazy.shown()", SHOWN, set()),
        ("import lazy as other\nother.three.f()", {"first/lazy/__init__.py", "first/lazy/three.py"}, set()),
        ("import lazy.one\nlazy.one.f()", {"first/lazy/__init__.py", "first/lazy/one.py"}, set()),
        ("import lazy.three\nlazy.told()", SHOWN | {"first/lazy/three.py"}, set()),
        ("from lazy.one import x", {"first/lazy/__init__.py", "first/lazy/one.py"}, set()),
        (
            "from commands.main import run",
            BASE | {"commands/__init__.py", "commands/main.py", "commands/grading.py"},
            {"torch"},
        ),
        ("import broken", {"broken.py"}, set()),
        ("if False:\n    import yaml", set(), {"yaml"}),
    ],
)
def test_what_is_written_out_is_followed_alone(
    repository: Path, text: str, files: set[str], packages: set[str]
) -> None:
    """That is, of modules that a computed name may mean, those that a text of the same file names; and no data."""
    (repository / "tests" / "test_it.py").write_text(text)
    search = [repository / "first", repository, repository / "src"]
    closure = closure_of([repository / "tests" / "test_it.py"], search, written_out=True)
    names = {file.relative_to(repository).as_posix() for file in closure.files}
    assert names - {"tests/test_it.py"} == files
    assert closure.packages - sys.stdlib_module_names == packages


def test_a_relative_import_stays_with_its_own_copy_of_a_package(repository: Path) -> None:
    file = repository / "src" / "library" / "base.py"
    search = [repository / "first", repository, repository / "src"]
    for written_out in (True, False):
        closure = closure_of([file], search, written_out)
        assert closure.files == {repository / "src" / "library" / name for name in ("__init__.py", "base.py")}
