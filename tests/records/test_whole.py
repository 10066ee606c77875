"""Which tests are proofs of everything that is shipped, and that they are proven again when any of it changes."""

import pytest

from autograder.course.paths import ROOT

from .digest import Digests
from .whole import RUN_EVERY_TIME, SHIPPED, TESTS, is_about_the_whole, proof_of_the_whole


def test_what_is_run_every_time_is_there():
    for folder, modules in RUN_EVERY_TIME.items():
        assert all((TESTS / folder / f"{name}.py").is_file() for name in modules)


@pytest.mark.parametrize(
    ("module", "proven"),
    [
        ("book/test_weight.py", True),
        ("autograder/test_export.py", True),
        ("autograder/test_sandbox.py", False),
        ("attacks/test_attacks.py", False),
        ("selfcheck/test_served.py", False),
        ("records/test_whole.py", False),
    ],
)
def test_isolation_and_processes_are_tested_every_time(module, proven):
    assert is_about_the_whole(TESTS / module) == proven


def test_the_key_covers_every_file_that_is_shipped():
    module = TESTS / "autograder" / "test_export.py"
    covered = Digests(ROOT).closure(proof_of_the_whole(module).kwargs["depends"], [module]).files
    shipped = {path for pattern in SHIPPED for path in Digests(ROOT).files(pattern)}
    assert shipped <= covered
    for name in ("autograder/pipeline.py", "book/_config.yml", "src/selfcheck/compare.py", "package-lock.json"):
        assert ROOT / name in covered
