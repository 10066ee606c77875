"""Packs a problem set into a zip that is ready to submit."""

from __future__ import annotations

import importlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from .catalogue import modules_of, problem_sets
from .learner import package_folder


def pack(problem_set: str, notebook: str | Path | None = None) -> Path:
    """Write psN.zip, with your modules and the notebook, into the current folder; returns its path.

    notebook: where psN.ipynb lies, if not here or beside the modules; the answers to the written questions are in it.
        On Colab it is the notebook that is open.
    Raises KeyError for an unknown problem set, FileNotFoundError where a module is missing.
    """
    if problem_set not in problem_sets():
        raise KeyError(f"there is no problem set {problem_set!r}; there are {', '.join(problem_sets())}")
    folder = package_folder()
    needed = [folder / f"{module}.py" for module in modules_of(problem_set)]
    missing = [path.name for path in needed if not path.is_file()]
    if missing:
        raise FileNotFoundError(f"{', '.join(missing)} is missing in {folder}")
    target = Path.cwd() / f"{problem_set}.zip"
    found = _notebook(problem_set, notebook, folder)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob("*.py")):
            archive.write(path, f"attention/{path.name}")
        if found:
            archive.write(found, f"{problem_set}.ipynb")
    modules = ", ".join(path.name for path in needed)
    print(f"packed {target}: {modules}" + (f" and {found.name}" if found else ""))
    if not found:
        print(f"no {problem_set}.ipynb found: the written questions will count as unanswered; pack(..., notebook=path)")
    return target


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
