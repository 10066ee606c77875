"""Packs a problem set into a zip that is ready to submit."""

from __future__ import annotations

import ast
import importlib
import json
import sys
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from .catalogue import in_problem_set, modules_of, problem_sets
from .learner import Learner, available, package_folder, stoppable
from .show import headline
from .source import imported_modules, parse

#: Cells that wait for an answer: emptied ones, those of an open notebook and, as nbgrader releases them.
BLANK = ("", "*Write your answer here.*", "YOUR ANSWER HERE")

#: What is there wherever a set is graded, besides Python's own.
PACKAGES = {"numpy", "torch", "typing_extensions", "triton", "selfcheck"}


def pack(problem_set: str, notebook: str | Path | None = None, yes: bool = False) -> Path | None:
    """Write psN.zip, with your modules and the notebook, into the current folder; returns its path.

    It says which exercises do not pass, which imports may fail elsewhere and which written questions have no answer.
    Where some are left, and a person sits at the terminal or the notebook, it asks once whether to go on; None where
    the answer is no.
    notebook: where psN.ipynb lies, if not here or beside the modules; the answers to the written questions are in it.
        On Colab it is the notebook that is open.
    yes: do not ask
    Raises KeyError for an unknown problem set, FileNotFoundError where a module is missing.
    """
    problem_set = problem_set.strip().lower()
    if problem_set not in problem_sets():
        raise KeyError(f"there is no problem set {problem_set!r}; there are {', '.join(problem_sets())}")
    folder = package_folder()
    needed = [folder / f"{module}.py" for module in modules_of(problem_set)]
    missing = [path.name for path in needed if not path.is_file()]
    if missing:
        raise FileNotFoundError(f"{', '.join(missing)} is missing in {folder}")
    target = Path.cwd() / f"{problem_set}.zip"
    notebook_file = _notebook(problem_set, notebook, folder)
    left = [*_failing(problem_set), *_out_of_reach(folder), *_other_packages(folder)]
    left += _blank(notebook_file) if notebook_file else []
    print("\n".join(left or [f"every exercise of {problem_set} passes its visible checks"]))
    if left and not yes and not _is_confirmed():
        print("nothing is packed")
        return None
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob("*.py")):
            archive.write(path, f"attention/{path.name}")
        if notebook_file:
            archive.write(notebook_file, f"{problem_set}.ipynb")
    modules = ", ".join(path.name for path in needed)
    print(f"packed {target}: {modules}" + (f" and {notebook_file.name}" if notebook_file else ""))
    if not notebook_file:
        print(f"no {problem_set}.ipynb found: the written questions will count as unanswered; pack(..., notebook=path)")
    return target


def _failing(problem_set: str) -> list[str]:
    """A line for each exercise of a problem set that does not pass every visible check."""
    with stoppable(), Learner().imported() as learner:
        results = [learner.result(exercise) for exercise in available(in_problem_set(problem_set))]
    return [headline(result) for result in results if not result.passed]


def _out_of_reach(folder: Path) -> list[str]:
    """A line for each import of a learner's own code that is not handed in: it works here, not where it is graded."""
    lines = []
    for path, tree in _modules_in(folder):
        for node in ast.walk(tree):
            place = folder if getattr(node, "level", 0) else folder.parent
            roots = {name.lstrip(".").partition(".")[0] for name in imported_modules(node)}
            roots -= {"", folder.name, "selfcheck"}
            line = getattr(node, "lineno", 0)
            lines += [
                f"line {line} of {path.name} imports {name}, which is not handed in: your own files stand right in "
                f"{folder.name}, as {folder.name}/mine.py, and are imported as in `from .mine import …`"
                for name in sorted(roots)
                if any((place / name).glob("*.py")) or (place != folder and (place / f"{name}.py").is_file())
            ]
    return lines


def _other_packages(folder: Path) -> list[str]:
    """A line for each package that is imported with a module, not within `try` or a function, and may be missing."""
    lines = []
    for path, tree in _modules_in(folder):
        for node in tree.body:
            roots = {name.partition(".")[0] for name in imported_modules(node)} - {""}  # "": of the package itself
            lines += [
                f"line {node.lineno} of {path.name} imports {name}, which may be missing where it is graded: NumPy and "
                "torch are all you need"
                for name in sorted(roots - sys.stdlib_module_names - PACKAGES - {folder.name})
                if not (folder.parent / name).is_dir() and not (folder.parent / f"{name}.py").is_file()
            ]
    return lines


def _modules_in(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.glob("*.py")):
        if tree := parse(path.read_text(encoding="utf-8", errors="replace")):
            yield path, tree


def _blank(notebook: Path) -> list[str]:
    """A line for each written question of a notebook that has no answer."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]).strip() for cell in cells]
    except (ValueError, KeyError, TypeError):
        return [f"{notebook.name} cannot be read: save it again in Jupyter"]
    answers = [after for text, after in pairwise(texts) if text.startswith("### Question")]
    return [
        f"question {number} of {len(answers)} has no answer"
        for number, answer in enumerate(answers, 1)
        if answer in BLANK
    ]


def _is_confirmed() -> bool:
    """Whether whoever sits there wants to pack all the same; True where nobody can be asked."""
    is_at_terminal = sys.stdin is not None and sys.stdin.isatty()
    if not is_at_terminal and not _is_in_kernel():
        return True
    try:
        with stoppable():
            answer = input("Pack all the same? [y/N] ")
    except EOFError:  # Ctrl-D
        return False
    except NotImplementedError:  # of a kernel whose client takes no input, as where a notebook is run as a whole
        return True
    return answer.strip().lower() in ("y", "yes")


def _is_in_kernel() -> bool:
    """Whether a notebook's kernel runs this; its `input` asks below the cell."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _notebook(problem_set: str, given: str | Path | None, folder: Path) -> Path | None:
    if given is not None:
        path = Path(given)
        if not path.is_file():
            raise FileNotFoundError(f"there is no notebook {path}")
        return path
    name = f"{problem_set}.ipynb"
    if "google.colab" in sys.modules:
        return _from_colab(name)
    places = [Path.cwd(), folder.parent, folder.parent.parent / "book" / "notebooks"]
    return next((place / name for place in places if (place / name).is_file()), None)


def _from_colab(name: str) -> Path | None:
    """The notebook that is open on Colab, written here; what lies in the course's folder has no answers in it.

    None where Colab does not give it, or where another notebook is open.
    """
    try:
        asked: Any = importlib.import_module("google.colab._message")
        notebook = asked.blocking_request("get_ipynb", timeout_sec=30)["ipynb"]
        calls = f'pack("{name.partition(".")[0]}"'
        if not any(calls in "".join(cell["source"]) for cell in notebook["cells"]):
            return None
    except Exception:  # Colab raises what it likes; without the notebook pack() says what to do
        return None
    path = Path.cwd() / name
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path
