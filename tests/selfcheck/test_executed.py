"""What a library's file makes where it is run once more is watched like the first, however it is run."""

import builtins
import importlib.machinery
import importlib.util
import inspect
import runpy
import shutil
import sys
from collections import UserDict
from types import SimpleNamespace

import pytest
import torch
import torch.distributions.transforms as transforms
from torch.fx.experimental.rewriter import AST_Rewriter

from selfcheck import executed as executed_module
from selfcheck.call_watch import watching
from selfcheck.executed import telling
from selfcheck.replaced_code import code_calling

PATTERNS = ("torch.*Softmax*",)
X = torch.tensor([[1.0, 2.0, 4.0]])
FILE = transforms.__file__


def reloaded():
    was = dict(vars(transforms))
    try:
        return importlib.reload(transforms).SoftmaxTransform
    finally:
        vars(transforms).update(was)


def loaded(spec):
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SoftmaxTransform


def loaded_and_gone():
    """By the recipe of Python's documentation, which puts the module into sys.modules first."""
    spec = importlib.util.find_spec("torch.distributions.transforms")
    module = sys.modules["torch.distributions.more"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del sys.modules["torch.distributions.more"]
    return module.SoftmaxTransform


def executed(text, file="<string>"):
    space = dict(vars(transforms))
    exec(compile(text, file, "exec"), space)
    return space["SoftmaxTransform"]


def evaluated():
    space = {"__name__": "torch.distributions.more"}
    eval(compile(source(), "another", "exec"), space)
    return space["SoftmaxTransform"]


def source():
    with open(FILE) as file:
        return file.read()


def copied(tmp_path, monkeypatch):
    shutil.copy(FILE, tmp_path / "a_copy_of_transforms.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("a_copy_of_transforms").SoftmaxTransform


WAYS = {
    "reload": reloaded,
    "spec_from_file_location": lambda: loaded(importlib.util.spec_from_file_location("more", FILE)),
    "find_spec": lambda: loaded(importlib.util.find_spec("torch.distributions.transforms")),
    "a name in sys.modules for a while": loaded_and_gone,
    "its bytecode": lambda: (
        importlib.machinery.SourcelessFileLoader("more", transforms.__cached__).load_module().SoftmaxTransform
    ),
    "runpy.run_path": lambda: runpy.run_path(FILE, run_name="torch.distributions.more")["SoftmaxTransform"],
    "runpy.run_module": lambda: runpy.run_module(transforms.__name__, run_name="more")["SoftmaxTransform"],
    "exec of its text": lambda: executed(source()),
    "exec of its text as another file": lambda: executed(source(), __file__),
    "exec of the class": lambda: executed(inspect.getsource(transforms.SoftmaxTransform)),
    "eval of its code": evaluated,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_a_librarys_file_that_is_run_once_more_is_watched(way):
    with watching(PATTERNS):
        again = WAYS[way]()
    with watching(PATTERNS) as noticed:
        again()(X)
    assert any("Softmax" in name for name in noticed.names())


def test_so_is_a_copy_of_it_that_is_imported(tmp_path, monkeypatch):
    with watching(PATTERNS) as noticed:
        copied(tmp_path, monkeypatch)()(X)
    assert "torch.distributions.SoftmaxTransform._call" in noticed.names()


@pytest.mark.filterwarnings("ignore")
def test_so_is_what_torch_fx_makes_of_its_text():
    with watching(PATTERNS) as noticed:
        AST_Rewriter().rewrite(transforms.SoftmaxTransform._call)(None, X)
    assert "torch.distributions.SoftmaxTransform._call" in noticed.names()


def test_what_is_moved_is_moved_there_too():
    with watching(PATTERNS, bend=0.05):
        again = WAYS["runpy.run_path"]()
        assert (again()(X) - torch.softmax(X, -1)).abs().max() > 1e-3


def test_an_own_function_of_such_a_name_is_not_watched():
    with watching(PATTERNS) as noticed:
        space = {}
        exec("class SoftmaxTransform:\n    def _call(self, x):\n        return x * 2\n", space)
        assert space["SoftmaxTransform"]()._call(3) == 6
    assert noticed.names() == []


def test_exec_and_eval_see_the_names_of_who_calls_them():
    run = builtins.exec, builtins.eval
    with watching(PATTERNS):
        inner = 2
        exec("inner = made = inner + 1")
        assert inner == 2 and eval("inner + 1") == 3  # a function's variables stay, in a class they are made

        class Body:
            exec("made = inner + 1", globals() | {"inner": inner}, locals())
            exec("again = made")

        assert Body.again == Body.made == 3
        assert eval("inner", {"inner": 5}) == 5
        assert (exec.__name__, eval.__name__) == ("exec", "eval")
        with pytest.raises(TypeError):
            exec(3)
    assert (builtins.exec, builtins.eval) == run


def test_exec_does_not_change_a_functions_variables_where_a_frame_writes_them_through():
    class FrameLocalsProxy(UserDict):
        """What Python 3.13 has for the names of a function's frame."""

    names = FrameLocalsProxy(inner=2)
    exec("inner = 7", {}, executed_module._names_of(SimpleNamespace(f_locals=names)))
    assert names["inner"] == 2
    assert executed_module._names_of(sys._getframe())["names"] is names


def test_a_tensor_of_a_trace_has_no_numbers_to_be_moved():
    from torch._subclasses.fake_tensor import FakeTensorMode

    from selfcheck.call_bend import bent

    fake = FakeTensorMode().from_tensor(X)
    assert bent(fake, 0.05) is fake


def test_code_that_the_watch_makes_is_not_told():
    def function(a_name_that_no_other_has, *, nor_has_another):
        return a_name_that_no_other_has, nor_has_another

    told = []
    with telling(lambda *given: told.append(given)):
        code = code_calling(lambda *given, **named: (given, named), function)
        exec("1")
    assert len(told) == 1
    function.__code__ = code
    assert function(1, nor_has_another=2) == ((1,), {"nor_has_another": 2})
