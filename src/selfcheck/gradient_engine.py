"""Has torch's engine of gradients entered through the Python function that a watch can override."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

ENTRY = "torch.autograd.graph._engine_run_backward"
#: Where torch keeps the class of its engine, by module.
CLASSES = {"torch._C": "_ImperativeEngine", "torch.autograd.variable": "ImperativeEngine"}


class _Engine:
    """Torch's engine; who calls its compiled method calls the Python function instead that torch itself calls."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        graph = sys.modules["torch.autograd.graph"]
        if sys._getframe(1).f_code.co_filename == graph.__file__:  # that function, or its copy in a watch
            return self._own.run_backward(*args, **kwargs)
        return graph._engine_run_backward(*args, **kwargs)


@contextlib.contextmanager
def entered_in_python(patterns: Sequence[str]) -> Iterator[None]:
    """Within it, where the patterns name the Python function, a call of the engine's own method is a call of it."""
    torch = sys.modules.get("torch")
    if ENTRY not in patterns or not hasattr(torch, "autograd"):
        yield
        return
    variable: Any = sys.modules["torch.autograd.variable"]
    places = [(variable.Variable, "_execution_engine"), *((sys.modules[home], name) for home, name in CLASSES.items())]
    before = [getattr(holder, name) for holder, name in places]
    if isinstance(before[0], _Engine):  # another watch stands
        yield
        return
    engine, make = _Engine(before[0]), before[1]
    for holder, name in places:
        setattr(holder, name, engine if holder is variable.Variable else lambda: _Engine(make()))
    try:
        yield
    finally:
        for (holder, name), own in zip(places, before, strict=True):
            setattr(holder, name, own)
