"""The static scan tells the instructor of odd reaches however they are spelled, and leaves honest code alone."""

import importlib
import pkgutil
import sys
from types import ModuleType

import numpy
import pytest
import torch

from autograder.authoring.samples import table
from autograder.course.paths import REFERENCE, ROOT
from autograder.intake.static_scan import _MODULE_WORDS, _MODULES, OWN_WORDS, scan_module

from ..unusual_answers.bank import answers_in

ODD = [
    "import torch\ntorch.os.getpid()",
    "import torch as t\nt.os.environ",
    "from torch import os as o\no.getpid()",
    "from torch import sys",
    "import torch\ntorch.sys.modules",
    "import torch\ntorch.ctypes.string_at(0)",
    "import torch\nos = torch.serialization.os",
    "import numpy as np\nnp.lib.format.os.system('x')",
    "import posix\nposix.getpid()",
    "import torch\nclass A:\n    def __init__(self):\n        self.t = torch\n    def f(self): return self.t.os",
    "import torch\nmatch torch:\n    case object(os=o):\n        pass",
    "import torch\ngetattr(torch, 'os')",
    "import torch\ngetattr(torch, 'o' + 's')",
    "import torch\nname = 'os'\ngetattr(torch, name)",
    "g = getattr",
    "import torch\nfrom functools import reduce\nreduce(getattr, ['os', 'environ'], torch)",
    "import torch\nlist(map(getattr, [torch], ['os']))",
    "import torch\nvars(torch)['os']",
    "import torch\ntorch.__dict__['os']",
    "import torch\nimport operator\noperator.attrgetter('os')(torch)",
    "import torch\nimport string\nstring.Formatter().get_field('0.os', (torch,), {})",
    "import sys\nsys._getframe()",
    "import sys\ndict(sys.modules)",
    "import torch\ntorch._sys._getframe",
    "import gc\ngc.get_objects()",
    "import torch\ntorch.gc.get_objects()",
    "import pydoc\npydoc.locate('os')",
    "import timeit\ntimeit.timeit('import os')",
    "import logging.config\nlogging.config._resolve('os')",
    "from unittest import mock",
    "import typing\ntyping.get_type_hints(f)",
    "import bdb\nbdb.Bdb().runeval('1')",
    "def f():\n    yield 1\nf().gi_frame.f_back.f_globals",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    e.__traceback__.tb_frame",
    "import torch\ntorch.library.Library('aten', 'IMPL')",
    "import torch\ntorch.fx.graph_module._exec_with_source('x', {})",
    "import torch\ntorch.glob.glob('/*')",
    "from torch import glob as g\ng.glob('/*')",
    "import numpy as np\nnp.lib._format_impl.io.open('/x')",
    "from torch._dynamo.convert_frame import mock\nmock.patch",
    "().__class__.__mro__",
    "x.__class__ = list",
    "class A:\n    __class__ = property(lambda self: list)",
    "class A:\n    @property\n    def __class__(self): return list",
    "import torch\nobject.__setattr__(x, '__class__', list)\nsetattr(x, '__class__', list)",
    "e = eval",
    "from torch.multiprocessing import spawn",
    "import torch.multiprocessing as m",
    "import torch.distributed as d",
    "import torch\ntorch.load('x')",
    "import torch\ntorch.hub.load",
    "from torch.utils.cpp_extension import load_inline",
    "from torch.utils.benchmark import Timer",
    "import numpy as np\nnp.memmap('x')",
    "import numpy as np\nnp.ctypeslib.as_array",
    "import random\nrandom._os",
    "import collections\ncollections._sys",
    "import types\ntypes.FunctionType",
    "import sys\nsys.addaudithook(print)",
    "import sys\nsys.monitoring",
    "import torch\nfor torch.allclose in [1]: pass",
    "import torch\nwith x as torch.allclose: pass",
    "import torch\n(torch.allclose, y) = 1, 2",
    "import torch\ndel torch.allclose",
    "import torch\ntorch.backends.cudnn.is_available = torch.allclose",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import dill",
    "from typing import TYPE_CHECKING\nTYPE_CHECKING = True\nif TYPE_CHECKING:\n    import dill",
    "from typing import TYPE_CHECKING\ndef TYPE_CHECKING(): pass\nif TYPE_CHECKING:\n    import dill",
    "from typing import TYPE_CHECKING\nfrom .mine import *\nif TYPE_CHECKING:\n    import dill",
    "from .mine import TYPE_CHECKING\nif TYPE_CHECKING:\n    import dill",
    "import typing\ntyping.TYPE_CHECKING = True\nif typing.TYPE_CHECKING:\n    import dill",
]
#: Modules of the standard library, and packages, that stand on no list.
UNLISTED = [
    "fcntl",
    "pwd",
    "_io",
    "_pickle",
    "_interpreters",
    "configparser",
    "webbrowser",
    "posixpath",
    "dill",
    "numba",
]


@pytest.mark.parametrize("code", ODD)
def test_an_odd_reach_is_told(code):
    assert scan_module("masks", code, "")


@pytest.mark.parametrize("module", UNLISTED)
def test_a_module_that_stands_on_no_list_is_told(module):
    assert scan_module("masks", f"import {module}", "") == [f"masks.py line 1 uses {module}: what no exercise needs"]


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.select(x, 0, 1)",
        "import numpy as np\nnp.select([a], [b])",
        "import torch\ntorch.signal.windows.hann(3)",
        "import torch\ntorch.jit.trace(f, x)\ntorch.trace(x)\ntorch.select(x, 0, 1)\nx.select(0, 1)",
        "from torch.profiler import profile\nprofile()",
        "import torch\ngetattr(torch, 'softmax')(x, -1)",
        "def f(module, part):\n    return getattr(module, f'{part}_proj')",
        "import torch\nF = torch.nn.functional\nF.softmax(x, -1)",
        "import math, typing, logging, functools, itertools, dataclasses, collections\nlogging.warning('x')",
        "import torch\nassert torch.allclose(x, torch.nn.functional.layer_norm(y, (3,)))",
        "from torch import nn\ndef f(x: nn.MultiheadAttention):\n    return isinstance(x, nn.TransformerEncoderLayer)",
        "class A:\n    def softmax(self, x):\n        return x\n    def f(self, x):\n        return self.softmax(x)",
        "import sys\nprint(sys.float_info.max, file=sys.stderr)",
        "import torch\ntorch.backends.cudnn.deterministic = True\ntorch.backends.cuda.matmul.allow_tf32 = False",
        "import torch\ntorch.utils.deterministic.fill_uninitialized_memory = True",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from jaxtyping import Float\n    import nptyping",
        "import typing as t\nif t.TYPE_CHECKING:\n    from jaxtyping import Bool",
        "class A:\n    def __repr__(self):\n        return f'{self.__class__.__name__}({self.size})'",
        "class A(B):\n    def __init__(self):\n        super(__class__, self).__init__()",
    ],
)
def test_honest_code_is_not_told(code):
    assert scan_module("masks", code, "") == []


OWN_DISPATCH = "compared with torch's own by an assert, under a dispatch mode of its own"
OWN_TENSOR = "compared with torch's own by an assert, as a tensor of its own class that dispatches"


def test_references_and_unusual_right_answers_raise_hardly_a_remark():
    references = [(path.stem, path.read_text(encoding="utf-8")) for path in sorted(REFERENCE.glob("*.py"))]
    assert [name for name, text in references if scan_module(name, text, text)] == []
    right = answers_in("right.toml", "right_classes.toml")
    told = {one.style for one in right if scan_module(one.exercise.partition(".")[0], one.code, "")}
    # These start threads or a loop of their own, write a file, map memory, pass for an array, reach into torch's
    # registry, read memory by strides of their own, or see every operation of torch.
    unusual = {"an object that NumPy can read", "an operator of one's own in torch.library"}
    unusual |= {"memory that is shared and no file's"}
    unusual |= {"as_strided over the features", OWN_DISPATCH, OWN_TENSOR}
    assert told == unusual | {"threads, one for each row", "asyncio", "a log file in the temporary folder"}


def test_of_the_sample_class_only_those_with_a_remark_are_told():
    own = ROOT / "tests" / "sample_class"
    expected = {entry.student for entry in table() if entry.remark}
    told = {
        path.parent.name
        for path in sorted(own.glob("*/*.py"))
        if scan_module(path.stem, path.read_text(encoding="utf-8"), "")
    }
    assert told <= expected, "an honest student is told of"


def test_every_module_that_a_library_holds_is_told_under_whatever_name_it_holds_it():
    held = 0
    for name, module in sorted(sys.modules.items()):
        root = name.partition(".")[0]
        for attribute, found in list(vars(module).items()) if root in ("torch", "numpy") and module else ():
            odd = issubclass(type(found), ModuleType) and found.__name__ in {*_MODULES, "sys"}
            if odd and attribute.isidentifier() and not attribute.startswith("__"):
                held += 1
                assert scan_module("masks", f"import {root}\n{name}.{attribute}\n", ""), f"{name}.{attribute}"
    assert held > 100


def test_a_word_counts_as_a_module_wherever_it_stands_unless_a_library_has_its_own():
    """The words that torch or NumPy use publicly for something else are those, and no others, that are left out."""
    own = set()
    for library in (torch, torch.Tensor, torch.nn, torch.nn.functional, numpy, numpy.ndarray):
        for word in {*_MODULE_WORDS, *OWN_WORDS} - {"sys"}:
            found = getattr(library, word, None)
            if found is not None and getattr(found, "__name__", "").partition(".")[0] != word:
                own.add(word)
    for library in (torch, numpy):
        own |= {one.name for one in pkgutil.iter_modules(library.__path__) if one.name in {*_MODULE_WORDS, *OWN_WORDS}}
    assert own & set(_MODULE_WORDS) <= {"multiprocessing"}, "torch.multiprocessing starts processes as well"
    assert importlib.import_module("torch.multiprocessing").Process
