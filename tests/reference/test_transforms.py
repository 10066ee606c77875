"""Proves that the reference can be mapped over samples and differentiated by torch.func, as torch's own layers can.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import functools

import pytest
import torch
from torch.func import functional_call, grad, vmap

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import grouped_query_attention
from attention.encoder import EncoderLayer
from attention.masks import causal_mask, masked_softmax, padding_mask
from attention.multi_head import MultiHeadAttention
from attention.scores import scaled_dot_scores
from attention.sequence_to_sequence import HierarchicalAttention, attend, local_attention_weights

pytestmark = pytest.mark.proof()
SAMPLES = 3


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def empty_row_mask():
    mask = causal_mask(4, 5)
    mask[1] = False
    return mask


FUNCTIONS = {
    "masked_softmax": (lambda x: masked_softmax(x @ x.mT, empty_row_mask()[:, :4]), (4, 6)),
    "without a mask": (lambda x: masked_softmax(x), (4, 6)),
    "sdpa": (lambda x: scaled_dot_product_attention(x[:4], x[4:], x[4:], empty_row_mask())[0], (9, 6)),
    "grouped": (lambda x: grouped_query_attention(x[None], x[None, ::2], x[None, ::2])[0], (4, 5, 6)),
    "attend": (lambda x: attend(x[:4], x[4:], x[4:], scaled_dot_scores, empty_row_mask())[0], (9, 6)),
    "local": (lambda x: local_attention_weights(x[:, 1:], x[:, 0] + 2, 1.0), (4, 6)),
}


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # raised by torch's own forward derivatives
@pytest.mark.parametrize("name", FUNCTIONS)
def test_mapped_over_samples_it_is_a_loop_in_values_and_derivatives(name):
    function, shape = FUNCTIONS[name]
    samples = random(SAMPLES, *shape)

    def loss(x):
        return function(x).square().sum()

    def slope(x):
        return torch.func.jvp(function, (x,), (torch.ones_like(x),))[1]

    for one in (function, grad(loss), slope, torch.func.jacrev(function)):
        close(vmap(one)(samples), torch.stack([one(x) for x in samples]))


def models():
    torch.manual_seed(0)
    yield MultiHeadAttention(6, 2).double(), lambda model, x, mask: model(x, x, x, key_mask=mask)[0]
    for norm_first in (False, True):
        layer = EncoderLayer(6, 2, 8, dropout=0.0, norm_first=norm_first).double()
        yield layer, lambda model, x, mask: model(x, key_mask=mask)
    yield HierarchicalAttention(6).double(), lambda model, x, mask: model(x[:, None], mask[:, None])


@pytest.mark.parametrize("place", range(4))
def test_gradients_of_each_sample_are_those_of_the_samples_one_by_one(place):
    model, answer = list(models())[place]
    inputs, masks = random(SAMPLES, 5, 6), padding_mask(torch.tensor([5, 2, 0]))
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters, x, mask):
        return functional_call(Called(model, answer), named(parameters), (x[None], mask[None])).square().sum()

    each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, inputs, masks)
    for sample in range(SAMPLES):
        model.zero_grad()
        answer(model, inputs[sample, None], masks[sample, None]).square().sum().backward()
        for name, parameter in model.named_parameters():
            expected = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            close(each[name][sample], expected)


class Called(torch.nn.Module):
    """A model called in a way of its own, so that functional_call can call it."""

    def __init__(self, model, answer):
        super().__init__()
        self.model, self.answer = model, functools.partial(answer, model)

    def forward(self, *arguments):
        return self.answer(*arguments)


def named(parameters):
    return {f"model.{name}": parameter for name, parameter in parameters.items()}
