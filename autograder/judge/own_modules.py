"""Tells whether the course's own modules can be imported in the sandbox, where no code of a learner's is beside them.

A learner's module that cannot be imported may have failed at one of ours that it builds on. No word of the learner's
process decides that: ours are imported in a process of their own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import PurePath

from ..course.paths import REFERENCE
from ..sandbox.bubblewrap import Sandbox
from .attempts import GraderFault, Request
from .protocol import ask

PROBE = "_own_modules"
#: Imports these; one that builds on a learner's module, which is not there, cannot be.
CODE = """
import importlib

OURS = {ours}


def imported():
    for module in OURS:
        try:
            importlib.import_module("attention." + module)
        except ModuleNotFoundError as error:
            package, _, missing = str(error.name).partition(".")
            if package != "attention" or missing in OURS:
                raise
    return True
"""
BESIDE = re.compile(r"^from \.(\w+) import", re.MULTILINE)  # not in a function: there it is indented
PLANS = {"0": {"calls": [{"args": [], "kwargs": {}}], "gradient": False}}
_fit: set[tuple[str, Sandbox]] = set()  # problem sets whose modules were imported, and where


def require_own_modules(problem_set: str, ours: Mapping[str, bytes], sandbox: Sandbox) -> None:
    """Raise GraderFault where one of ours cannot be imported in the sandbox; ours: its files, by name.

    What has worked once in this process is not tried again.
    """
    if (problem_set, sandbox) in _fit:
        return
    modules = sorted(PurePath(name).stem for name in ours if name.endswith(".py"))
    at_import = [name for name in modules if not name.startswith("_") or name in _imported_with_others()]
    files = {**ours, f"{PROBE}.py": CODE.format(ours=at_import).encode()}
    (answers,) = ask(files, [Request(f"{PROBE}.imported", PLANS)], True, sandbox)
    if error := answers["0"][0].get("error"):
        raise GraderFault(f"a module of the course cannot be imported in the sandbox, {error['type']}: {error['text']}")
    _fit.add((problem_set, sandbox))


@functools.cache
def _imported_with_others() -> frozenset[str]:
    """The modules that some module of the package imports when it is imported itself.

    One that a function imports when it is called may need what is on few machines: Triton, for one.
    """
    texts = (path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.py"))
    return frozenset(name for text in texts for name in BESIDE.findall(text))
