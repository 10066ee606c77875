"""What a Python file imports from its repository is found without running it."""

import pytest

from .imports import Repository

SETTINGS = '[tool.pytest.ini_options]\npythonpath = ["first", "."]\n[tool.setuptools.packages.find]\nwhere = ["src"]\n'
FILES = {
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


@pytest.fixture
def imported(tmp_path):
    """The names of the files that a text at tests/test_it.py imports, and the packages."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "tests").mkdir()

    def imported(text):
        path = tmp_path / "tests" / "test_it.py"
        path.write_text(text)
        closure = Repository(tmp_path).closure(frozenset({path}))
        return {file.relative_to(tmp_path).as_posix() for file in closure.files - {path}}, closure.packages

    return imported


BASE = {"first/library/__init__.py", "first/library/base.py"}
LAZY = {"first/lazy/__init__.py", "first/lazy/one.py", "first/lazy/two.py"}


@pytest.mark.parametrize(
    ("text", "files", "packages"),
    [
        ("import os, sys", set(), set()),
        ("import library.base", BASE, {"torch"}),
        ("from library.base import thing", BASE, {"torch"}),
        ("from library import base", BASE, {"torch"}),
        ("from library.above import x", BASE | {"first/library/above.py", "first/library/late.py"}, {"torch", "numpy"}),
        ("import importlib\nimportlib.import_module('library.base')", BASE, {"torch"}),
        ("from lazy import shown", LAZY, set()),
        ("import lazy", LAZY, set()),
        ("from lazy import three", {"first/lazy/__init__.py", "first/lazy/three.py"}, set()),
        ("import lazy\nlazy.shown()", LAZY, set()),
        ("import lazy as other\nother.three.f()", {"first/lazy/__init__.py", "first/lazy/three.py"}, set()),
        ("import lazy.one\nlazy.one.f()", {"first/lazy/__init__.py", "first/lazy/one.py"}, set()),
        ("import lazy.three\nlazy.told()", LAZY | {"first/lazy/three.py"}, set()),
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
def test_what_is_imported_is_followed_through_the_repository(imported, text, files, packages):
    assert imported(text) == (files, packages)


def test_a_relative_import_stays_with_its_own_copy_of_a_package(tmp_path, imported):
    imported("")
    closure = Repository(tmp_path).closure(frozenset({tmp_path / "src" / "library" / "base.py"}))
    assert closure.files == {tmp_path / "src" / "library" / name for name in ("__init__.py", "base.py")}
