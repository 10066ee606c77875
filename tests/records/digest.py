"""The key of a proof: a digest of everything it depends on.

That is the content of what the mark declares, of the test's file and its fixtures' files, of whatever these import from
the repository (of a page, its code cells), of this package, of pytest's settings, and the version of each installed
package that is imported.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import platform
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from autograder.build.import_closure import Closure, ImportGraph

SKIPPED = {"__pycache__", ".ipynb_checkpoints", "_build", ".pytest_cache", ".ruff_cache", "proven"}
CODE_CELL = re.compile(
    r"^```+\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::[^\n]*\n)*)(.*?)^```", re.MULTILINE | re.DOTALL
)
MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
MECHANISM = (Path(__file__).with_name("plugin.py"),)  # and what it imports: this package, but for its tests


class UnknownDependency(ValueError):
    """A declared dependency that is not there."""


def environment() -> str:
    """Where a proof holds beyond the texts: Python's minor version, the system, the processor's kind, a GPU."""
    gpu = "-cuda" if shutil.which("nvidia-smi") else ""
    return f"{sys.implementation.cache_tag}-{platform.system().lower()}-{platform.machine()}{gpu}"


class Digests:
    """Keys of proofs in one state of a repository, each file read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
        installed = settings.get("setuptools", {}).get("packages", {}).get("find", {}).get("where", [])
        self._settings = settings["pytest"]["ini_options"]
        folders = dict.fromkeys([*self._settings["pythonpath"], *installed])
        search = [(root / folder).resolve() for folder in folders]
        self._imports, self._page_imports = ImportGraph(search, written_out=True), ImportGraph(search)
        self._stamps: dict[Path, tuple[int, int]] = {}
        self._content = functools.cache(self._digest)
        self._closure = functools.cache(self._follow)
        self._page = functools.cache(self._follow_page)
        self._key = functools.cache(self._compute)
        self._matches = functools.cache(self._find)
        self._version = functools.cache(_version)

    def closure(self, declared: Iterable[str], files: Iterable[Path]) -> Closure:
        """Everything a proof depends on.

        declared: files, folders and globs, relative to the root; UnknownDependency for one that matches nothing
        files: the test's file, and those of its fixtures
        """
        named = frozenset(path for pattern in declared for path in self._matches(pattern))
        return self._closure(named | frozenset(files) | frozenset(MECHANISM))

    def key(self, declared: Iterable[str], files: Iterable[Path]) -> str:
        """The key of a proof, 32 hexadecimal digits."""
        return self._key(self.closure(declared, files))

    def files(self, pattern: str) -> tuple[Path, ...]:
        """The files that a file's name, a folder or a glob stands for."""
        return self._matches(pattern)

    def changed(self, closure: Closure) -> list[Path]:
        """The files that are no longer as they were when the key was computed."""
        return sorted(path for path in closure.files if path in self._stamps and self._stamps[path] != _stamp(path))

    def _follow(self, files: frozenset[Path]) -> Closure:
        """The closure of files, and of the code cells of pages among them, as whoever executes these needs it."""
        closures = [self._imports.closure(files), *(self._page(path) for path in files if path.suffix == ".md")]
        return Closure(
            frozenset().union(*(closure.files for closure in closures)),
            frozenset().union(*(closure.packages for closure in closures)),
        )

    def _follow_page(self, path: Path) -> Closure:
        code = "\n".join(CODE_CELL.findall(path.read_text(encoding="utf-8")))
        return self._page_imports.closure_of_code(MAGIC.sub(r"\1pass", code), path.parent)

    def _digest(self, path: Path) -> bytes:
        self._stamps[path] = _stamp(path)
        return hashlib.sha256(path.read_bytes()).digest()

    def _compute(self, closure: Closure) -> str:
        digest = hashlib.sha256()
        for path in sorted(closure.files):
            name = path.relative_to(self.root) if path.is_relative_to(self.root) else Path("records", path.name)
            digest.update(hashlib.sha256(name.as_posix().encode()).digest() + self._content(path))
        distributions = {
            name for package in (*closure.packages, "pytest") for name in _distributions().get(package, [])
        }
        versions = {name: self._version(name) for name in sorted(distributions)}
        digest.update(json.dumps([self._settings, versions], sort_keys=True).encode())
        return digest.hexdigest()[:32]

    def _find(self, pattern: str) -> tuple[Path, ...]:
        place = self.root / pattern
        if place.is_file():
            return (place,)
        candidates = place.rglob("*") if place.is_dir() else self.root.glob(pattern)
        files = tuple(
            sorted(
                file
                for path in candidates
                for file in (path.rglob("*") if path.is_dir() and not place.is_dir() else [path])
                if file.is_file() and not SKIPPED & set(file.relative_to(self.root).parts)
            )
        )
        if not files:
            raise UnknownDependency(f"a proof depends on {pattern!r}, and no file of the repository is called so")
        return files


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when a file is written: its time and its size; zeros where it is gone."""
    with contextlib.suppress(FileNotFoundError):
        now = path.stat()
        return now.st_mtime_ns, now.st_size
    return 0, 0


def _version(distribution: str) -> str:
    """The version of an installed distribution; a build's own suffix is left out."""
    return importlib.metadata.version(distribution).partition("+")[0]


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return {name: list(set(of)) for name, of in importlib.metadata.packages_distributions().items()}
