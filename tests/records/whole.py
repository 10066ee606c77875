"""Tests of pages and of grading as a whole are proofs as well: of everything that is shipped.

Their outcome follows from the repository's files. What follows from the machine too is run every time: isolation,
limits, processes that die, terminals, the class that is graded, the attacks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

FOLDERS = ("autograder", "book", "solutions", "src")
FILES = ("CHANGELOG.md", "README.md", "*.cff", "*.toml", "*.json", "LICENSE*", "Makefile", "requirements.txt")
SHIPPED = (*FOLDERS, *FILES)
SHARED = ("tests/*.py", "tests/requirements.txt", "tests/sample_class", "tests/alternatives", "tests/data")

#: Folders of such tests, and the modules in them that are run every time.
RUN_EVERY_TIME: dict[str, frozenset[str]] = {
    "attacks": frozenset({"test_attacks", "test_channels", "test_limits", "test_shown", "test_workers"}),
    "autograder": frozenset(
        {
            "test_bench",
            "test_cgroup",
            "test_cluster",
            "test_course",
            "test_doctor",
            "test_entering",
            "test_exchange",
            "test_faults",
            "test_fork_server",
            "test_forked_memory",
            "test_hidden_bits",
            "test_interrupted",
            "test_interrupts",
            "test_limited",
            "test_measured_memory",
            "test_resources",
            "test_sandbox",
            "test_sight",
            "test_system_calls",
            "test_two_graders",
            "test_worker_pool",
        }
    ),
    "book": frozenset(),
    "in_page": frozenset(),
    "widgets": frozenset(),
}


def is_about_the_whole(module: Path) -> bool:
    """Whether the tests of a module are proofs of everything that is shipped."""
    folder = module.parent
    return folder.parent == TESTS and module.stem not in RUN_EVERY_TIME.get(folder.name, {module.stem})


def proof_of_the_whole(module: Path) -> pytest.MarkDecorator:
    """The mark of such a module's tests: the folder they stand in is part of what they depend on."""
    return pytest.mark.proof(depends=(*SHIPPED, *SHARED, f"tests/{module.parent.name}"))
