"""Proves what the interface promises of multi-head attention: empty rows, dtypes, modes, errors, graphs.

Tolerances: 1e-12 where two float64 computations are compared; 32 rounding units of the dtype in half precision, where
four products of numbers of size 1 follow each other.
"""

import inspect
import math

import pytest
import torch

from attention.masks import causal_mask, padding_mask
from attention.multi_head import MultiHeadAttention, load_torch_weights, merge_heads, split_heads

pytestmark = pytest.mark.proof()
EXACT = 1e-12
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
D_MODEL, HEADS, BATCH = 12, 3, 2


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


def random(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def layer(dtype=torch.float64, **options):
    """A layer with random weights, biases included, in evaluation mode."""
    made = MultiHeadAttention(D_MODEL, HEADS, **options).to(dtype)
    with torch.no_grad():
        for place, parameter in enumerate(made.parameters()):
            parameter.copy_(0.3 * random(*parameter.shape, seed=place))
    return made.eval()


def inputs(queries=4, keys=6, dtype=torch.float64):
    return [random(BATCH, n, D_MODEL, seed=9 + i, dtype=dtype) for i, n in enumerate((queries, keys, keys))]


def empty_masks():
    """The second sequence has no real token, and query 1 of the first may attend to padding alone."""
    pairs = torch.ones(4, 6, dtype=torch.bool)
    pairs[1, :3] = False
    return pairs, padding_mask(torch.tensor([3, 0]), 6)


# Empty rows


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_query_that_may_attend_to_nothing_gets_the_bias_of_out_proj_and_finite_gradients(dtype):
    made, arguments = layer(dtype), [x.requires_grad_() for x in inputs(dtype=dtype)]
    pairs, real = empty_masks()
    with torch.autograd.set_detect_anomaly(True, check_nan=True):  # no NaN on the way either
        output, weights = made(*arguments, attn_mask=pairs, key_mask=real)
        (output.square().sum() + weights.square().sum()).backward()
    bias = made.out_proj.bias.detach()
    assert torch.equal(output[0, 1], bias) and torch.equal(output[1], bias.expand(4, -1))
    assert (weights[1] == 0).all() and (weights[0, :, 1] == 0).all()
    sums = weights[0, :, [0, 2, 3]].double().sum(dim=-1)
    close(sums, torch.ones(HEADS, 3), 8 * torch.finfo(dtype).eps)
    everything = [x.grad for x in arguments] + [parameter.grad for parameter in made.parameters()]
    assert all(gradient.isfinite().all() for gradient in everything)
    query, key, value = (x.grad for x in arguments)
    assert (query[1] == 0).all() and (key[1] == 0).all() and (value[1] == 0).all() and (query[0, 1] == 0).all()


def test_the_gradient_of_a_batch_with_empty_rows_is_that_of_the_others_alone():
    made, (query, key, value) = layer(), inputs()
    made(query, key, value, key_mask=padding_mask(torch.tensor([6, 0])))[0].sum().backward()
    got = {name: parameter.grad.clone() for name, parameter in made.named_parameters()}
    made.zero_grad()
    made(query[:1], key[:1], value[:1])[0].sum().backward()
    for name, parameter in made.named_parameters():
        extra = 4.0 if name == "out_proj.bias" else 0.0  # the empty sequence's outputs are the bias
        close(got[name], parameter.grad + extra)


def test_padding_has_no_influence():
    made, (query, key, value) = layer(), inputs()
    real = padding_mask(torch.tensor([4, 2]), 6)
    output, weights = made(query, key, value, key_mask=real)
    key[~real], value[~real] = 1e3, -1e3
    changed, changed_weights = made(query, key, value, key_mask=real)
    assert torch.equal(changed, output) and torch.equal(changed_weights, weights)
    assert (weights.movedim(1, -1)[~real[:, None].expand(-1, 4, -1)] == 0).all()


def test_no_query_and_no_key_are_answered():
    made, (query, key, value) = layer(), inputs()
    output, weights = made(query[:, :0], key, value)
    assert output.shape == (BATCH, 0, D_MODEL) and weights.shape == (BATCH, HEADS, 0, 6)
    output, weights = made(query, key[:, :0], value[:, :0])
    assert torch.equal(output, made.out_proj.bias.expand(BATCH, 4, -1)) and weights.shape == (BATCH, HEADS, 4, 0)


# Masks


@pytest.mark.parametrize(
    "shape", [(), (6,), (4, 6), (4, 1), (1, 6), (HEADS, 1, 1), (BATCH, 1, 4, 6), (BATCH, HEADS, 4, 6)]
)
def test_a_mask_of_any_shape_that_broadcasts_is_the_mask_written_out(shape):
    made, arguments = layer(), inputs()
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    whole = mask.expand(BATCH, HEADS, 4, 6).clone()
    for one, other in zip(made(*arguments, attn_mask=mask), made(*arguments, attn_mask=whole), strict=True):
        close(one, other)


def test_both_masks_together_are_their_and():
    made, arguments = layer(), inputs()
    pairs, real = causal_mask(4, 6), padding_mask(torch.tensor([5, 4]), 6)
    both = pairs & real[:, None, None, :]
    for one, other in zip(made(*arguments, pairs, real), made(*arguments, both), strict=True):
        close(one, other)


# Dtypes, arguments, modes


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_dtype_is_kept_and_the_numbers_are_those_of_float64(dtype):
    arguments = [x.to(dtype) for x in inputs()]
    pairs, real = empty_masks()
    got = layer(dtype)(*arguments, pairs, real)
    exact = layer(dtype).double()(*(x.double() for x in arguments), pairs, real)
    for one, other in zip(got, exact, strict=True):
        assert one.dtype == dtype
        close(one.double(), other, 32 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_split_and_merge_keep_the_dtype_and_pass_gradients(dtype):
    x = random(BATCH, 4, D_MODEL, dtype=dtype).requires_grad_()
    parts = split_heads(x, HEADS)
    whole = merge_heads(parts)
    assert parts.dtype == whole.dtype == dtype
    weights = random(BATCH, 4, D_MODEL, seed=1, dtype=dtype)
    (whole * weights).sum().backward()
    assert torch.equal(x.grad, weights)


@pytest.mark.parametrize("training", [False, True])
def test_nothing_that_comes_in_is_modified(training):
    made = layer(dropout=0.3).train(training)
    given = [*inputs(), torch.ones(BATCH, HEADS, 4, 6, dtype=torch.bool), padding_mask(torch.tensor([5, 0]), 6)]
    before = [x.clone() for x in given]
    parameters = {name: value.clone() for name, value in made.state_dict().items()}
    made(*given)
    split_heads(given[0], HEADS)
    assert all(torch.equal(x, y) for x, y in zip(given, before, strict=True))
    assert all(torch.equal(value, parameters[name]) for name, value in made.state_dict().items())


@pytest.mark.parametrize("dropout", [0.1, 0.25, 0.5])
def test_dropout_acts_on_the_weights_used_in_training_and_never_in_evaluation(dropout):
    keys = 60
    made = MultiHeadAttention(keys, 1, dropout=dropout).double()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.copy_(torch.eye(keys) if name.endswith("weight") else torch.zeros(keys))
    query = random(1, keys, keys) / 8
    arguments = query, query, torch.eye(keys).double()[None]  # unit vectors as values: the output is the weights used
    torch.manual_seed(0)
    used, returned = made(*arguments)
    dropped = used[0] == 0
    close(used[0][~dropped], returned[0, 0][~dropped] / (1 - dropout))
    # 3600 weights: five standard deviations of the share are allowed
    assert abs(dropped.double().mean() - dropout) < 5 * math.sqrt(dropout * (1 - dropout) / keys**2)
    made.eval()
    quiet, weights = made(*arguments)
    close(quiet[0], weights[0, 0])
    close(weights, returned)


def test_dropout_never_reaches_a_forbidden_key_and_empty_rows_stay_the_bias():
    made, arguments = layer(dropout=0.5).train(), inputs()
    pairs, real = empty_masks()
    output, weights = made(*arguments, pairs, real)
    assert torch.equal(output[1], made.out_proj.bias.expand(4, -1)) and output.isfinite().all()
    close(weights, made.eval()(*arguments, pairs, real)[1])


# What the interface promises


def test_signatures_are_those_of_the_interface():
    assert list(inspect.signature(split_heads).parameters) == ["x", "num_heads"]
    assert list(inspect.signature(merge_heads).parameters) == ["x"]
    assert list(inspect.signature(load_torch_weights).parameters) == ["module", "reference"]
    made = inspect.signature(MultiHeadAttention).parameters
    assert list(made) == ["d_model", "num_heads", "dropout", "bias"]
    assert (made["dropout"].default, made["bias"].default) == (0.0, True)
    called = inspect.signature(MultiHeadAttention.forward).parameters
    assert list(called) == ["self", "query", "key", "value", "attn_mask", "key_mask", "need_weights"]
    assert called["need_weights"].kind is inspect.Parameter.KEYWORD_ONLY and called["need_weights"].default is True


def test_gradients_are_those_of_finite_differences():
    made = MultiHeadAttention(4, 2).double()
    arguments = [random(BATCH, n, 4, seed=n).requires_grad_() for n in (2, 3, 3)]
    mask = torch.tensor([[True, False, True], [False, False, False]])
    assert torch.autograd.gradcheck(lambda *x: made(*x, mask, padding_mask(torch.tensor([3, 2]))), arguments)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: split_heads(torch.zeros(2, 3, 7), 2), ValueError, "num_heads must divide d_model"),
        (lambda: split_heads(torch.zeros(3, 6), 2), ValueError, "unsqueeze"),
        (lambda: split_heads(torch.zeros(2, 3, 6), 0), ValueError, "at least 1"),
        (lambda: split_heads(torch.zeros(2, 3, 6, dtype=torch.long), 2), TypeError, "floating-point"),
        (lambda: merge_heads(torch.zeros(2, 3, 6)), ValueError, "four axes"),
        (lambda: merge_heads([[[[1.0]]]]), TypeError, "must be a tensor"),
        (lambda: MultiHeadAttention(7, 2), ValueError, "num_heads must divide d_model"),
        (lambda: MultiHeadAttention(8, 2, dropout=1.5), ValueError, "between 0 and 1"),
        (lambda: MultiHeadAttention(8, 2.0), TypeError, "must be an int"),
    ],
)
def test_bad_sizes_are_refused_with_a_text_that_helps(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"query": torch.zeros(BATCH, 4, 11).double()}, ValueError, "12 features"),
        ({"query": torch.zeros(4, D_MODEL).double()}, ValueError, "unsqueeze"),
        ({"query": torch.zeros(3, 4, D_MODEL).double()}, ValueError, "one batch size"),
        ({"value": torch.zeros(BATCH, 5, D_MODEL).double()}, ValueError, "key and value one length"),
        ({"key": torch.zeros(BATCH, 6, D_MODEL)}, TypeError, "one dtype"),
        ({"attn_mask": torch.zeros(4, 6)}, TypeError, "additive"),
        ({"attn_mask": torch.ones(6, 4, dtype=torch.bool)}, ValueError, r"\(2, 3, 4, 6\)"),
        ({"attn_mask": torch.ones(BATCH, 4, 6, dtype=torch.bool)}, ValueError, "broadcast"),
        ({"key_mask": torch.ones(6, dtype=torch.bool)}, ValueError, r"\(B, S\)"),
        ({"key_mask": torch.ones(BATCH, 4, dtype=torch.bool)}, ValueError, "key_mask"),
        ({"key_mask": torch.ones(BATCH, 6, dtype=torch.long)}, TypeError, "boolean"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_a_text_that_helps(change, kind, text):
    arguments = dict(zip(("query", "key", "value"), inputs(), strict=True)) | change
    with pytest.raises(kind, match=text):
        layer()(**arguments)


def test_inputs_of_another_dtype_than_the_module_are_refused_and_autocast_is_not():
    made = layer(torch.float32)
    with pytest.raises(TypeError, match="the module's dtype torch.float32"):
        made(*inputs())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, weights = made(*(x.float() for x in inputs()), *empty_masks())
    assert output.isfinite().all() and weights.isfinite().all()


# Graphs


@pytest.mark.parametrize("masked", [False, True])
def test_the_layer_compiles_into_one_graph_with_its_backward_pass(masked):
    made, arguments = layer(), [x.requires_grad_() for x in inputs()]
    masks = empty_masks() if masked else ()
    compiled = torch.compile(made, backend="aot_eager", fullgraph=True)
    results = {}
    for name, one in (("eager", made), ("compiled", compiled)):
        output, weights = one(*arguments, *masks)
        (output.square().sum() + weights.square().sum()).backward()
        gradients = [x.grad.clone() for x in (*arguments, *made.parameters())]
        results[name] = [output.detach(), weights.detach(), *gradients]
        made.zero_grad()
        for x in arguments:
            x.grad = None
    for one, other in zip(results["compiled"], results["eager"], strict=True):
        close(one, other)


def test_the_layer_can_be_exported():
    made, arguments = layer(), inputs()
    masks = empty_masks()
    program = torch.export.export(made, (*arguments, *masks))
    for one, other in zip(program.module()(*arguments, *masks), made(*arguments, *masks), strict=True):
        close(one, other)
