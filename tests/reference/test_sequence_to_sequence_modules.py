"""Proves the reference's `HierarchicalAttention` and `AttentionDecoder` against loops and torch's GRUCell.

Tolerances: 1e-12 where two float64 computations are compared; in narrower dtypes, 32 rounding units of the dtype, since
each of a few steps rounds once and the sums have few terms.
"""

import math

import pytest
import torch
from torch import nn

from attention.sequence_to_sequence import AttentionDecoder, HierarchicalAttention, attend

pytestmark = pytest.mark.proof()
EXACT = 1e-12
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SCORES = ["additive", "bilinear", "dot", "scaled"]


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=tolerance, atol=tolerance)


def filled(module, seed=10, scale=0.6, dtype=torch.float64):
    """The module with drawn parameters, biases too."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(scale * drawn(*parameter.shape, seed=seed + number))
    return module.to(dtype)


def functional(module, *given):
    """A function of the module's parameters, for gradcheck, and these."""
    names = [name for name, _ in module.named_parameters()]

    def through(*parameters):
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), given)

    return through, tuple(parameter.detach().requires_grad_() for parameter in module.parameters())


# HierarchicalAttention

#: The number of words in each sentence of each document; the last document has none.
COUNTS = [[4, 1, 0], [2, 3, 4], [0, 0, 1], [0, 0, 0]]
MASK = torch.tensor([[[j < count for j in range(4)] for count in document] for document in COUNTS])


def pooled(vectors, proj, query):
    """One level over a list of vectors, one at a time."""
    scores = [float(torch.tanh(proj.weight @ vector + proj.bias) @ query) for vector in vectors]
    total = sum(math.exp(score) for score in scores)
    return sum(math.exp(score) / total * vector for score, vector in zip(scores, vectors, strict=True))


def by_a_loop(module, document, counts):
    sentences = [
        pooled(list(words[:count]), module.word_proj, module.word_query)
        for words, count in zip(document, counts, strict=True)
        if count
    ]
    if not sentences:
        return torch.zeros(document.shape[-1]).double()
    return pooled(sentences, module.sentence_proj, module.sentence_query)


def test_hierarchical_attention_equals_a_loop_over_documents_sentences_and_words():
    module, x = filled(HierarchicalAttention(5)), drawn(4, 3, 4, 5)
    with torch.no_grad():
        masked, whole = module(x, MASK), module(x)
        for b, counts in enumerate(COUNTS):
            close(masked[b], by_a_loop(module, x[b], counts))
            close(whole[b], by_a_loop(module, x[b], [4, 4, 4]))


def test_what_stands_at_padding_does_not_matter():
    module, x = filled(HierarchicalAttention(5)), drawn(4, 3, 4, 5)
    other = torch.where(MASK.unsqueeze(-1), x, 1e3 * drawn(4, 3, 4, 5, seed=1))
    assert torch.equal(module(x, MASK), module(other, MASK))


def test_more_padding_changes_nothing():
    module, x = filled(HierarchicalAttention(5)), drawn(4, 3, 4, 5)
    longer = torch.cat([x, drawn(4, 3, 2, 5, seed=1)], dim=2)
    longer = torch.cat([longer, drawn(4, 2, 6, 5, seed=2)], dim=1)
    mask = torch.zeros(4, 5, 6, dtype=torch.bool)
    mask[:, :3, :4] = MASK
    close(module(longer, mask), module(x, MASK))


def test_the_order_of_sentences_and_of_words_does_not_matter():
    module, x = filled(HierarchicalAttention(5)), drawn(4, 3, 4, 5)
    close(module(x[:, [2, 0, 1]], MASK[:, [2, 0, 1]]), module(x, MASK))
    close(module(x[:, :, [3, 1, 0, 2]], MASK[:, :, [3, 1, 0, 2]]), module(x, MASK))


def test_where_a_word_stands_does_matter_across_sentences():
    module, x = filled(HierarchicalAttention(5)), drawn(1, 2, 2, 5)
    mixed = x.reshape(1, 4, 5)[:, [0, 2, 1, 3]].reshape(1, 2, 2, 5)
    assert (module(x) - module(mixed)).abs().max() > 1e-3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_documents_without_words_are_zero_with_finite_gradients_in_every_dtype(dtype):
    module, x = filled(HierarchicalAttention(5), dtype=dtype), drawn(4, 3, 4, 5, dtype=dtype).requires_grad_()
    got = module(x, MASK)
    assert got.dtype == dtype and not got[3].any()
    wide = filled(HierarchicalAttention(5), dtype=dtype).double()
    close(got.detach().double(), wide(x.detach().double(), MASK).detach(), 32 * torch.finfo(dtype).eps)
    got.sum().backward()
    assert all(one.isfinite().all() for one in [x.grad, *(parameter.grad for parameter in module.parameters())])
    assert not x.grad[~MASK].any()


def test_gradients_of_hierarchical_attention_are_right():
    module, x = filled(HierarchicalAttention(2)), drawn(2, 2, 3, 2).requires_grad_()
    mask = torch.tensor([[[True, True, False], [False] * 3], [[False] * 3] * 2])
    assert torch.autograd.gradcheck(lambda x: module(x, mask), x)
    assert torch.autograd.gradcheck(*functional(module, x.detach(), mask))


def test_hierarchical_attention_has_the_named_parameters():
    shapes = {name: tuple(value.shape) for name, value in HierarchicalAttention(3).state_dict().items()}
    own = {"proj.weight": (3, 3), "proj.bias": (3,), "query": (3,)}
    assert shapes == {f"{level}_{name}": shape for level in ("word", "sentence") for name, shape in own.items()}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((torch.ones(2, 3, 4),), ValueError),
        ((torch.ones(2, 3, 4, 6),), ValueError),
        ((torch.ones(2, 3, 4, 5).double(),), TypeError),
        ((torch.ones(2, 3, 4, 5).long(),), TypeError),
        ((torch.ones(2, 3, 4, 5), torch.ones(2, 3, 4)), TypeError),
        ((torch.ones(2, 3, 4, 5), torch.ones(2, 4, 3).bool()), ValueError),
    ],
)
def test_hierarchical_attention_refuses_what_does_not_fit(given, error):
    with pytest.raises(error):
        HierarchicalAttention(5)(*given)


# AttentionDecoder


def one_score(module, kind, query, key):
    if kind == "additive":
        return module.score_w2 @ torch.tanh(module.score_w1 @ torch.cat([query, key]))
    if kind == "bilinear":
        return query @ module.score_weight @ key
    return query @ key / (math.sqrt(len(key)) if kind == "scaled" else 1)


def decoded_step_by_step(module, kind, ids, source, mask):
    """One sequence, with torch's GRUCell, one score at a time."""
    width = source.shape[-1]
    cell = nn.GRUCell(width, width).double()
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in module.gru.state_dict().items()})
    state, logits, rows = torch.zeros(width).double(), [], []
    for token in ids:
        state = cell(module.embedding.weight[token], state)
        scores = torch.stack([one_score(module, kind, state, key) for key in source])
        weights = torch.zeros(len(source)).double()
        if mask.any():
            weights[mask] = torch.softmax(scores[mask], dim=0)
        context = weights @ source
        logits.append(module.output(torch.tanh(module.combine(torch.cat([context, state])))))
        rows.append(weights)
    return torch.stack(logits), torch.stack(rows)


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("masked", [False, True])
def test_the_decoder_equals_a_loop_over_steps_with_grucell(kind, masked):
    module = filled(AttentionDecoder(7, 4, kind))
    ids = torch.tensor([[0, 3, 6], [5, 5, 1], [2, 0, 4]])
    source = drawn(3, 5, 4)
    mask = torch.tensor([[True] * 5, [True, False, True, False, False], [False] * 5])
    with torch.no_grad():
        logits, weights = module(ids, source, mask if masked else None)
        for b in range(3):
            allowed = mask[b] if masked else torch.ones(5).bool()
            for got, expected in zip(
                (logits[b], weights[b]), decoded_step_by_step(module, kind, ids[b], source[b], allowed), strict=True
            ):
                close(got, expected)


@pytest.mark.parametrize("kind", SCORES)
def test_a_prediction_depends_on_earlier_tokens_alone(kind):
    module, source = filled(AttentionDecoder(7, 4, kind)), drawn(1, 5, 4)
    one, other = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 2, 6, 4]])
    for first, second in zip(module(one, source), module(other, source), strict=True):
        assert torch.equal(first[:, :2], second[:, :2])
        assert not torch.equal(first[:, 2], second[:, 2]) and not torch.equal(first[:, 3], second[:, 3])


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_source_without_tokens_gives_zero_weights_and_finite_gradients_in_every_dtype(kind, dtype):
    module, source = filled(AttentionDecoder(7, 4, kind), dtype=dtype), drawn(2, 5, 4, dtype=dtype).requires_grad_()
    ids, mask = torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([[True, True, False, True, False], [False] * 5])
    logits, weights = module(ids, source, mask)
    assert logits.dtype == weights.dtype == dtype and not weights[1].any()
    wide = filled(AttentionDecoder(7, 4, kind), dtype=dtype).double()
    close(logits.detach().double(), wide(ids, source.detach().double(), mask)[0].detach(), 32 * torch.finfo(dtype).eps)
    (logits.sum() + weights.square().sum()).backward()
    assert all(one.isfinite().all() for one in [source.grad, *(parameter.grad for parameter in module.parameters())])
    assert not source.grad[~mask].any()


@pytest.mark.parametrize("kind", SCORES)
def test_gradients_of_the_decoder_are_right(kind):
    module, source = filled(AttentionDecoder(3, 2, kind)), drawn(2, 3, 2).requires_grad_()
    ids, mask = torch.tensor([[0, 2], [1, 1]]), torch.tensor([[True, True, False], [False] * 3])
    assert torch.autograd.gradcheck(lambda source: module(ids, source, mask), source)
    assert torch.autograd.gradcheck(*functional(module, ids, source.detach(), mask))


def test_the_decoders_weights_are_those_of_attend():
    module, source = filled(AttentionDecoder(7, 4, "dot")), drawn(2, 5, 4)
    ids = torch.tensor([[1, 2, 3], [4, 5, 6]])
    states, _ = module.gru(module.embedding(ids))
    close(module(ids, source)[1], attend(states, source, source, lambda q, k: q @ k.mT)[1])


@pytest.mark.parametrize("kind", SCORES)
def test_the_decoder_has_the_named_parameters(kind):
    shapes = {name: tuple(value.shape) for name, value in AttentionDecoder(7, 4, kind).state_dict().items()}
    expected = {"embedding.weight": (7, 4), "combine.weight": (4, 8), "combine.bias": (4,)}
    expected |= {"output.weight": (7, 4), "output.bias": (7,)}
    expected |= {f"gru.weight_{part}_l0": (12, 4) for part in ("ih", "hh")}
    expected |= {f"gru.bias_{part}_l0": (12,) for part in ("ih", "hh")}
    expected |= {"additive": {"score_w1": (4, 8), "score_w2": (4,)}, "bilinear": {"score_weight": (4, 4)}}.get(kind, {})
    assert shapes == expected


def test_the_default_score_is_additive():
    assert AttentionDecoder(7, 4).state_dict().keys() == AttentionDecoder(7, 4, "additive").state_dict().keys()


@pytest.mark.parametrize("arguments", [(0, 4), (7, 0), (7, 4, "general"), (7, 4, None)])
def test_the_decoder_refuses_sizes_and_scores_that_do_not_exist(arguments):
    with pytest.raises(ValueError):
        AttentionDecoder(*arguments)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((torch.ones(2, 3), torch.ones(2, 5, 4)), TypeError),
        ((torch.ones(3).long(), torch.ones(2, 5, 4)), ValueError),
        ((torch.ones(2, 3).long(), torch.ones(3, 5, 4)), ValueError),
        ((torch.ones(2, 3).long(), torch.ones(2, 5, 6)), ValueError),
        ((torch.ones(2, 3).long(), torch.ones(2, 5)), ValueError),
        ((torch.ones(2, 3).long(), torch.ones(2, 5, 4).double()), TypeError),
        ((torch.ones(2, 3).long(), torch.ones(2, 5, 4), torch.ones(2, 5)), TypeError),
        ((torch.ones(2, 3).long(), torch.ones(2, 5, 4), torch.ones(2, 3).bool()), ValueError),
        ((torch.ones(2, 3).long(), torch.ones(2, 5, 4), torch.ones(1, 5).bool()), ValueError),
    ],
)
def test_the_decoder_refuses_what_does_not_fit(given, error):
    with pytest.raises(error):
        AttentionDecoder(7, 4)(*given)


@pytest.mark.parametrize("ids", [[[1, 7]], [[-1, 2]], [[0, 255]]])
def test_the_decoder_refuses_ids_that_are_no_words(ids):
    with pytest.raises(ValueError, match="token_ids must lie between 0 and 6"):
        AttentionDecoder(7, 4)(torch.tensor(ids), torch.ones(1, 5, 4))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_the_decoder_takes_every_integer_dtype(dtype):
    module, source, ids = filled(AttentionDecoder(7, 4)), drawn(1, 5, 4), torch.tensor([[1, 6, 0]])
    close(module(ids.to(dtype), source)[0], module(ids, source)[0])


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("sizes", [(2, 0, 5), (2, 3, 0), (2, 0, 0), (0, 3, 5)], ids=str)
def test_the_decoder_answers_for_empty_sizes(kind, sizes):
    batch, steps, keys = sizes
    module, source = filled(AttentionDecoder(7, 4, kind)), drawn(batch, keys, 4).requires_grad_()
    logits, weights = module(torch.ones(batch, steps).long(), source)
    assert logits.shape == (batch, steps, 7) and weights.shape == (batch, steps, keys) and logits.isfinite().all()
    (logits.sum() + weights.sum()).backward()
    assert all(x.grad is None or x.grad.isfinite().all() for x in (source, *module.parameters()))
