"""Values pass between processes unharmed, and nothing but plain arrays passes."""

import base64
import itertools
import json
import math
from collections import UserList, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from selfcheck.arrays import SIZES, Array, array, pack, revive, unpack

numbers = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=True, allow_infinity=True))


@pytest.mark.parametrize("dtype", sorted(SIZES))
def test_a_tensor_comes_back_as_it_went(dtype):
    given_tensor = (torch.arange(12).reshape(3, 4) % 5 - 2).to(getattr(torch, dtype))
    back = revive(json.loads(json.dumps(pack(given_tensor))))
    assert back.dtype == given_tensor.dtype and torch.equal(back, given_tensor)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 2, 3)])
def test_every_shape_comes_back(shape):
    assert revive(pack(torch.ones(shape))).shape == shape
    assert revive(pack(np.ones(shape))).shape == shape


def test_special_values_and_views_come_back():
    tensor = torch.tensor([[math.inf, -math.inf, math.nan], [0.0, -0.0, 1e-45]]).T
    assert torch.equal(revive(pack(tensor)).isnan(), tensor.isnan())
    assert pack(tensor) == pack(tensor.contiguous())


def test_bfloat16_is_read_without_torch():
    tensor = torch.tensor([1.5, -3.140625, 1e30, -math.inf], dtype=torch.bfloat16)
    assert unpack(pack(tensor)).values() == tensor.double().tolist()


@given(st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=20))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_nested_lists_come_back_or_are_named(values):
    text = json.dumps(pack(values))
    assert pack(revive(json.loads(text))) == json.loads(text)


def test_a_list_of_numpys_own_numbers_is_a_list_of_numbers():
    found = unpack(pack([[np.float64(1.5), np.float64(2.0)], [np.float32(0.5), 1]]))
    assert isinstance(found, Array) and found.nested() == [[1.5, 2.0], [0.5, 1.0]]


def test_lists_of_array_rows_keep_their_rows():
    found = unpack(pack([np.ones(2), np.zeros(2)]))
    assert [row.nested() for row in found] == [[1.0, 1.0], [0.0, 0.0]]


class Pair:
    def __iter__(self):
        yield from (1, 2)


@dataclass
class Fields:
    first: int = 1
    second: int = 2

    def __iter__(self):
        return iter((self.first, self.second))

    def __getitem__(self, place):
        return (self.first, self.second)[place]


class Two(Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, place):
        return (1, 2)[place]


@pytest.mark.parametrize("value", [Pair(), Fields(), Two()])
def test_an_object_that_unpacks_is_a_tuple(value):
    assert unpack(pack(value)) == (1, 2)


def in_turn():
    yield from (1, 2)


@pytest.mark.parametrize(
    "make",
    [lambda: map(int, "12"), lambda: (n for n in (1, 2)), {"one": 1, "two": 2}.values],
    ids=["map", "for", "dict"],
)
def test_what_one_line_makes_of_several_results_is_a_tuple_and_what_yields_is_none(make):
    assert unpack(pack(make())) == (1, 2)
    assert unpack(pack(zip((1,), (2,), strict=True))) == ((1, 2),)
    assert pack(in_turn()) == {"kind": "other", "type": "generator"}
    assert pack(n for n in itertools.count())["kind"] == "other"


class Endless:
    def __iter__(self):
        return itertools.count()


@pytest.mark.parametrize("value", [iter([1, 2]), {1: 2}, deque([1, 2]), UserList([1, 2]), nn.ModuleList(), Endless()])
def test_what_is_read_otherwise_or_never_ends_is_no_tuple(value):
    assert pack(value)["kind"] == "other"


def test_what_is_no_array_becomes_its_types_name():
    class AlwaysEqual:
        def __eq__(self, other):
            return True

    assert pack(AlwaysEqual()) == {"kind": "other", "type": "AlwaysEqual"}
    assert pack(lambda: 1)["kind"] == "other"
    assert pack(torch.ones(300_000))["kind"] == "other"


HONEST = pack(array([[1.0, 2.0]]))


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"kind": "tensor"},
        HONEST | {"shape": [2, 2]},
        HONEST | {"shape": [-1, -2]},
        HONEST | {"shape": "12"},
        HONEST | {"shape": [1.0, 2.0]},
        HONEST | {"dtype": "object"},
        HONEST | {"dtype": ["float64"]},
        HONEST | {"data": "not base64!"},
        HONEST | {"data": 7},
        {"kind": "tensor", "dtype": "bool", "shape": [10**6], "data": base64.b64encode(bytes(10**6)).decode()},
        {"kind": "number", "type": "eval", "value": "1"},
        {"kind": "number", "type": "int", "value": "x"},
        {"kind": "tuple", "items": 3},
        {"kind": "tuple"},
        [],
        None,
    ],
)
def test_a_forged_tree_is_refused(forged):
    with pytest.raises(ValueError):
        unpack(forged)


def test_an_expanded_tensor_of_one_entry_is_packed():
    assert unpack(pack(torch.tensor(2.0).expand(1))).values() == [2.0]
