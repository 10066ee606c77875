"""Proves the language model and the translating model of the reference by what they must and must not depend on.

Tolerance: 1e-10, for two float64 computations are compared.
"""

import math

import pytest
import torch

from attention.decoder import EncoderDecoder, LanguageModel, next_token_loss
from attention.efficient import KeyValueCache

pytestmark = pytest.mark.proof()
VOCAB, LENGTH = 11, 7


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)


def ids(*shape, seed=0, low=0, high=VOCAB):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


def spread(model, seed=0):
    """The model in float64, in evaluation, with weights large enough that every token is seen in every logit."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.double().eval().parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape, generator=rng, dtype=torch.float64))
    return model


def language_model(**more):
    torch.manual_seed(0)
    return spread(
        LanguageModel(**{"vocab_size": VOCAB, "d_model": 6, "num_heads": 2, "d_ff": 8, "num_layers": 2} | more)
    )


def translator(**more):
    torch.manual_seed(0)
    sizes = {"source_vocab_size": 9, "target_vocab_size": VOCAB, "d_model": 6, "num_heads": 2, "d_ff": 8}
    return spread(EncoderDecoder(**sizes | {"num_layers": 2} | more))


def moved(one, other):
    return ((one - other).abs().amax(dim=-1) > 1e-7).tolist()


# The language model


def test_a_logit_depends_on_the_tokens_up_to_its_own_and_on_all_of_these():
    model, tokens = language_model(), ids(1, LENGTH)
    for place in range(LENGTH):
        other = tokens.clone()
        other[:, place] = (other[:, place] + 1) % VOCAB
        assert moved(model(tokens), model(other)) == [[i >= place for i in range(LENGTH)]]


@pytest.mark.parametrize("steps", [[1] * LENGTH, [LENGTH], [4, 1, 1, 1], [1, 3, 3], [0, 4, 0, 3]], ids=str)
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_with_caches_it_gives_the_logits_of_the_call_without(batch, steps):
    model, tokens = language_model(), ids(batch, LENGTH)
    at_once, caches, start = model(tokens), model.new_caches(), 0
    for length in steps:
        close(model(tokens[:, start : start + length], caches), at_once[:, start : start + length])
        start += length
        assert [cache.length for cache in caches] == [start] * 2


def test_caches_are_fresh_each_time_and_there_is_one_for_each_layer():
    model = language_model(num_layers=3, max_length=5)
    first, second = model.new_caches(), model.new_caches()
    assert len(first) == len(second) == 3 and len({id(cache) for cache in [*first, *second]}) == 6
    assert all(isinstance(cache, KeyValueCache) and cache.max_length == 5 for cache in first)
    model(ids(1, 4), first)
    assert second[0].length == 0


def test_the_output_layer_is_the_token_embedding():
    count = [sum(p.numel() for p in language_model(vocab_size=size).parameters()) for size in (20, 30)]
    assert count[1] - count[0] == 10 * 6
    model = language_model()
    before = model(ids(1, 3, high=VOCAB - 1))
    with torch.no_grad():
        model.embedding.embedding.weight[-1] += 1  # a token that is not read: its own logit moves alone
    change = (model(ids(1, 3, high=VOCAB - 1)) - before).abs() > 1e-9
    assert change[..., -1].all() and not change[..., :-1].any()


def test_the_last_norm_is_there_so_that_logits_do_not_grow_with_the_layers():
    model = language_model()
    with torch.no_grad():
        model.final_norm.weight.zero_()
        model.final_norm.bias.zero_()
    assert (model(ids(2, 4)) == 0).all()


def test_it_begins_with_the_loss_of_a_uniform_guess():
    torch.manual_seed(0)
    model = LanguageModel(500, 64, 4, 128, 2)
    tokens = ids(8, 40, high=500)
    assert next_token_loss(model(tokens), tokens).item() == pytest.approx(math.log(500), abs=0.1)


def test_it_learns_a_text_by_heart():
    torch.manual_seed(0)
    model, tokens = LanguageModel(VOCAB, 16, 2, 32, 1, dropout=0.0), ids(2, 12)
    tokens[:, 0] = torch.tensor([0, 1])  # what tells the two apart
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        loss = next_token_loss(model(tokens), tokens)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


def test_max_length_counts_what_the_caches_hold():
    model, tokens = language_model(max_length=4), ids(2, 5)
    assert model(tokens[:, :4]).shape == (2, 4, VOCAB)
    caches = model.new_caches()
    model(tokens[:, :3], caches)
    with pytest.raises(ValueError, match="at most max_length = 4 tokens, got 2 after 3 others"):
        model(tokens[:, 3:], caches)
    assert [cache.length for cache in caches] == [3, 3]
    model(tokens[:, 3:4], caches)


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (0, 0)], ids=str)
def test_empty_batches_and_texts_are_answered(shape):
    assert language_model()(torch.zeros(shape, dtype=torch.long)).shape == (*shape, VOCAB)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8], ids=str)
def test_ids_of_any_integer_dtype_are_read(dtype):
    model, tokens = language_model(), ids(2, 4)
    close(model(tokens.to(dtype)), model(tokens))


def test_what_does_not_fit_is_refused_in_a_sentence():
    model, tokens = language_model(max_length=6), ids(2, 4)
    uneven = model.new_caches()
    model.layers[0](torch.zeros(2, 1, 6, dtype=torch.float64), cache=uneven[0])
    with pytest.raises(ValueError, match="caches must hold as many positions each"):
        model(tokens, uneven)
    with pytest.raises(ValueError, match="caches must be 2, one of its own for each layer"):
        model(tokens, model.new_caches()[:1])
    with pytest.raises(ValueError, match="one of its own for each layer"):
        model(tokens, [KeyValueCache(6)] * 2)
    with pytest.raises(TypeError, match="must be a list"):
        model(tokens, KeyValueCache(6))
    with pytest.raises(TypeError, match="must be a KeyValueCache"):
        model(tokens, [None, None])
    with pytest.raises(ValueError, match="between 0 and 10"):
        model(tokens + VOCAB)
    with pytest.raises(ValueError, match="at most max_length = 6"):
        model(ids(1, 7))
    with pytest.raises(ValueError, match="2 axes"):
        model(tokens[0])
    with pytest.raises(TypeError, match="integer dtype"):
        model(tokens.float())
    for name, value in (("vocab_size", 0), ("num_layers", 0), ("max_length", 0), ("num_heads", 4), ("dropout", 1.5)):
        with pytest.raises(ValueError, match=name):
            language_model(**{name: value})


def test_a_compiled_model_answers_as_the_plain_one():
    torch._dynamo.reset()
    model, tokens = language_model(), ids(2, 5)
    close(torch.compile(model, backend="aot_eager", fullgraph=True)(tokens), model(tokens))


# The translating model


def test_a_target_logit_depends_on_the_target_so_far_and_on_the_whole_source():
    model, source, target = translator(), ids(1, 4, low=1, high=9), ids(1, 5)
    plain = model(source, target)
    assert plain.shape == (1, 5, VOCAB)
    for place in range(5):
        other = target.clone()
        other[:, place] = (other[:, place] + 1) % VOCAB
        assert moved(plain, model(source, other)) == [[i >= place for i in range(5)]]
    for place in range(4):
        other = source.clone()
        other[:, place] = other[:, place] % 8 + 1
        assert moved(plain, model(other, target)) == [[True] * 5]


@pytest.mark.parametrize("padding_id", [0, 3])
def test_padding_of_the_source_changes_no_logit(padding_id):
    model, target = translator(padding_id=padding_id), ids(3, 5)
    source = ids(3, 4, low=4, high=9)
    source[1, 2:] = padding_id
    source[2] = padding_id
    longer = torch.cat([source, torch.full((3, 2), padding_id)], dim=1)
    found = model(source, target)
    close(model(longer, target), found)
    assert found.isfinite().all()
    close(model(source[1:2, :2], target[1:2]), found[1:2])


def test_word_order_matters_on_both_sides():
    model, source, target = translator(), ids(1, 4, low=1, high=9), torch.tensor([[1, 2, 3]])
    source[0, :2] = torch.tensor([1, 2])
    assert all(moved(model(source, target), model(source.flip(1), target))[0])
    swapped = target[:, [1, 0, 2]]
    assert moved(model(source, target), model(source, swapped))[0][-1]


@pytest.mark.parametrize("sizes", [(0, 3, 2), (2, 0, 3), (2, 3, 0)], ids=str)
def test_empty_sources_and_targets_are_answered(sizes):
    batch, source, target = sizes
    empty = translator()(ids(batch, source, high=9), ids(batch, target))
    assert empty.shape == (batch, target, VOCAB) and empty.isfinite().all()


def test_what_does_not_fit_the_translator_is_refused_in_a_sentence():
    model, source, target = translator(max_length=4), ids(2, 4, high=9), ids(2, 3)
    with pytest.raises(ValueError, match="source_ids must have at most max_length = 4"):
        model(ids(2, 5, high=9), target)
    with pytest.raises(ValueError, match="target_ids must have at most max_length = 4"):
        model(source, ids(2, 5))
    with pytest.raises(ValueError, match="must be as many"):
        model(source, target[:1])
    with pytest.raises(ValueError, match="source_ids must lie between 0 and 8"):
        model(source + 9, target)
    with pytest.raises(TypeError, match="target_ids must have an integer dtype"):
        model(source, target.float())
    for name, value in (("target_vocab_size", 0), ("padding_id", 9), ("num_layers", 0), ("d_model", 5)):
        with pytest.raises(ValueError, match=f"{name}|d_model"):
            translator(**{name: value})


def test_a_compiled_translator_answers_as_the_plain_one():
    torch._dynamo.reset()
    model, source, target = translator(), ids(2, 4, high=9), ids(2, 3)
    close(torch.compile(model, backend="aot_eager", fullgraph=True)(source, target), model(source, target))
