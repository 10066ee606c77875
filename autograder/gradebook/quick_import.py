"""Imports what needs nbgrader without a grammar that takes a second to compile and that nothing here uses."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

GRAMMAR = "rfc3987_syntax"  # what jsonschema has for addresses in other scripts; it foresees that it is not installed


def imported(name: str) -> ModuleType:
    """A module of this package, "writer" or "feedback.writing"."""
    name = f"{__package__}.{name}"
    if GRAMMAR in sys.modules:
        return importlib.import_module(name)
    sys.modules[GRAMMAR] = None  # type: ignore[assignment]
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[GRAMMAR]
