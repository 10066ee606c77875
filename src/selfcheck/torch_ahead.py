"""Imports torch beside somebody who looks at the screen, so that the first check that needs it need not."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading

__all__ = ["TorchAhead"]

#: What checks need of it: the second stands behind shapes, which torch looks up for tensors on another device.
NEEDED = ("torch", "torch.fx.experimental.symbolic_shapes")


class TorchAhead:
    """An import of torch in a thread of its own.

    While it runs, torch stands half-made in sys.modules, where a check would find it, and what a check overrides would
    come between the import and its modules: each check in this process is to wait for it. See numpy_checks.py.
    """

    def __init__(self) -> None:
        # No daemon: Python would end it within torch's own code, and the process would abort.
        self._thread = threading.Thread(target=self._load, name="torch")
        self._is_awaited = False

    def begin(self) -> None:
        """Import from now on what is not there; a second call does nothing."""
        if self._thread.ident is None and not all(name in sys.modules for name in NEEDED):
            self._thread.start()

    @property
    def is_loading(self) -> bool:
        return self._thread.is_alive()

    def wait(self) -> None:
        """Until what is being imported is there; Ctrl-C ends the wait, and not the import."""
        self._is_awaited = True  # what has not begun is left to the check, which may not need it
        if self.is_loading:
            self._thread.join()

    def _load(self) -> None:
        with contextlib.suppress(Exception):  # the learner's own import says what is wrong
            for name in NEEDED:
                if not self._is_awaited:
                    importlib.import_module(name)
