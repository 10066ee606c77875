"""What a learner packs is handed in unchanged, and packing says before what is left to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE

from ..selfcheck.terminals import LIMIT, Terminal, terminal
from .shared_courses import copy_of, released


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    with released(tmp_path_factory, "ps1") as bare:
        yield copy_of(bare, tmp_path_factory.mktemp("packed") / "course")


@pytest.fixture
def handed_out(course: Course, tmp_path: Path) -> Path:
    """The folder that a learner gets."""
    return shutil.copytree(course.release("ps1"), tmp_path / "mine")


def solve(folder: Path) -> None:
    """The reference's answers, and an answer to every written question."""
    shutil.copy(REFERENCE / "worked_example.py", folder / "attention")
    path = folder / "ps1.ipynb"
    path.write_text(path.read_text("utf-8").replace("YOUR ANSWER HERE", "Because the rows sum to 1."), "utf-8")


def test_what_is_left_to_do_is_said_and_asked_about_once(handed_out: Path) -> None:
    for answer, code, said in ((b"n\n", 1, "nothing is packed"), (b"y\n", 0, "packed ")):
        command = Terminal(handed_out, ["pack", "ps1"])
        before = command.until("Pack all the same?")
        assert "2.1 " in before and "not started yet" in before
        assert "question 1 of 2 has no answer" in before and "question 2 of 2 has no answer" in before
        command.send(answer)
        assert command.ended() == code
        assert said in command.seen and command.seen.count("all the same?") == 1
        assert (handed_out / "ps1.zip").exists() == (code == 0)


@pytest.mark.parametrize("words", [["pack", "ps1"], ["pack", "PS1", "--yes"]])
def test_nobody_is_asked_without_a_terminal(handed_out: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "selfcheck", *words]
    done = subprocess.run(
        command, cwd=handed_out, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    assert "question 1 of 2 has no answer" in done.stdout and "all the same?" not in done.stdout
    assert (handed_out / "ps1.zip").exists()


def test_a_finished_set_is_packed_without_a_question(handed_out: Path) -> None:
    solve(handed_out)
    command = Terminal(handed_out, ["pack", "ps1"])
    assert command.ended() == 0
    assert "every exercise of ps1 passes" in command.seen and "all the same?" not in command.seen


def packed(handed_out: Path, words: str) -> list[str]:
    """What `pack` says first in each line with these words."""
    command = [sys.executable, "-m", "selfcheck", "pack", "ps1", "--yes"]
    done = subprocess.run(command, cwd=handed_out, capture_output=True, text=True, timeout=LIMIT)
    return [line.partition(",")[0] for line in done.stdout.splitlines() if words in line]


def test_own_code_that_is_not_handed_in_is_told_of(handed_out: Path) -> None:
    solve(handed_out)
    module = handed_out / "attention" / "worked_example.py"
    imports = "from .tools import deep\nimport mytools\nfrom . import mine\nimport numpy as np\n"
    module.write_text(imports + module.read_text("utf-8"), "utf-8")
    (handed_out / "attention" / "tools").mkdir()
    for name in ("attention/tools/__init__.py", "attention/tools/deep.py", "attention/mine.py", "mytools.py"):
        (handed_out / name).touch()
    assert packed(handed_out, "not handed in") == [
        "line 1 of worked_example.py imports tools",
        "line 2 of worked_example.py imports mytools",
    ]


def test_packages_that_may_be_missing_are_told_of(handed_out: Path) -> None:
    solve(handed_out)
    module = handed_out / "attention" / "worked_example.py"
    imports = (
        "import json, numpy as np, json5.lib\nfrom rich import print\nfrom . import scores\n"
        "try:\n    import einops\nexcept ImportError:\n    pass\n\n\ndef draw():\n    import matplotlib\n"
    )
    module.write_text(imports + module.read_text("utf-8"), "utf-8")
    assert packed(handed_out, "may be missing where it is graded") == [
        "line 1 of worked_example.py imports json5",
        "line 2 of worked_example.py imports rich",
    ]


def test_the_zip_goes_through_submit_unchanged(course: Course, handed_out: Path) -> None:
    solve(handed_out)
    (handed_out / "attention" / "mine.py").write_text("HELPER = 1\n", "utf-8")
    assert "packed " in terminal(handed_out, "pack", "ps1")
    words = ["submit", "ps1", "--student", "ada", str(handed_out / "ps1.zip"), "--course", str(course.root)]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    kept = course.submitted("ada", "ps1")
    for path in (handed_out / "attention").glob("*.py"):
        assert (kept / "attention" / path.name).read_bytes() == path.read_bytes(), path.name
    texts = [[cell["source"] for cell in nbformat.read(folder / "ps1.ipynb", 4).cells] for folder in (kept, handed_out)]
    assert texts[0] == texts[1]
    assert os.listdir(kept / "attention").count("mine.py") == 1
