"""Forbidden functions are noticed where they run, can be moved, and are as before afterwards."""

import contextlib
import importlib
import inspect
import math
import threading
from collections import namedtuple
from enum import IntEnum
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.attention import bias
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from selfcheck.call_bend import bent, made_otherwise, plain
from selfcheck.call_watch import watching
from selfcheck.catalogue import exercises
from selfcheck.named_functions import functions_named, operators_named

SOFTMAX = ("torch.*softmax", "torch.*Softmax", "torch.*logsumexp")
ATTENTION = ("torch.*scaled_dot_product*", "torch.*multi_head_attention*", "torch.*MultiheadAttention")
NORM = ("torch.*layer_norm", "torch.*rms_norm")
LAYER = ("torch.*TransformerEncoderLayer",)
LAYER_OF_TORCH = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
F = torch.nn.functional
X = torch.linspace(-1.0, 2.0, 12).reshape(3, 4)
Q = torch.linspace(-1.0, 2.0, 48).reshape(2, 2, 3, 4)


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


class Denies(torch.Tensor):
    """Says of itself what keeps it from being moved."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.is_floating_point:
            return False
        return super().__torch_function__(function, types, args, kwargs or {})


class DenyingMode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return False if function is torch.Tensor.is_floating_point else function(*args, **(kwargs or {}))


def denied(function):
    with DenyingMode():
        return function()


class UndoingMode(TorchDispatchMode):
    """A dispatch mode that leaves an input as it is when something is added to it."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.add.Tensor and args[0].data_ptr() in (X.data_ptr(), Q.data_ptr()):
            return args[0]
        return function(*args, **(kwargs or {}))


def in_a_mode(function):
    with UndoingMode():
        return function()


class Undoes(torch.Tensor):
    """Stays as it is when something is added to it."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.add.Tensor:
            return args[0]
        with torch._C._DisableTorchDispatch():
            return function(*args, **(kwargs or {}))


def as_plain(tensor):
    return torch.Tensor._make_subclass(torch.Tensor, tensor)


class Holds(torch.Tensor):
    """Holds another tensor, has no numbers of its own, and stays as it is when something is added to it."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype)

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.add.Tensor:
            return args[0]
        args, kwargs = tree_map_only(Holds, lambda one: one.held, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, Holds, function(*args, **kwargs))


WAYS = {
    "function": (SOFTMAX, lambda: torch.softmax(X, -1)),
    "method": (SOFTMAX, lambda: X.softmax(-1)),
    "operator": (SOFTMAX, lambda: torch.ops.aten._softmax(X, -1, False)),
    "with a dtype": (SOFTMAX, lambda: torch.softmax(X, -1, dtype=torch.float64)),
    "into a tensor": (SOFTMAX, lambda: torch.softmax(X, -1, out=torch.empty(3, 4))),
    "logsumexp": (SOFTMAX, lambda: torch.logsumexp(X, -1)),
    "module": (SOFTMAX, lambda: torch.nn.Softmax(-1)(X)),
    "thread": (SOFTMAX, lambda: in_a_thread(lambda: torch.softmax(X, -1))),
    "vmap": (SOFTMAX, lambda: torch.func.vmap(lambda row: torch.softmax(row, -1))(X)),
    "grad": (SOFTMAX, lambda: torch.func.grad(lambda x: torch.softmax(x, -1)[0, 0])(X)),
    "inference mode": (SOFTMAX, lambda: torch.inference_mode()(lambda: torch.softmax(X, -1))()),
    "a cross entropy": (SOFTMAX, lambda: F.cross_entropy(X, torch.tensor([0, 1, 2]))),
    "attention": (ATTENTION, lambda: F.scaled_dot_product_attention(Q, Q, Q)),
    "attention with dropout": (ATTENTION, lambda: F.scaled_dot_product_attention(Q, Q, Q, dropout_p=0.1)),
    "attention under vmap": (ATTENTION, lambda: torch.func.vmap(F.scaled_dot_product_attention)(Q, Q, Q)),
    "memory laid out for oneDNN": (SOFTMAX, lambda: torch.softmax(X.to_mkldnn(), -1).to_dense()),
    "a sparse tensor": (SOFTMAX, lambda: torch.sparse.softmax(X.to_sparse(), 1).to_dense()),
    "a nested tensor": (SOFTMAX, lambda: torch.softmax(torch.nested.nested_tensor([X, X]), -1).unbind()[0]),
    "a subclass that denies its kind": (
        LAYER,
        lambda: LAYER_OF_TORCH(Q[0].as_subclass(Denies)).as_subclass(torch.Tensor),
    ),
    "a mode that denies every kind": (LAYER, lambda: denied(lambda: LAYER_OF_TORCH(Q[0]))),
    "a dispatch mode": (SOFTMAX, lambda: in_a_mode(lambda: torch.softmax(X, -1))),
    "a dispatch mode around attention": (ATTENTION, lambda: in_a_mode(lambda: F.scaled_dot_product_attention(Q, Q, Q))),
    "a mode that undoes additions": (LAYER, lambda: in_a_mode(lambda: LAYER_OF_TORCH._ff_block(Q[0]))),
    "a subclass that undoes additions": (
        LAYER,
        lambda: as_plain(LAYER_OF_TORCH._ff_block(torch.Tensor._make_subclass(Undoes, Q[0]))),
    ),
    "layer norm": (NORM, lambda: F.layer_norm(X, (4,))),
    "rms norm": (NORM, lambda: torch.rms_norm(X, (4,))),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("way", WAYS)
def test_a_function_is_noticed_and_moved_whatever_way_it_is_reached(way):
    patterns, run = WAYS[way]
    torch.manual_seed(0)
    with watching(patterns) as noticed:
        plain = run()
    assert noticed.names()
    torch.manual_seed(0)
    with watching(patterns, 0.0):
        same = run()
    torch.manual_seed(0)
    with watching(patterns, 0.05) as noticed:
        moved = run()
    torch.manual_seed(0)
    with watching(patterns), watching(patterns, 0.05):
        within = run()
    assert noticed.names()
    assert torch.equal(plain, same)
    assert not torch.allclose(plain, within, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(plain, moved, atol=1e-4, rtol=1e-4)


def test_what_is_not_named_is_not_noticed():
    with watching(SOFTMAX) as noticed:
        powers = X.exp() / X.exp().sum(-1, keepdim=True)
        F.layer_norm(powers, (4,))
        assert not isinstance(powers, torch.nn.Softmax)
    assert noticed.names() == []


def test_gradients_are_as_they_are_without_the_watch():
    def gradient():
        x = X.clone().requires_grad_()
        (F.layer_norm(x, (4,)).square().cumsum(0).sum() + torch.softmax(x, 0)[0, 0]).backward()
        return x.grad

    plain = gradient()
    with watching((*SOFTMAX, *NORM)):
        watched = gradient()
    assert torch.equal(plain, watched)


def test_a_kernel_that_a_hook_calls_while_gradients_are_computed_is_noticed():
    found = []
    one = torch.ones(1, requires_grad=True)
    given = X.expand(1, 1, *X.shape).contiguous()
    most = torch.zeros(given.shape[:-1])
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    one.register_hook(lambda grad: found.append(backward(given, given, given, given, given, most, 0.0, False)))
    with watching(["torch.*scaled_dot_product*"], 0.0) as noticed:
        (one * 1).backward()
    assert found and noticed.names() == ["torch._scaled_dot_product_flash_attention_for_cpu_backward"]


def test_where_a_mask_is_infinite_is_moved_too():
    def hidden():
        return torch.nn.Transformer.generate_square_subsequent_mask(9).isinf()

    plain = hidden()
    for bend, is_same in ((0.0, True), (0.05, False)):
        with watching(["torch.*generate_square_subsequent_mask"], bend):
            assert torch.equal(hidden(), plain) == is_same


def test_where_numbers_are_zero_is_moved_too_and_gradients_go_through():
    given = torch.tensor([[0.0] * 8 + [-torch.inf] * 64], requires_grad=True)  # each zero is moved half of the time
    with watching(SOFTMAX, 0.05):
        made = torch.softmax(given, -1)
    assert (made[:, 8:] > 0.5).any()
    assert torch.autograd.grad(made.sum(), given)[0].shape == given.shape


def test_torch_fx_traces_a_layer_and_the_trace_is_noticed():
    layer = torch.nn.LayerNorm(X.shape[-1])
    plain = layer(X)
    with watching(NORM, 0.05):
        traced = torch.fx.symbolic_trace(layer)
    assert torch.equal(traced(X), plain)
    with watching(NORM, 0.05) as noticed:
        assert not torch.allclose(traced(X), plain)
    assert "torch.nn.functional.layer_norm" in noticed.names()


def test_afterwards_everything_is_as_before():
    layer = torch.nn.MultiheadAttention(4, 2)
    before = [
        (one, one.__code__)
        for one in functions_named([one for group in (SOFTMAX, ATTENTION) for one in group]).values()
    ]
    signature = inspect.signature(F.softmax)
    with watching((*SOFTMAX, *ATTENTION), 0.05):
        assert F.softmax.__code__ is not dict((id(f), c) for f, c in before)[id(F.softmax)]
        assert inspect.signature(F.softmax) == signature
        moved = layer(X, X, X)[0]
    assert all(function.__code__ is code for function, code in before)
    with watching(SOFTMAX) as noticed:
        pass
    plain = torch.softmax(X, -1)
    assert noticed.names() == []
    assert torch.allclose(plain, X.exp() / X.exp().sum(-1, keepdim=True))
    assert not torch.allclose(moved, layer(X, X, X)[0])


def test_a_module_that_is_imported_within_the_watch_is_watched(tmp_path, monkeypatch):
    (tmp_path / "lib_of_softmax.py").write_text("def softmax(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with watching(("lib_of_softmax.soft*",)) as noticed:
        import lib_of_softmax

        assert lib_of_softmax.softmax(1) == 2
    assert noticed.names() == ["lib_of_softmax.softmax"]


def test_watches_within_watches_leave_room_for_imports_within_imports(tmp_path, monkeypatch):
    """Python has a limit of recursion, and torch's compiler imports as many modules, each within another."""
    package = tmp_path / "chain_of_modules"
    package.mkdir()
    for number in range(80):
        (package / f"link{number}.py").write_text(f"from . import link{number + 1}\n")
    (package / "link80.py").touch()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with contextlib.ExitStack() as stack:
        for name in "abcdef":
            stack.enter_context(watching((f"chain_of_modules.{name}*",)))
        assert importlib.import_module("chain_of_modules.link0").link1.link2


def test_minus_infinity_stays_and_numbers_move_by_what_is_asked():
    numbers = [-math.inf, 0.0, 3.0, -1.0, math.inf]
    for kind in (torch.tensor, np.array, list):
        given = kind(numbers)
        moved = list(bent(given, 0.01))
        assert moved[0] == -math.inf and moved[4] == math.inf
        assert all(0.001 <= abs(moved[i] - numbers[i]) / (1 + abs(numbers[i])) <= 0.01 + 1e-6 for i in (1, 2, 3))
        assert list(given) == numbers
    assert bent([3, "text", None], 0.01) == [3, "text", None]


@pytest.mark.parametrize("dtype", [torch.bool, torch.float32, torch.bfloat16, torch.complex64])
def test_a_mask_is_turned_round_in_places_or_left_alone_whatever_its_numbers(dtype):
    """A threshold reads the same off a mask whose numbers are moved a little, and an honest comparison may be exact."""
    mask = torch.zeros(9, 9).masked_fill(torch.ones(9, 9).triu(1) == 1, -math.inf)
    mask = mask == 0 if dtype == torch.bool else mask.to(dtype)
    turned = made_otherwise(mask, (), 0.05)
    assert turned.dtype == dtype
    places = (turned != mask).double().mean()
    assert 0.2 < places < 0.8
    assert dtype == torch.bool or (turned.isinf() | (turned == 0)).all()
    assert made_otherwise(mask, (), 1e-4) is mask
    many = torch.func.vmap(lambda one: made_otherwise(one, (), 0.05))(X)
    assert not torch.equal(many, X)


def test_a_tensor_that_holds_another_is_refused_where_it_would_have_to_be_moved():
    """It alone could add something to its numbers, and might not."""
    with pytest.raises(TypeError, match="holds others"):
        bent(Holds(X), 0.05)
    assert bent(Holds(X[:0]), 0.05).shape == (0, 4)


def test_every_forbidden_name_of_torch_names_something():
    """A renamed function of torch would make a prohibition void."""
    import torch._inductor.fx_passes.fuse_attention
    import torch.nested._internal.ops
    import torch.nn.attention.bias
    import torch.nn.attention.flex_attention  # noqa: F401

    patterns = {one for exercise in exercises() for one in exercise.forbidden if one.startswith("torch.")}
    empty = [one for one in sorted(patterns) if not functions_named([one]) and not operators_named([one])]
    assert empty == []


#: What one of the first of these patterns names holds in kernels of its own, without a call that could be seen.
HELD_IN = {
    "torch.*softmax": (
        *("torch.*scaled_dot_product*", "torch.*multi_head_attention*", "torch.*ctc_loss"),
        *("torch.*linear_cross_entropy*", "triton.*softmax", "torch.*online_softmax*"),
    ),
    "torch.*layer_norm*": ("torch.*CrossMapLRN2d",),
    "torch.*multi_head_attention*": ("torch.*transformer_encoder*",),
    "torch.*TransformerEncoderLayer": ("torch.*transformer_encoder*",),
}


@pytest.mark.parametrize("exercise", [one for one in exercises() if one.forbidden], ids=lambda one: one.number)
def test_what_holds_a_forbidden_step_is_forbidden_too(exercise):
    due = {pattern for step in HELD_IN.keys() & set(exercise.forbidden) for pattern in HELD_IN[step]}
    assert due <= set(exercise.forbidden)


def test_a_watch_within_another_shares_its_overrides_and_is_told_of_its_own_patterns_alone():
    with watching((*SOFTMAX, *NORM)) as everything:
        code = F.softmax.__code__
        with watching(NORM) as norms:
            assert F.softmax.__code__ is code
            torch.softmax(X, -1)
            F.layer_norm(X, (4,))
        F.softmax(X, -1)
        with watching(SOFTMAX) as softmax:
            F.layer_norm(X, (4,))
    with watching(NORM) as alone:
        F.layer_norm(X, (4,))
    assert norms.names() == alone.names() and softmax.names() == []
    assert {"torch.softmax", "torch.nn.functional.softmax", *alone.names()} <= set(everything.names())


def test_a_bent_watch_within_another_moves_its_own_functions_alone():
    weights, normed = torch.softmax(X, -1), F.layer_norm(X, (4,))
    with watching((*SOFTMAX, *NORM)), watching(NORM, 0.05):
        assert torch.equal(torch.softmax(X, -1), weights)
        assert not torch.allclose(F.layer_norm(X, (4,)), normed, atol=1e-4)


def test_a_bent_watch_within_another_leaves_self_alone():
    patterns = ("torch.nn.attention.bias.*",)
    plain = bias.causal_lower_right(3, 5)
    with watching(patterns), watching(patterns, 0.0), watching(patterns, 0.05):
        made = bias.causal_lower_right(3, 5)
        assert made.variant is plain.variant and made.seq_len_kv == 5


class Axis(IntEnum):
    LAST = -1


class Whole(torch.Tensor):
    """Whole numbers, which no bend moves."""


def with_attribute(thing):
    thing.max = max
    return thing


def test_what_is_given_is_of_pythons_own_classes_or_a_librarys():
    given = [Axis.LAST, namedtuple("Shape", "width")(4), {"eps": 1e-5}, None, torch.float32, len, in_a_thread]
    taken = plain([*given, torch.arange(3).as_subclass(Whole)])
    assert [type(one) for one in taken[:2]] == [int, tuple]
    assert taken[:-1] == given
    assert type(taken[-1]) is torch.Tensor


@pytest.mark.parametrize(
    "make",
    [Denies, torch.nn.Identity, lambda: with_attribute(partial(max)), lambda: (Axis,)],
)
def test_what_may_record_the_steps_of_a_function_is_not_given_to_it(make):
    made = make if make is Denies else make()
    with pytest.raises(TypeError, match="cannot be moved"):
        plain({"x": [made]})
