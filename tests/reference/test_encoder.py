"""Proves the reference's EncoderLayer and Encoder against torch's own, in float64, with the same weights.

Tolerance: 1e-10, far above what float64 loses in three layers and far below any difference of formula. Dropout is 0. In
training mode torch takes none of its fast paths, and neither does it where gradients are asked for.
"""

import pytest
import torch
from torch import nn

from attention.encoder import Encoder, EncoderLayer
from attention.masks import causal_mask, padding_mask
from attention.multi_head import load_torch_weights

pytestmark = pytest.mark.proof()
TOLERANCE = 1e-10
D_MODEL, HEADS, D_FF, LAYERS = 6, 2, 7, 3
BATCH, LENGTH = 3, 5
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
activations = pytest.mark.parametrize("activation", ["relu", "gelu"])
masked = pytest.mark.parametrize("causal", [False, True], ids=["", "causal"])
padded = pytest.mark.parametrize("padding", [False, True], ids=["", "padding"])


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=TOLERANCE)


def scattered(module, seed=0):
    """The module in float64, with weights that are all different, gains of norms around 1."""
    rng = torch.Generator().manual_seed(seed)
    module.double()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=rng, dtype=torch.float64))
            if "norm" in name and name.endswith("weight"):
                parameter.add_(1.0)
    return module


def torch_layer(norm_first, activation):
    return nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first
    )


def torch_encoder(norm_first, activation):
    norm = nn.LayerNorm(D_MODEL) if norm_first else None
    stack = nn.TransformerEncoder(torch_layer(norm_first, activation), LAYERS, norm, enable_nested_tensor=False)
    return scattered(stack)


def copy_layer(layer, theirs):
    """Give an EncoderLayer the weights of torch's."""
    load_torch_weights(layer.self_attention, theirs.self_attn)
    for part, source in (
        (layer.feed_forward.linear1, theirs.linear1),
        (layer.feed_forward.linear2, theirs.linear2),
        (layer.norm1, theirs.norm1),
        (layer.norm2, theirs.norm2),
    ):
        part.load_state_dict(source.state_dict())


def ours_for(theirs, norm_first, activation):
    """Our layer or encoder with the weights of torch's."""
    settings = {"dropout": 0.0, "activation": activation, "norm_first": norm_first}
    if isinstance(theirs, nn.TransformerEncoderLayer):
        ours = EncoderLayer(D_MODEL, HEADS, D_FF, **settings).double()
        copy_layer(ours, theirs)
        return ours
    ours = Encoder(LAYERS, D_MODEL, HEADS, D_FF, **settings).double()
    for layer, source in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(layer, source)
    if norm_first:
        ours.final_norm.load_state_dict(theirs.norm.state_dict())
    return ours


def gradients_of_layer(layer):
    """The gradients of an EncoderLayer in the order and packing of torch's parameters."""
    attention, feed = layer.self_attention, layer.feed_forward
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    yield torch.cat([one.weight.grad for one in projections])
    yield torch.cat([one.bias.grad for one in projections])
    for part in (attention.out_proj, feed.linear1, feed.linear2, layer.norm1, layer.norm2):
        yield part.weight.grad
        yield part.bias.grad


def gradients(ours):
    layers = ours.layers if isinstance(ours, Encoder) else [ours]
    found = [gradient for layer in layers for gradient in gradients_of_layer(layer)]
    last = getattr(ours, "final_norm", None)
    return found + ([last.weight.grad, last.bias.grad] if last else [])


def masks(causal, padding):
    """Our masks, and the same in torch's way, where True forbids."""
    attn_mask = causal_mask(LENGTH) if causal else None
    key_mask = padding_mask(torch.tensor([LENGTH, 2, 4]), LENGTH) if padding else None
    return (attn_mask, key_mask), [None if mask is None else ~mask for mask in (attn_mask, key_mask)]


def tokens(seed=1):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, LENGTH, D_MODEL, generator=rng, dtype=torch.float64)


def agree(theirs, norm_first, activation, causal, padding):
    """Output and all gradients of the two are equal."""
    ours = ours_for(theirs, norm_first, activation)
    allowed, forbidden = masks(causal, padding)
    x, same = (tokens().requires_grad_() for _ in range(2))
    output, expected = ours(x, *allowed), theirs(same, *forbidden)
    close(output, expected)
    direction = tokens(seed=2)
    output.backward(direction)
    expected.backward(direction)
    close(x.grad, same.grad)
    expected_gradients = [parameter.grad for parameter in theirs.parameters()]
    found = gradients(ours)
    assert len(found) == len(expected_gradients) == len([*theirs.parameters()])
    for got, wanted in zip(found, expected_gradients, strict=True):
        close(got, wanted)


@padded
@masked
@activations
@orders
def test_a_layer_equals_torchs_in_output_and_all_gradients(norm_first, activation, causal, padding):
    agree(scattered(torch_layer(norm_first, activation)).train(), norm_first, activation, causal, padding)


@padded
@masked
@activations
@orders
def test_an_encoder_equals_torchs_in_output_and_all_gradients(norm_first, activation, causal, padding):
    agree(torch_encoder(norm_first, activation).train(), norm_first, activation, causal, padding)


@padded
@masked
@activations
@orders
def test_in_evaluation_an_encoder_equals_torchs_with_and_without_its_fast_path(norm_first, activation, causal, padding):
    theirs = torch_encoder(norm_first, activation).eval()
    ours = ours_for(theirs, norm_first, activation).eval()
    allowed, forbidden = masks(causal, padding)
    close(ours(tokens(), *allowed), theirs(tokens(), *forbidden))
    with torch.no_grad():
        close(ours(tokens(), *allowed), theirs(tokens(), *forbidden))


@padded
@masked
@activations
@orders
def test_the_weights_of_each_layer_are_those_of_torchs_attention_in_it(norm_first, activation, causal, padding):
    theirs = torch_encoder(norm_first, activation).train()
    ours = ours_for(theirs, norm_first, activation)
    allowed, (attn_mask, key_padding_mask) = masks(causal, padding)
    seen = []
    for layer in theirs.layers:
        layer.self_attn.register_forward_pre_hook(lambda module, args: seen.append((module, args[0])))
    expected_output = theirs(tokens(), attn_mask, key_padding_mask)
    output, weights = ours(tokens(), *allowed, return_weights=True)
    close(output, expected_output)
    assert isinstance(weights, list) and len(weights) == len(seen) == LAYERS
    for got, (attention, x) in zip(weights, list(seen), strict=True):
        _, expected = attention(
            x, x, x, key_padding_mask, attn_mask=attn_mask, need_weights=True, average_attn_weights=False
        )
        assert got.shape == (BATCH, HEADS, LENGTH, LENGTH)
        close(got, expected)


@orders
def test_the_weights_pass_their_gradients_on_as_torchs_do(norm_first):
    """A loss on the weights alone: torch's attention of a single layer, on what it sees."""
    theirs = scattered(torch_layer(norm_first, "relu")).train()
    single = Encoder(1, D_MODEL, HEADS, D_FF, dropout=0.0, norm_first=norm_first).double()
    copy_layer(single.layers[0], theirs)
    x, same = (tokens().requires_grad_() for _ in range(2))
    direction = torch.randn(BATCH, HEADS, LENGTH, LENGTH, generator=torch.Generator().manual_seed(3)).double()
    single(x, return_weights=True)[1][0].backward(direction)
    seen = theirs.norm1(same) if norm_first else same
    theirs.self_attn(seen, seen, seen, average_attn_weights=False)[1].backward(direction)
    close(x.grad, same.grad)
    close(single.layers[0].self_attention.q_proj.weight.grad, theirs.self_attn.in_proj_weight.grad[:D_MODEL])


@orders
def test_an_encoder_is_its_layers_one_after_the_other(norm_first):
    encoder = scattered(Encoder(LAYERS, D_MODEL, HEADS, D_FF, norm_first=norm_first)).eval()
    x = tokens()
    for layer in encoder.layers:
        x = layer(x)
    close(encoder(tokens()), encoder.final_norm(x) if norm_first else x)
    assert hasattr(encoder, "final_norm") == norm_first


def test_layers_have_weights_of_their_own():
    encoder = Encoder(LAYERS, D_MODEL, HEADS, D_FF)
    assert len({id(parameter) for parameter in encoder.parameters()}) == LAYERS * 16
    starts = [layer.feed_forward.linear1.weight for layer in encoder.layers]
    assert not torch.equal(starts[0], starts[1])
