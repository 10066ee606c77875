"""What the security page says of the grader is so."""

import ast
import re

import pytest

from autograder.answer_key.checks import hidden_checks, visible_checks
from autograder.course.paths import BOOK, ROOT
from autograder.judge import limits
from autograder.sandbox import limited, worker
from selfcheck.catalogue import exercises

PAGE = (BOOK / "guides" / "security.md").read_text(encoding="utf-8")
FACTS = {"unchanged", "kept", "generator", "memory"}  # what a process would tell of itself, unless it is measured
HELD = {"unchanged", "kept"}  # of these, what the grader sees for itself or the page names as a rest


def names_of_tests():
    """What the page names as tests, in the order in which it does."""
    lists = re.findall(r"\*Tests?\*: +((?:.+\n)+?)(?=\n|: |[^\s`])", PAGE.replace("(*tests*:", "*Tests*:"))
    return [name for names in lists for name in re.findall(r"`([^`]+)`", names)]


def is_a_test(name):
    """Whether it is a file of the folder `tests`, and a test function in it."""
    file, _, function = name.partition("::")
    path = ROOT / "tests" / file
    if not (path.is_file() and path.name.startswith("test_") and function.startswith("test_")):
        return False
    defined = ast.parse(path.read_text(encoding="utf-8")).body
    return function in {one.name for one in defined if isinstance(one, ast.FunctionDef)}


def test_every_promise_names_tests_that_exist():
    promises = re.findall(r"^\S.+\n: (?:[^\n]+\n)+", PAGE, re.MULTILINE)
    assert len(promises) >= 14
    assert [one for one in promises if one.count("*Tests*: `") != 1] == []
    assert len(names_of_tests()) >= 3 * len(promises)
    assert [name for name in names_of_tests() if not is_a_test(name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "attacks/test_output.py",
        "attacks/code/forging",
        "attacks/test_output.py::",
        "attacks/test_output.py::test_that_is_not_there",
        "attacks/test_output.py::command",
        "attacks/bank.py::full_marks",
        "attacks/nowhere.py::test_every_promise_names_tests_that_exist",
    ],
)
def test_a_file_alone_is_no_test_nor_is_what_does_not_exist(name):
    assert not is_a_test(name)


def test_the_points_that_rest_in_part_on_facts_told_by_a_process_are_counted():
    rests = every = 0
    for exercise in exercises():
        graded = [(check, exercise.points[check.name]) for check in visible_checks(exercise)]
        graded += [(check, check.points) for check in hidden_checks(exercise)]
        every += sum(points for _, points in graded)
        told = [(check, points) for check, points in graded if FACTS & set(check.compares) and not check.measured]
        assert all(FACTS & set(check.compares) <= HELD for check, _ in told)
        rests += sum(points for _, points in told)
    assert f"forge this rest of {rests} of the course's {every} points" in " ".join(PAGE.split())


def test_the_limits_are_those_of_the_sandbox():
    text = " ".join(PAGE.split())
    assert f"{limits.EXERCISE_CPU_SECONDS:.0f} seconds of processor time" in text
    assert f"{limits.ADDRESS_SPACE_BYTES // 2**30} GiB of address space" in text
    assert f"{limits.MEMORY_BYTES // 2**30} GiB of memory in all" in text
    assert f"{limits.PROCESSES} processes" in text
    assert f"{limits.SUBMISSION_CPU_SECONDS:.0f} seconds of processor time per problem set" in text
    assert f"{limits.submission_wall_seconds():.0f} seconds by the clock in all" in text
    assert f"wait for {2 * limits.IDLE_WALL_SECONDS:.0f} while nothing of it computes, and an exercise for" in text
    assert f"an exercise for {limits.IDLE_WALL_SECONDS:.0f}: a sleeper" in text
    joint = limits.WALL_CLOCK_FACTOR * limits.JOINT_CPU_SECONDS
    assert f"asked for all answers at first is ended after {joint:.0f} seconds by the clock" in text
    assert f"answers have {worker.ANSWER_BYTES // 2**20} MiB" in text
    assert f"{limited.CPU_SECONDS} seconds of processor time and {limited.MEMORY_BYTES // 2**30} GiB" in text
