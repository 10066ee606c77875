"""Proves multi-head attention without weights: the same output and gradients, and no matrix of all pairs.

Tolerance: 1e-12, for two float64 computations are compared.
"""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from attention.encoder import Encoder, EncoderLayer
from attention.masks import causal_mask, padding_mask
from attention.multi_head import MultiHeadAttention

pytestmark = pytest.mark.proof()
LONG = 300  # more than the 128 queries that are attended from at a time


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def layer(dropout=0.0):
    torch.manual_seed(0)
    return MultiHeadAttention(6, 2, dropout).double()


def numbers(length, seed=0):
    return torch.randn(2, length, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def masks(length):
    """The second sequence is all padding, query 3 of the first sees nothing."""
    pairs = causal_mask(length)
    pairs[3:4] = False
    return {"none": (None, None), "both": (pairs, padding_mask(torch.tensor([max(length - 2, 0), 0]), length))}


@pytest.mark.parametrize("which", ["none", "both"])
@pytest.mark.parametrize("length", [0, 1, 5, 128, 129, LONG])
def test_output_and_gradients_are_those_with_weights(length, which):
    module, found = layer(), []
    for need_weights in (True, False):
        x = numbers(length).requires_grad_()
        output, weights = module(x, x, x, *masks(length)[which], need_weights=need_weights)
        assert (weights is None) is not need_weights
        module.zero_grad()
        output.square().sum().backward()
        found.append([output.detach(), x.grad, *(parameter.grad for parameter in module.parameters())])
    for mine, other in zip(*found, strict=True):
        close(mine, other)


@pytest.mark.parametrize("shape", [(), (LONG,), (LONG, 1), (1, LONG), (2, 1, 1, LONG), (2, 2, LONG, LONG)], ids=str)
def test_a_mask_of_any_shape_that_broadcasts_is_cut_with_its_queries(shape):
    mask, x = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6, numbers(LONG)
    with torch.no_grad():
        close(layer()(x, x, x, mask, need_weights=False)[0], layer()(x, x, x, mask)[0])


def test_need_weights_is_given_by_name():
    x = numbers(3)
    with pytest.raises(TypeError, match="positional"):
        layer()(x, x, x, None, None, False)


def test_dropout_acts_in_training_and_the_backward_pass_drops_what_the_forward_pass_dropped():
    module, x = layer(dropout=0.5), numbers(LONG)
    for projection in (module.v_proj, module.out_proj):  # the output is linear in the values
        torch.nn.init.zeros_(projection.bias)
    value = numbers(LONG, seed=1).requires_grad_()
    output, _ = module(x, x, value, need_weights=False)
    assert not torch.allclose(output, module(x, x, value, need_weights=False)[0])
    close((torch.autograd.grad(output.sum(), value)[0] * value).sum(), output.sum())
    close(module.eval()(x, x, value, need_weights=False)[0], module(x, x, value)[0])


def test_second_derivatives_and_gradients_of_each_sample_are_those_with_weights():
    module, samples = layer(), numbers(LONG)

    def loss(x, need_weights=False):
        return module(x[None], x[None], x[None], need_weights=need_weights)[0].square().sum()

    found = []
    for need_weights in (True, False):
        x = samples[0].clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(x, need_weights), x, create_graph=True)
        found.append(torch.autograd.grad(gradient.square().sum(), x)[0])
    torch.testing.assert_close(*found, rtol=1e-10, atol=1e-10)  # sums of some hundred numbers of size 10
    each = torch.vmap(torch.func.grad(loss))(samples)
    close(each, torch.stack([torch.func.grad(loss)(x) for x in samples]))


class Largest(TorchDispatchMode):
    """Remembers the entries of the largest tensor that is made."""

    def __init__(self):
        super().__init__()
        self.found = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        made = operation(*args, **(kwargs or {}))
        for one in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(one, torch.Tensor):
                held = one.untyped_storage().nbytes() // one.element_size()
                self.found = max(self.found, min(one.numel(), held))
        return made


def measured(call):
    """The entries of the largest tensor made in both directions, and of all that is kept for the backward pass."""
    kept = {}

    def keep(x):
        storage = x.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes() // x.element_size()
        return x

    with Largest() as largest, torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        call().sum().backward()
    return largest.found, sum(kept.values())


def test_the_matrix_of_all_pairs_is_neither_made_nor_kept():
    length, module = 640, layer()
    x, pairs = numbers(length), 2 * 2 * length * length
    made, kept = measured(lambda: module(x, x, x, need_weights=False)[0])
    assert made <= pairs / 4 and kept <= pairs / 4
    made, kept = measured(lambda: module(x, x, x)[0])
    assert made >= pairs and kept >= pairs


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_encoder_makes_no_matrix_that_nobody_asks_for(norm_first):
    torch.manual_seed(0)
    module, length = Encoder(2, 6, 2, 8, dropout=0.0, norm_first=norm_first).double(), 640
    x, pairs = numbers(length), 2 * 2 * length * length
    made, kept = measured(lambda: module(x, key_mask=padding_mask(torch.tensor([length, 5]))))
    assert made <= pairs / 4 and kept <= pairs / 2


def test_an_encoder_layer_takes_an_attention_that_always_gives_weights():
    """A hook sees what it asks for, as a right answer to the encoder's exercise does."""
    module, seen, x = EncoderLayer(6, 2, 8, dropout=0.0).double(), [], numbers(5)
    module.self_attention.register_forward_pre_hook(lambda _, given, named: (given, named | {"need_weights": True}),
                                                    with_kwargs=True)  # fmt: skip
    module.self_attention.register_forward_hook(lambda _, given, result: seen.append(result[1]))
    module(x)
    close(seen[0], module.self_attention(x, x, x)[1])
