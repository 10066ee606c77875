"""Calls within a trace of torch.fx, which records what stands for numbers instead of computing with them."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any


def is_in_a_trace(given: Any) -> bool:
    """Whether what is given stands for numbers in a trace."""
    fx: Any = sys.modules.get("torch.fx")
    if fx is None:
        return False
    if type(given) in (list, tuple):
        return any(map(is_in_a_trace, given))
    return issubclass(type(given), fx.Proxy) or (type(given) is dict and any(map(is_in_a_trace, given.values())))


def call_in_a_trace(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call in that trace, whose steps are in none: whoever runs the trace calls the function."""
    return sys.modules["torch.fx"].Proxy.__torch_function__(function, (), args, kwargs)


def is_of_a_layer(function: FunctionType) -> bool:
    """Whether a function is a method of torch's modules, which a trace may not know."""
    owner = function.__globals__.get(function.__code__.co_qualname.rpartition(".")[0])
    return isinstance(owner, type) and issubclass(owner, sys.modules["torch"].nn.Module)
