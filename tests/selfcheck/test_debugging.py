"""Whoever debugs is helped: prints under their check, a debugger that reaches the terminal, endless loops that end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.release import bundle as releasing
from selfcheck.catalogue import exercises
from selfcheck.supervision import OutOfTime, supervised

from .terminals import LIMIT, in_a_terminal, terminal, unpack, variables

RIGHT = """

import numpy as np

def project(inputs, w_query, w_key, w_value):
{before}    inputs = np.asarray(inputs)
    return inputs @ np.asarray(w_query), inputs @ np.asarray(w_key), inputs @ np.asarray(w_value)
"""


@pytest.fixture(scope="module")
def released() -> dict[str, str]:
    return releasing.bundle("ps1")


@pytest.fixture
def folder(tmp_path: Path, released: dict[str, str]) -> Path:
    """The files of the ps1 bundle, whose answers need NumPy alone."""
    return unpack(released, tmp_path)


def write(folder: Path, code: str) -> None:
    path = folder / "attention" / "worked_example.py"
    path.write_text(path.read_text("utf-8") + code, "utf-8")


def test_what_is_printed_stands_under_its_check(folder: Path) -> None:
    write(folder, RIGHT.format(before='    print("shape", np.shape(inputs))\n'))
    lines = terminal(folder, "2.1").splitlines()
    first = next(number for number, line in enumerate(lines) if "running example" in line)
    assert lines[first + 1].strip() == "│ shape (3, 4)"
    assert sum("│ shape" in line for line in lines) > 1


def test_what_is_printed_in_masses_is_cut(folder: Path) -> None:
    write(folder, RIGHT.format(before='    print("x\\n" * 500)\n'))
    shown = terminal(folder, "2.1")
    assert "more lines" in shown and shown.count("│ x") < 100


def test_a_breakpoint_reaches_the_terminal_and_quitting_ends_the_check(folder: Path) -> None:
    write(folder, RIGHT.format(before="    breakpoint()\n"))

    def talk(until: Callable[[str], str], send: Callable[[bytes], None]) -> None:
        assert "worked_example.py" in until("(Pdb)")
        send(b"p len(inputs)\n")
        until("(Pdb)")
        send(b"p 'answered' + str(len(inputs))\n")
        until("answered3")
        send(b"q\n")
        until("you left the debugger, in line ")

    seen = in_a_terminal(folder, ["2.1"], talk)
    assert seen.count("-> inputs = np.asarray(inputs)") == 1  # the checks after it do not stop there again


def test_pdb_that_is_called_by_its_name_reaches_the_terminal_too(folder: Path) -> None:
    write(folder, RIGHT.format(before="    import pdb; pdb.set_trace()\n"))

    def talk(until: Callable[[str], str], send: Callable[[bytes], None]) -> None:
        until("(Pdb)")
        send(b"q\n")
        until("you left the debugger, in line ")

    in_a_terminal(folder, ["2.1"], talk)


ASKED_AGAIN = """

def softmax(scores, axis=-1):
    import torch

    if abs(torch.softmax(torch.tensor([0.0, 1.0]), 0)[1].item() - 0.731059) > 1e-5:  # its inputs are moved
        {there}
    return torch.softmax(torch.as_tensor(scores, dtype=torch.float64), axis).numpy()
"""


@pytest.mark.parametrize("there", ["breakpoint()", "import pdb; pdb.set_trace()"])
def test_no_debugger_waits_where_nobody_sees_it(folder: Path, there: str) -> None:
    """An answer by a forbidden function is asked for again, out of sight."""
    write(folder, ASKED_AGAIN.format(there=there))
    in_a_terminal(folder, ["2.3"], lambda until, send: until("write that step yourself"))


def test_ctrl_c_ends_a_check_and_not_the_watch(folder: Path) -> None:
    def talk(until: Callable[[str], str], send: Callable[[bytes], None]) -> None:
        until("h hint")
        write(folder, RIGHT.format(before="    while True: pass\n"))
        until("still running, in line")
        send(b"\x03")
        until("The watch goes on")
        write(folder, RIGHT.format(before=""))
        until("5 of 6 visible checks pass")
        send(b"h")
        until("hint 1 of 3")
        send(b"q")

    in_a_terminal(folder, ["watch"], talk)


def test_n_brings_the_next_exercise_into_view_and_begins_again_behind_the_last(folder: Path) -> None:
    first, *others = [exercise for exercise in exercises() if exercise.problem_set == "ps1"]

    def talk(until: Callable[[str], str], send: Callable[[bytes], None]) -> None:
        seen = until("h hint")
        assert f"{first.number} {first.title}" in seen and f"{others[0].number} {others[0].title}" not in seen
        for exercise in (*others, first):
            before = len(seen)
            send(b"n")
            seen = until("h hint")  # the last line of what is shown
            assert f"{exercise.number} {exercise.title}" in seen[before:]

    in_a_terminal(folder, ["watch"], talk)


def test_r_runs_the_exercise_in_view_again_though_no_module_was_saved(folder: Path) -> None:
    read = folder / "read.txt"
    read.write_text("as it was", "utf-8")
    write(folder, RIGHT.format(before=f"    print(open({str(read)!r}).read())\n"))

    def talk(until: Callable[[str], str], send: Callable[[bytes], None]) -> None:
        assert "│ as it was\r" in until("h hint")  # the last line of what is shown
        read.write_text("as it is now", "utf-8")
        send(b"r")
        until("│ as it is now")

    in_a_terminal(folder, ["watch"], talk)


def test_the_hints_of_a_terminal_are_the_catalogues_from_the_first_on(folder: Path) -> None:
    (hints,) = [exercise.hints for exercise in exercises() if exercise.number == "2.1"]
    for number in (1, 2):
        assert terminal(folder, "hint", "2.1").strip() == f"2.1 hint {number} of {len(hints)}: {hints[number - 1]}"


def test_progress_in_a_terminal_is_a_line_for_each_exercise_and_the_next_one(folder: Path) -> None:
    write(folder, RIGHT.format(before=""))
    handed_out = [exercise for exercise in exercises() if exercise.problem_set == "ps1"]
    said = terminal(folder, "progress").splitlines()
    for exercise in handed_out:
        (line,) = [line for line in said if f"{exercise.number} {exercise.id} " in line]
        mark, share = ("✗", " 5/6 ") if exercise.number == "2.1" else ("·", " 0/")
        assert line.startswith(mark) and share in line and line.endswith(f" {exercise.minutes}")
    assert f"0 of {len(handed_out)} exercises pass every visible check." in said
    assert any(line.startswith("Next: 2.1 ") for line in said)


def test_a_stub_line_left_below_an_answer_is_named(folder: Path) -> None:
    path = folder / "attention" / "worked_example.py"
    text = path.read_text("utf-8")
    raising = 'raise NotImplementedError("exercise 2.1'
    path.write_text(text.replace(f"    {raising}", f"    queries = inputs\n    {raising}", 1), "utf-8")
    line = (
        path.read_text("utf-8")
        .splitlines()
        .index(next(x for x in path.read_text("utf-8").splitlines() if raising in x))
        + 1
    )
    shown = terminal(folder, "2.1")
    assert f"line {line} of worked_example.py still raises NotImplementedError: delete it" in shown
    assert "not started yet" not in shown
    assert "not started yet" in terminal(folder, "2.2")  # of the same, edited file


def test_what_fails_can_be_run_and_compared(folder: Path) -> None:
    write(folder, RIGHT.format(before="").replace("@ np.asarray(w_key)", "@ np.asarray(w_query)"))
    program = terminal(folder, "failing", "2.1")
    assert "from attention.worked_example import project" in program and "\nexpected = (" in program
    code = f"{program}\nprint(answer[1][0], yours[1][0], expected[1][0])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=variables(), capture_output=True, text=True, timeout=LIMIT
    )
    assert done.stdout.strip() == "[1 0 2] [1 0 2] [0. 1. 1.]", done.stderr
    beside = terminal(folder, "compare", "project")
    assert "yours (3, 3)" in beside and "expected (3, 3)" in beside and "1*" in beside


def test_a_function_is_put_back_and_its_text_kept(folder: Path) -> None:
    path = folder / "attention" / "worked_example.py"
    handed_out = path.read_text("utf-8")
    path.write_text(
        handed_out.replace('raise NotImplementedError("exercise 2.1', 'return 1  # ("exercise 2.1', 1), "utf-8"
    )
    mine = path.read_text("utf-8")
    assert "worked_example.py is as it was handed out" in terminal(folder, "reset", "2.1", "--yes")
    assert path.read_text("utf-8") == handed_out
    assert path.with_name("worked_example.py.before-reset").read_text("utf-8") == mine
    assert "nothing to put back" in terminal(folder, "reset", "worked_example", "--yes")


def test_the_editor_opens_at_the_function(folder: Path) -> None:
    editor = folder / "nano"
    editor.write_text('#!/bin/sh\necho "opened $@"\n', "utf-8")
    editor.chmod(0o755)
    command = [sys.executable, "-m", "selfcheck", "edit", "softmax"]
    environment = variables() | {"EDITOR": str(editor)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
    lines = (folder / "attention" / "worked_example.py").read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.startswith("def softmax("))
    assert f"opened +{line} " in done.stdout


def swallowing() -> None:
    """A loop whose bare `except` swallows the first end that is sent to it."""
    try:
        while True:
            time.sleep(0.01)
    except BaseException:
        while True:
            time.sleep(0.01)


def test_code_is_ended_at_its_limit_even_where_it_catches_everything_once() -> None:
    with pytest.raises(OutOfTime):
        supervised(swallowing, limit=0.2, notice=0.1)


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="this system does not count a thread's time")
def test_the_limit_is_of_computing_and_waiting_has_three_times_as_long():
    def waiting(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.01)
        return "done"

    assert supervised(lambda: waiting(2.0), limit=1.0, notice=0.1) == "done"
    with pytest.raises(OutOfTime):
        supervised(lambda: waiting(60.0), limit=0.2, notice=0.1)


def test_what_ends_in_time_is_returned_and_an_exception_passes() -> None:
    assert supervised(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        supervised(lambda: 1 // 0)
