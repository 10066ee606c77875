"""Modules of earlier problem sets are the reference's when a later one is graded, and lend the learner's helpers."""

import importlib.util
import marshal

import pytest

from autograder.course.paths import REFERENCE
from autograder.judge import sources
from autograder.judge.judge import stage_files
from selfcheck import runner
from selfcheck.catalogue import exercises, in_problem_set, problem_sets

MINE = "def causal_mask(*sizes):\n    raise RuntimeError('wrong')\n\n\ndef helper():\n    return 7\n"
HEADER_BYTES = 16  # of a file of bytecode
LATER = "from .masks import causal_mask, helper\n\nanswer = helper() + len(causal_mask(3))\n"


def test_an_earlier_module_is_the_references_and_lends_the_learners_helpers(tmp_path):
    files = stage_files({"masks.py": MINE.encode(), "encoder.py": LATER.encode()}, "ps6")
    assert files["masks.py"].startswith((REFERENCE / "masks.py").read_bytes())
    assert files["encoder.py"] == LATER.encode()
    (tmp_path / "attention" / "__pycache__").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "attention" / name).write_bytes(text)
    with runner.fresh_package(str(tmp_path)):
        from attention import encoder, masks

        assert encoder.answer == 10
        assert not hasattr(masks, "nobody") and not hasattr(masks, "__nobody__")


def test_what_is_ours_comes_compiled_and_nothing_of_the_learners_does():
    files = stage_files({"masks.py": MINE.encode(), "encoder.py": LATER.encode()}, "ps6")
    learners = {"encoder.py", "_submitted_masks.py"}
    sources = {name for name in files if name.endswith(".py")}
    compiled = {name: files.get(importlib.util.cache_from_source(name)) for name in sources}
    assert {name for name, data in compiled.items() if data is None} == learners
    assert len(files) == len(sources) + len(sources - learners)
    for name in sources - learners:
        assert marshal.loads(compiled[name][HEADER_BYTES:]) == compile(files[name], name, "exec"), name


def test_no_module_of_this_problem_set_or_a_later_one_is_the_references():
    files = stage_files({}, "ps5")
    assert {"multi_head.py", "masks.py"} <= set(files)
    assert not {"positions.py", "encoder.py"} & set(files)
    assert not any(name.startswith("_submitted") for name in files)


def test_a_module_of_two_problem_sets_is_the_learners_in_both():
    """`efficient` is worked on in ps9, its cache, and in ps10; what is due in ps10 is not in the sandbox of ps9."""
    for problem_set in ("ps9", "ps10"):
        assert stage_files({"efficient.py": MINE.encode()}, problem_set)["efficient.py"] == MINE.encode()
        assert "efficient.py" not in stage_files({}, problem_set)
        assert "_submitted_efficient.py" not in stage_files({"efficient.py": MINE.encode()}, problem_set)


@pytest.mark.parametrize("problem_set", ["ps2", "ps6"], ids=["own module", "earlier module"])
def test_no_file_of_a_learners_is_read_in_place_of_the_module_that_runs(problem_set):
    reaches = b"import ctypes\n"
    submitted = {
        "scores.py": reaches,
        "_submitted_scores.py": b"x = 1\n",
        "_submitted__submitted_scores.py": b"x = 1\n",
    }
    files = stage_files(submitted, problem_set)
    assert files["scores.py" if problem_set == "ps2" else "_submitted_scores.py"] == reaches
    assert not {name for name, text in files.items() if text == b"x = 1\n"}
    told = sources.read_sources(files, submitted, in_problem_set(problem_set)).remarks
    assert any(line.startswith("scores.py line 1 uses ctypes") for line in told)


def test_an_exercise_is_in_no_set_before_one_that_it_builds_on():
    """A later set's modules are never in the sandbox: what builds on them could not be answered."""
    order = {exercise.id: problem_sets().index(exercise.problem_set) for exercise in reversed(exercises())}
    for exercise in exercises():
        for name in exercise.depends_on:
            assert order[name] <= problem_sets().index(exercise.problem_set), (exercise.id, name)
