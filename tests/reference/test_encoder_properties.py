"""Proves what the reference's encoder must hold whatever its weights: padding, order, dropout, dtypes, graphs.

Tolerance: 1e-12 between two float64 computations of the same formula, unless a line says why not.
"""

import pytest
import torch

from attention.encoder import Encoder, EncoderLayer, layer_norm
from attention.masks import causal_mask, padding_mask

pytestmark = pytest.mark.proof()
EXACT = 1e-12
D_MODEL, HEADS, D_FF = 6, 2, 7
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
kinds = pytest.mark.parametrize("kind", ["layer", "encoder"])


def made(kind, dtype=torch.float64, **settings):
    """A layer, or an encoder of two, in evaluation."""
    torch.manual_seed(0)
    sizes = (D_MODEL, HEADS, D_FF)
    module = EncoderLayer(*sizes, **settings) if kind == "layer" else Encoder(2, *sizes, **settings)
    return module.to(dtype).eval()


def tokens(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, D_MODEL, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, expected, rtol=0, atol=tolerance)


@orders
@kinds
def test_without_positions_permuted_tokens_give_the_permuted_answer(kind, norm_first):
    module, x = made(kind, norm_first=norm_first), tokens(2, 5)
    order = torch.randperm(5, generator=torch.Generator().manual_seed(1))
    close(module(x[:, order]), module(x)[:, order])
    if kind == "encoder":
        weights, permuted = (module(one, return_weights=True)[1] for one in (x, x[:, order]))
        for before, after in zip(weights, permuted, strict=True):
            close(after, before[..., order, :][..., order])


@orders
@kinds
def test_padding_never_changes_a_real_token(kind, norm_first):
    module, x, lengths = made(kind, norm_first=norm_first), tokens(3, 6), torch.tensor([6, 2, 4])
    mask = padding_mask(lengths, 6)
    answer = module(x, key_mask=mask)
    other = torch.where(mask[..., None], x, 100 * tokens(3, 6, seed=1))
    close(module(other, key_mask=mask)[mask], answer[mask])
    for row, length in enumerate(lengths):
        close(module(x[row : row + 1, :length])[0], answer[row, :length])


@orders
@kinds
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_an_all_padded_sequence_stays_finite_forwards_and_backwards(kind, norm_first, dtype):
    module, x = made(kind, dtype, norm_first=norm_first), tokens(2, 3, dtype=dtype).requires_grad_()
    answer = module(x, key_mask=torch.tensor([[True, True, False], [False] * 3]))
    answer.sum().backward()
    assert answer.dtype == dtype and answer.isfinite().all()
    assert all(one.grad.isfinite().all() for one in (x, *module.parameters()))


@orders
def test_under_a_causal_mask_no_answer_depends_on_later_tokens(norm_first):
    module, x = made("encoder", norm_first=norm_first), tokens(1, 6)
    whole = module(x, causal_mask(6))
    for length in range(1, 6):
        close(module(x[:, :length], causal_mask(length)), whole[:, :length])


@orders
@kinds
def test_in_evaluation_dropout_is_without_effect(kind, norm_first):
    with_dropout, without = (made(kind, norm_first=norm_first, dropout=dropout) for dropout in (0.5, 0.0))
    assert torch.equal(with_dropout(tokens(2, 4)), without(tokens(2, 4)))


def test_in_training_with_everything_dropped_only_the_residual_stream_is_left():
    x = tokens(2, 4)
    assert torch.equal(made("layer", norm_first=True, dropout=1.0).train()(x), x)
    close(made("layer", dropout=1.0).train()(x), layer_norm(layer_norm(x)))


def test_in_training_the_share_of_each_branch_that_is_lost_is_dropout():
    layer = made("layer", norm_first=True, dropout=0.25).train()
    x = torch.zeros(100, 20, D_MODEL).double()
    for part in (layer.self_attention.out_proj, layer.feed_forward.linear2):
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.zero_()
            part.bias.fill_(1.0)
        torch.manual_seed(0)
        kept = layer(x)
        assert abs((kept == 0).double().mean().item() - 0.25) < 0.02  # five deviations of the share of 12000
        close(kept[kept != 0], torch.full_like(kept[kept != 0], 1 / 0.75))


def test_dropout_reaches_attention_weights_and_hidden_units():
    layer = made("layer", dropout=0.3)
    assert (layer.self_attention.dropout, layer.feed_forward.dropout.p) == (0.3, 0.3)


@kinds
def test_the_state_dict_has_the_names_of_the_interface(kind):
    parts = [f"self_attention.{name}_proj" for name in ("q", "k", "v", "out")]
    parts += ["feed_forward.linear1", "feed_forward.linear2", "norm1", "norm2"]
    names = {f"{part}.{what}" for part in parts for what in ("weight", "bias")}
    if kind == "encoder":
        names = {f"layers.{place}.{name}" for place in range(2) for name in names}
        assert set(made(kind, norm_first=True).state_dict()) == names | {"final_norm.weight", "final_norm.bias"}
    assert set(made(kind).state_dict()) == names


@pytest.mark.parametrize(
    "make",
    [
        lambda: EncoderLayer(6, 4, 7),
        lambda: EncoderLayer(6, 2, 0),
        lambda: EncoderLayer(6, 2, 7, dropout=2.0),
        lambda: EncoderLayer(6, 2, 7, activation="tanh"),
        lambda: Encoder(0, 6, 2, 7),
        lambda: made("layer")(tokens(4)),
        lambda: made("layer")(torch.ones(2, 3, 5).double()),
        lambda: made("encoder")(tokens(2, 4), key_mask=torch.ones(2, 3).bool()),
        lambda: made("encoder")(tokens(2, 4), torch.ones(3, 4).bool()),
    ],
)
def test_what_does_not_fit_is_refused(make):
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize(
    "masks", [(torch.zeros(4, 4).double(), None), (None, torch.ones(2, 4).double())], ids=["attn_mask", "key_mask"]
)
def test_a_mask_of_numbers_is_refused(masks):
    with pytest.raises(TypeError):
        made("encoder")(tokens(2, 4), *masks)


@orders
@kinds
def test_the_module_compiles_to_one_graph_with_the_same_answer_and_gradients(kind, norm_first):
    module, x = made(kind, norm_first=norm_first), tokens(2, 4)
    masks = (causal_mask(4), padding_mask(torch.tensor([4, 0])))
    torch._dynamo.reset()
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    close(compiled(x, *masks), module(x, *masks))
    found = []
    for one in (compiled, module):
        module.zero_grad()
        one(x, *masks).square().sum().backward()
        found.append([parameter.grad for parameter in module.parameters()])
    for got, expected in zip(*found, strict=True):
        close(got, expected, 1e-10)  # sums in another order, of gradients of size 10


@orders
@kinds
def test_the_module_exports_with_a_free_length(kind, norm_first):
    module = made(kind, norm_first=norm_first)
    length = torch.export.Dim("length", min=2, max=64)
    shapes = {"x": {1: length}, "attn_mask": None, "key_mask": {1: length}}
    example = {"x": tokens(2, 4), "key_mask": padding_mask(torch.tensor([4, 2]))}
    shapes = {name: shapes[name] for name in example}
    exported = torch.export.export(module, (), example, dynamic_shapes=shapes).module()
    for size in (4, 7):
        mask = padding_mask(torch.tensor([size, 3]), size)
        close(exported(x=tokens(2, size), key_mask=mask), module(tokens(2, size), key_mask=mask))
