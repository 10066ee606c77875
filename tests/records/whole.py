"""Tests of pages and of grading as a whole are proofs as well: of the site, or of the grader.

Their outcome follows from the repository's files. What follows from the machine too is run every time: isolation,
limits, processes that die, terminals, the class in some of its sets, attacks in which the kernel has a part.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

FILES = ("CHANGELOG.md", "README.md", "*.cff", "*.toml", "*.json", "LICENSE*", "Makefile", "requirements.txt")
COMMANDS = ("autograder/__main__.py", "autograder/cli/book.py", "autograder/cli/pdf.py")
SITE = ("book", "solutions", "src", "autograder/build", *COMMANDS, *FILES)  # and what these import
IN_THE_GRADER = ("book/notebooks", "book/problem-sets", "book/questions", "book/*.yml", "book/*.toml")
CLASS = ("tests/sample_class", "tests/alternatives", "tests/data", "tests/attacks/code")
GRADER = ("autograder", "solutions", "src", *IN_THE_GRADER, *FILES, *CLASS)
#: What a release takes of the other pages, the titles that it links to, stands in the generated notebooks as well.
LINKED = "book/**/*.md"
COPIED = ("book", "tests/*.py", "tests/exercises", "tests/records", "tests/reference/__init__.py")

#: What the tests of a folder depend on, beside what they import.
DEPENDS = {"attacks": GRADER, "autograder": GRADER, "book": SITE, "in_page": SITE, "widgets": SITE}
#: What those of one module depend on besides.
ALSO: dict[str, tuple[str, ...]] = {
    "attacks/test_security_page": ("book/guides",),
    "autograder/test_book_index": ("book",),
    "autograder/test_build": ("book",),
    "autograder/test_correction": COPIED,
    "autograder/test_static_scan": ("tests/unusual_answers/*.toml",),
    "book/test_class_report": GRADER,
    "in_page/test_archive": ("autograder/answer_key/hidden/worked_example.py",),
    "in_page/test_gate": ("autograder/answer_key/misconceptions/*worked_*.py", "tests/alternatives/worked_example.py"),
}

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
}


def is_about_the_whole(module: Path) -> bool:
    """Whether the tests of a module are proofs of the site or of the grader."""
    folder = module.parent
    in_scope = folder.parent == TESTS and folder.name in DEPENDS
    return in_scope and module.stem not in RUN_EVERY_TIME.get(folder.name, ())


@functools.cache
def proof_of_the_whole(module: Path) -> pytest.MarkDecorator:
    """The mark of such a module's tests; what they import and their fixtures are part of any proof's key."""
    folder = module.parent
    data = tuple(f"tests/{folder.name}/{file.name}" for file in sorted(folder.iterdir()) if _is_data(file))
    also = ALSO.get(f"{folder.name}/{module.stem}", ())
    ignores = (LINKED,) if DEPENDS[folder.name] is GRADER else ()
    return pytest.mark.proof(depends=(*DEPENDS[folder.name], *data, *also), ignores=ignores)


def _is_data(file: Path) -> bool:
    return file.is_file() and file.suffix != ".py"
