"""Builds the book, unless what it is made of has not changed.

python -m autograder.build.site [--out DIR] [--no-solutions] [--force]
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..course.paths import BOOK, ROOT

__all__ = ["build_book", "is_fresh"]

#: What notebooks import: when it changes, every notebook is executed again.
CODE = (
    "solutions",
    "src/selfcheck",
    "book/_static/attention.mplstyle",
    *(f"book/{file.name}" for file in BOOK.glob("*.py")),
)
#: What writes exercises and notebooks.
WRITERS = ("build", "course")
#: What else decides how a page looks.
PAGES = ("book", "package-lock.json", *(f"autograder/{name}" for name in WRITERS))
GENERATED = {"_build", "notebooks", "__pycache__", ".ipynb_checkpoints"}
RUN = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
#: Said by every kernel that starts; notebooks of the book run on this machine and listen to nobody else.
NOISE = re.compile(r"Kernel is running over TCP without encryption")
COLOUR = re.compile("\x1b\\[[0-9;]*m")
TOOLS = ("jupyter-book", "sphinx", "myst-nb", "matplotlib", "numpy", "torch", "keras")


class BookError(RuntimeError):
    """The book could not be built; the build's own output says why."""


def build_book(out: Path | str = BOOK, solutions: bool = True, force: bool = False) -> Path:
    """Builds the book into out/_build/html and returns that folder; a fresh one is left alone.

    solutions: whether exercises show their folded solution
    force: build although nothing changed
    Raises BookError where the build fails; any warning is a failure.
    """
    out = Path(out).resolve()
    site = out / "_build" / "html"
    with _only_one(out):
        if not force and is_fresh(out, solutions):
            print(f"The book is up to date: {site}", flush=True)
            return site
        started = time.monotonic()
        wanted = _digest(PAGES + CODE, solutions)
        _forget(out)
        _prepare_cache(out)
        _run(out, solutions)
        (out / "_build" / "inputs.sha256").write_text(wanted, "utf-8")
        print(f"The book is built in {time.monotonic() - started:.0f} s: {site}", flush=True)
    return site


def is_fresh(out: Path | str = BOOK, solutions: bool = True) -> bool:
    """Whether out holds a book built from exactly what lies in the repository now."""
    recorded = Path(out) / "_build" / "inputs.sha256"
    return recorded.is_file() and recorded.read_text("utf-8") == _digest(PAGES + CODE, solutions)


def _run(out: Path, solutions: bool) -> None:
    """Runs jupyter-book with warnings as errors; its output passes through."""
    paths = [ROOT / "solutions", BOOK, ROOT / "src", ROOT]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "SOLUTIONS": "yes" if solutions else "no",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",  # torch's first multi-threaded exp of a process is not always right
        "KERAS_BACKEND": "torch",
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-c", RUN, "build", str(BOOK), "--path-output", str(out)]
    command += ["--all", "--warningiserror", "--keep-going", "--nitpick"]
    print("Building the book: every stale notebook is executed, every warning is an error", flush=True)
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
        raise BookError("the book has warnings or errors (above); mend them and run `make book` again")


def _pass_through(lines: Iterable[str]) -> None:
    for line in lines:
        if not NOISE.search(line):
            print(COLOUR.sub("", line), end="", flush=True)


def _forget(out: Path) -> None:
    """Removes the last site, so that no page of a deleted file survives, and the claim that it is fresh."""
    (out / "_build" / "inputs.sha256").unlink(missing_ok=True)
    for folder in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(out / "_build" / folder, ignore_errors=True)


def _prepare_cache(out: Path) -> None:
    """Leaves executed notebooks only where the code they import is the code that they ran with."""
    code = _digest(CODE, True)
    cache, ours = out / "_build" / ".jupyter_cache", BOOK / "_build" / ".jupyter_cache"
    if _recorded(cache) == code:
        return
    shutil.rmtree(cache, ignore_errors=True)
    if cache != ours and _recorded(ours) == code:
        shutil.copytree(ours, cache)
        return
    cache.mkdir(parents=True)
    (cache / "code.sha256").write_text(code, "utf-8")


def _recorded(cache: Path) -> str | None:
    file = cache / "code.sha256"
    return file.read_text("utf-8") if file.is_file() else None


def _digest(names: Iterable[str], solutions: bool) -> str:
    """One number for the contents of files and folders, the tools' versions and the kind of book."""
    total = hashlib.sha256()
    versions = [f"{tool} {importlib.metadata.version(tool)}" for tool in TOOLS]
    total.update(repr((sys.version, versions, solutions)).encode())
    for file in _files(names):
        total.update(f"{file.relative_to(ROOT)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    return total.hexdigest()


def _files(names: Iterable[str]) -> Iterator[Path]:
    for name in sorted(set(names)):
        top = ROOT / name
        for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if file.is_file() and not GENERATED & set(file.relative_to(ROOT).parts):
                yield file


@contextmanager
def _only_one(out: Path) -> Iterator[None]:
    """Makes a second build of the same folder wait for the first, then find its work done."""
    folder = out / "_build"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 where the book stands, 1 where it could not be built."""
    parser = argparse.ArgumentParser(prog="python -m autograder.build.site", description="Builds the book.")
    parser.add_argument("--out", type=Path, default=BOOK, help="folder that gets _build/html (default: book)")
    parser.add_argument("--no-solutions", action="store_true", help="leave the folded solutions out")
    parser.add_argument("--force", action="store_true", help="build although nothing changed")
    options = parser.parse_args(arguments)
    wanted = not options.no_solutions and not re.fullmatch("no|0|false", os.environ.get("SOLUTIONS", "yes"))
    try:
        build_book(options.out, solutions=wanted, force=options.force)
    except BookError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
