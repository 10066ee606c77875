"""Modules of earlier problem sets are the reference's when a later one is graded, and lend the learner's helpers."""

from autograder.course.paths import REFERENCE
from autograder.judge.judge import stage_files
from selfcheck import runner

MINE = "def causal_mask(*sizes):\n    raise RuntimeError('wrong')\n\n\ndef helper():\n    return 7\n"
LATER = "from .masks import causal_mask, helper\n\nanswer = helper() + len(causal_mask(3))\n"


def test_an_earlier_module_is_the_references_and_lends_the_learners_helpers(tmp_path):
    files = stage_files({"masks.py": MINE.encode(), "encoder.py": LATER.encode()}, "ps6")
    assert files["masks.py"].startswith((REFERENCE / "masks.py").read_bytes())
    assert files["encoder.py"] == LATER.encode()
    for name, text in files.items():
        (tmp_path / "attention").mkdir(exist_ok=True)
        (tmp_path / "attention" / name).write_bytes(text)
    with runner.fresh_package(str(tmp_path)):
        from attention import encoder, masks

        assert encoder.answer == 10
        assert not hasattr(masks, "nobody") and not hasattr(masks, "__nobody__")


def test_no_module_of_this_problem_set_or_a_later_one_is_the_references():
    files = stage_files({}, "ps5")
    assert {"multi_head.py", "masks.py"} <= set(files)
    assert not {"positions.py", "encoder.py"} & set(files)
    assert not any(name.startswith("_submitted") for name in files)
