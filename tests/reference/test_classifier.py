"""Proves the reference's classifier: pooling and training step against torch, the two models by what they must hold.

Tolerance: 1e-12 between two float64 computations of the same formula.
"""

import copy

import pytest
import torch
from torch.nn import functional

from attention.classifier import PairMatcher, TextClassifier, masked_mean, train_step
from attention.masks import padding_mask

pytestmark = pytest.mark.proof()
EXACT = 1e-12
VOCAB, D_MODEL, HEADS, D_FF = 20, 8, 2, 12
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, expected, rtol=0, atol=tolerance)


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def texts(*lengths, longest=None, seed=0, padding=0):
    """Random texts, filled up on the right; no word is 0 or the padding."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, VOCAB - 1, (len(lengths), longest or max(lengths)), generator=generator)
    return ids.where(padding_mask(torch.tensor(lengths), ids.shape[1]), padding)


def classifier(**settings):
    torch.manual_seed(0)
    sizes = {"num_layers": 2, "max_length": 9} | settings
    return TextClassifier(VOCAB, 3, D_MODEL, HEADS, D_FF, **sizes).double().eval()


def matcher(**settings):
    torch.manual_seed(0)
    sizes = {"num_layers": 2, "max_length": 9} | settings
    return PairMatcher(VOCAB, D_MODEL, HEADS, D_FF, **sizes).double().eval()


def test_masked_mean_is_torchs_nanmean_with_padding_as_nan():
    x, mask = numbers(3, 5, 4), padding_mask(torch.tensor([5, 1, 3]))
    close(masked_mean(x, mask), x.masked_fill(~mask[..., None], float("nan")).nanmean(dim=1))
    close(masked_mean(x), x.mean(dim=1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masked_mean_of_large_features_is_finite_and_an_empty_row_is_zero(dtype):
    x = torch.full((2, 100, 3), 1000.0, dtype=dtype, requires_grad=True)
    answer = masked_mean(x, padding_mask(torch.tensor([90, 0]), 100))
    answer.sum().backward()
    assert answer.dtype == dtype and x.grad.isfinite().all()
    close(answer[0].double(), torch.full((3,), 1000.0).double(), 10.0)  # bfloat16 has 8 bits, 1 % of 1000
    assert not answer[1].any() and not x.grad[1].any()


def test_nothing_at_padding_reaches_the_mean_or_the_gradient():
    x = numbers(1, 3, 2)
    x[0, 2] = float("nan")
    x.requires_grad_()
    masked_mean(x, torch.tensor([[True, True, False]])).sum().backward()
    close(x.grad, torch.tensor([[[0.5] * 2, [0.5] * 2, [0.0] * 2]]).double())


@pytest.mark.parametrize("padding", [0, 7, VOCAB - 1])
def test_padding_never_changes_a_logit_of_a_text(padding):
    model, lengths = classifier(padding_id=padding), (4, 1, 0, 3)
    ids = texts(*lengths, seed=1, padding=padding)
    ids = torch.where((ids == padding) & padding_mask(torch.tensor(lengths), 4), 1, ids)
    logits = model(ids)
    assert logits.shape == (4, 3) and logits.isfinite().all()
    close(model(functional.pad(ids, (0, 5), value=padding)), logits)
    for row, length in enumerate(lengths):
        if length:
            close(model(ids[row : row + 1, :length])[0], logits[row])


@pytest.mark.parametrize("num_layers", [1, 3])
def test_word_order_matters_whatever_the_number_of_layers(num_layers):
    model = classifier(num_layers=num_layers)
    found = model(torch.tensor([[3, 5, 9], [5, 3, 9], [9, 5, 3]]))
    assert (found[0] - found[1]).abs().max() > 1e-3 and (found[0] - found[2]).abs().max() > 1e-3


@pytest.mark.parametrize("padding", [0, 7])
def test_padding_of_either_side_never_changes_the_logit_of_a_pair(padding):
    model = matcher(padding_id=padding)
    left, right = torch.tensor([[3, 4], [5, padding], [padding] * 2]), torch.tensor([[8] * 3, [9, 1, padding], [2] * 3])
    logits = model(left, right)
    assert logits.shape == (3,) and logits.isfinite().all()
    for more_left, more_right in ((7, 0), (0, 6), (3, 2)):
        padded = (functional.pad(side, (0, n), value=padding) for side, n in ((left, more_left), (right, more_right)))
        close(model(*padded), logits)


def test_rows_are_independent_of_their_batch():
    ids, other = texts(4, 2, 3), texts(3, 3, 1, seed=5)
    close(classifier()(ids)[1:2], classifier()(ids[1:2]))
    close(matcher()(ids, other)[2:], matcher()(ids[2:], other[2:]))


@pytest.mark.parametrize("make", [classifier, matcher])
def test_an_empty_text_leaves_every_gradient_finite(make):
    model = make().train()
    ids = texts(3, 0, 2)
    output = model(ids) if make is classifier else model(ids, ids.flip(0))
    output.square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)


def test_a_text_of_max_length_is_answered_and_a_longer_one_refused():
    model = classifier(max_length=4)
    assert model(texts(4)).shape == (1, 3)
    with pytest.raises(ValueError, match="at most max_length = 4 tokens, got 5"):
        model(texts(5))
    with pytest.raises(ValueError, match="right_ids"):
        matcher(max_length=4)(texts(4), texts(5))
    with pytest.raises(ValueError, match="as many"):
        matcher()(texts(4), texts(4, 2))


def test_ids_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match="integer"):
        classifier()(torch.ones(2, 3))


def small_model():
    torch.manual_seed(0)
    layers = torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 2)
    return torch.nn.Sequential(*layers).double()


@pytest.mark.parametrize("stale", [False, True], ids=["fresh", "with old gradients"])
def test_a_step_is_the_five_lines_written_out(stale):
    model, batch = small_model().eval(), (numbers(5, 3), torch.tensor([0, 1, 1, 0, 1]))
    other = copy.deepcopy(model)
    for parameter in model.parameters() if stale else ():
        parameter.grad = torch.ones_like(parameter)
    torch.manual_seed(1)
    loss = train_step(model, batch, torch.optim.SGD(model.parameters(), lr=0.5), functional.cross_entropy)
    torch.manual_seed(1)
    expected = functional.cross_entropy(other.train()(batch[0]), batch[1])
    gradients = torch.autograd.grad(expected, list(other.parameters()))
    assert isinstance(loss, float) and loss == pytest.approx(expected.item(), abs=EXACT) and model.training
    for parameter, was, gradient in zip(model.parameters(), other.parameters(), gradients, strict=True):
        close(parameter.detach(), was.detach() - 0.5 * gradient)


def test_a_batch_without_a_target_is_refused():
    model = small_model()
    with pytest.raises(ValueError, match="at least two tensors, got 1"):
        train_step(model, (numbers(5, 3),), torch.optim.SGD(model.parameters(), lr=0.5), functional.cross_entropy)


def test_the_classifier_learns_which_of_two_words_comes_first():
    torch.manual_seed(0)
    model = TextClassifier(VOCAB, 2, D_MODEL, HEADS, D_FF, 1, dropout=0.0)
    ids = torch.tensor([[*pair, third] for third in range(5, 11) for pair in ((3, 4), (4, 3))])
    batch, optimizer = (ids, torch.tensor([0, 1] * 6)), torch.optim.Adam(model.parameters(), lr=0.03)
    first, *_, last = (train_step(model, batch, optimizer, functional.cross_entropy) for _ in range(50))
    assert first > 0.4 and last < 0.05


def test_the_matcher_learns_what_no_sum_over_the_sides_can_tell():
    torch.manual_seed(0)
    model = PairMatcher(VOCAB, D_MODEL, HEADS, D_FF, 1, dropout=0.0)
    left, right = torch.tensor([[3, 9], [3, 9], [4, 9], [4, 9]]), torch.tensor([[3], [4], [3], [4]])
    batch, optimizer = (left, right, torch.tensor([1.0, 0.0, 0.0, 1.0])), torch.optim.Adam(model.parameters(), lr=0.02)
    losses = [train_step(model, batch, optimizer, functional.binary_cross_entropy_with_logits) for _ in range(60)]
    assert losses[0] > 0.5 and losses[-1] < 0.05


@pytest.mark.parametrize("ids", [[[1, VOCAB]], [[-1, 2]]])
def test_ids_that_are_no_words_are_refused(ids):
    words = torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match=f"token_ids must lie between 0 and {VOCAB - 1}"):
        classifier()(torch.tensor(ids))
    with pytest.raises(ValueError, match="left_ids must lie"):
        matcher()(torch.tensor(ids), words)
    with pytest.raises(ValueError, match="right_ids must lie"):
        matcher()(words, torch.tensor(ids))


@pytest.mark.parametrize("padding", [-1, VOCAB])
@pytest.mark.parametrize("make", [classifier, matcher])
def test_a_padding_id_outside_the_vocabulary_is_refused(make, padding):
    with pytest.raises(ValueError, match=f"padding_id must be a token id between 0 and {VOCAB - 1}, got {padding}"):
        make(padding_id=padding)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32], ids=str)
def test_ids_of_every_integer_dtype_are_words(dtype):
    ids = texts(4, 1, 3)
    close(classifier()(ids.to(dtype)), classifier()(ids))
    close(matcher()(ids.to(dtype), ids), matcher()(ids, ids))


def test_no_text_and_texts_without_a_token_are_answered():
    assert classifier()(torch.zeros(0, 4).long()).shape == (0, 3)
    assert classifier()(torch.zeros(2, 0).long()).isfinite().all()


def test_ids_can_be_mapped_over():
    ids, model = texts(4, 1, 3), classifier()
    close(torch.vmap(lambda one: model(one[None])[0])(ids), model(ids))
