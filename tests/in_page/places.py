"""What the tests of the exercises in the page share: their files, their Python, and a small site with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from autograder.build.page_archive import IN_PAGE, PYODIDE, course_files, page_files
from autograder.course.paths import BOOK, ROOT

GATE = Path(__file__).parent / "gate.mjs"
#: The answers to judge and what they import, which no page has.
BANKS = (
    "autograder/__init__.py",
    "autograder/answer_key/__init__.py",
    "autograder/answer_key/reference_package.py",
    "autograder/answer_key/misconceptions/__init__.py",
    "autograder/answer_key/misconceptions/*worked*.py",
    "autograder/course/__init__.py",
    "autograder/course/paths.py",
    "solutions/attention/__init__.py",
    "solutions/attention/worked_example.py",
    "tests/alternatives/__init__.py",
    "tests/alternatives/worked_example.py",
)
CONFIGURATION = f"""
import sys
sys.path.insert(0, {str(BOOK / "_extensions")!r})
extensions = ["myst_parser", "exercise_block"]
html_theme = "pydata_sphinx_theme"
html_static_path = [{str(BOOK / "_static")!r}]
html_css_files = ["colours.css", "attention.css"]
myst_enable_extensions = ["dollarmath"]
"""


def in_the_pages_python(folder: Path, names: list[str] | None, requests: list[dict[str, Any]]) -> dict[str, Any]:
    """What gate.py finds in Pyodide with a page's files; names: see gate.verdicts, None for no such answer"""
    files = page_files()
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "course.json", "lock.json"):
        (folder / name).write_bytes(files[name])
    banks = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for one in BANKS for path in ROOT.glob(one)}
    alternatives = "tests/alternatives/worked_example.py"  # two of them need torch, which the page refuses
    banks |= {"tests/__init__.py": "", alternatives: banks[alternatives].replace("import torch\n", "")}
    banks["gate.py"] = (Path(__file__).parent / "gate.py").read_text("utf-8")
    (folder / "gate.json").write_text(json.dumps(banks), encoding="utf-8")
    with zipfile.ZipFile(PYODIDE / "python_stdlib.zip") as whole:
        library = (IN_PAGE / "standard_library.txt").read_text("utf-8").split()
        texts = {name: whole.read(name).decode() for name in library}
    (folder / "whole.json").write_text(json.dumps(texts), encoding="utf-8")
    asked = {"problem_set": "ps1", "names": names, "course": "/course", "requests": requests, "whole": "/whole.json"}
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    done = subprocess.run(["node", GATE, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "found.json").read_text("utf-8"))


def in_our_python(folder: Path, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the same check says in a CPython of its own, with NumPy."""
    for name, text in course_files().items():
        if not name.startswith("numpy/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(Path(__file__).parent / "gate.py", folder)
    start = (
        "import sys, gate, in_the_page; in_the_page.COURSE = sys.path[0]; in_the_page.prepare(); "
        "print(gate.run(sys.argv[1]))"
    )
    asked = {"problem_set": "ps1", "names": None, "course": str(folder), "requests": requests}
    done = subprocess.run(
        [sys.executable, "-c", start, json.dumps(asked)], capture_output=True, text=True, cwd=folder, check=True
    )
    return json.loads(done.stdout)["told"]


def small_site(folder: Path) -> Path:
    """A site of one page, chapters/exercises.html, with the exercises of ps1 as the book shows them."""
    source, out = folder / "source", folder / "site"
    (source / "chapters").mkdir(parents=True)
    (source / "conf.py").write_text(CONFIGURATION, encoding="utf-8")
    (source / "index.md").write_text("# Start\n\n```{toctree}\nchapters/exercises\n```\n", encoding="utf-8")
    names = ("project", "dot_scores", "softmax", "weighted_sum", "self_attention")
    blocks = "\n".join(f"```{{exercise}} worked_example.{name}\n```\n" for name in names)
    (source / "chapters" / "exercises.md").write_text(f"# Exercises\n\n{blocks}", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", source, out]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return out
