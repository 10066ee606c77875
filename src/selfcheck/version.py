"""Names what verdicts depend on beside a learner's files: those of selfcheck, Python, its libraries, its settings."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["version"]

LIBRARIES = ("torch", "numpy", "click", "rich")
#: Environment variables that Python and its libraries read when they start begin so.
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "TORCH", "CUDA_", "ATEN_")


def version() -> str:
    """A name for all that a process has imported and read when it has started."""
    variables = {name: value for name, value in os.environ.items() if name.startswith(READ_AT_START)}
    variables.pop("OPENBLAS_NUM_THREADS", None)
    known: list[Any] = [sys.version, sys.executable, sorted(variables.items())]
    for library in LIBRARIES:
        spec = None
        with contextlib.suppress(ImportError):  # a page of the book has no torch, and says so
            spec = importlib.util.find_spec(library)
        known.append((library, _state(spec.origin) if spec and spec.origin else None))
    for folder, folders, files in os.walk(Path(__file__).parent):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        known += [_state(os.path.join(folder, name)) for name in sorted(files)]
    return hashlib.sha256(repr(known).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def _state(path: str) -> tuple[str, int, int]:
    status = os.stat(path)
    return path, status.st_mtime_ns, status.st_size
