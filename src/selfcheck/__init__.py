"""What a learner runs: check an answer, see what fails, ask for a hint, open a module, keep one's work, pack it.

>>> from selfcheck import check, compare, edit, failing, hint, pack, progress, reload, reset, restore, save

Importing it imports neither torch nor NumPy nor a solution.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older Python should read why
    raise ImportError(
        f"this course needs Python 3.11 or later, and this is {sys.version.split()[0]}: "
        "make .venv anew with one, for instance python3.12 -m venv .venv"
    )

__all__ = ["check", "compare", "edit", "failing", "hint", "pack", "progress", "reload", "reset", "restore", "save"]

_HOMES = {"check": "learner", "hint": "hints", "edit": "editing", "reload": "editing", "pack": "packing"}
_HOMES |= {"compare": "failures", "failing": "failures"}
_HOMES |= {"progress": "overview"}
_HOMES |= {"reset": "resetting", "restore": "saving", "save": "saving"}

if TYPE_CHECKING:
    from .editing import edit, reload
    from .failures import compare, failing
    from .hints import hint
    from .learner import check
    from .overview import progress
    from .packing import pack
    from .resetting import reset
    from .saving import restore, save


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
