"""Which tests are proofs of the site or of the grader, and that they are proven again when any of it changes."""

import pytest

from autograder.course.paths import ROOT

from .digest import Digests
from .whole import ALSO, GRADER, RUN_EVERY_TIME, SITE, TESTS, is_about_the_whole, proof_of_the_whole


def test_what_is_named_is_there():
    named = {f"{folder}/{name}" for folder, modules in RUN_EVERY_TIME.items() for name in modules}
    assert all((TESTS / f"{name}.py").is_file() for name in named | ALSO.keys())
    assert not named & ALSO.keys()


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


@pytest.fixture(scope="module")
def known():
    return Digests(ROOT)


@pytest.mark.parametrize(
    ("module", "declared", "covered", "free"),
    [
        (
            "book/test_weight.py",
            SITE,
            ("book/_config.yml", "src/selfcheck/compare.py", "autograder/build/site.py", "tests/book/conftest.py"),
            ("autograder/judge/schedule.py", "tests/sample_class/class.toml", "tests/book/test_search.py"),
        ),
        (
            "autograder/test_export.py",
            GRADER,
            ("autograder/judge/schedule.py", "src/selfcheck/compare.py", "tests/sample_class/class.toml"),
            ("book/index.md", "book/_theme/attention/theme.conf", "tests/autograder/test_roster.py"),
        ),
        (
            "book/test_class_report.py",
            GRADER,
            ("autograder/report/page.py", "book/index.md", "tests/sample_class/class.toml"),
            ("tests/book/test_search.py",),
        ),
    ],
)
def test_a_key_covers_what_the_tests_are_about_and_no_more(known, module, declared, covered, free):
    path = TESTS / module
    files = [path, TESTS / "book" / "conftest.py"] if module.startswith("book") else [path]
    found = known.closure(proof_of_the_whole(path).kwargs["depends"], files).files
    assert {path for pattern in declared for path in known.files(pattern)} <= found
    assert all((ROOT / name).exists() for name in (*covered, *free))
    assert {ROOT / name for name in covered} <= found
    assert not {ROOT / name for name in free} & found
