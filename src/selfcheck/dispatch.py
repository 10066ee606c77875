"""The class that sees every operation of torch, without torch's compiler."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def dispatch_mode() -> Any:
    """TorchDispatchMode, of which a class can be made that does not import the compiler: that takes a second.

    Nothing is compiled while such a mode is on, so that there is nothing for the compiler to leave out.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class DispatchMode(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False

    return DispatchMode
