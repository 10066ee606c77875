"""Runs one proof in a process of its own, and tells which files it opened that it does not depend on.

Python's audit hook sees every file that the process and the Python processes it starts open or import, but for those
that start in isolated mode or with an empty environment.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from .digest import SKIPPED

HERE = Path(__file__).parent
OTHERS = SKIPPED | {".venv", "node_modules", ".git", ".hypothesis", "watched"}
COMPILED = re.compile(r"__pycache__/([^/]+?)\.[\w-]+(?:\.opt-\d)?(?:-pytest-[\d.]+)?\.pyc$")


class DidNotPass(AssertionError):
    """A proof that is watched has to pass."""


def undeclared(root: Path, test: str) -> list[str]:
    """The files of the repository that a proof opens and that its key does not cover, relative to the root."""
    with tempfile.TemporaryDirectory() as folder:
        opened, covered = Path(folder, "opened"), Path(folder, "covered.json")
        paths = [HERE / "watched", root, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "WATCHED_LOG": str(opened),
            "WATCHED_ROOT": str(root),
            "COVERED": str(covered),
            "PYTEST_ADDOPTS": "",
        }
        options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.records.watch", "--records=ignore"]
        options.append(f"--basetemp={folder}/tmp")
        command = [sys.executable, "-m", "pytest", *options, test]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise DidNotPass(f"{test} did not pass by itself:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        names = {_source(line, root) for line in opened.read_text(encoding="utf-8").splitlines()}
        allowed = set(json.loads(covered.read_text(encoding="utf-8")))
    return sorted({name for name in names if (root / name).is_file() and not _is_installed(name)} - allowed)


def _is_installed(name: str) -> bool:
    """Whether a file was installed or generated: it is no source of the repository."""
    parts = Path(name).parts
    return bool(OTHERS & set(parts)) or parts[0].endswith(".egg-info")


def _source(path: str, root: Path) -> str:
    """A path relative to the root; of a compiled file, the path of its text."""
    return COMPILED.sub(r"\1.py", Path(path).relative_to(root).as_posix())


def pytest_collection_finish(session: pytest.Session) -> None:
    """In the watched process: write down what the key of the proof covers, and what pytest itself opens."""
    if "COVERED" not in os.environ:
        return
    from .plugin import digests, proof_of  # pytest insists on being the first to import a plugin

    root = session.config.rootpath
    known = digests(root)
    opened = Path(os.environ["WATCHED_LOG"]).read_text(encoding="utf-8").splitlines()
    so_far = {_source(line, root) for line in opened}
    covered = {root / "pyproject.toml"}
    for item in session.items:
        proof = proof_of(item)
        if proof is None:
            raise pytest.UsageError(f"{item.nodeid} is not marked as a proof")
        conftests = [folder / "conftest.py" for folder in item.path.parents if folder.is_relative_to(root)]
        covered |= known.closure(proof.declared, proof.files).files
        covered |= known.closure((), [path for path in (*conftests, HERE / "watch.py") if path.exists()]).files
        covered |= {path for pattern in proof.ignores for path in known.files(pattern)}
        collected = {path for pattern in proof.collects for path in known.files(pattern)}
        covered |= {path for path in collected if path.relative_to(root).as_posix() in so_far}
    names = [path.relative_to(root).as_posix() for path in covered if path.is_relative_to(root)]
    Path(os.environ["COVERED"]).write_text(json.dumps(names), encoding="utf-8")
