"""What torch keeps from its compiler runs without it, and answers as before."""

import subprocess
import sys

import pytest

SET_UP = """
import sys
import torch
from selfcheck.eager import leave_compiler_out
leave_compiler_out()
weight = torch.full((2,), 3.0, requires_grad=True)
"""
DOES = {
    "a seed": """
torch.manual_seed(5)
assert torch.equal(torch.rand(2), torch.rand(2, generator=torch.Generator().manual_seed(5)))
""",
    "an optimizer": """
weight.sum().backward()
torch.optim.SGD([weight]).zero_grad()
assert weight.grad is None
""",
}


@pytest.mark.parametrize("does", DOES.values(), ids=DOES)
def test_torchs_compiler_is_not_imported(does):
    program = f"{SET_UP}{does}print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


COMPILED = """
import copy, pickle, sys, torch
from selfcheck.eager import leave_uncompiled
undo = leave_uncompiled()
for wrap in (torch.compile, torch.compile(backend="inductor")):
    layer = torch.nn.Linear(2, 3)
    made = wrap(layer)
    assert made._orig_mod(torch.ones(2)).equal(layer(torch.ones(2)))
    assert list(made.state_dict()) == ["weight", "bias"] and len(list(made.modules())) == 1
    assert copy.deepcopy(made)._orig_mod.weight is not layer.weight
    assert pickle.loads(pickle.dumps(made))._orig_mod.weight.equal(layer.weight)
    assert repr(made) == repr(torch.nn.Linear(2, 3)) and made.eval()._orig_mod.training is False
    while hasattr(made, "_orig_mod"):
        made = made._orig_mod
    assert type(made) is torch.nn.Linear and made.weight is layer.weight
undo()
"""


def test_the_layer_within_a_compiled_one_is_found_where_torch_has_it():
    subprocess.run([sys.executable, "-c", COMPILED], check=True)


FASTER_SCRIPTS = """
import torch
from selfcheck.eager import FASTER, nothing_compiled
model, before = torch.nn.ReLU().eval(), [getattr(torch.jit, name) for name in FASTER]
with nothing_compiled():
    assert all(getattr(torch.jit, name)(torch.jit.trace(model, torch.ones(2))) is model for name in FASTER)
assert [getattr(torch.jit, name) for name in FASTER] == before
"""


def test_what_makes_scripts_faster_gives_back_what_is_no_script():
    """In a process of its own: another test's torch.compile replaces torch.jit.trace."""
    subprocess.run([sys.executable, "-c", FASTER_SCRIPTS], check=True)
