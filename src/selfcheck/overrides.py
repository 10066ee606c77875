"""Overrides functions, Python's and torch's operators, so that their calls are told and their inputs can be moved.

Where they are overridden, and why there, stands in call_watch.py.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from .call_bend import bent, made_otherwise, plain
from .dispatched import WHOLE, kernel_of
from .executed import telling
from .fx_traces import call_in_a_trace, is_in_a_trace, is_of_a_layer
from .import_finder import FINDER
from .named_functions import functions_named, index_again, is_on_its_way, operators_named, roots_of
from .replaced_code import OUTPUTS, code_calling, template_for

#: Keys of the dispatcher that hold kernels of their own for tensors of a processor.
BACKENDS = ("CPU", "SparseCPU", "QuantizedCPU", "MkldnnCPU", "NestedTensorCPU")
#: Keys at which an operator that is made of others is entered.
ENTRIES = ("AutogradCPU", "FuncTorchBatched", "FuncTorchVmapMode")
COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
#: Modules whose functions compute gradients.
IN_A_GRAPH = ("torch.autograd", "torch.autograd.graph")
#: By a module, how many arguments of its functions are numbers: query, key and value. The others may be graphs.
NUMBERS = {"torch._higher_order_ops.flex_attention": 3}

PACKAGE = "attention"  # the learner's

_Names = dict[int | str, str]  # by the id of a function, or an operator's name
_names: dict[tuple[str, ...], tuple[dict[str, FunctionType], _Names]] = {}  # by patterns, with the functions found then
_standing: list[Overrides] = []  # that hold now
_Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
#: By operator and key of the dispatcher, what the kernel is wrapped in, the innermost first.
_wraps: dict[tuple[str, str], list[_Wrap]] = {}


class _Listener:
    """One who is told of what some patterns name."""

    def __init__(self, patterns: Sequence[str], note: Callable[[str], None]) -> None:
        self._patterns, self._note = tuple(patterns), note
        self._names = _names_of(self._patterns)

    def look(self) -> None:
        """Find what the patterns name by now."""
        self._names = _names_of(self._patterns)

    def tell(self, what: int | str) -> None:
        if what in self._names:
            self._note(self._names[what])


def prepare(patterns: Sequence[str]) -> None:
    """Look up beforehand what patterns name, where processes are forked later that override it."""
    for function in functions_named(patterns).values():
        template_for(function)
    for operator in operators_named(patterns):
        for key in _keys_of(operator):
            _parsed(key)
    _names_of(tuple(patterns))


def overridden(patterns: Sequence[str], bend: float | None, stack: contextlib.ExitStack) -> Overrides:
    """Overrides of what patterns name, at least until the stack unwinds.

    bend: see `call_watch.watching`
    Where nothing is bent and others stand that are of all these patterns, it is those: to override everything once more
    takes a forked process milliseconds.
    """
    overrides = next((standing for standing in _standing if bend is None and standing.covers(patterns)), None)
    if overrides is None:
        overrides = Overrides(patterns, bend, stack)
        _standing.append(overrides)
        stack.callback(_standing.remove, overrides)
    return overrides


class Overrides:
    """The overrides of what some patterns name, until a stack unwinds."""

    def __init__(self, patterns: Sequence[str], bend: float | None, stack: contextlib.ExitStack) -> None:
        self._patterns, self._is_bent, self._bend, self._stack = patterns, bend is not None, bend or 0.0, stack
        self._codes: dict[int, CodeType] = {}  # by the id of a function that is overridden, what was its own
        self._found: dict[str, FunctionType] = {}  # what the patterns name, as it was found last
        self._with_operators = False
        self._listeners: list[_Listener] = []
        self._install()
        stack.callback(FINDER.tell(roots_of(patterns), self._install))
        stack.enter_context(telling(self._look))

    def covers(self, patterns: Sequence[str]) -> bool:
        """Whether these bend nothing and are all that a watch of some patterns needs."""
        return not self._is_bent and set(patterns) <= set(self._patterns)

    @contextlib.contextmanager
    def telling(self, patterns: Sequence[str], note: Callable[[str], None]) -> Iterator[None]:
        """Within it, `note` is given the name of each function that some of the patterns name, when it is called."""
        listener = _Listener(patterns, note)
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def _install(self) -> None:
        """Override what is imported by now and is not overridden yet."""
        self._found = functions_named(self._patterns)
        for function in self._found.values():
            if id(function) not in self._codes:
                self._codes[id(function)] = function.__code__
                self._replace_code(function)
        if not self._with_operators and _has_operators():
            self._with_operators = True
            self._override_operators()
        for listener in self._listeners:
            listener.look()

    def _look(self, file: str, space: Any, is_import: bool) -> None:
        """Override what was executed, where that is a library's once more: see `executed.telling`."""
        name = str(space.get("__name__")) if is_import else ""
        root = name.partition(".")[0]
        if is_import and (root == PACKAGE or (root in roots_of(self._patterns) and is_on_its_way(name, space))):
            return  # a learner's own module may hold a copy, and what is imported is told by the finder
        index_again(file, space, self._patterns, self._codes)
        if functions_named(self._patterns) is not self._found:
            self._install()

    def _calling(
        self, what: int | str, original: Callable[..., Any], function: FunctionType | None = None
    ) -> Callable[..., Any]:
        listeners, is_bent, bend = self._listeners, self._is_bent, self._bend
        is_method = function is not None and _is_method(function)
        numbers = NUMBERS.get(function.__module__) if function else None
        takes_parts = function is None or function.__name__.startswith("__")  # such as layers, of which it is made

        def call(*args: Any, **kwargs: Any) -> Any:
            for listener in listeners:
                listener.tell(what)
            if not is_bent:
                return original(*args, **kwargs)
            with _without_modes():
                if not bend:
                    return original(*args, **kwargs)
                kept = args[:1] if is_method else ()
                if function and is_in_a_trace((*args, *kwargs.values())):
                    if is_of_a_layer(function):  # what it calls is watched by itself
                        return original(*args, **kwargs)
                    return call_in_a_trace(function, args, kwargs)
                given, more = args[len(kept) :], kwargs
                if not takes_parts:
                    of_numbers = given[:numbers]
                    given, more = (*plain(of_numbers), *given[len(of_numbers) :]), plain(more)
                if function and function.__globals__["__name__"] in IN_A_GRAPH:
                    made = original(*_with_other_gradients(function, args, bend), **kwargs)
                    return made if made is None else made_otherwise(made, args, bend)
                moved = [bent(argument, bend) for argument in given]
                named = {key: value if key in OUTPUTS else bent(value, bend) for key, value in more.items()}
                made = original(*kept, *moved, **named)
                return made_otherwise(made, (*args, *kwargs.values()), bend)

        return call

    def _replace_code(self, function: FunctionType) -> None:
        code = function.__code__
        original = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
        original.__kwdefaults__ = function.__kwdefaults__
        calling = self._calling(id(function), original, function)
        function.__code__ = code_calling(calling, function)
        self._stack.callback(setattr, function, "__code__", code)

    def _override_operators(self) -> None:
        from torch.library import Library

        libraries: dict[str, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is overridden
            for name in operators_named(self._patterns):
                WHOLE.add(name)
                space, _, rest = name.partition("::")
                if space not in libraries:
                    libraries[space] = Library(space, "IMPL")  # noqa: TOR901  (it ends with the watch)
                    self._stack.callback(libraries[space]._destroy)
                kernels = {key: kernel for key in _keys_of(name) if (kernel := self._wrapped_kernel(name, key))}
                for key, kernel in kernels.items():  # where all are as they were before
                    libraries[space].m.impl(rest, key, kernel, True)

    def _wrapped_kernel(self, name: str, key: str) -> Callable[..., Any] | None:
        """The kernel for an operator and key, with these overrides around it; None where it stands and takes them in.

        Under a dispatch mode torch looks a kernel that is in Python up by operator and key, and so finds the newest:
        one over another would call itself.
        """
        wraps = _wraps.setdefault((name, key), [])
        stands, wrap = bool(wraps), functools.partial(self._calling, name)
        wraps.append(wrap)
        self._stack.callback(wraps.remove, wrap)
        if stands:
            return None
        present = kernel_of(name, _parsed(key))

        def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
            call: Callable[..., Any] = functools.partial(present.call_boxed, keys)
            for wrap in wraps:
                call = wrap(call)
            return call(*args, **kwargs)

        return kernel


def _with_other_gradients(function: FunctionType, args: tuple[Any, ...], bend: float) -> tuple[Any, ...]:
    """What is given to a function of autograd: of tensors, which it looks for in a graph, others are in none.

    What each gradient begins with is moved, where the graph is gone through. All others come there.
    """
    if function.__name__ != "_engine_run_backward":
        return args
    outputs, gradients, *more = args
    return outputs, bent(gradients, bend), *more


@contextlib.contextmanager
def _without_modes() -> Iterator[None]:
    """Within it no mode of the learner's sees, or replaces, what a function computes on its way."""
    torch: Any = sys.modules.get("torch")
    if not _has_operators():
        yield
        return
    from torch.utils._python_dispatch import _disable_current_modes

    modes = [torch._C._pop_torch_function_stack() for _ in range(torch._C._len_torch_function_stack())]
    try:
        with _disable_current_modes():
            yield
    finally:
        for mode in reversed(modes):
            torch._C._push_on_torch_function_stack(mode)


def _names_of(patterns: tuple[str, ...]) -> _Names:
    functions = functions_named(patterns)
    if patterns not in _names or _names[patterns][0] is not functions:
        named: _Names = {id(function): name.partition(" ")[0] for name, function in functions.items()}
        if _has_operators():
            named |= {name: f"torch.{_word(name)}" for name in operators_named(patterns)}
        _names[patterns] = functions, named
    return _names[patterns][1]


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
    if has("CompositeImplicitAutograd"):
        return (*keys, *entries)
    # What autograd keeps for gradients it keeps before a backend is asked.
    return (*keys, *(["AutogradCPU"] if has("Autograd") or has("AutogradCPU") else []))


@functools.cache
def _parsed(key: str) -> Any:
    import torch

    return torch._C._dispatch_key_parse(key)  # DispatchKey itself does not name them all


def _has_operators() -> bool:
    return hasattr(sys.modules.get("torch"), "library")


def _word(operator: str) -> str:
    """Of "aten::softmax.int", "softmax"."""
    return operator.partition("::")[2].partition(".")[0]


def _is_method(function: FunctionType) -> bool:
    """Whether a class holds it: torch calls the first argument of some functions `self` too, and means a tensor."""
    owner = function.__code__.co_qualname.rpartition(".")[0]
    is_in_class = bool(owner) and not owner.endswith("<locals>")
    return is_in_class and function.__code__.co_varnames[:1] in (("self",), ("cls",))
