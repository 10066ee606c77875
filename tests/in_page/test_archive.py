"""What a page fetches: no solution, no hidden check, no more than 5 MB, and the same files each time."""

import ast
import gzip
import json
import subprocess
import sys

import pytest

from autograder.build.exercise_text import solution_text
from autograder.build.page_archive import IN_PAGE, course_files, handed_in, page_files, pressed
from autograder.course.paths import BOOK, ROOT
from selfcheck.catalogue import in_problem_set

MOST, MOST_AT_FIRST = 4_950_000, 3 * 1024  # bytes, pressed
ONCE = "import hashlib, exercises_in_page; files, digest = exercises_in_page.files_and_digest(); print(digest)"


@pytest.fixture(scope="module")
def files():
    return page_files()


@pytest.fixture(scope="module")
def texts(files):
    """All that a learner could read: of the course, and of what is handed in."""
    return [*course_files().values(), json.dumps(handed_in()), files["page.js"].decode(), files["worker.js"].decode()]


def test_no_solution_is_in_it(texts):
    for exercise in in_problem_set("ps1"):
        body = ast.parse(solution_text(exercise)).body[0].body
        last = ast.unparse(body[-1])
        assert len(last) > 20
        assert not any(last in " ".join(one.split()) for one in texts), exercise.id
    assert not any("solution: begin" in one for one in texts)


def test_no_hidden_check_is_in_it(texts):
    bank = (ROOT / "autograder" / "answer_key" / "hidden" / "worked_example.py").read_text("utf-8")
    names = [node.name for node in ast.parse(bank).body if isinstance(node, ast.FunctionDef)]
    assert names
    for name in names:
        assert not any(f"def {name}(" in one or f'"{name}"' in one for one in texts), name
    assert not any("answer_key" in path for path in course_files())


def test_it_is_small(files):
    large = ("pyodide.asm.mjs", "pyodide.asm.wasm", "course.json")
    rest = sum(len(files[name]) for name in ("pyodide.mjs", "python_stdlib.zip", "page.js", "worker.js", "lock.json"))
    total = sum(len(pressed(files[name])) for name in large) + rest
    assert 3_000_000 < total <= MOST, total
    first = sum(len(gzip.compress((IN_PAGE / name).read_bytes(), 9)) for name in ("exercises.js", "exercises.css"))
    assert first <= MOST_AT_FIRST, first


def test_it_comes_out_the_same_each_time():
    place = f"import sys; sys.path.insert(0, {str(BOOK / '_extensions')!r}); "
    runs = [subprocess.run([sys.executable, "-c", place + ONCE], capture_output=True, text=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout != "", runs[0].stderr


def test_pieces_put_together_are_the_stub():
    packed = handed_in()["attention/worked_example.py"]
    assert "".join(one["text"] for one in packed) == course_files()["selfcheck/stubs/worked_example.txt"]
    assert [one["number"] for one in packed if "number" in one] == [one.number for one in in_problem_set("ps1")]
