"""A model may be built of lazy layers, frozen numbers, sparse tables, stacks of layers and layers that move."""

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.checkpoint import checkpoint

from selfcheck.arrays import unpack
from selfcheck.module_state import reached
from selfcheck.plan import built, call, entries, lessons, tensor
from selfcheck.steps import carry_out

IDS, TARGET = tensor([[1, 2, 0], [2, 1, 1]], "int64"), tensor([0, 1], "int64")
LESSONS = lessons(IDS, target=TARGET, loss="cross_entropy", steps=2, rate=0.01)


class Text(nn.Module):
    """Of each text a row of logits."""

    def __init__(self, output, table=None):
        super().__init__()
        self.table, self.output = table or nn.Embedding(3, 4), output

    def forward(self, ids):
        return self.output(self.table(ids).mean(dim=1))


class Numbered(Text):
    def __init__(self):
        super().__init__(nn.Linear(4, 2))
        self.ids = nn.Parameter(torch.arange(3), requires_grad=False)
        self.mask = nn.Parameter(torch.ones(3, dtype=torch.bool), requires_grad=False)


class Lazy(nn.Module):
    """As nn.Linear, of which nobody said how many features come in; it refuses those of another width."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_in, self.inner = d_in, nn.LazyLinear(d_out)

    def forward(self, x):
        y = self.inner(x)  # first, so that a wrong width leaves its trace
        if x.shape[-1] != self.d_in:
            raise ValueError("another width")
        return y


def carried(make, *given, **more):
    answer = carry_out(make, built(*given, **more).packed(), False)
    assert "error" not in answer, answer
    return answer


@pytest.mark.parametrize("more", [{}, {"lessons": LESSONS}, {"stirred": 0.3}], ids=["plain", "taught", "stirred"])
@pytest.mark.parametrize("make", [lambda: Text(nn.LazyLinear(2)), Numbered], ids=["lazy", "frozen whole numbers"])
def test_a_model_answers_whatever_its_numbers_are(make, more):
    assert unpack(carried(make, call(), call(IDS), **more)["value"]).shape == (2, 2)


def test_what_is_frozen_is_not_stirred():
    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2), requires_grad=False)

        def forward(self):
            return self.weight

    assert unpack(carried(Frozen, call(), call(), stirred=1.0)["value"]).values() == [1.0, 1.0]


def test_lazy_layers_have_shapes_before_they_are_compared_counted_or_set():
    assert carried(Lazy, call(5, 3))["parameters"] == {"inner.weight": [3, 5], "inner.bias": [3]}
    assert carried(Lazy, call(5, d_out=3), entries())["value"]["value"] == "18"
    state = {"inner.weight": tensor([[2.0, 1.0]]), "inner.bias": tensor([1.0])}
    answer = carried(Lazy, call(2, 1), call(tensor([[1.0, 2.0]])), state=state)
    assert unpack(answer["value"]).values() == [5.0]


def test_a_lazy_layer_of_a_wrong_width_is_told():
    step = built(call(5, 3), state={"inner.weight": tensor([[1.0] * 5] * 3)})
    answer = carry_out(lambda d_in, d_out: Lazy(d_in, d_in), step.packed(), False)
    assert "inner.weight should have shape (3, 5), got (5, 5)" in answer["error"]["text"]


def test_what_moves_by_itself_in_training_is_put_back_before_each_use_of_a_model():
    answer = carried(
        lambda: Text(spectral_norm(nn.Linear(4, 2))), call(), call(IDS), call(IDS), training=True, lessons=LESSONS
    )
    first, second = unpack(answer["value"])
    assert first == second


def test_gradients_are_told_of_sparse_tables_and_through_a_checkpoint_of_the_older_kind():
    sparse = Text(nn.Linear(4, 2), nn.Embedding(3, 4, sparse=True))
    ids = torch.tensor([[0, 2]])
    assert reached(sparse, sparse(ids)) == [[2, 3, 2], [2, 2, 2], [1, 2, 2]]
    older = Text(nn.Linear(4, 2))
    vectors = older.table(ids)
    output = checkpoint(lambda x: older.output(x.mean(dim=1)), vectors, use_reentrant=True)
    assert reached(older, output) == [[2, 3, 2], [2, 2, 2], [1, 2, 2]]


def test_the_biases_of_several_layers_in_one_tensor_are_no_matrix_without_part():
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.ones(3, 2, 2)), nn.Parameter(torch.ones(3, 2))
            self.gain = nn.Parameter(torch.ones(1, 2))

    stack = Stack()
    output = stack.weight.sum((0, 1)) + 0 * stack.bias.sum(0) + 0 * stack.gain
    assert reached(stack, output) == [[3, 3, 3], [1, 3, 0], [1, 1, 0]]
