"""Describes an exception that a learner's code raised, as plain text."""

from __future__ import annotations

import collections
import linecache
import traceback
from pathlib import Path
from typing import Any


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as plain text: its kinds, what it says, and where in the learner's file it arose."""
    found: dict[str, Any] = {
        "type": type(error).__name__,
        "kinds": [kind.__name__ for kind in type(error).__mro__],
        "text": str(error)[:500],
    }
    if isinstance(error, SyntaxError):
        source = (error.text or "").strip()[:200]
        return found | {"text": str(error.msg), "file": str(error.filename), "line": error.lineno, "source": source}
    lines = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _is_learners(frame)
    ]
    if not lines:
        return found
    # The innermost line, or, where calls go round in circles, the one that was passed most often.
    circular = isinstance(error, RecursionError)
    file, line = collections.Counter(lines).most_common(1)[0][0] if circular else lines[-1]
    return found | {"file": file, "line": line, "source": linecache.getline(file, line).strip()[:200]}


def place_of(frame: Any) -> str:
    """Where the learner's code is that runs in a frame or called it: ", in line 12 of masks.py: `…`"; "" for none."""
    while frame is not None and not _is_learners(frame):
        frame = frame.f_back
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, line).strip()[:200]
    return f", in line {line} of {Path(file).name}" + (f": `{source}`" if source else "")


def _is_learners(frame: Any) -> bool:
    """Whether a frame runs in a module of the package, those given to learners (`_arguments`) left out."""
    module = frame.f_globals.get("__name__", "")
    return isinstance(module, str) and module.startswith("attention.") and not module.startswith("attention._")
