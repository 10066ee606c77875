"""Builds the book, unless what it is made of has not changed."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from ..cores import cores
from ..course.paths import BOOK, ROOT
from .executed_pages import COMMITTED, SETTINGS, notebooks_of_pages
from .import_closure import SEARCH, closure_of

__all__ = ["BookError", "build_book", "fingerprint", "is_fresh", "writers"]

#: What a page can show: its text, the reference, the exercises.
SHOWN = ("book", "solutions", "src/selfcheck", "package-lock.json")
GENERATED = {"_build", "executed", "notebooks", "__pycache__", ".ipynb_checkpoints"}
#: Runs Jupyter Book with Sphinx's workers, an option that its command line does not pass on.
RUN = """
import functools, sys
from jupyter_book import sphinx
from jupyter_book.cli.main import main
sphinx.build_sphinx = functools.partial(sphinx.build_sphinx, jobs=%d)
sys.exit(main())
"""
#: Said by every kernel that starts; notebooks of the book run on this machine and listen to nobody else.
NOISE = re.compile(r"Kernel is running over TCP without encryption")
COLOUR = re.compile("\x1b\\[[0-9;]*m")
TOOLS = ("jupyter-book", "sphinx", "myst-nb", "sphinx-book-theme", "matplotlib", "numpy", "torch", "keras")


class BookError(RuntimeError):
    """The book could not be built; the build's own output says why."""


def build_book(
    out: Path | str = BOOK, solutions: bool = True, force: bool = False, anew: bool = False, record: bool = False
) -> Path:
    """Builds the book into out/_build/html and returns that folder; a fresh one is left alone.

    solutions: whether exercises show their folded solution
    force: build although nothing changed
    anew: execute every page, whatever is on record, and compare the records that hold with what comes out
    record: write what is executed to book/executed, which is committed, and remove records of pages that are gone
    Raises BookError where the build fails; any warning is a failure.
    """
    out = Path(out).resolve()
    site = out / "_build" / "html"
    (out / "_build").mkdir(parents=True, exist_ok=True)
    with FileLock(out / "_build" / ".lock"):  # a second build of the same folder waits, then finds its work done
        if not (force or anew or record) and is_fresh(out, solutions):
            print(f"The book is up to date: {site}", flush=True)
            return site
        _require_node_packages()
        started = time.monotonic()
        sources = _sources(solutions)
        _forget(out)
        _run(out, solutions, anew, record)
        if record:
            _remove_strays()
        _fingerprint_file(out).write_text(f"{sources} {_records()}", "utf-8")
        print(f"The book is built in {time.monotonic() - started:.0f} s: {site}", flush=True)
    return site


def is_fresh(out: Path | str = BOOK, solutions: bool = True) -> bool:
    """Whether out holds a book built from exactly what lies in the repository now."""
    file = _fingerprint_file(Path(out))
    return file.is_file() and file.read_text("utf-8") == fingerprint(solutions)


def fingerprint(solutions: bool) -> str:
    """Two digests: of everything that decides how the book looks, and of the outputs on record."""
    return f"{_sources(solutions)} {_records()}"


def writers() -> frozenset[Path]:
    """The modules of the repository that write the book: Sphinx's extensions, and what they import."""
    extensions = BOOK / "_extensions"
    return closure_of([Path(__file__), *extensions.glob("*.py")], (extensions, *SEARCH)).files


def _fingerprint_file(out: Path) -> Path:
    return out / "_build" / "inputs.sha256"


def _run(out: Path, solutions: bool, anew: bool, record: bool) -> None:
    """Runs jupyter-book with warnings as errors; its output passes through."""
    paths = [ROOT / "solutions", BOOK, ROOT / "src", ROOT]
    environment = {
        **os.environ,
        **SETTINGS,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "SOLUTIONS": "yes" if solutions else "no",
        "EXECUTE_ANEW": "yes" if anew else "no",
        "EXECUTED_WRITE": "yes" if record else "no",
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-c", RUN % cores(), "build", str(BOOK), "--path-output", str(out)]
    command += ["--all", "--warningiserror", "--keep-going", "--nitpick"]
    print("Building the book: stale pages are executed, every warning is an error", flush=True)
    with subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as running:
        reader = threading.Thread(target=_pass_through, args=(running.stdout,))
        reader.start()
        try:
            running.wait()
        finally:  # a build that failed leaves KaTeX's server, which holds the pipe; one that is stopped, everything
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGTERM)
            reader.join()
    if running.returncode:
        raise BookError("the book has warnings or errors (above); mend them and run python -m autograder book again")


def _require_node_packages() -> None:
    """Raise BookError where something is not installed that the build runs by Node.js."""
    wanted = json.loads((ROOT / "package.json").read_text("utf-8"))["dependencies"]
    missing = [name for name in wanted if not (ROOT / "node_modules" / name / "package.json").is_file()]
    if not shutil.which("node"):
        raise BookError("Node.js, which renders the formulas, is not installed (Debian: apt-get install nodejs npm)")
    if missing:
        raise BookError(
            f"node_modules lacks {', '.join(missing)}: run npm ci in {ROOT}, and python -m autograder book again"
        )


def _pass_through(lines: Iterable[str]) -> None:
    for line in lines:
        if not NOISE.search(line):
            print(COLOUR.sub("", line), end="", flush=True)


def _forget(out: Path) -> None:
    """Removes the last site, so that no page of a deleted file survives, and the claim that it is fresh."""
    _fingerprint_file(out).unlink(missing_ok=True)
    for folder in ("html", ".doctrees", "jupyter_execute", ".jupyter_cache"):
        shutil.rmtree(out / "_build" / folder, ignore_errors=True)


def _remove_strays() -> None:
    """Removes the committed records of pages that are no longer there or have no code any more."""
    pages = {name for name, _ in notebooks_of_pages()}
    for file in sorted(COMMITTED.rglob("*.json.gz")):
        if file.relative_to(COMMITTED).as_posix().removesuffix(".json.gz") not in pages:
            file.unlink()


def _sources(solutions: bool) -> str:
    """A digest of everything that decides how the book looks: what it shows, what writes it, the tools."""
    versions = [f"{tool} {importlib.metadata.version(tool)}" for tool in TOOLS]
    return _digest({*_files(SHOWN), *writers()}, repr((sys.version, versions, solutions)))


def _records() -> str:
    """A digest of the outputs on record, which a build may write while it reads everything else."""
    return _digest(COMMITTED.rglob("*.json.gz"))


def _digest(files: Iterable[Path], more: str = "") -> str:
    total = hashlib.sha256(more.encode())
    for file in sorted(files):
        total.update(f"{file.relative_to(ROOT)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    return total.hexdigest()


def _files(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        top = ROOT / name
        for file in top.rglob("*") if top.is_dir() else [top]:
            if file.is_file() and not GENERATED & set(file.relative_to(ROOT).parts):
                yield file
