"""Right answers that are rewritten, by chance but seeded, keep full marks from the real judge."""

import ast
import random

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.course.paths import REFERENCE
from autograder.course.policy import GradingPolicy
from autograder.judge.judge import judge_problem_set
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.worker_pool import expect_watch
from selfcheck.catalogue import forbidden_by, in_problem_set, modules_of, problem_sets

from . import rewriting, rewriting_torch
from .rewriting import rewritten
from .test_unusual_answers import RIGHT, assert_full_marks, name_of, proof_of_the_judge

SEEDS = range(3)


def rewritten_files(problem_set, seed):
    """The reference with every module of a problem set rewritten."""
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    rng = random.Random(f"{problem_set} {seed}")
    for module in modules_of(problem_set):
        names = sorted({one.symbol for one in in_problem_set(problem_set) if one.module == module})
        files[f"{module}.py"] = rewritten(files[f"{module}.py"].decode(), names, rng).encode()
    return files


def lost_by(problem_set, files):
    """The checks that a submission loses points in, and what it reads there."""
    expect_watch("auto", forbidden_by(in_problem_set(problem_set)))
    key = live_answer_key(problem_set, GradingPolicy(b"a course of rewritten answers"))
    results = judge_problem_set(files, key, open_sandbox("auto"))
    return {
        (result.exercise.id, check.check): check.message
        for result in results
        for check in result.checks
        if check.points < check.max_points
    }


#: What is on record of each way, beside the whole: a small problem set.
RECORDED = {"return_one_liner": "ps1", "compile_layers": "ps4"}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("problem_set", "way"),
    [
        pytest.param(one, way, marks=proof_of_the_judge if RECORDED.get(way.__name__) == one else pytest.mark.full)
        for one in problem_sets()
        for way in rewriting_torch.WAYS
    ],
)
def test_a_reference_that_is_compared_compiled_lazy_or_rounded_otherwise_has_full_marks(problem_set, way):
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    before = dict(files)
    for module in modules_of(problem_set):
        rng = random.Random(f"{problem_set} {module} {way.__name__}")
        files[f"{module}.py"] = way(files[f"{module}.py"].decode(), rng).encode()
    if files == before:
        pytest.skip("there is nothing in it to rewrite so")
    assert not lost_by(problem_set, files)


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("problem_set", problem_sets())
def test_a_rewritten_reference_has_full_marks(problem_set):
    for seed in SEEDS:
        assert not lost_by(problem_set, rewritten_files(problem_set, seed)), f"seed {seed}"


@pytest.mark.full
@pytest.mark.parametrize("one", RIGHT, ids=name_of)
def test_an_unusual_right_answer_that_is_rewritten_has_full_marks(one):
    source = one.files[f"{one.exercise.partition('.')[0]}.py"].decode()
    changed = rewritten(source, [], random.Random(one.style))
    assert changed != source
    assert_full_marks(one.replaced(changed))


def test_rewriting_changes_the_text_and_is_the_same_each_time():
    first, again, other = (rewritten_files("ps1", seed)["worked_example.py"] for seed in (0, 0, 1))
    assert first == again != other
    compile(first, "first", "exec")


STEPS = """
def _shifted(x, by):
    \"\"\"Of one line.\"\"\"
    return x - by

def _scaled(x):
    return x * scale

scale = 3

def answer(x, more):
    largest = x[0]
    return _shifted(x[1], more) + largest + _shifted(more, 2)

def other(x, scale):
    return _scaled(x) + scale
"""


def test_a_step_and_a_function_of_one_line_are_written_where_they_are_used():
    tree = ast.parse(STEPS)
    rewriting.inline(tree, random.Random(0))
    text = ast.unparse(tree)
    assert "return _shifted(x[1], more) + x[0] + (more - 2)" in text, "where an argument is more than a name, it stays"
    assert "return _scaled(x) + scale" in text, "there the name is another's"
    results = []
    for source in (STEPS, text):
        exec(compile(source, "steps", "exec"), made := {})
        results.append((made["answer"]([5, 7], 11), made["other"](2, 9)))
    assert results == [(10, 15), (10, 15)]


COMPILED = """
import torch
from torch import Tensor

def plain(x):
    return x + 1

@torch.jit.script
def answer(x: torch.Tensor, eps: float):
    return _inner(x) + eps

def _inner(x: Tensor):
    centred = x - x.mean(-1, keepdim=True)
    return centred / 2

from typing import Optional

def late(x: Tensor, eps: Optional[float] = None) -> Tensor:
    return x if eps is None else x + eps
"""


@pytest.mark.parametrize("seed", range(20))
def test_what_a_compiler_reads_keeps_its_text_and_a_definition_finds_its_names(seed):
    changed = rewritten(COMPILED, [], random.Random(seed))
    assert "return _inner(x) + eps" in changed and "return centred / 2" in changed
    assert changed != ast.unparse(ast.parse(COMPILED))
    exec(compile(changed.replace("@torch.jit.script\n", ""), "changed", "exec"), {"__name__": "changed"})
