"""Tells when a module of certain packages has been imported, so that what it brings can be overridden at once."""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Finder:
    """Tells of each import of certain packages.

    One for all who want to know: each would add a frame to every import within an import, and torch's compiler has so
    many of these that Python's limit of recursion would be reached.
    """

    def __init__(self) -> None:
        self._told: list[tuple[set[str], Callable[[], None]]] = []
        self._on_their_way: list[str] = []  # packages of which a module is being imported, the innermost last

    def tell(self, roots: set[str], install: Callable[[], None]) -> Callable[[], None]:
        """Have `install` called when something of these packages has been imported; what is returned undoes that."""
        entry = (roots, install)
        self._told.append(entry)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

        def undo() -> None:
            self._told = [other for other in self._told if other is not entry]
            if not self._told:
                with contextlib.suppress(ValueError):
                    sys.meta_path.remove(self)

        return undo

    def is_importing(self, root: str) -> bool:
        """Whether a module of a package is being imported, of which half may be there."""
        return root in self._on_their_way

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        root = name.partition(".")[0]
        if not any(root in roots for roots, _ in self._told):
            return None
        behind = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        for finder in behind:
            if hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if not self.is_importing(root):  # what a module imports of its own package is told with it
                        self._follow(spec, root)
                    return spec
        return None

    def _follow(self, spec: importlib.machinery.ModuleSpec, root: str) -> None:
        execute = getattr(spec.loader, "exec_module", None)
        if execute is None or isinstance(spec.loader, type):
            return

        def execute_and_install(module: ModuleType) -> None:
            self._on_their_way.append(root)
            try:
                execute(module)
            finally:
                self._on_their_way.pop()
            # Those made first come first: others lie over them.
            for _, install in () if self.is_importing(root) else self._told:
                install()

        with contextlib.suppress(AttributeError):
            spec.loader.exec_module = execute_and_install  # type: ignore[union-attr,method-assign]


FINDER = Finder()
