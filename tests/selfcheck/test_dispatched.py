"""What passes torch's dispatcher by is out of reach while an answer is judged, and torch itself has it."""

import pytest
import torch

from autograder.judge.attempts import Request
from autograder.judge.protocol import ask
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.call_watch import watching
from selfcheck.dispatched import PASSING_BY, keep_to_the_dispatcher

UNIT = """
import torch

unit = torch.jit.CompilationUnit("def f(x: Tensor):\\n    return torch.softmax(x, -1)\\n")
"""
STATIC = (
    UNIT
    + """
def causal_mask(n):
    return torch._C._jit_to_static_module(unit.f.graph)(torch.ones(n))
"""
)
KERNEL = """
import torch.library

kernel = torch.library.get_kernel("aten::_softmax", "CPU")


def causal_mask(n):
    return kernel.call_boxed(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), torch.ones(n), 0, False)
"""
PLANS = {"0": {"calls": [{"args": [{"kind": "number", "type": "int", "value": "2"}], "kwargs": {}}]}}


@pytest.fixture
def kept():
    undo = keep_to_the_dispatcher()
    yield
    undo()


@pytest.mark.parametrize("code", [STATIC, KERNEL], ids=["the static runtime", "a kernel that was taken"])
def test_an_answer_that_passes_the_dispatcher_by_is_none(code):
    files = {"__init__.py": b"", "masks.py": code.encode()}
    (answers,) = ask(files, [Request("masks.causal_mask", PLANS)], True, open_sandbox("auto"))
    assert "is not there while an answer is judged" in answers["0"][0]["error"]["text"]


def test_torch_itself_has_it_and_so_has_the_watch(kept):
    with watching(("torch.*softmax",)) as noticed:
        torch.softmax(torch.ones(2), 0)
    assert "torch._softmax" in noticed.names()


def test_everything_is_as_before_afterwards():
    before = [getattr(torch._C, name) for name in PASSING_BY]
    keep_to_the_dispatcher()()
    assert [getattr(torch._C, name) for name in PASSING_BY] == before
