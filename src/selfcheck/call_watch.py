"""Notices which forbidden functions run while a learner's code answers, and can have them answer for other inputs.

Each function is watched where it runs, so that it does not matter how it was reached or spelled:
- An operator of torch has its kernels overridden in the dispatcher (torch.library; torch.library.get_kernel gives the
  kernel that was there). Every caller comes by: Python, C++, TorchScript, other threads, autograd, torch.func.
- A Python function has its code object replaced, which every reference to it shares, wherever it was taken. So has the
  same function that a reload, a loader or exec makes once more, of the library's file or of its text.
Beside these, four ways were tried. TorchFunctionMode and TorchDispatchMode hold for one thread and not within
TorchScript, and cost every operation some 10 µs; the profiler's observers see all but can change nothing, and a profile
of calls (sys.setprofile) costs every line of the learner's code. An override costs only where it is called.

That a function ran says nothing yet: its result may be compared with the learner's own, or printed. Whether the answer
depends on it shows in a second run, in which its inputs are `bent`: see call_effect.py.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from .eager import nothing_compiled
from .gradient_engine import entered_in_python
from .held import map_without_descriptor
from .named_functions import roots_of
from .overrides import overridden

ELSEWHERE = "a forbidden function in another process"
COMPILED = "compiled code"
BEFORE = "a forbidden function before the exercise"


class Noticed:
    """The names of the watched functions that have run, also in processes that were forked since."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._process, self._elsewhere = os.getpid(), _shared_byte()

    def add(self, name: str) -> None:
        self._names.setdefault(name)
        if os.getpid() != self._process:
            self._elsewhere[0] = 1

    def names(self) -> list[str]:
        """In the order in which they ran first."""
        return [*self._names, *([ELSEWHERE] if self._elsewhere[0] else [])]


def _shared_byte() -> Any:
    """A byte that forked processes share; one of this process's own in a browser, where nothing forks."""
    try:
        import mmap
    except ImportError:
        return bytearray(1)
    try:
        return mmap.mmap(-1, 1)
    except PermissionError:  # a sandbox, where memory is shared by files alone
        return _shared_byte_of_a_file()


def _shared_byte_of_a_file() -> Any:
    """Likewise, of a file that no name or descriptor leads to; 1 where there is no room for one: what runs elsewhere
    cannot be noticed then, and may have run.
    """
    try:
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(b"\0")  # now: what has no room later would end the process
            return map_without_descriptor(file.fileno(), 1)
    except OSError:
        return bytearray(b"\1")


@contextlib.contextmanager
def watching(patterns: Sequence[str], bend: float | None = None) -> Iterator[Noticed]:
    """Within it, calls of what the patterns name are noticed.

    patterns: as in the catalogue, "torch.*softmax"
    bend: by how much, relatively, the inputs of these functions are moved; 0.0 for a run that differs from a bent one
        in nothing else; None leaves alone what runs. With a number, nothing is compiled: what is compiled may have
        taken a function apart before it runs.
    """
    noticed = Noticed()
    if not roots_of(patterns):
        yield noticed
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(overridden(patterns, bend, stack).telling(patterns, noticed.add))
        stack.enter_context(entered_in_python(patterns))
        if bend is not None:
            stack.enter_context(nothing_compiled())
        before = _compiled()
        try:
            yield noticed
        finally:
            if _compiled() != before and bend is None:
                noticed.add(COMPILED)


def _compiled() -> tuple[int, bool]:
    """How much code of torch's compilers there is: functions of TorchScript, and whether the inductor has come."""
    torch = sys.modules.get("torch")
    scripts = torch.jit._state._python_cu.get_functions() if torch and hasattr(torch, "jit") else ()
    return len(scripts), "torch._inductor.compile_fx" in sys.modules
