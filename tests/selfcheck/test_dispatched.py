"""What passes torch's dispatcher by is out of reach while an answer is judged, and torch itself has it."""

import operator

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from autograder.judge.attempts import Request
from autograder.judge.protocol import ask
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.call_watch import watching
from selfcheck.dispatched import OF_AN_OPERATOR, PASSING_BY, keep_to_the_dispatcher

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
OPERATOR = """
import torch

softmax = torch.ops.aten._softmax.default
CPU = torch._C.DispatchKey.CPU


def causal_mask(n):
    return {call}
"""
CALLS = {
    "an operator's parts": "softmax.decompose(torch.ones(n), 0, False)",
    "an operator behind the dispatcher": "softmax.redispatch(torch._C.DispatchKeySet(CPU), torch.ones(n), 0, False)",
    "an operator's kernel by its key": "softmax._op_dk(CPU, torch.ones(n), 0, False)",
    "an operator of TorchScript": "torch._C._jit_get_operation('aten::_softmax')[0](torch.ones(n), 0, False)",
    "the fusion for oneDNN": "torch.jit.enable_onednn_fusion(True)",
    "a graph from a text": "torch._C.parse_ir('graph(%x : Tensor):\\n  return (%x)')",
}
#: A function of torch's calls what it is given.
THROUGH_TORCH = {
    "torch's testing tools": "from torch.testing._internal.static_module import StaticModule\n"
    "    return StaticModule(unit.f)(torch.ones(n))",
    "torch's trees": "from torch.utils._pytree import tree_map\n"
    "    return tree_map(torch._C._jit_to_static_module, [unit.f.graph])[0](torch.ones(n))",
    "torch's log of graphs": "from torch.utils.jit.log_extract import load_graph_and_inputs\n"
    "    return load_graph_and_inputs('graph(%x : Tensor):\\n  return (%x)')",
    "oneDNN for frozen graphs": "return torch._C._jit_pass_convert_frozen_ops_to_mkldnn(unit.f.graph)",
    "code made of TorchScript's expressions": "return torch._C._te.construct_codegen('ir_eval', None, [])",
}
PLANS = {"0": {"calls": [{"args": [{"kind": "number", "type": "int", "value": "2"}], "kwargs": {}}]}}


@pytest.fixture
def kept():
    undo = keep_to_the_dispatcher()
    yield
    undo()


WAYS = {"the static runtime": STATIC, "a kernel that was taken": KERNEL}
WAYS["a module that calls itself torch's"] = '__name__ = "torch.own"\n' + STATIC
WAYS |= {name: f"{UNIT}\n\ndef causal_mask(n):\n    {call}\n" for name, call in THROUGH_TORCH.items()}
WAYS |= {name: OPERATOR.format(call=call) for name, call in CALLS.items()}


@pytest.mark.parametrize("code", WAYS.values(), ids=WAYS)
def test_an_answer_that_passes_the_dispatcher_by_is_none(code):
    files = {"__init__.py": b"", "masks.py": code.encode()}
    (answers,) = ask(files, [Request("masks.causal_mask", PLANS)], True, open_sandbox("auto"))
    assert "is not there while an answer is judged" in answers["0"][0]["error"]["text"]


def test_torch_itself_has_it_and_so_has_the_watch(kept):
    with watching(("torch.*softmax",)) as noticed:
        torch.softmax(torch.ones(2), 0)
    assert "torch._softmax" in noticed.names()


def test_a_mode_of_torchs_own_does_not_take_apart_what_is_watched(kept):
    queries = torch.ones(1, 1, 2, 4)
    with (
        watching(("torch.*scaled_dot_product*",)) as noticed,
        torch.inference_mode(),
        FlopCounterMode(display=False) as counted,
    ):
        torch.nn.functional.scaled_dot_product_attention(queries, queries, queries)
        torch.ones(2, 3) @ torch.ones(3, 4)
    assert "torch.scaled_dot_product_attention" in noticed.names()
    assert counted.get_total_flops() >= 2 * 2 * 3 * 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripts_that_people_make_faster_answer_as_before(kept):
    model, image = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU()).eval(), torch.ones(1, 1, 2, 2)
    with torch.no_grad(), torch.jit.fuser("fuser1"):
        assert torch.equal(torch.jit.optimize_for_inference(torch.jit.trace(model, image))(image), model(image))


def test_everything_is_as_before_afterwards():
    def found():
        of_operators = [vars(torch._ops.OpOverload).get(name) for name in OF_AN_OPERATOR]
        return [operator.attrgetter(name)(torch._C) for name in PASSING_BY] + of_operators

    before = found()
    keep_to_the_dispatcher()()
    assert found() == before
    softmax = torch.ops.aten._softmax.default
    assert softmax._op_dk(torch._C.DispatchKey.CPU, torch.ones(2), 0, False).tolist() == [0.5, 0.5]
