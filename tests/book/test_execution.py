"""The generated notebooks run on a machine that has the packages but not the course, which they fetch.

Here: every problem set and one chapter, as proofs, and every other notebook's first cell.
`make notebooks` runs all of every notebook.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.build import notebooks
from autograder.build.execute_notebooks import Machine, execute
from autograder.build.import_closure import closure_of_code
from autograder.build.urls import repository
from autograder.course.paths import BOOK, ROOT
from selfcheck.catalogue import modules_of, problem_sets

from .pages import notebook_texts

TEXTS = {path.stem: text for path, text in notebook_texts().items()}
WHOLE = ["02-worked-example", *problem_sets()]
#: Runs first cells one after the other, as if each were a session of its own but for what Python has imported.
EACH = """
import io, contextlib, json, os, sys
from pathlib import Path
said, path = {}, list(sys.path)
for name, cell in json.loads(Path("cells.json").read_text("utf-8")).items():
    Path(name).mkdir()
    os.chdir(name)
    sys.path[:] = path
    for module in [module for module in sys.modules if module.partition(".")[0] == "selfcheck"]:
        del sys.modules[module]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for _ in range(2):
            exec(compile(cell, name, "exec"), {})
    said[name] = out.getvalue(), sys.path[0]
    os.chdir("..")
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine.made(tmp_path_factory.mktemp("colab") / "machine")


def _depends(name: str) -> list[str]:
    """What a notebook imports; of a problem set the stubs and checks of its modules, of which it needs no other."""
    notebook = f"book/notebooks/{name}.ipynb"
    code = "\n".join(
        cell.source for cell in nbformat.reads(TEXTS[name], as_version=4).cells if cell.cell_type == "code"
    )
    if name not in problem_sets():
        return [notebook, *_names(closure_of_code(code, BOOK / "notebooks").files)]
    parts = ("attention/{}.py", "selfcheck/checks/{}.py", "selfcheck/catalogue/{}.toml", "selfcheck/recorded/{}.json")
    of_modules = [f"src/{part.format(module)}" for module in modules_of(name) for part in parts]
    return [notebook, "src/attention/__init__.py", "src/selfcheck/*.py", "src/selfcheck/*/__init__.py", *of_modules]


def _names(files: Iterable[Path]) -> list[str]:
    return sorted(file.relative_to(ROOT).as_posix() for file in files)


def test_the_course_is_not_there_before_it_is_fetched(machine: Machine) -> None:
    course = ("attention", "selfcheck", "autograder", "benchmarks", "figures")
    done = machine.run(
        f"from importlib.util import find_spec as f; print([n for n in {course} if f(n)], f('torch').name)",
        machine.home,
    )
    assert done.stdout == "[] torch\n", done.stderr


#: All texts are read to choose one, and the whole course is copied to where it is fetched from.
@pytest.mark.proof(depends=_depends, ignores=["src", "solutions", "book"], collects=["src/selfcheck/notebook.py"])
@pytest.mark.parametrize("name", WHOLE)
def test_notebook_runs_from_the_first_cell_to_the_last(name: str, machine: Machine) -> None:
    notebook = execute(TEXTS[name], machine, machine.folder / "work" / name)
    fetched = machine.folder / "work" / name / repository().name
    kind = "src" if name in problem_sets() else "solutions"
    assert notebook.cells[-1].outputs[0].text == f"attention: {fetched / kind / 'attention'}\n"
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    said = "".join(output.text for output in first.outputs)
    assert [line.partition(" ")[0] for line in said.splitlines()] == ["Fetching", "The", "Python"]
    loud = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    assert not loud


def test_first_cell_of_every_other_notebook_runs_twice_and_fetches_once(machine: Machine) -> None:
    of_text: dict[str, str] = {}  # the first notebook that begins with it: others begin with the same
    for name in TEXTS.keys() - set(WHOLE):
        notebook = nbformat.reads(TEXTS[name], as_version=4)
        of_text.setdefault(next(cell.source for cell in notebook.cells if cell.cell_type == "code"), name)
    cells = {name: text for text, name in of_text.items()}
    work = machine.folder / "first"
    work.mkdir()
    (work / "cells.json").write_text(json.dumps(cells), "utf-8")
    done = machine.run(EACH, work)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert set(said) == set(cells)
    for name, (text, first) in said.items():
        assert text.count("Fetching") == 1 and text.count("DEVICE = ") == 2
        assert "Missing" not in text
        assert first == str(work / name / repository().name / "solutions")


def test_a_cell_that_fails_is_shown_with_its_traceback(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    monkeypatch.setattr(notebooks, "texts", lambda: {Path("broken.ipynb"): nbformat.writes(broken)})
    monkeypatch.setattr(Machine, "made", lambda _: machine)
    done = CliRunner().invoke(main, ["notebooks"])
    assert done.exit_code == 1
    assert "broken: fails" in done.stdout and "0 of 1 notebooks" in done.stdout
    assert "ZeroDivisionError" in done.stderr and "1 / 0" in done.stderr


def test_a_notebook_that_is_not_there_is_named_with_those_that_are() -> None:
    done = CliRunner().invoke(main, ["notebooks", "04-masks", "ps99"])
    assert done.exit_code == 2 and "no notebook ps99; there are" in done.stderr and "ps9" in done.stderr


def test_a_machine_inside_the_repository_is_refused() -> None:
    with pytest.raises(ValueError, match="inside the repository"):
        Machine.made(ROOT / "course" / "machine")
