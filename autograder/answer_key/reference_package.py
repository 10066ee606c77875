"""Loads the reference under a name of its own, beside a learner's package."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..course.paths import REFERENCE

NAME = "_reference_attention"  # a learner's package is named attention


def reference(exercise: str) -> Callable[..., Any]:
    """The reference's function or class for an exercise id "module.symbol"."""
    module, _, symbol = exercise.partition(".")
    answer: Callable[..., Any] = getattr(reference_module(module), symbol)
    if "torch" in sys.modules:
        # The first multi-threaded exp of a process can be off by 1e-4 (torch 2.13, CPU).
        sys.modules["torch"].set_num_threads(1)
    return answer


def reference_module(name: str) -> ModuleType:
    """A module of the reference, public or not: "masks", "_arguments"."""
    _load_package()
    return importlib.import_module(f"{NAME}.{name}")


@functools.cache
def _load_package() -> None:
    spec = importlib.util.spec_from_file_location(
        NAME, REFERENCE / "__init__.py", submodule_search_locations=[str(REFERENCE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"the reference is not in {REFERENCE}: restore the folder `solutions`")
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
