# Generated: given, with nothing to write in it. As it was handed out: e1ac6d8a9e70
"""Attention, from a worked example to encoder layers, one module per chapter.

Importing the package imports none of its modules: each is loaded when it is first used, so that a
mistake in one module leaves the others usable. Imports inside the package are relative.
"""

import importlib
from types import ModuleType

__all__ = [
    "classifier",
    "decoder",
    "dot_product",
    "efficient",
    "encoder",
    "masks",
    "multi_head",
    "positions",
    "scores",
    "sequence_to_sequence",
    "worked_example",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
