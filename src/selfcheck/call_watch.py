"""Notices which forbidden functions run while a learner's code answers, and can have them answer for other inputs.

Each function is watched where it runs, so that it does not matter how it was reached or spelled:
- An operator of torch has its kernels overridden in the dispatcher (torch.library; torch.library.get_kernel gives the
  kernel that was there). Every caller comes by: Python, C++, TorchScript, other threads, autograd, torch.func.
- A Python function has its code object replaced, which every reference to it shares, wherever it was taken.
Beside these, four ways were tried. TorchFunctionMode and TorchDispatchMode hold for one thread and not within
TorchScript, and cost every operation some 10 µs; the profiler's observers see all but can change nothing, and a profile
of calls (sys.setprofile) costs every line of the learner's code. An override costs only where it is called.

That a function ran says nothing yet: its result may be compared with the learner's own, or printed. Whether the answer
depends on it shows in a second run, in which its inputs are `bent`: see call_effect.py.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import inspect
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any

from .call_bend import bent, flipped
from .dispatched import kernel_of
from .eager import nothing_compiled
from .held import map_without_descriptor
from .named_functions import functions_named, operators_named, roots_of

#: Keys of the dispatcher that hold kernels of their own for tensors of a processor.
BACKENDS = ("CPU", "SparseCPU", "QuantizedCPU", "MkldnnCPU", "NestedTensorCPU")
#: Keys at which an operator that is made of others is entered.
ENTRIES = ("AutogradCPU", "FuncTorchBatched", "FuncTorchVmapMode")
COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
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


def prepare(patterns: Sequence[str]) -> None:
    """Look up beforehand what patterns name, where processes are forked later that watch it."""
    for function in functions_named(patterns).values():
        _signature(function)
    for operator in operators_named(patterns):
        _keys_of(operator)


@contextlib.contextmanager
def watching(patterns: Sequence[str], bend: float | None = None) -> Iterator[Noticed]:
    """Within it, calls of what the patterns name are noticed.

    patterns: as in the catalogue, "torch.*softmax"
    bend: by how much, relatively, the inputs of these functions are moved; 0.0 for a run that differs from a bent one
        in nothing else; None leaves alone what runs. With a number, nothing is compiled: what is compiled may have
        taken a function apart before it runs.
    """
    noticed = Noticed()
    roots = roots_of(patterns)
    if not roots:
        yield noticed
        return
    with contextlib.ExitStack() as stack:
        watch = _Watch(patterns, bend, noticed, stack)
        watch.install()
        finder = _Finder(roots, watch.install)
        sys.meta_path.insert(0, finder)
        stack.callback(finder.remove)
        if bend is not None:
            stack.enter_context(nothing_compiled())
        before = _compiled()
        try:
            yield noticed
        finally:
            if _compiled() != before and bend is None:
                noticed.add(COMPILED)


class _Watch:
    """The overrides of what some patterns name."""

    def __init__(
        self, patterns: Sequence[str], bend: float | None, noticed: Noticed, stack: contextlib.ExitStack
    ) -> None:
        self._patterns, self._bend, self._noticed, self._stack = patterns, bend or 0.0, noticed, stack
        self._functions: set[int] = set()
        self._with_operators = False
        self._inside = threading.local()

    def install(self) -> None:
        """Override what is imported by now and is not overridden yet."""
        for name, function in functions_named(self._patterns).items():
            if id(function) not in self._functions:
                self._functions.add(id(function))
                self._replace_code(name, function)
        if not self._with_operators and hasattr(sys.modules.get("torch"), "library"):
            self._with_operators = True
            self._override_operators()

    def _calling(self, name: str, original: Callable[..., Any], is_method: bool = False) -> Callable[..., Any]:
        noticed, bend, inside = self._noticed, self._bend, self._inside

        def call(*args: Any, **kwargs: Any) -> Any:
            noticed.add(name)
            if not bend:
                return original(*args, **kwargs)
            kept = args[:1] if is_method else ()
            moved = [bent(argument, bend) for argument in args[len(kept) :]]
            named = {
                key: argument if key.startswith("out") else bent(argument, bend) for key, argument in kwargs.items()
            }
            outermost, inside.depth = not getattr(inside, "depth", 0), getattr(inside, "depth", 0) + 1
            try:
                made = original(*kept, *moved, **named)
            finally:
                inside.depth -= 1
            return flipped(made, bend) if outermost else made

        return call

    def _replace_code(self, name: str, function: FunctionType) -> None:
        code, signature = function.__code__, _signature(function)
        original = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
        original.__kwdefaults__ = function.__kwdefaults__
        place = {part: getattr(code, part) for part in ("co_filename", "co_name", "co_qualname", "co_firstlineno")}
        function.__code__ = _TEMPLATE.replace(
            co_consts=tuple(
                self._calling(name, original, _is_method(function)) if constant is _MARK else constant
                for constant in _TEMPLATE.co_consts
            ),
            co_freevars=code.co_freevars,
            **place,
        )
        self._stack.callback(setattr, function, "__code__", code)
        if signature is not None and "__signature__" not in vars(function):
            function.__signature__ = signature  # type: ignore[attr-defined]
            self._stack.callback(lambda: vars(function).pop("__signature__", None))

    def _override_operators(self) -> None:
        from torch.library import Library

        libraries: dict[str, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is overridden
            for name in operators_named(self._patterns):
                space, _, rest = name.partition("::")
                if space not in libraries:
                    libraries[space] = Library(space, "IMPL")  # noqa: TOR901  (it ends with the watch)
                    self._stack.callback(libraries[space]._destroy)
                kernels = {key: self._kernel(name, key) for key in _keys_of(name)}  # all as they are before
                for key, kernel in kernels.items():
                    libraries[space].m.impl(rest, key, kernel, True)

    def _kernel(self, name: str, key: str) -> Callable[..., Any]:
        import torch

        parsed = torch._C._dispatch_key_parse(key)  # DispatchKey itself does not name them all
        present = kernel_of(name, parsed)
        word = name.partition("::")[2].partition(".")[0]

        def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
            return self._calling(f"torch.{word}", lambda *a, **k: present.call_boxed(keys, *a, **k))(*args, **kwargs)

        return kernel


@functools.cache
def _keys_of(operator: str) -> tuple[str, ...]:
    """The keys of the dispatcher at which an operator's kernel is to be overridden so that no call passes it by."""
    import torch

    def has(key: str) -> bool:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operator, key))

    keys = [key for key in BACKENDS if has(key)]
    if "CPU" not in keys and any(map(has, COMPOSITE)):
        keys.append("CPU")
    entries = [key for key in ENTRIES if key != "FuncTorchVmapMode" or has(key)]  # elsewhere it is passed through
    return (*keys, *entries) if has("CompositeImplicitAutograd") else tuple(keys)


def _template(*args: Any, **kwargs: Any) -> Any:
    what = "replaced by what is called"
    return what(*args, **kwargs)  # type: ignore[operator]


_TEMPLATE = _template.__code__
_MARK = next(
    constant for constant in _TEMPLATE.co_consts if isinstance(constant, str) and constant.startswith("replaced")
)


def _is_method(function: FunctionType) -> bool:
    """Whether a class holds it: torch calls the first argument of some functions `self` too, and means a tensor."""
    owner = function.__code__.co_qualname.rpartition(".")[0]
    is_in_class = bool(owner) and not owner.endswith("<locals>")
    return is_in_class and function.__code__.co_varnames[:1] in (("self",), ("cls",))


@functools.cache
def _signature(function: FunctionType) -> inspect.Signature | None:
    with contextlib.suppress(ValueError, TypeError):
        return inspect.signature(function)
    return None


class _Finder:
    """Has what a module of certain packages brings overridden as soon as it is imported."""

    def __init__(self, roots: set[str], install: Callable[[], None]) -> None:
        self._roots, self._install, self._depth = roots, install, 0

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in self._roots:
            return None
        behind = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        for finder in behind:  # another watch's among them
            if hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    self._follow(spec)
                    return spec
        return None

    def remove(self) -> None:
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(self)

    def _follow(self, spec: importlib.machinery.ModuleSpec) -> None:
        execute = getattr(spec.loader, "exec_module", None)
        if execute is None or isinstance(spec.loader, type):
            return

        def execute_and_install(module: ModuleType) -> None:
            self._depth += 1
            try:
                execute(module)
            finally:
                self._depth -= 1
            if not self._depth:
                self._install()

        with contextlib.suppress(AttributeError):
            spec.loader.exec_module = execute_and_install  # type: ignore[union-attr,method-assign]


def _compiled() -> tuple[int, bool]:
    """How much code of torch's compilers there is: functions of TorchScript, and whether the inductor has come."""
    torch = sys.modules.get("torch")
    scripts = torch.jit._state._python_cu.get_functions() if torch and hasattr(torch, "jit") else ()
    return len(scripts), "torch._inductor.compile_fx" in sys.modules
