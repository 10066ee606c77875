"""Handing in by the instructor's commands: nothing good is lost, and code in the notebook's cells is found."""

import json
import zipfile

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.paths import REFERENCE
from autograder.course.releases import written_questions
from autograder.intake import in_cells, store
from autograder.judge.cache import IN_CELLS
from selfcheck.catalogue import in_problem_set

from .shared_courses import copy_of, released

RIGHT = (REFERENCE / "worked_example.py").read_bytes()


def run(course, *arguments):
    done = CliRunner().invoke(main, [*map(str, arguments), "--course", str(course.root)], catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture
def course(tmp_path_factory, tmp_path):
    with released(tmp_path_factory, "ps1") as bare:
        return copy_of(bare, tmp_path / "course")


@pytest.fixture
def stub(course):
    return (course.release("ps1") / "attention" / "worked_example.py").read_bytes()


def notebook(course, answer=None, *cells):
    tree = json.loads((course.release("ps1") / "ps1.ipynb").read_text())
    for cell in written_questions(tree) if answer else ():
        cell["source"] = answer
    more = [{"cell_type": "code", "id": f"own-{n}", "metadata": {}, "source": text} for n, text in enumerate(cells)]
    return json.dumps(tree | {"cells": tree["cells"] + more}).encode()


def zipped(path, **files):
    path.parent.mkdir(parents=True, exist_ok=True)
    names = {"module": "attention/worked_example.py", "notebook": "ps1.ipynb"}
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in files.items():
            packed.writestr(names.get(name, name), data)
    return path


def files_of(course, student="ada"):
    return dict(store.take_in(course, student, "ps1").files)


# one submission


def test_what_is_no_submission_exits_with_1_and_replaces_nothing(course, tmp_path):
    good = zipped(tmp_path / "good.zip", module=RIGHT, notebook=notebook(course, "Because."))
    assert run(course, "submit", "ps1", "--student", "ada", good)[0] == 0
    before = {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no zip")
    other = zipped(tmp_path / "other.zip", **{"attention/masks.py": b"x = 1", "ps3.ipynb": b"{}"})
    for path, why in (
        (tmp_path / "empty", "Found: nothing. Expected: attention/worked_example.py and ps1.ipynb"),
        (tmp_path / "notes.txt", "is no readable zip"),
        (other, "this is ps3's, by ps3.ipynb"),
    ):
        code, said = run(course, "submit", "ps1", "--student", "ada", path)
        assert code == 1 and why in said and "Traceback" not in said
    assert {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()} == before


def test_less_than_what_is_there_replaces_it_only_when_that_is_said(course, tmp_path, stub):
    good = zipped(tmp_path / "good.zip", module=RIGHT, notebook=notebook(course, "Because."))
    assert run(course, "submit", "ps1", "--student", "ada", good)[0] == 0
    less = {
        "attention/worked_example.py": zipped(tmp_path / "1.zip", notebook=notebook(course, "Because.")),
        "attention/worked_example.py. Nothing": zipped(tmp_path / "2.zip", module=stub, notebook=notebook(course, "x")),
        "the answers to the written questions": zipped(tmp_path / "3.zip", module=RIGHT),
    }
    for lost, path in less.items():
        code, said = run(course, "submit", "ps1", "--student", "ada", path)
        assert code == 1 and f"lacks what ada has handed in before: {lost}" in said and "--replace" in said
    assert files_of(course) == {"worked_example.py": RIGHT}
    assert run(course, "submit", "ps1", "--student", "ada", "--replace", less["attention/worked_example.py"])[0] == 0
    assert files_of(course) == {}


def test_the_same_again_changes_nothing(course, tmp_path):
    good = zipped(tmp_path / "good.zip", module=RIGHT, notebook=notebook(course, "Because."))
    run(course, "submit", "ps1", "--student", "ada", good)
    before = {path: path.stat().st_mtime_ns for path in course.root.rglob("*") if path.name != ".turn"}
    code, said = run(course, "submit", "ps1", "--student", "ada", good)
    assert code == 0 and "ada: ps1 unchanged, 1 module" in said
    assert {path: path.stat().st_mtime_ns for path in course.root.rglob("*") if path.name != ".turn"} == before


# code in the notebook's cells


CELLS = (
    "%matplotlib inline\nimport numpy as np\ndef softmax(scores, axis=-1):\n    return np.exp(scores)",
    "def project(inputs, w_query, w_key, w_value):\n    return inputs @\n",  # a mistake elsewhere in the cell
)


def test_code_in_the_notebooks_cells_is_found_where_the_module_lacks_it(course, stub):
    data = notebook(course, "x", *CELLS)
    ids = ("worked_example.project", "worked_example.softmax")
    for files in ({}, {"worked_example.py": stub}):
        found, told = in_cells.written_in_cells(data, "ps1", files)
        assert set(found) == set(ids)
        assert "is in the notebook's cells and not in attention/worked_example.py" in told[0]
    assert in_cells.written_in_cells(data, "ps1", {"worked_example.py": RIGHT}) == ((), ())
    assert in_cells.written_in_cells(notebook(course, "x"), "ps1", {}) == ((), ())
    talk = notebook(course, "x", "# def softmax(scores) comes next\ntext = 'def softmax('")
    assert in_cells.written_in_cells(talk, "ps1", {}) == ((), ())


@pytest.mark.parametrize(
    "cell",
    [
        "softmax = lambda scores: scores",
        "if True:\n    def softmax(s): return s",
        "try:\n  pass\nfinally:\n  class softmax: pass",
    ],
)
def test_a_function_is_found_in_whatever_statement_a_cell_defines_it(course, cell):
    assert in_cells.written_in_cells(notebook(course, "x", cell), "ps1", {})[0] == ("worked_example.softmax",)


def test_a_cell_that_is_one_text_is_searched_like_one_that_is_a_list_of_lines(course):
    tree = json.loads(notebook(course, "x"))
    for text in ("import numpy as np\ndef softmax(scores):\n    return scores", "x = 1\r\ndef\tsoftmax(s): return s"):
        for source in (text, text.splitlines(keepends=True)):
            cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
            data = json.dumps(tree | {"cells": [*tree["cells"], cell]}).encode()
            assert in_cells.written_in_cells(data, "ps1", {})[0] == ("worked_example.softmax",), source


def test_a_hostile_notebook_costs_the_search_no_more_than_its_limits(course, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.limited.CPU_SECONDS", 1)
    deep = notebook(course, "x", "def softmax(x): return " + "(" * 50_000, "a" + "\u0300\u0316" * 60_000 + " = 1")
    found, _ = in_cells.written_in_cells(deep, "ps1", {})
    assert set(found) <= {"worked_example.softmax"}


def test_instructor_and_owner_are_told_of_code_in_the_cells(course, tmp_path, stub):
    path = zipped(tmp_path / "x.zip", module=stub, notebook=notebook(course, "x", *CELLS))
    code, said = run(course, "submit", "ps1", "--student", "ada", path)
    line = "the code of project, softmax is in the notebook's cells"
    assert code == 0 and line in said
    code, said = run(course, "grade", "ps1")
    assert code == 0 and line in said
    record = json.loads(course.result_file("ada", "ps1").read_text())
    first = IN_CELLS.format(symbol="softmax", module="worked_example")
    texts = {one["id"]: one["text"] for one in record["exercises"]}
    assert texts["worked_example.softmax"].startswith(first)
    assert not texts["worked_example.self_attention"].startswith("Your code")
    page = json.loads((course.root / "autograded" / "ada" / "ps1" / "ps1.ipynb").read_text())
    outputs = ["".join(out.get("text", "")) for cell in page["cells"] for out in cell.get("outputs", ())]
    assert any(text.startswith("Your code for softmax is in the notebook.") for text in outputs)
    # Moved where it belongs, it is no longer told: the result is judged anew.
    moved = zipped(tmp_path / "y.zip", module=RIGHT, notebook=notebook(course, "x", *CELLS))
    assert line not in run(course, "submit", "ps1", "--student", "ada", moved)[1]
    # The same module with a cleaned notebook: the verdicts are on file, and the line is gone.
    run(course, "submit", "ps1", "--student", "ada", "--replace", path)
    run(course, "grade", "ps1")
    clean = zipped(tmp_path / "z.zip", module=stub, notebook=notebook(course, "y"))
    run(course, "submit", "ps1", "--student", "ada", clean)
    run(course, "grade", "ps1")
    assert "Your code" not in course.result_file("ada", "ps1").read_text()


def test_every_exercise_has_the_mark_by_which_its_stub_is_known(stub):
    for exercise in in_problem_set("ps1"):
        assert not in_cells._is_written(exercise, {"worked_example.py": stub})
        assert in_cells._is_written(exercise, {"worked_example.py": RIGHT})


def test_the_handout_as_a_whole_holds_nothing_that_is_told_as_odd(course, tmp_path):
    path = tmp_path / "ps1.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in course.release("ps1").rglob("*"):
            packed.write(file, "ps1" / file.relative_to(course.release("ps1")))
    code, said = run(course, "submit", "ps1", "--student", "ada", path)
    assert code == 0 and "1 module" in said and "left out" not in said
