"""Makes code that takes what a function takes and hands it to another one.

Whoever looks at the function, as inspect, torch.fx and a debugger do, finds its own parameters.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from .executed import EXEC

#: Parameters that take what is made: handed on by name, where the function's own may be anywhere.
OUTPUTS = ("out", "output", "out0", "out1", "out2")
_MARK = "replaced by what is called"


def code_calling(called: Callable[..., Any], function: FunctionType) -> CodeType:
    """Code for a function that hands its arguments to what is called, and returns what comes of it."""
    code, template = function.__code__, template_for(function)
    place = {part: getattr(code, part) for part in ("co_filename", "co_name", "co_qualname", "co_firstlineno")}
    constants = tuple(called if constant == _MARK else constant for constant in template.co_consts)
    return template.replace(co_consts=constants, co_freevars=code.co_freevars, **place)


def template_for(function: FunctionType) -> CodeType:
    """Code with a function's parameters; it is kept for whoever asks again."""
    code = function.__code__
    stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + stars.bit_count()
    return _template(code.co_varnames[:count], code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount, stars)


@functools.cache
def _template(names: tuple[str, ...], only_by_place: int, by_place: int, by_name: int, stars: int) -> CodeType:
    """names: of the parameters, in the order of a code object; stars: its flags, as far as they tell of these"""
    takes, passes = [], []
    rest = list(names[by_place + by_name :])
    for at, name in enumerate(names[:by_place]):
        takes += [name, "/"] if at == only_by_place - 1 else [name]
        passes.append(name)
    starred = rest.pop(0) if stars & inspect.CO_VARARGS else ""
    if starred:
        takes.append(f"*{starred}")
        passes.append(f"*{starred}")
    else:
        passes = _outputs_by_name(passes, only_by_place)
        takes += ["*"] if by_name else []
    for name in names[by_place : by_place + by_name]:
        takes.append(name)
        passes.append(f"{name}={name}")
    if stars & inspect.CO_VARKEYWORDS:
        takes.append(f"**{rest[0]}")
        passes.append(f"**{rest[0]}")
    called = "called" + "_" * max(map(len, names), default=0)  # no parameter has this name
    source = f"def _({', '.join(takes)}):\n    {called} = {_MARK!r}\n    return {called}({', '.join(passes)})\n"
    made: dict[str, Any] = {}
    EXEC(source, made)  # told of, it would have others override the same function in the middle of this
    code: CodeType = made["_"].__code__
    return code


def _outputs_by_name(passed: list[str], only_by_place: int) -> list[str]:
    """What is passed, from the first output on by name, so that it is known for one."""
    first = next((at for at, name in enumerate(passed) if name in OUTPUTS and at >= only_by_place), len(passed))
    return passed[:first] + [f"{name}={name}" for name in passed[first:]]
