"""Proves the reference's multi-head attention against torch's own layer in float64, and by properties.

Tolerances: 1e-10 where two float64 computations in another order are compared; 4 rounding units of the dtype per
operation in half precision.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask, document_mask, padding_mask
from attention.multi_head import MultiHeadAttention, load_torch_weights, merge_heads, split_heads
from attention.worked_example import EXAMPLE, self_attention

pytestmark = pytest.mark.proof()
EXACT = 1e-10
D_MODEL, HEADS, BATCH = 12, 3, 2

bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


def random(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def pair(bias=True, d_model=D_MODEL, num_heads=HEADS, seed=0):
    """Our layer and torch's, with the same random weights, biases included."""
    theirs = nn.MultiheadAttention(d_model, num_heads, bias=bias, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for place, parameter in enumerate(theirs.parameters()):
            parameter.copy_(0.4 * random(*parameter.shape, seed=seed + place))
    ours = MultiHeadAttention(d_model, num_heads, bias=bias).double()
    load_torch_weights(ours, theirs)
    return ours, theirs


def packed(ours):
    """Our gradients under the names of torch's packed parameters."""
    layers = (ours.q_proj, ours.k_proj, ours.v_proj)
    found = {"in_proj_weight": torch.cat([layer.weight.grad for layer in layers])}
    found["out_proj.weight"] = ours.out_proj.weight.grad
    if ours.q_proj.bias is not None:
        found["in_proj_bias"] = torch.cat([layer.bias.grad for layer in layers])
        found["out_proj.bias"] = ours.out_proj.bias.grad
    return found


# torch's own layer as the oracle


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("masks", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (4, 6), (6, 4)])
def test_output_weights_and_all_gradients_are_those_of_torch(bias, masks, queries, keys):
    ours, theirs = pair(bias)
    inputs = [random(BATCH, length, D_MODEL, seed=7 + i) for i, length in enumerate((queries, keys, keys))]
    attn_mask = key_mask = None
    if masks in ("causal", "both"):
        # torch gives NaN to a query without a key, so that the first key stays visible where queries outnumber keys
        attn_mask = causal_mask(queries, keys)
        attn_mask[:, 0] = True
    if masks in ("padding", "both"):
        key_mask = padding_mask(torch.tensor([keys, keys - 2]))
    mine, others = ([x.clone().requires_grad_() for x in inputs] for _ in range(2))
    output, weights = ours(*mine, attn_mask=attn_mask, key_mask=key_mask)
    expected, expected_weights = theirs(
        *others,
        attn_mask=None if attn_mask is None else ~attn_mask,
        key_padding_mask=None if key_mask is None else ~key_mask,
        average_attn_weights=False,
    )
    close(output, expected)
    close(weights, expected_weights)
    # Both results take part, weighed at random, so that no gradient is zero by symmetry.
    for result, seed in ((output, 20), (weights, 21)):
        other = expected if result is output else expected_weights
        weighing = random(*result.shape, seed=seed)
        (result * weighing).sum().backward(retain_graph=True)
        (other * weighing).sum().backward(retain_graph=True)
    for x, other in zip(mine, others, strict=True):
        close(x.grad, other.grad)
    gradients = dict(theirs.named_parameters())
    unpacked = packed(ours)
    assert unpacked.keys() == gradients.keys()
    for name, gradient in unpacked.items():
        close(gradient, gradients[name].grad)


@bounded
@given(
    heads=st.integers(1, 4),
    d_head=st.integers(1, 4),
    sizes=st.tuples(*[st.integers(1, 5)] * 3),
    seed=st.integers(0, 99),
)
def test_the_layer_is_that_of_torch_at_all_sizes(heads, d_head, sizes, seed):
    batch, queries, keys = sizes
    ours, theirs = pair(d_model=heads * d_head, num_heads=heads, seed=seed)
    inputs = [random(batch, length, heads * d_head, seed=seed + i) for i, length in enumerate((queries, keys, keys))]
    for mine, other in zip(ours(*inputs), theirs(*inputs, average_attn_weights=False), strict=True):
        close(mine, other)


# Heads


def test_head_h_gets_the_columns_from_h_times_d_head_on():
    x = torch.arange(8.0).reshape(1, 2, 4)  # two tokens, 0 1 2 3 and 4 5 6 7
    assert split_heads(x, 2).tolist() == [[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]]


@bounded
@given(sizes=st.tuples(*[st.integers(1, 5)] * 4))
def test_merging_undoes_splitting_and_splitting_undoes_merging(sizes):
    batch, heads, length, d_head = sizes
    x = random(batch, length, heads * d_head)
    assert torch.equal(merge_heads(split_heads(x, heads)), x)
    parts = random(batch, heads, length, d_head)
    assert torch.equal(split_heads(merge_heads(parts), heads), parts)


@pytest.mark.parametrize("shape", [(0, 3, 6), (2, 0, 6)])
def test_no_sequence_and_no_token_can_be_split_and_merged(shape):
    x = torch.zeros(shape)
    assert split_heads(x, 2).shape == (shape[0], 2, shape[1], 3)
    assert merge_heads(split_heads(x, 2)).shape == shape


@pytest.mark.parametrize("masked", [False, True])
def test_the_layer_is_a_loop_over_heads_whose_outputs_stand_side_by_side(masked):
    ours, _ = pair()
    query, key, value = (random(BATCH, length, D_MODEL, seed=length) for length in (4, 6, 6))
    mask = torch.rand(BATCH, HEADS, 4, 6, generator=torch.Generator().manual_seed(0)) < 0.6 if masked else None
    width, heads, all_weights = D_MODEL // HEADS, [], []
    for h in range(HEADS):
        rows = slice(h * width, (h + 1) * width)
        q, k, v = (
            x @ layer.weight[rows].T + layer.bias[rows]
            for x, layer in ((query, ours.q_proj), (key, ours.k_proj), (value, ours.v_proj))
        )
        output, weights = scaled_dot_product_attention(q, k, v, None if mask is None else mask[:, h])
        heads.append(output)
        all_weights.append(weights)
    output, weights = ours(query, key, value, mask)
    close(weights, torch.stack(all_weights, dim=1))
    close(output, torch.cat(heads, dim=-1) @ ours.out_proj.weight.T + ours.out_proj.bias)


def test_out_proj_is_a_sum_over_heads_of_their_own_columns():
    ours, _ = pair()
    seen = []
    ours.out_proj.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    x = random(BATCH, 4, D_MODEL)
    output, _ = ours(x, x, x)
    heads, columns = split_heads(seen[0], HEADS), ours.out_proj.weight.reshape(D_MODEL, HEADS, -1)
    close(output, torch.einsum("bhlc,dhc->bld", heads, columns) + ours.out_proj.bias)


def test_one_head_of_the_running_example_is_attention_by_hand():
    """The layer's width is that of its inputs; three columns more of zeros make the example's head four wide."""
    inputs, *matrices = (torch.as_tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key", "w_value"))
    layer = MultiHeadAttention(4, 1, bias=False).double()
    with torch.no_grad():
        for projection, matrix in zip((layer.q_proj, layer.k_proj, layer.v_proj), matrices, strict=True):
            projection.weight.zero_()[:3] = matrix.T
        layer.q_proj.weight *= (4 / 3) ** 0.5  # scores of heads four wide are divided by 2, not by √3
        layer.out_proj.weight.copy_(torch.eye(4))
    output, weights = layer(inputs[None], inputs[None], inputs[None])
    expected, expected_weights = self_attention(
        *(EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value")), scale=True
    )
    close(output[0, :, :3], torch.as_tensor(expected))
    close(weights[0, 0], torch.as_tensor(expected_weights))
    close(output[0, 0, :3], [1.8639, 6.3194, 1.7042], 5e-5)  # printed with four decimals


# Parameters


@pytest.mark.parametrize(("bias", "count"), [(True, 4 * (D_MODEL**2 + D_MODEL)), (False, 4 * D_MODEL**2)])
def test_the_number_of_heads_does_not_change_the_number_of_parameters(bias, count):
    for heads in (1, 3, 12):
        layer = MultiHeadAttention(D_MODEL, heads, bias=bias)
        assert sum(parameter.numel() for parameter in layer.parameters()) == count
        assert all(isinstance(child, nn.Linear) for child in layer.children())
        assert [name for name, _ in layer.named_children()] == ["q_proj", "k_proj", "v_proj", "out_proj"]


# load_torch_weights


@pytest.mark.parametrize("bias", [True, False])
def test_loading_copies_every_number_and_shares_none(bias):
    ours, theirs = pair(bias)
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 1.0
    assert all(torch.equal(value, before[name]) for name, value in ours.state_dict().items())
    held = [*ours.parameters()]
    load_torch_weights(ours, theirs)
    assert all(mine is other for mine, other in zip(held, ours.parameters(), strict=True))
    assert all(parameter.requires_grad and parameter.grad is None for parameter in held)
    close(ours.v_proj.weight.detach(), theirs.in_proj_weight[2 * D_MODEL :].detach(), 0)


def test_loading_keeps_the_dtype_of_the_module():
    _, theirs = pair()
    ours = MultiHeadAttention(D_MODEL, HEADS)
    load_torch_weights(ours, theirs)
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}
    assert torch.equal(ours.out_proj.weight, theirs.out_proj.weight.float())


@pytest.mark.parametrize(
    ("module", "reference", "text"),
    [
        ({"d_model": 6}, {"embed_dim": 8}, "as wide as reference, 8, got 6"),
        ({"d_model": 8, "bias": False}, {"embed_dim": 8}, "both have biases"),
        ({"d_model": 8}, {"embed_dim": 8, "bias": False}, "both have biases"),
        ({"d_model": 8}, {"embed_dim": 8, "kdim": 4}, "kdim or vdim"),
        ({"d_model": 8}, {"embed_dim": 8, "vdim": 4}, "kdim or vdim"),
        ({"d_model": 8}, {"embed_dim": 8, "num_heads": 4}, "4 heads, got 2"),
        ({"d_model": 8}, {"embed_dim": 8, "add_bias_kv": True}, "add_bias_kv"),
        ({"d_model": 8}, {"embed_dim": 8, "add_zero_attn": True}, "add_zero_attn"),
    ],
)
def test_layers_that_do_not_fit_each_other_are_refused(module, reference, text):
    theirs = nn.MultiheadAttention(**{"num_heads": 2, "batch_first": True, **reference})
    ours = MultiHeadAttention(num_heads=2, **module)
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    with pytest.raises(ValueError, match=text):
        load_torch_weights(ours, theirs)
    assert all(torch.equal(value, before[name]) for name, value in ours.state_dict().items())


def test_a_module_that_does_not_tell_its_number_of_heads_is_loaded():
    _, theirs = pair()
    module = nn.ModuleDict({name: nn.Linear(D_MODEL, D_MODEL).double() for name in ("q_proj", "k_proj", "v_proj")})
    module.out_proj = nn.Linear(D_MODEL, D_MODEL).double()
    for name in ("q_proj", "k_proj", "v_proj"):
        setattr(module, name, module[name])
    load_torch_weights(module, theirs)
    close(module.q_proj.weight.detach(), theirs.in_proj_weight[:D_MODEL].detach(), 0)


def test_a_document_mask_with_an_axis_for_the_heads_keeps_documents_apart():
    ours, _ = pair()
    ids = torch.tensor([[0, 0, 1, 1, 1, 2], [5, 5, 5, 5, 3, 3]])
    x = random(BATCH, 6, D_MODEL)
    output, weights = ours(x, x, x, attn_mask=document_mask(ids)[:, None])
    for row, pieces in ((0, [(0, 2), (2, 5), (5, 6)]), (1, [(0, 4), (4, 6)])):
        for start, end in pieces:
            alone = x[row : row + 1, start:end]
            expected, expected_weights = ours(alone, alone, alone)
            close(output[row, start:end], expected[0])
            close(weights[row, :, start:end, start:end], expected_weights[0])
