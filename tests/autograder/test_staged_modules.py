"""Whatever a staged module imports of this repository is staged beside it: the sandbox has nothing else of it."""

import ast

import pytest

from autograder.course.paths import SELFCHECK
from autograder.judge.requests import requests_for
from autograder.sandbox import staging
from selfcheck.catalogue import exercises
from selfcheck.recorded import visible_keys

HERE = {"sandbox": SELFCHECK.parent.parent / "autograder" / "sandbox", "selfcheck": SELFCHECK}
STAGED = {"sandbox": staging.PROGRAMS, "selfcheck": staging.SELFCHECK_MODULES}
HANDED = {("selfcheck", "handed.py")}  # whose text comes with the exercises that need it: it answers others
EACH = [(package, name) for package, names in STAGED.items() for name in names]


def imported(package, source):
    """The modules of the two packages that a module imports, wherever its statements stand, as (package, file name)."""
    for node in ast.walk(ast.parse(source)):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        if isinstance(node, ast.ImportFrom) and node.module in (
            None,
            *STAGED,
        ):
            names = [".".join(filter(None, (node.module, alias.name))) for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [f"{package}.{name}" for name in names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            first, _, module = name.partition(".")
            if first in STAGED and module:
                yield first, f"{module.split('.')[0]}.py"


@pytest.mark.parametrize(("package", "name"), EACH, ids=[f"{package}.{name}" for package, name in EACH])
def test_what_a_staged_module_imports_is_staged(package, name):
    needed = set(imported(package, (HERE[package] / name).read_text("utf-8")))
    assert needed <= set(EACH) | HANDED


def test_what_answers_another_exercise_is_not_staged_and_comes_with_those_that_need_it():
    assert HANDED.isdisjoint(EACH)
    asked = "decoder.DecoderLayer", "efficient.KeyValueCache", "sequence_to_sequence.attend", "scores.dot_scores"
    keys = {exercise: visible_keys(exercise) for exercise in exercises() if exercise.id in asked}
    needing = {exercise.id for (exercise, _), request in requests_for(keys, keys).items() if request.handed}
    assert needing == {"decoder.DecoderLayer", "sequence_to_sequence.attend"}


def test_imports_of_every_form_are_seen():
    source = """
from . import one
from .two import x
import selfcheck.three

def later():
    from selfcheck import four
    from selfcheck.five import y
    import math
"""
    seen = {name for package, name in imported("selfcheck", source) if package == "selfcheck"}
    assert seen == {"one.py", "two.py", "three.py", "four.py", "five.py"}
