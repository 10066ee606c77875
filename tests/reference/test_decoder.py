"""Proves the decoder layer of the reference against torch's own, and its cache against the call without one.

Tolerance: 1e-10, for two float64 computations are compared.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, grad, vmap

from attention.decoder import DecoderLayer
from attention.efficient import KeyValueCache
from attention.encoder import EncoderLayer
from attention.masks import causal_mask, padding_mask
from attention.multi_head import load_torch_weights

pytestmark = pytest.mark.proof()
TOLERANCE = 1e-10
D_MODEL, HEADS, D_FF = 6, 2, 7
BATCH, LENGTH, SOURCE = 3, 5, 4
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
crossing = pytest.mark.parametrize("cross", [False, True], ids=["alone", "with memory"])
LAYER_NAMES = {
    *(f"self_attention.{one}_proj.{what}" for one in ("q", "k", "v", "out") for what in ("weight", "bias")),
    *(f"feed_forward.linear{one}.{what}" for one in (1, 2) for what in ("weight", "bias")),
    *(f"norm{one}.{what}" for one in (1, 2) for what in ("weight", "bias")),
}
CROSS_NAMES = {
    *(f"cross_attention.{one}_proj.{what}" for one in ("q", "k", "v", "out") for what in ("weight", "bias")),
    *(f"norm3.{what}" for what in ("weight", "bias")),
}


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=TOLERANCE)


def numbers(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scattered(module, seed=0):
    """The module in float64, with weights that are all different, gains of norms around 1."""
    module.double()
    with torch.no_grad():
        for place, (name, parameter) in enumerate(module.named_parameters()):
            parameter.copy_(0.5 * numbers(*parameter.shape, seed=seed + place))
            if "norm" in name and name.endswith("weight"):
                parameter.add_(1.0)
    return module


def layer_of(cross, norm_first=True, **more):
    made = DecoderLayer(D_MODEL, HEADS, D_FF, dropout=0.0, norm_first=norm_first, cross_attention=cross, **more)
    return scattered(made)


def copied(theirs, norm_first, activation):
    """Our layer with the weights of torch's."""
    ours = DecoderLayer(D_MODEL, HEADS, D_FF, 0.0, activation, norm_first, cross_attention=True).double()
    load_torch_weights(ours.self_attention, theirs.self_attn)
    load_torch_weights(ours.cross_attention, theirs.multihead_attn)
    for part, source in (
        (ours.feed_forward.linear1, theirs.linear1),
        (ours.feed_forward.linear2, theirs.linear2),
        (ours.norm1, theirs.norm1),
        (ours.norm2, theirs.norm2),
        (ours.norm3, theirs.norm3),
    ):
        part.load_state_dict(source.state_dict())
    return ours


@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@orders
def test_a_layer_equals_torchs_in_output_and_gradients(norm_first, activation, masked):
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first
    )
    ours = copied(scattered(theirs), norm_first, activation)
    key_mask = padding_mask(torch.tensor([5, 2, 4]), LENGTH) if masked else None
    memory_key_mask = padding_mask(torch.tensor([1, 4, 3]), SOURCE) if masked else None
    pairs = [[numbers(*shape).requires_grad_() for _ in "ab"] for shape in ((BATCH, LENGTH, 6), (BATCH, SOURCE, 6))]
    (x, same_x), (memory, same_memory) = pairs
    output = ours(x, memory, key_mask, memory_key_mask)
    expected = theirs(
        same_x,
        same_memory,
        tgt_mask=~causal_mask(LENGTH),
        tgt_key_padding_mask=None if key_mask is None else ~key_mask,
        memory_key_padding_mask=None if memory_key_mask is None else ~memory_key_mask,
    )
    close(output, expected)
    direction = numbers(BATCH, LENGTH, D_MODEL, seed=2)
    output.backward(direction)
    expected.backward(direction)
    close(x.grad, same_x.grad)
    close(memory.grad, same_memory.grad)
    for mine, other in (
        (ours.feed_forward.linear1, theirs.linear1),
        (ours.cross_attention.out_proj, theirs.multihead_attn.out_proj),
        (ours.norm1, theirs.norm1),
        (ours.norm2, theirs.norm2),
        (ours.norm3, theirs.norm3),
    ):
        close(mine.weight.grad, other.weight.grad)
        close(mine.bias.grad, other.bias.grad)
    projections = (ours.cross_attention.q_proj, ours.cross_attention.k_proj, ours.cross_attention.v_proj)
    close(torch.cat([one.weight.grad for one in projections]), theirs.multihead_attn.in_proj_weight.grad)


@orders
def test_without_a_memory_it_is_an_encoder_layer_under_a_causal_mask(norm_first):
    ours = layer_of(False, norm_first)
    theirs = EncoderLayer(D_MODEL, HEADS, D_FF, 0.0, "gelu", norm_first).double()
    theirs.load_state_dict(ours.state_dict())
    x, key_mask = numbers(BATCH, LENGTH, D_MODEL), padding_mask(torch.tensor([5, 2, 4]))
    close(ours(x, key_mask=key_mask), theirs(x, causal_mask(LENGTH), key_mask))


@crossing
def test_the_state_dict_has_the_names_of_the_interface(cross):
    assert set(layer_of(cross).state_dict()) == (LAYER_NAMES | CROSS_NAMES if cross else LAYER_NAMES)


@orders
@crossing
@pytest.mark.parametrize("steps", [[1] * 5, [5], [3, 1, 1], [1, 2, 2]], ids=str)
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_with_a_cache_it_gives_the_last_rows_of_the_call_without_one(batch, steps, cross, norm_first):
    layer, x = layer_of(cross, norm_first), numbers(batch, LENGTH, D_MODEL)
    read = (numbers(batch, SOURCE, D_MODEL, seed=3),) if cross else ()
    mask = {"memory_key_mask": padding_mask(torch.arange(batch) % SOURCE + 1, SOURCE)} if cross else {}
    at_once, cache, start = layer(x, *read, **mask), KeyValueCache(LENGTH), 0
    for length in steps:
        found = layer(x[:, start : start + length], *read, cache=cache, **mask)
        close(found, at_once[:, start : start + length])
        start += length
        assert cache.length == start


def test_gradients_through_the_cache_are_those_of_the_call_without_one():
    layer, cache = layer_of(False), KeyValueCache(LENGTH)
    x, same = (numbers(2, LENGTH, D_MODEL).requires_grad_() for _ in "ab")
    total = sum(layer(x[:, i : i + 1], cache=cache).square().sum() for i in range(LENGTH))
    total.backward()
    layer(same).square().sum().backward()
    close(x.grad, same.grad)


@settings(max_examples=25, derandomize=True, deadline=None, database=None)
@given(place=st.integers(0, LENGTH - 1), cross=st.booleans(), norm_first=st.booleans())
def test_no_position_depends_on_a_later_one_and_all_depend_on_the_memory(place, cross, norm_first):
    layer, x = layer_of(cross, norm_first), numbers(1, LENGTH, D_MODEL)
    other = x.clone()
    other[:, place] = numbers(1, D_MODEL, seed=7)  # a norm does not see a constant
    memory = numbers(1, SOURCE, D_MODEL, seed=4) if cross else None
    moved = (layer(x, memory) - layer(other, memory)).abs().amax(dim=-1)[0] > 1e-8
    assert moved.tolist() == [i >= place for i in range(LENGTH)]
    if cross:
        changed = memory.clone()
        changed[:, -1] += 1
        assert ((layer(x, memory) - layer(x, changed)).abs().amax(dim=-1) > 1e-8).all()


def test_hidden_memory_has_no_influence_and_no_memory_to_see_is_finite():
    layer, x, memory = layer_of(True), numbers(2, LENGTH, D_MODEL), numbers(2, SOURCE, D_MODEL, seed=5)
    mask = padding_mask(torch.tensor([2, 0]), SOURCE)
    other = memory.where(mask[..., None], 100.0).requires_grad_()
    found = layer(x, other, memory_key_mask=mask)
    close(found, layer(x, memory, memory_key_mask=mask))
    found.sum().backward()
    assert other.grad.isfinite().all() and (other.grad[~mask] == 0).all()


@pytest.mark.parametrize("sizes", [(0, 5, 4), (2, 0, 4), (2, 5, 0), (0, 0, 0)], ids=str)
@orders
def test_empty_sizes_are_answered(norm_first, sizes):
    batch, length, source = sizes
    layer = layer_of(True, norm_first)
    found = layer(numbers(batch, length, D_MODEL), numbers(batch, source, D_MODEL))
    assert found.shape == (batch, length, D_MODEL) and found.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_every_dtype_is_kept_also_with_a_cache(dtype):
    layer, x = layer_of(True).to(dtype), numbers(2, LENGTH, D_MODEL).to(dtype)
    memory, cache = numbers(2, SOURCE, D_MODEL, seed=6).to(dtype), KeyValueCache(LENGTH)
    whole = layer(x, memory)
    parts = [layer(x[:, i : i + 1], memory, cache=cache) for i in range(LENGTH)]
    assert whole.dtype == parts[0].dtype == dtype
    tolerance = 8 * torch.finfo(dtype).eps * whole.abs().max().item()
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=0, atol=tolerance)


def test_dropout_acts_in_training_alone_and_in_each_part():
    torch.manual_seed(0)
    layer = DecoderLayer(D_MODEL, HEADS, D_FF, dropout=0.5, cross_attention=True)
    x, memory = torch.randn(1, 3, D_MODEL), torch.randn(1, 2, D_MODEL)
    assert not torch.equal(layer(x, memory), layer(x, memory))
    cached = [layer(x, memory, cache=KeyValueCache(3)) for _ in "ab"]
    assert not torch.equal(*cached)
    assert torch.equal(layer.eval()(x, memory), layer(x, memory))


@crossing
def test_a_compiled_layer_answers_as_the_plain_one(cross):
    torch._dynamo.reset()
    layer, x = layer_of(cross), numbers(2, LENGTH, D_MODEL)
    read = (numbers(2, SOURCE, D_MODEL, seed=3),) if cross else ()
    key_mask = padding_mask(torch.tensor([5, 3]))
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    close(compiled(x, *read, key_mask=key_mask), layer(x, *read, key_mask=key_mask))


@crossing
def test_gradients_of_each_sample_are_those_of_the_samples_one_by_one(cross):
    layer, inputs = layer_of(cross), numbers(3, LENGTH, D_MODEL)
    memories = numbers(3, SOURCE, D_MODEL, seed=3)
    parameters = {name: parameter.detach() for name, parameter in layer.named_parameters()}

    def loss(parameters, x, memory):
        read = (memory[None],) if cross else ()
        return functional_call(layer, parameters, (x[None], *read)).square().sum()

    each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, inputs, memories)
    for sample in range(3):
        one = grad(loss)(parameters, inputs[sample], memories[sample])
        for name in parameters:
            close(each[name][sample], one[name])


X, MEMORY = numbers(2, 3, D_MODEL), numbers(2, 4, D_MODEL)
REFUSED = {
    "memory must be given": (True, (X,), {}),
    "memory must be None": (False, (X, MEMORY), {}),
    "one batch size": (True, (X, MEMORY[:1]), {}),
    "key_mask must be None with a cache": (
        False,
        (X,),
        {"key_mask": torch.ones(2, 3, dtype=torch.bool), "cache": KeyValueCache(3)},
    ),
    "memory_key_mask must be None without": (False, (X,), {"memory_key_mask": torch.ones(2, 4, dtype=torch.bool)}),
    "memory_key_mask must be \\(B, S\\)": (True, (X, MEMORY), {"memory_key_mask": torch.ones(2, 1, dtype=torch.bool)}),
    "must broadcast to \\(2, 3\\)": (False, (X,), {"key_mask": torch.ones(2, 4, dtype=torch.bool)}),
    "must be \\(B, length, d_model\\)": (False, (X[0],), {}),
    "must have 6 features": (True, (X, numbers(2, 4, 5)), {}),
    "the cache holds 2 positions": (False, (X,), {"cache": KeyValueCache(2)}),
}
MISTYPED = {
    "floating-point dtype": (False, (X.long(),), {}),
    "one dtype": (True, (X, MEMORY.float()), {}),
    "must be a boolean": (False, (X,), {"key_mask": torch.ones(2, 3)}),
    "must be a KeyValueCache": (False, (X,), {"cache": []}),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_does_not_fit_is_a_value_error_in_a_sentence(text):
    cross, arguments, more = REFUSED[text]
    with pytest.raises(ValueError, match=text):
        layer_of(cross)(*arguments, **more)


@pytest.mark.parametrize("text", MISTYPED)
def test_what_is_of_another_type_is_a_type_error_in_a_sentence(text):
    cross, arguments, more = MISTYPED[text]
    with pytest.raises(TypeError, match=text):
        layer_of(cross)(*arguments, **more)
