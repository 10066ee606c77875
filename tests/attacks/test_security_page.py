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
COUNTS = {":entries", ":gradients"}  # uses that tell how much a model learns, and on what of it its logits depend
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


def graded_checks():
    """Every check, its points and its steps for one seed."""
    for exercise in exercises():
        for check in visible_checks(exercise):
            yield check, exercise.points[check.name], check.calls(0)
        for check in hidden_checks(exercise):
            yield check, check.points, check.calls(0)


def is_about_the_inside(check, steps):
    """Whether it asks which parameters a module has or learns, in which mode it is, or what it records."""
    shown = [module for step in steps for module in step.get("args", ()) if module["kind"] == "module"]
    is_shown = any(module.get("shows_mode") or module["type"] == "writer" for module in shown)
    uses = {use["method"] for step in steps for use in step.get("uses", ())}
    return bool("parameters" in check.compares or uses & COUNTS or ("state" in check.compares and is_shown))


def test_the_points_that_rest_in_part_on_facts_told_by_a_process_are_counted():
    rests = every = 0
    for check, points, steps in graded_checks():
        every += points
        told = FACTS & set(check.compares) if not check.measured else set()
        assert told <= HELD
        rests += points if told or is_about_the_inside(check, steps) else 0
    assert f"forge this rest of {rests} of the course's {every} points" in " ".join(PAGE.split())


def test_the_points_of_checks_that_always_ask_the_same_are_counted():
    same = sum(points for check, points, steps in graded_checks() if all(check.calls(s) == steps for s in range(1, 17)))
    assert f"one question alone, {same} points in all" in " ".join(PAGE.split())


def test_the_limits_are_those_of_the_sandbox():
    text = " ".join(PAGE.split())
    assert f"{limits.EXERCISE_CPU_SECONDS:.0f} seconds of processor time" in text
    assert f"{limits.ADDRESS_SPACE_BYTES // 2**30} GiB of address space" in text
    assert f"{limits.MEMORY_BYTES // 2**30} GiB of memory in all" in text
    assert f"{limits.PROCESSES} processes" in text
    assert f"{limits.PART_CPU_SECONDS:.0f} seconds of processor time per problem set" in text
    assert f"{limits.submission_wall_seconds():.0f} seconds by the clock in all" in text
    assert f"wait for {2 * limits.IDLE_WALL_SECONDS:.0f} while nothing of it computes, and an exercise for" in text
    assert f"an exercise for {limits.IDLE_WALL_SECONDS:.0f}: a sleeper" in text
    joint = limits.WALL_CLOCK_FACTOR * limits.JOINT_CPU_SECONDS
    assert f"asked for all answers at first is ended after {joint:.0f} seconds by the clock" in text
    assert f"answers have {worker.ANSWER_BYTES // 2**20} MiB" in text
    assert f"{limited.CPU_SECONDS} seconds of processor time and {limited.MEMORY_BYTES // 2**30} GiB" in text
